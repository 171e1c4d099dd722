"""Reactions: the first attitude of strangers towards the party."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from dndbots.rules.characters.abilities import reaction_modifier
from dndbots.rules.dice import roll
from dndbots.rules.outcomes import Outcome, signed


class Attitude(StrEnum):
    ATTACKING = "attacking"
    HOSTILE = "hostile"
    WARY = "wary"
    OPEN = "open"
    FRIENDLY = "friendly"


# The most that still counts for each.
_UP_TO: Final = ((2, Attitude.ATTACKING), (5, Attitude.HOSTILE), (8, Attitude.WARY), (11, Attitude.OPEN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction(Outcome):
    total: int
    attitude: Attitude


def attitude_at(total: int) -> Attitude:
    """Return the attitude for a total: 2 or less attacks at once, 12 or more is friendly."""
    return next((attitude for most, attitude in _UP_TO if total <= most), Attitude.FRIENDLY)


def reaction(*, rng: Random, charisma: int = 10, bonus: int = 0) -> Reaction:
    """Roll 2d6 plus the speaker's charisma and a bonus for what was said or given."""
    made = roll("2d6", rng=rng)
    bonus += reaction_modifier(charisma)
    total = made.total + bonus
    attitude = attitude_at(total)
    text = f"reaction: 2d6 {made.total}{signed(bonus)} = {total}: {attitude}"
    return Reaction(rolls=(made,), text=text, total=total, attitude=attitude)
