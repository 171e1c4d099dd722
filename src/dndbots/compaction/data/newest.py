"""Weighs claims on the same fact: the newest evidence wins, whenever it arrives; older values are kept."""

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from dndbots.compaction.data.models import MOST_EARLIER, Earlier, StatedValue
from dndbots.ids import fold_name

# Not `canon.fold`: updates arrive in any order of time, values are growing lists, and texts that differ only
# in case are the same.

# A time before all turns.
LONG_AGO: Final = -1
ClaimEffect = Literal["is", "also", "ended"]


class DataClaim(NamedTuple):
    """A claim that sets, adds or ends a value.

    `time` is the position of its turn in the order of play, `arrival` orders the claims of one turn.
    `since` is the id of the event it comes from.
    """

    time: int
    arrival: int
    effect: ClaimEffect
    value: JsonValue
    since: str


class NewestValue(NamedTuple):
    """The value after some claims, and the event since which it holds."""

    value: JsonValue
    since: str


def claims_of_value(stated: StatedValue, time_of: Callable[[str], int]) -> tuple[DataClaim, ...]:
    """Return a known value and its earlier values as claims."""
    known = [(earlier.value, earlier.since) for earlier in reversed(stated.earlier)]
    known.append((stated.value, stated.since))
    first = -len(known)
    return tuple(
        DataClaim(time_of(since), first + n, "is", value, since) for n, (value, since) in enumerate(known)
    )


def weigh_claims(claims: Iterable[DataClaim]) -> StatedValue | None:
    """Return the value after all claims in order of time; None if no value is left."""
    current: NewestValue | None = None
    before: list[NewestValue] = []
    for claim in sorted(claims, key=lambda claim: (claim.time, claim.arrival)):
        value = _after(current.value if current else None, claim)
        if current is not None and _is_same(current.value, value):
            continue
        if current is not None:
            before.append(current)
        current = None if value is None else NewestValue(value, claim.since)
    if current is None:
        return None
    earlier = tuple(Earlier(value=value, since=since) for value, since in reversed(before[-MOST_EARLIER:]))
    return StatedValue(value=current.value, since=current.since, earlier=earlier)


def _after(value: JsonValue, claim: DataClaim) -> JsonValue:
    """Return a value after one more claim; None if nothing is left of it."""
    if claim.effect == "is":
        return claim.value
    several = value if isinstance(value, list) else []
    named = claim.value if isinstance(claim.value, list) else [claim.value]
    if claim.effect == "also":
        return [*several, *(item for item in named if item not in several)]
    if isinstance(value, list):
        return [item for item in value if item not in named] or None
    return None if _is_same(value, claim.value) else value


def _is_same(value: JsonValue, other: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return fold_name(value) == fold_name(other)
    return value == other
