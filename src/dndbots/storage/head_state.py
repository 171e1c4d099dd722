"""The state at the head of a branch: what is true now, as far as recording needs it.

It is read from the store and cached. The caches are bounded, and dropped when somebody else wrote to the
branch. Claims are folded by `canon.fold`; this module adds late evidence and merged identities.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final, TypeVar

from dndbots._jsontext import as_json
from dndbots.canon import fold
from dndbots.canon.claims import (
    AT,
    IN,
    MEMORY,
    NUMBER,
    PART_OF,
    SAME,
    CertaintyRank,
    Claim,
    HeldClaim,
    Shelf,
    change_slot,
    is_counting,
)
from dndbots.ids import DM, PARTY_UID
from dndbots.storage.codec import claim_from_row
from dndbots.storage.ports import ClaimKey, Lineage, Store, TruthRow

IN_PARTY: Final = f"{IN} {PARTY_UID}"
# A value, and the seq that it is valid from.
Known = tuple[object, int]
_UNKNOWN: Final[Known] = (None, -1)
_CONTAINMENT: Final = (AT, IN, PART_OF)
_MOST_FREE: Final = 100_000
_COUNTS: Final = (NUMBER, change_slot(NUMBER))
# The holders of claims that are not stored yet.
_HERE: Final = -1
TRACKED_SLOTS: Final = (AT, IN, PART_OF, NUMBER, SAME, IN_PARTY)


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


class _Person:
    """All uids of one entity; for each slot, the uids with a value, and the one with the newest value."""

    __slots__ = ("_ordered", "first", "newest", "uids", "valued")

    def __init__(self, uids: set[str]) -> None:
        self.uids, self.first = uids, min(uids)
        self.valued: dict[str, set[str]] = {}
        self.newest: dict[str, str] = {}
        self._ordered: tuple[str, ...] = ()

    @property
    def ordered(self) -> tuple[str, ...]:
        if len(self._ordered) != len(self.uids):
            self._ordered = tuple(sorted(self.uids))
        return self._ordered


class HeadState:
    """The truth at the head of a branch. The laws in `canon.laws` ask it."""

    def __init__(self, store: Store, branch: int, *, at_hand: int | None) -> None:
        self._store, self._branch = store, branch
        self._lineage: Lineage = ()
        self._known: Bounded[str, bool] = Bounded(at_hand)
        self._truth: Bounded[tuple[str, str], Known] = Bounded(at_hand)
        self._persons: Bounded[str, _Person] = Bounded(at_hand)
        # Claims and sightings of this batch, which are not stored yet.
        self._confirmed: dict[tuple[str, str], int] = {}
        self._seen: dict[str, int] = {}
        self._merging: dict[str, list[str]] = {}
        self._shelves: dict[str, Shelf | None] = {}
        self._counts: list[HeldClaim] = []
        self._free: set[str] = set()
        self._changed: dict[tuple[str, str], TruthRow] = {}

    def begin(self, lineage: Lineage) -> None:
        """Start a new batch: what the last one added is stored now."""
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
        """Drop all caches."""
        self._known.clear()
        self._truth.clear()
        self._persons.clear()
        self._free.clear()
        self._changed.clear()

    def changes(self) -> list[TruthRow]:
        """Return the rows of truth that changed since the last call."""
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    def knows(self, uid: str) -> bool:
        """Return whether the campaign knows an entity."""
        if uid not in self._known:
            self._known[uid] = bool(self._store.sighted(self._lineage, [uid]))
        return self._known[uid]

    def meet(self, uids: Iterable[str]) -> None:
        """Note entities that the campaign knows from now on."""
        self._known.update(dict.fromkeys(uids, True))

    def _known_truth(self, subject: str, slot: str) -> Known:
        key = subject, slot
        if key not in self._truth:
            row = self._store.truth(self._branch, [key]).get(key)
            self._truth[key] = _UNKNOWN if row is None else (json.loads(row.value), row.valid_from)
        return self._truth[key]

    def _value(self, uid: str, slot: str) -> object:
        """Return the value of a slot of an entity, from the uid under which it was said last."""
        person = self._person(uid)
        newest = uid if len(person.uids) == 1 else self._newest(person, slot)
        return self._known_truth(newest, slot)[0] if newest is not None else None

    def _newest(self, person: _Person, slot: str) -> str | None:
        """Return the uid under which a slot was said last; of several at one time, the first in order."""
        if slot not in person.newest:
            valued = sorted(self._valued(person, slot))
            if not valued:
                return None
            person.newest[slot] = max(valued, key=lambda uid: self._last_said(uid, slot))
        return person.newest[slot]

    def _valued(self, person: _Person, slot: str) -> set[str]:
        """Return the uids of an entity that have a value in a slot."""
        if slot not in person.valued:
            known = {uid for uid in person.uids if self._known_truth(uid, slot) is not _UNKNOWN}
            person.valued[slot] = known
        return person.valued[slot]

    def _last_said(self, uid: str, slot: str) -> int:
        """Return when a slot was last said under a uid, even if that changed nothing."""
        return max(self._known_truth(uid, slot)[1], self._confirmed_at((uid, slot)))

    def _hear(self, uid: str, slot: str) -> None:
        """Note that a slot was said under a uid, which may now be the newest."""
        person = self._persons.get(uid)
        if person is None or len(person.uids) == 1 or slot == SAME:
            return
        if self._known_truth(uid, slot) is not _UNKNOWN:
            self._valued(person, slot).add(uid)
        if slot in person.newest:
            person.newest[slot] = self._newer(person.newest[slot], uid, slot)

    def _newer(self, one: str, other: str, slot: str) -> str:
        first, second = sorted((one, other))
        return second if self._last_said(second, slot) > self._last_said(first, slot) else first

    def persons(self, uid: str) -> Sequence[str]:
        return self._person(uid).ordered

    def first_of(self, uid: str) -> str:
        return self._person(uid).first

    def _person(self, uid: str) -> _Person:
        if uid not in self._persons:
            uids, new = {uid}, [uid]
            while new:
                twin = new.pop()
                into, _ = self._known_truth(twin, SAME)
                twins = [
                    *self._store.where_true(self._branch, SAME, as_json(twin)),
                    *self._merging.get(twin, ()),
                ]
                twins += [into] if isinstance(into, str) else []
                new += [other for other in twins if other not in uids]
                uids.update(twins)
            self._persons.update(dict.fromkeys(uids, _Person(uids)))
        return self._persons[uid]

    def _join(self, uid: str, other: str) -> None:
        """Join two entities into one. The smaller goes into the larger, so a long chain costs little."""
        small, large = sorted((self._person(uid), self._person(other)), key=lambda person: len(person.uids))
        if small is large:
            return
        for slot in small.newest.keys() | large.newest.keys():
            newest = [uid for uid in (self._newest(small, slot), self._newest(large, slot)) if uid]
            large.newest[slot] = self._newer(newest[0], newest[-1], slot)
        for slot in small.valued.keys() | large.valued.keys():
            self._valued(large, slot).update(self._valued(small, slot))
        large.uids |= small.uids
        large.first = min(large.first, small.first)
        self._persons.update(dict.fromkeys(small.uids, large))

    def is_dead(self, uid: str) -> bool:
        """Return whether the number of an entity, under any of its uids, has come down to zero."""
        person = self._person(uid)
        if len(person.uids) == 1:
            number = self._known_truth(uid, NUMBER)[0]
        else:
            counted = self._valued(person, NUMBER)
            number = self._counted(sorted(counted)) if counted else None
        return isinstance(number, int) and number <= 0

    def _counted(self, persons: Sequence[str]) -> object:
        """Return the number of an entity with several uids, counted together, as every view does."""
        rows = self._store.latest(self._lineage, subjects=persons, slots=_COUNTS, viewer=DM)
        held = [claim_from_row(row) for row in rows if row.certainty == CertaintyRank.FACT]
        here = [claim for claim in self._counts if claim.subject in persons]
        held += [claim for claim in here if claim.slot == NUMBER]
        held += {claim.subject: claim for claim in here if claim.slot != NUMBER}.values()
        settled = fold.settle_claims(held, self._total_before)
        return settled[0].value if settled else None

    def _total_before(self, claim: HeldClaim, seq: int) -> int:
        if claim.holders == _HERE:
            return self._sum_here(claim.subject, before=seq)
        key = ClaimKey(claim.subject, claim.slot, claim.holders, claim.certainty)
        return self._store.total_before(self._lineage, key, seq) if seq else 0

    def _sum_here(self, subject: str, *, before: int) -> int:
        own = (
            claim for claim in self._counts if (claim.subject, claim.slot) == (subject, change_slot(NUMBER))
        )
        return sum(int(str(claim.value)) for claim in own if claim.seq < before)

    def _count(self, claim: Claim, seq: int) -> None:
        """Keep a count that is not stored yet; a change also with the sum of all changes so far."""
        total = None
        if is_counting(claim.slot):
            total = self._sum_here(claim.subject, before=seq + 1) + int(str(claim.value))
        made = HeldClaim(
            claim.subject,
            claim.slot,
            _HERE,
            int(CertaintyRank.FACT),
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
        """Return whether an entity is inside another. Most places are not, and that is cached."""
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
        """Return all subjects with one of some values in a slot, including those not stored yet."""
        stored = [
            who for value in values for who in self._store.where_true(self._branch, slot, as_json(value))
        ]
        candidates = {*stored, *(subject for subject, of in self._changed if of == slot)}
        return sorted(who for who in candidates if self._value(who, slot) in values)

    def at(self, location: str) -> list[str]:
        """Return the living at a location."""
        return [who for who in self._where(AT, self.persons(location)) if not self.is_dead(who)]

    def party(self) -> list[str]:
        """Return the living of the party."""
        return fold.find_party(self._where(IN_PARTY, [True]), self._characters, self.is_dead)

    def _characters(self) -> list[str]:
        known = {uid for uid, is_known in self._known.items() if is_known and uid.startswith("pc_")}
        return sorted(known | self._store.sighted(self._lineage, self._store.uids_like("pc_")))

    def apply(self, claim: Claim, *, at: int, seq: int) -> None:
        """Take in a claim that is true from now on. Late news of an earlier time replaces no newer truth."""
        if claim.slot == MEMORY:
            self._shelves[claim.subject] = Shelf.of(claim.value)
        if claim.slot in _COUNTS:
            self._count(claim, seq)
        if claim.slot not in TRACKED_SLOTS and claim.slot != change_slot(NUMBER):
            return
        slot, value = fold.value_after(claim, lambda slot: self._known_truth(claim.subject, slot)[0])
        key = claim.subject, slot
        if at < seq and self._confirmed_at(key) > at:
            return
        self._confirmed[key] = at
        self._settle(key, value, at, seq)
        self._hear(*key)

    def see(self, people: Iterable[str], place: str, seq: int) -> None:
        """Take in where people were seen."""
        truth, persons = self._truth, self._persons
        for who in people:
            self._seen[who] = seq
            person = persons.get(who) or self._person(who)
            if truth.get((who, AT), _UNKNOWN)[0] != place or len(person.uids) > 1:
                self._settle((who, AT), place, seq, seq)
                self._hear(who, AT)

    def _settle(self, key: tuple[str, str], value: object, at: int, seq: int) -> None:
        before, _ = self._known_truth(*key)
        if before != value or len(self._person(key[0]).uids) > 1:
            self._truth[key] = value, at
            self._changed[key] = TruthRow(self._branch, *key, as_json(value), at, seq)
            if key[1] in _CONTAINMENT:
                self._free.difference_update(self._person(key[0]).uids)
            if key[1] == SAME and isinstance(value, str):
                self._free.clear()
                self._merging.setdefault(value, []).append(key[0])
                if before is None:
                    self._join(key[0], value)
                else:
                    self._persons.clear()

    def _confirmed_at(self, key: tuple[str, str]) -> int:
        """Return the seq of the newest evidence for a slot. Truth itself keeps only when its value began."""
        subject, slot = key
        times = [self._confirmed.get(key, 0)]
        held = self._store.latest(self._lineage, subjects=[subject], slots=[slot], viewer=DM)
        times += [claim.valid_from for claim in held]
        if slot == AT:
            seen = self._store.latest_places(self._lineage, [subject], DM)
            times += [self._seen.get(subject, 0), *(row.seq for row in seen)]
        return max(times)
