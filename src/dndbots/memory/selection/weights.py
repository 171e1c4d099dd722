"""The weight of a sentence by its form: who tells it, whether anything changes in it, whether it is a recap.

A recap by the DM is the best summary there is. It is found by style, since no two tables open with the same
words: early in a session, long, in the past tense and the third person, with many names.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from dndbots.memory.entries import Entry

NARRATED: Final = 4.0
OUTCOME: Final = 12.0
CUE: Final = 6.0  # a promise, a threat, a debt or a mystery, which may come back
WHISPER: Final = 4.0  # words that only a few heard are kept longer than small talk
TAUGHT: Final = 3.0  # words that taught a fact: what a person knows, what a thing shows
ASIDE: Final = 0.1  # weather, the way somewhere
GESTURE: Final = 0.15  # what a speaker does before speaking: "Nub takes a breath."
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
# Dice and table talk: outcomes record the dice, and a story needs no table talk.
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


_TO_THE_TABLE = re.compile(r"\b(?:I|we|let's|guys)\b", re.IGNORECASE)


def is_change(terms: Iterable[str]) -> bool:
    """Return whether something changes in a sentence: somebody dies, takes, promises, finds, leaves."""
    return not _CHANGES.isdisjoint(terms)


@lru_cache(maxsize=1 << 12)
def is_denied(sentence: str) -> bool:
    """Return whether a sentence has a negation."""
    return bool(_DENIAL.search(sentence))


def weight_of(sentence: str, terms: Iterable[str], *, narrated: bool) -> float:
    """Return the weight of a sentence; narration by the DM weighs more than talk."""
    weight = NARRATED if narrated else 1.0
    if sentence.rstrip("\"'\u201d ").endswith(("?", "\uff1f", "\u061f")):
        weight *= _QUESTION
    if not _ASIDES.isdisjoint(terms):
        weight *= _ASIDE
    if sentence.isascii() and sentence.count(" ") + 1 < _FEW_WORDS:
        weight *= _FRAGMENT
    return weight


def is_to_the_table(sentence: str) -> bool:
    """Return whether a narrator speaks in the first person, outside of what somebody in the story says."""
    if not _TO_THE_TABLE.search(sentence):
        return False
    outside = sentence.replace("\u201c", '"').replace("\u201d", '"').split('"')[::2]
    return any(map(_TO_THE_TABLE.search, outside))


EARLY: Final = 150
_LONG: Final = 50
_READ: Final = 20_000
_LEAST_PAST: Final = 0.05
_MOST_PERSON: Final = 0.05
_LEAST: Final = 0.055

_PAST = re.compile(
    r"\b(?:\w{3,}ed|was|were|had|came|went|found|took|made|fell|left|gave|met|fought|began|led|saw|got|told|held"
    r"|kept|knew|stood|ran|broke|brought|lost|won|slew|fled|spoke|swore|became)\b"
)
_PERSON = re.compile(r"\b(?:I|you|me|my|your|(?:I|you)['\u2019]\w+)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][a-z]")


def find_retellings(entries: Iterable[Entry]) -> frozenset[int]:
    """Return the numbers of the entries that are recaps, counted from 0."""
    numbers = []
    session, since = "", 0
    for number, entry in enumerate(entries):
        since = since + 1 if entry.session == session else 0
        session = entry.session
        if since < EARLY and is_retelling(entry):
            numbers.append(number)
    return frozenset(numbers)


def is_retelling(entry: Entry) -> bool:
    """Return whether an entry has the style of a recap; the caller checks that it stands early."""
    if not entry.narrated or entry.text.count(" ", 0, _READ) < _LONG:
        return False
    text = entry.text[:_READ]
    words = len(_WORD.findall(text)) or 1
    past, person, names = (len(pattern.findall(text)) / words for pattern in (_PAST, _PERSON, _NAME))
    return past >= _LEAST_PAST and person <= _MOST_PERSON and past + names - person >= _LEAST
