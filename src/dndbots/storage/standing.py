"""What is true at the head of a branch, as far as recording needs it: read from the store, kept at hand.

What is at hand is bounded, and is forgotten as soon as somebody else wrote to the branch.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final, TypeVar

from dndbots._json import as_json
from dndbots.canon import fold
from dndbots.canon.claims import (
    AT,
    IN,
    MEMORY,
    NUMBER,
    PART_OF,
    SAME,
    Certainty,
    Claim,
    HeldClaim,
    Shelf,
    change,
    counts,
)
from dndbots.ids import DM, PARTY_UID
from dndbots.storage.codec import held_claim
from dndbots.storage.ports import ClaimKey, Lineage, Store, TruthRow

OF_THE_PARTY: Final = f"{IN} {PARTY_UID}"
# A value, and the time that it speaks of.
Known = tuple[object, int]
_UNKNOWN: Final[Known] = (None, -1)
_CONTAINMENT: Final = (AT, IN, PART_OF)
_MOST_FREE: Final = 100_000
_COUNTS: Final = (NUMBER, change(NUMBER))
# The holders of what the store does not have yet.
_HERE: Final = -1
TRACKED: Final = (AT, IN, PART_OF, NUMBER, SAME, OF_THE_PARTY)


Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value]):
    """A dictionary that forgets its oldest quarter when it is full."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self.limit = limit

    def trim(self) -> None:
        limit = self.limit
        if limit is not None and len(self) > limit:
            for key in list(islice(self, limit // 4)):
                del self[key]


class Standing:
    """Implements what `canon.laws` asks for."""

    def __init__(self, store: Store, branch: int, *, at_hand: int | None) -> None:
        self._store, self._branch = store, branch
        self._lineage: Lineage = ()
        self._known: Bounded[str, bool] = Bounded(at_hand)
        self._truth: Bounded[tuple[str, str], Known] = Bounded(at_hand)
        self._persons: Bounded[str, Sequence[str]] = Bounded(at_hand)
        # What this batch says and shows, which the store does not have yet.
        self._confirmed: dict[tuple[str, str], int] = {}
        self._seen: dict[str, int] = {}
        self._merging: dict[str, list[str]] = {}
        self._shelves: dict[str, Shelf | None] = {}
        self._counts: list[HeldClaim] = []
        self._free: set[str] = set()
        self._changed: dict[tuple[str, str], TruthRow] = {}

    def begin(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._known.trim()
        self._truth.trim()
        self._confirmed.clear()
        self._seen.clear()
        self._merging.clear()
        self._shelves.clear()
        self._counts.clear()
        self._persons.trim()
        if len(self._free) > _MOST_FREE:
            self._free.clear()

    def forget(self) -> None:
        self._known.clear()
        self._truth.clear()
        self._persons.clear()
        self._free.clear()
        self._changed.clear()

    def changes(self) -> list[TruthRow]:
        """What became true since the last call, for the store to keep."""
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    def knows(self, uid: str) -> bool:
        if uid not in self._known:
            self._known[uid] = bool(self._store.sighted(self._lineage, [uid]))
        return self._known[uid]

    def meet(self, uids: Iterable[str]) -> None:
        self._known.update(dict.fromkeys(uids, True))

    def _known_truth(self, subject: str, slot: str) -> Known:
        key = subject, slot
        if key not in self._truth:
            row = self._store.truth(self._branch, [key]).get(key)
            self._truth[key] = _UNKNOWN if row is None else (json.loads(row.value), row.valid_from)
        return self._truth[key]

    def _value(self, uid: str, slot: str) -> object:
        """What is true of somebody, under whatever uid it was said last."""
        persons = self.persons(uid)
        if len(persons) == 1:
            return self._known_truth(uid, slot)[0]
        told = [one for one in persons if self._known_truth(one, slot) is not _UNKNOWN]
        newest = max(told, key=lambda one: self._last_word(one, slot), default=uid)
        return self._known_truth(newest, slot)[0]

    def _last_word(self, uid: str, slot: str) -> int:
        """When something was last said under a uid, also where that changed nothing."""
        return max(self._known_truth(uid, slot)[1], self._confirmed_at((uid, slot)))

    def persons(self, uid: str) -> Sequence[str]:
        if uid not in self._persons:
            found, new = {uid}, [uid]
            while new:
                one = new.pop()
                into, _ = self._known_truth(one, SAME)
                twins = [
                    *self._store.where_true(self._branch, SAME, as_json(one)),
                    *self._merging.get(one, ()),
                ]
                twins += [into] if isinstance(into, str) else []
                new += [other for other in twins if other not in found]
                found.update(twins)
            self._persons[uid] = (uid,) if len(found) == 1 else tuple(sorted(found))
        return self._persons[uid]

    def is_dead(self, uid: str) -> bool:
        """Whether somebody, under whatever uid, has been counted out."""
        persons = self.persons(uid)
        number = self._known_truth(uid, NUMBER)[0] if len(persons) == 1 else self._counted(persons)
        return isinstance(number, int) and number <= 0

    def _counted(self, persons: Sequence[str]) -> object:
        """How many there are of one who goes by several uids: counted together, as every view does."""
        rows = self._store.latest(self._lineage, subjects=persons, slots=_COUNTS, viewer=DM)
        held = [held_claim(row) for row in rows if row.certainty == Certainty.FACT]
        here = [one for one in self._counts if one.subject in persons]
        held += [one for one in here if one.slot == NUMBER]
        held += {one.subject: one for one in here if one.slot != NUMBER}.values()
        settled = fold.current(held, self._total_before)
        return settled[0].value if settled else None

    def _total_before(self, claim: HeldClaim, seq: int) -> int:
        if claim.holders == _HERE:
            return self._sum_here(claim.subject, before=seq)
        key = ClaimKey(claim.subject, claim.slot, claim.holders, claim.certainty)
        return self._store.total_before(self._lineage, key, seq) if seq else 0

    def _sum_here(self, subject: str, *, before: int) -> int:
        changes = (one for one in self._counts if (one.subject, one.slot) == (subject, change(NUMBER)))
        return sum(int(str(one.value)) for one in changes if one.seq < before)

    def _count(self, claim: Claim, seq: int) -> None:
        """Keeps a count that the store does not have yet; a change with the sum of all so far."""
        total = None
        if counts(claim.slot):
            total = self._sum_here(claim.subject, before=seq + 1) + int(str(claim.value))
        made = HeldClaim(
            claim.subject,
            claim.slot,
            _HERE,
            int(Certainty.FACT),
            seq,
            seq,
            len(self._counts),
            claim.value,
            total,
            "",
            None,
        )
        self._counts.append(made)

    def container_of(self, uid: str, slot: str) -> str | None:
        found = self._value(uid, slot)
        return found if isinstance(found, str) else None

    def is_contained(self, uid: str) -> bool:
        """Whether something is in anything at all. Most places are not, and that is remembered."""
        if uid not in self._free and not any(self.container_of(uid, slot) for slot in _CONTAINMENT):
            self._free.add(uid)
        return uid not in self._free

    def merged_into(self, uid: str) -> str | None:
        found, _ = self._known_truth(uid, SAME)
        return found if isinstance(found, str) else None

    def shelf(self, subject: str) -> Shelf | None:
        if subject in self._shelves:
            return self._shelves[subject]
        held = self._store.latest(self._lineage, subjects=[subject], slots=[MEMORY], viewer=DM)
        newest = max(held, key=lambda row: row.seq, default=None)
        return None if newest is None else Shelf.of(json.loads(newest.value))

    def _where(self, slot: str, values: Collection[object]) -> list[str]:
        """Everybody of whom something is true, what is not stored yet included."""
        stored = [
            who for value in values for who in self._store.where_true(self._branch, slot, as_json(value))
        ]
        candidates = {*stored, *(subject for subject, of in self._changed if of == slot)}
        return sorted(who for who in candidates if self._value(who, slot) in values)

    def at(self, location: str) -> list[str]:
        """The living who are placed at a location."""
        return [who for who in self._where(AT, self.persons(location)) if not self.is_dead(who)]

    def party(self) -> list[str]:
        """The living of the party: who is stated to be in it, or else every character there is."""
        members: Iterable[str] = self._where(OF_THE_PARTY, [True])
        if not members:
            known = {uid for uid, is_known in self._known.items() if is_known and uid.startswith("pc_")}
            members = sorted(known | self._store.sighted(self._lineage, self._store.uids_like("pc_")))
        return [who for who in members if not self.is_dead(who)]

    def apply(self, claim: Claim, *, at: int, seq: int) -> None:
        """Takes in what is true from now on. Late news of earlier times does not replace newer truth."""
        slot, value = claim.slot, claim.value
        if slot == MEMORY:
            self._shelves[claim.subject] = Shelf.of(value)
        if slot in _COUNTS:
            self._count(claim, seq)
        if slot == change(NUMBER) and isinstance(value, int):
            before, _ = self._known_truth(claim.subject, NUMBER)
            slot, value = NUMBER, (before if isinstance(before, int) else 1) + value
        if slot not in TRACKED:
            return
        key = claim.subject, slot
        if at < seq and self._confirmed_at(key) > at:
            return
        self._confirmed[key] = at
        self._settle(key, value, at, seq)

    def see(self, people: Iterable[str], place: str, seq: int) -> None:
        """Takes in where people are."""
        truth = self._truth
        for who in people:
            if truth.get((who, AT), _UNKNOWN)[0] != place or len(self.persons(who)) > 1:
                self._settle((who, AT), place, seq, seq)
        self._seen.update(dict.fromkeys(people, seq))

    def _settle(self, key: tuple[str, str], value: object, at: int, seq: int) -> None:
        if self._known_truth(*key)[0] != value or len(self.persons(key[0])) > 1:
            self._truth[key] = value, at
            self._changed[key] = TruthRow(self._branch, *key, as_json(value), at, seq)
            if key[1] in _CONTAINMENT:
                self._free.difference_update(self.persons(key[0]))
            if key[1] == SAME and isinstance(value, str):
                self._free.clear()
                self._merging.setdefault(value, []).append(key[0])
                self._persons.clear()

    def _confirmed_at(self, key: tuple[str, str]) -> int:
        """The time that the newest evidence speaks of; truth itself keeps only when the value came about."""
        subject, slot = key
        times = [self._confirmed.get(key, 0)]
        held = self._store.latest(self._lineage, subjects=[subject], slots=[slot], viewer=DM)
        times += [claim.valid_from for claim in held]
        if slot == AT:
            seen = self._store.latest_places(self._lineage, [subject], DM)
            times += [self._seen.get(subject, 0), *(row.seq for row in seen)]
        return max(times)
