"""The fold of claims into values: what somebody holds true now, or held true before.

The caller passes the claims of one viewer; nothing here sees any others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import CertaintyRank, Claim, HeldClaim, is_counting

# The value of an amount before anybody stated it. Hit points are unknown then; only their change is known.
_START: Final = {claims.NUMBER: 1, "gold": 0, "reputation": 0}
_NO_START: Final = "hp"

# Returns the sum of a counting slot before a seq, over claims with the holders and certainty of a claim.
TotalBefore = Callable[[HeldClaim, int], int]


class SlotValue(NamedTuple):
    """A slot of one subject, and the value in it; None where nothing is true any more."""

    slot: str
    value: JsonValue


def value_after(claim: Claim, value_in: Callable[[str], object]) -> SlotValue:
    """Return the slot that a claim changes and its new value. `value_in` gives the value of a slot so far.

    For folds that take claims in the order of the log. `settle_claims` folds claims that come in any order.
    """
    if not is_counting(claim.slot):
        return SlotValue(claim.slot, claim.value)
    slot = claim.slot.removeprefix("+")
    before = value_in(slot)
    amount = before if isinstance(before, int) else _START.get(slot, 0)
    return SlotValue(slot, amount + (claim.value if isinstance(claim.value, int) else 0))


def find_party(
    stated: Sequence[str], characters: Callable[[], Iterable[str]], is_dead: Callable[[str], bool]
) -> list[str]:
    """Return the living of the party: those stated to be in it, or else all characters."""
    return [who for who in stated or characters() if not is_dead(who)]


class Settled(NamedTuple):
    """A value that is held true, and the claim behind it."""

    slot: str
    value: JsonValue
    certainty: int
    claim: HeldClaim


def claim_order(claim: HeldClaim) -> tuple[int, int, int]:
    """Return the sort key of claims by time: first the time they speak of, then the time they were made."""
    return claim.at, claim.seq, claim.n


def settle_claims(held: Iterable[HeldClaim], total_before: TotalBefore) -> list[Settled]:
    """Return the values that are held true, by slot.

    `held` needs at least the newest claim of each slot, set of holders and certainty.
    """
    held = list(held)
    if len(held) == 1 and not is_counting(held[0].slot):
        claim = held[0]
        return [Settled(claim.slot, claim.value, claim.certainty, claim)]
    by_slot: dict[str, list[HeldClaim]] = {}
    for claim in held:
        by_slot.setdefault(claim.slot, []).append(claim)
    settled: list[Settled] = []
    for slot in sorted({slot.removeprefix("+") for slot in by_slot}):
        stated, changes = by_slot.get(slot, []), by_slot.get(f"+{slot}")
        if changes:
            settled += _amounts(slot, stated, changes, total_before)
        else:
            settled += [Settled(slot, step.value, step.certainty, step) for step in _staircase(stated)]
    return settled


def _staircase(held: Iterable[HeldClaim]) -> list[HeldClaim]:
    """Return the newest fact, then a belief if it is newer, then a rumor if it is newer still."""
    newest: dict[int, HeldClaim] = {}
    for claim in held:
        other = newest.get(claim.certainty)
        if other is None or claim_order(claim) > claim_order(other):
            newest[claim.certainty] = claim
    steps: list[HeldClaim] = []
    for certainty in sorted(newest, reverse=True):
        if not steps or claim_order(newest[certainty]) > claim_order(steps[-1]):
            steps.append(newest[certainty])
    return steps


def _amounts(
    slot: str, stated: list[HeldClaim], changes: list[HeldClaim], total_before: TotalBefore
) -> list[Settled]:
    """Return an amount by facts alone, then with beliefs, then with rumors: a lie never beats a fact."""
    settled: list[Settled] = []
    for certainty in sorted(CertaintyRank, reverse=True):
        amount = _amount(
            slot,
            [claim for claim in stated if claim.certainty >= certainty],
            [claim for claim in changes if claim.certainty >= certainty],
            total_before,
        )
        if amount is not None and amount.certainty == certainty:
            settled.append(amount)
    return settled


def _amount(
    slot: str, stated: list[HeldClaim], changes: list[HeldClaim], total_before: TotalBefore
) -> Settled | None:
    """Return the newest stated amount plus later changes. In one event, statements come before changes."""
    base = max(stated, key=claim_order, default=None)
    start = base.value if base else _START.get(slot, 0)
    since = 0 if base is None else base.at if base.at == base.seq else base.at + 1
    total = start if isinstance(start, int) else 0
    counted = [] if base is None else [base]
    for same in _same_holders(changes):
        newest = max(same, key=claim_order)
        if newest.seq >= since:
            total += sum(claim.total or 0 for claim in same) - total_before(same[0], since)
            counted.append(newest)
    if not counted:
        return None
    name = f"{slot}_change" if base is None and slot == _NO_START else slot
    return Settled(name, total, min(claim.certainty for claim in counted), max(counted, key=claim_order))


def _same_holders(changes: Iterable[HeldClaim]) -> Iterator[list[HeldClaim]]:
    def key(claim: HeldClaim) -> tuple[str, int, int]:
        return claim.subject, claim.holders, claim.certainty

    for _, same in groupby(sorted(changes, key=key), key):
        yield list(same)


class PastClaim(NamedTuple):
    """A claim, and the claim that superseded it."""

    claim: HeldClaim
    superseded_by: HeldClaim | None


def claim_history(held: Iterable[HeldClaim]) -> list[PastClaim]:
    """Return all claims, oldest first, each with the next one of its slot that is at least as certain."""
    ordered = sorted(held, key=claim_order)
    past: list[PastClaim] = []
    later: dict[tuple[str, int], HeldClaim] = {}
    for claim in reversed(ordered):
        newer = [
            later[claim.slot, certainty]
            for certainty in range(claim.certainty, CertaintyRank.FACT + 1)
            if (claim.slot, certainty) in later and not is_counting(claim.slot)
        ]
        past.append(PastClaim(claim, min(newer, key=claim_order) if newer else None))
        later[claim.slot, claim.certainty] = claim
    return past[::-1]
