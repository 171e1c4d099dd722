"""Held claims become what somebody holds true now, or held before.

Whoever calls this has already chosen the claims of one viewer; nothing here knows any other.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Certainty, HeldClaim, counts

# What an amount is before anybody counted it. Hit points are not known then, only their change.
_START: Final = {claims.NUMBER: 1, "gold": 0, "reputation": 0}
_NO_START: Final = "hp"

# The sum of a counting slot, of the same holders and certainty as a claim, before a place in the log.
TotalBefore = Callable[[HeldClaim, int], int]


class Settled(NamedTuple):
    """One thing that is held true: the claim that says so, and the value that it comes to."""

    slot: str
    value: JsonValue
    certainty: int
    claim: HeldClaim


def order(claim: HeldClaim) -> tuple[int, int, int]:
    """Newer is what speaks of a later time; of the same time, what was said later."""
    return claim.at, claim.seq, claim.n


def current(held: Iterable[HeldClaim], total_before: TotalBefore) -> list[Settled]:
    """What is held true. `held` has at least the newest claim of each slot, holders and certainty."""
    by_slot: dict[str, list[HeldClaim]] = {}
    for claim in held:
        by_slot.setdefault(claim.slot, []).append(claim)
    found: list[Settled] = []
    for slot in sorted({slot.removeprefix("+") for slot in by_slot}):
        stated, changes = by_slot.get(slot, []), by_slot.get(f"+{slot}")
        if changes:
            found += _amounts(slot, stated, changes, total_before)
        else:
            found += [Settled(slot, step.value, step.certainty, step) for step in _staircase(stated)]
    return found


def _staircase(held: Iterable[HeldClaim]) -> list[HeldClaim]:
    """The newest fact, then a belief if it is newer, then a rumor if it is newer still."""
    newest: dict[int, HeldClaim] = {}
    for claim in held:
        other = newest.get(claim.certainty)
        if other is None or order(claim) > order(other):
            newest[claim.certainty] = claim
    steps: list[HeldClaim] = []
    for certainty in sorted(newest, reverse=True):
        if not steps or order(newest[certainty]) > order(steps[-1]):
            steps.append(newest[certainty])
    return steps


def _amounts(
    slot: str, stated: list[HeldClaim], changes: list[HeldClaim], total_before: TotalBefore
) -> list[Settled]:
    """An amount by facts alone, then with beliefs, then with rumors: a lie does not beat what was seen."""
    found: list[Settled] = []
    for certainty in sorted(Certainty, reverse=True):
        amount = _amount(
            slot,
            [claim for claim in stated if claim.certainty >= certainty],
            [claim for claim in changes if claim.certainty >= certainty],
            total_before,
        )
        if amount is not None and amount.certainty == certainty:
            found.append(amount)
    return found


def _amount(
    slot: str, stated: list[HeldClaim], changes: list[HeldClaim], total_before: TotalBefore
) -> Settled | None:
    """The newest statement and the changes after it. What an event states comes before what it changes."""
    base = max(stated, key=order, default=None)
    start = base.value if base else _START.get(slot, 0)
    since = 0 if base is None else base.at if base.at == base.seq else base.at + 1
    total = start if isinstance(start, int) else 0
    counted = [] if base is None else [base]
    for same in _same_holders(changes):
        newest = max(same, key=order)
        if newest.seq >= since:
            total += sum(claim.total or 0 for claim in same) - total_before(same[0], since)
            counted.append(newest)
    if not counted:
        return None
    name = f"{slot}_change" if base is None and slot == _NO_START else slot
    return Settled(name, total, min(claim.certainty for claim in counted), max(counted, key=order))


def _same_holders(changes: Iterable[HeldClaim]) -> Iterator[list[HeldClaim]]:
    def key(claim: HeldClaim) -> tuple[str, int, int]:
        return claim.subject, claim.holders, claim.certainty

    for _, same in groupby(sorted(changes, key=key), key):
        yield list(same)


class Past(NamedTuple):
    """A claim of the past, and the one that superseded it."""

    claim: HeldClaim
    superseded_by: HeldClaim | None


def history(held: Iterable[HeldClaim]) -> list[Past]:
    """All claims, oldest first, each with the first later one of its slot that is at least as sure."""
    ordered = sorted(held, key=order)
    found: list[Past] = []
    later: dict[tuple[str, int], HeldClaim] = {}
    for claim in reversed(ordered):
        newer = [
            later[claim.slot, certainty]
            for certainty in range(claim.certainty, Certainty.FACT + 1)
            if (claim.slot, certainty) in later and not counts(claim.slot)
        ]
        found.append(Past(claim, min(newer, key=order) if newer else None))
        later[claim.slot, claim.certainty] = claim
    return found[::-1]
