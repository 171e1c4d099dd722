"""How much a sentence is worth before it is compared: who tells it, and whether something comes of it.

Weights only. What a sentence is about is in `words`, and what is chosen is decided in `cover`.
"""

import re
from typing import Final

NARRATED: Final = 4.0
OUTCOME: Final = 12.0
CHANGE: Final = 1.5
QUESTION: Final = 0.5
ASIDE: Final = 0.4
FRAGMENT: Final = 0.3
_FEW_WORDS: Final = 5

_CHANGE = re.compile(
    r"\b(?:die[sd]?|dead|death|kill(?:s|ed)?|slain|slays?|slew|defeat(?:s|ed)?|destroy(?:s|ed)?|took|taken|steals?|stole"
    r"|stolen|promis(?:e|es|ed)|swore|sworn|agree[sd]?|accept(?:s|ed)?|refuse[sd]?|found|finds?|discover(?:s|ed)?|left"
    r"|leaves?|fled|flees?|escap(?:e|es|ed)|arriv(?:e|es|ed)|return(?:s|ed)?|open(?:s|ed)?|unlock(?:s|ed)?|broke|broken"
    r"|gave|gives?|given|learn(?:s|ed|t)?|reveal(?:s|ed)?|betray(?:s|ed)?|captur(?:e|es|ed)|rescu(?:e|es|ed)|freed?"
    r"|saved?|lost|loses?|won|wins?|join(?:s|ed)?|hire[sd]?|paid|pays?|bought|sold|sent|sends?|fell|falls?"
    r"|vanish(?:es|ed)?|disappear(?:s|ed)?|transform(?:s|ed)?|becomes?|became|curse[sd]?|wound(?:s|ed)"
    r"|collaps(?:e|es|ed)|attack(?:s|ed)|ambush(?:ed)?|descend(?:s|ed)?|enter(?:s|ed)?|travel(?:s|ed|led)?"
    r"|reach(?:es|ed)?|plan(?:s|ned)?|decid(?:e|es|ed))\b",
    re.IGNORECASE,
)
# Dice, and talk about the game as a game: the rules keep the one, and no story needs the other.
_ASIDE = re.compile(
    r"\b(?:rolls?|rolled|d(?:4|6|8|10|12|20|100)|natural (?:1|20|one|twenty)|saving throws?|(?:perception|stealth"
    r"|insight|strength|dexterity|constitution|wisdom|charisma|intelligence|arcana|acrobatics|athletics|persuasion"
    r"|deception|history|nature|investigation|survival) (?:checks?|saves?)|initiative|modifiers?|hit points"
    r"|armou?r class|points of|damage|advantage|disadvantage|spell slots?|bonus action|your turn|\d+ to hit"
    r"|stream|twitch|youtube|episode|subscri\w+|chat ?room|donat\w+|charity|merch|giveaway|website|twitter"
    r"|d&d|dungeon master|players?|podcast|fans|camera|microphone|internet|next week|last week)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|nor|neither|without|cannot|\w+n['\u2019]t)\b", re.IGNORECASE
)


def is_change(sentence: str) -> bool:
    """Whether something comes of it: somebody died, took, promised, found, left."""
    return bool(_CHANGE.search(sentence))


def is_denied(sentence: str) -> bool:
    return bool(_DENIAL.search(sentence))


def weight_of(sentence: str, *, narrated: bool) -> float:
    """The weight of a sentence of the DM's telling, or of talk."""
    weight = NARRATED if narrated else 1.0
    if sentence.rstrip("\"'\u201d ").endswith(("?", "\uff1f", "\u061f")):
        weight *= QUESTION
    if sentence.isascii() and sentence.count(" ") + 1 < _FEW_WORDS:
        weight *= FRAGMENT
    if _ASIDE.search(sentence):
        weight *= ASIDE
    return weight
