"""What a row of claims comes to: the newest evidence wins, whenever it arrives, and the older is kept."""

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from dndbots.compaction.data import MOST_EARLIER, Earlier, Stated
from dndbots.ids import folded

# Before all turns.
LONG_AGO: Final = -1
Said = Literal["is", "also", "ended"]


class Claim(NamedTuple):
    """That something is so, is so as well, or is so no longer.

    `time` is the place of its turn in the order of play, `arrival` its place among the claims of one time.
    `since` is the event that it speaks of.
    """

    time: int
    arrival: int
    said: Said
    value: JsonValue
    since: str


class Standing(NamedTuple):
    """A value that claims have come to, and since which event."""

    value: JsonValue
    since: str


def claims_of(stated: Stated, time_of: Callable[[str], int]) -> tuple[Claim, ...]:
    """What was known already, as claims of their times."""
    known = [(earlier.value, earlier.since) for earlier in reversed(stated.earlier)]
    known.append((stated.value, stated.since))
    first = -len(known)
    return tuple(
        Claim(time_of(since), first + n, "is", value, since) for n, (value, since) in enumerate(known)
    )


def stated(claims: Iterable[Claim]) -> Stated | None:
    """What is so after all of the claims, in their order of time; None where nothing is."""
    current: Standing | None = None
    before: list[Standing] = []
    for claim in sorted(claims, key=lambda claim: (claim.time, claim.arrival)):
        value = _after(current.value if current else None, claim)
        if current is not None and _is_same(current.value, value):
            continue
        if current is not None:
            before.append(current)
        current = None if value is None else Standing(value, claim.since)
    if current is None:
        return None
    earlier = tuple(Earlier(value=value, since=since) for value, since in reversed(before[-MOST_EARLIER:]))
    return Stated(value=current.value, since=current.since, earlier=earlier)


def _after(value: JsonValue, claim: Claim) -> JsonValue:
    """A value after one more claim; None where nothing is left of it."""
    if claim.said == "is":
        return claim.value
    several = value if isinstance(value, list) else []
    named = claim.value if isinstance(claim.value, list) else [claim.value]
    if claim.said == "also":
        return [*several, *(one for one in named if one not in several)]
    if isinstance(value, list):
        return [one for one in value if one not in named] or None
    return None if _is_same(value, claim.value) else value


def _is_same(value: JsonValue, other: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return folded(value) == folded(other)
    return value == other
