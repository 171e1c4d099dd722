"""How much a sentence is worth before it is compared: who tells it, and whether something comes of it.

Weights only. What a sentence is about is in `words`, and what is chosen is decided in `cover`.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

NARRATED: Final = 4.0
OUTCOME: Final = 12.0
CUE: Final = 6.0  # a promise, a threat, a debt, a mystery: what may come back
CHANGE: Final = 1.5
_QUESTION: Final = 0.5
_ASIDE: Final = 0.4
_FRAGMENT: Final = 0.3
_FEW_WORDS: Final = 5

_CHANGE_WORDS = (
    "accept accepted accepts agree agreed agrees ambush ambushed arrive arrived arrives attacked "
    "attacks became become becomes betray betrayed betrays bought broke broken capture captured "
    "captures collapsed collapses curse cursed dead death decide decided decides defeat defeated "
    "defeats descend descended descends destroy destroyed destroys die died dies disappear disappeared "
    "disappears discover discovered discovers enter entered enters escape escaped escapes falls fell "
    "find finds fled flee flees found free freed gave give given gives hire hired join joined joins "
    "kill killed kills learn learned learns learnt leave leaves left lose loses lost open opened opens "
    "paid pay pays plan planned plans promise promised promises reach reached reaches refuse refused "
    "refuses rescue rescued rescues return returned returns reveal revealed reveals saved sends sent "
    "slain slay slays slew sold steal steals stole stolen swore sworn taken took transform transformed "
    "transforms travel traveled travelled travels unlock unlocked unlocks vanish vanished vanishes win "
    "wins won wounded"
)
# Dice, and talk about the game as a game: the rules keep the one, and no story needs the other.
_ASIDE_WORDS = (
    "ac advantage bonus camera charity chatroom d10 d100 d12 d20 d4 d6 d8 damage dc disadvantage donate "
    "donation episode episodes fans giveaway hp initiative internet merch microphone modifier modifiers "
    "natural player players podcast points reaction roll rolled rolling rolls stream streaming "
    "subscribe subscriber subscribers turn twitch twitter website youtube"
)
_CHANGES: Final = frozenset(_CHANGE_WORDS.split())
_ASIDES: Final = frozenset(_ASIDE_WORDS.split())
_DENIAL = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|nor|neither|without|cannot|\w+n['\u2019]t)\b", re.IGNORECASE
)


def is_change(terms: Iterable[str]) -> bool:
    """Whether something comes of it: somebody died, took, promised, found, left."""
    return not _CHANGES.isdisjoint(terms)


@lru_cache(maxsize=1 << 12)
def is_denied(sentence: str) -> bool:
    return bool(_DENIAL.search(sentence))


def weight_of(sentence: str, terms: Iterable[str], *, narrated: bool) -> float:
    """The weight of a sentence of the DM's telling, or of talk."""
    weight = NARRATED if narrated else 1.0
    if sentence.rstrip("\"'\u201d ").endswith(("?", "\uff1f", "\u061f")):
        weight *= _QUESTION
    if not _ASIDES.isdisjoint(terms):
        weight *= _ASIDE
    if sentence.isascii() and sentence.count(" ") + 1 < _FEW_WORDS:
        weight *= _FRAGMENT
    return weight
