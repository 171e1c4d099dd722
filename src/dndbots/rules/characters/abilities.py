"""The six abilities and what a score is worth."""

from bisect import bisect_right
from enum import StrEnum
from typing import Final

from dndbots.models import Stats


class Ability(StrEnum):
    STRENGTH = "str"
    DEXTERITY = "dex"
    CONSTITUTION = "con"
    INTELLIGENCE = "int"
    WISDOM = "wis"
    CHARISMA = "cha"


# The first score of each step above the lowest.
_STEPS: Final = (4, 6, 9, 13, 16, 18)
_MODIFIERS: Final = (-3, -2, -1, 0, 1, 2, 3)
_REACTIONS: Final = (-2, -1, -1, 0, 1, 1, 2)


def modifier(score: int) -> int:
    """Return the bonus of a score: -3 at 3 to +3 at 18."""
    return _MODIFIERS[bisect_right(_STEPS, score)]


def reaction_modifier(charisma: int) -> int:
    """Return the bonus of charisma to reactions, which is smaller: -2 to +2."""
    return _REACTIONS[bisect_right(_STEPS, charisma)]


def score_of(stats: Stats, ability: Ability) -> int:
    score: int = getattr(stats, ability.value)
    return score


def modifiers(stats: Stats) -> dict[Ability, int]:
    """Return all six modifiers."""
    return {ability: modifier(score_of(stats, ability)) for ability in Ability}
