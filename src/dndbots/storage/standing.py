"""What is true at the head of a branch, as far as recording needs it: read from the store, kept at hand.

What is at hand is bounded, and is forgotten as soon as somebody else wrote to the branch.
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


class _Person:
    """All uids of somebody, and by slot those of which something is true and the newest of these."""

    __slots__ = ("_ordered", "first", "newest", "told", "uids")

    def __init__(self, uids: set[str]) -> None:
        self.uids, self.first = uids, min(uids)
        self.told: dict[str, set[str]] = {}
        self.newest: dict[str, str] = {}
        self._ordered: tuple[str, ...] = ()

    @property
    def ordered(self) -> tuple[str, ...]:
        if len(self._ordered) != len(self.uids):
            self._ordered = tuple(sorted(self.uids))
        return self._ordered


class Standing:
    """Implements what `canon.laws` asks for."""

    def __init__(self, store: Store, branch: int, *, at_hand: int | None) -> None:
        self._store, self._branch = store, branch
        self._lineage: Lineage = ()
        self._known: Bounded[str, bool] = Bounded(at_hand)
        self._truth: Bounded[tuple[str, str], Known] = Bounded(at_hand)
        self._persons: Bounded[str, _Person] = Bounded(at_hand)
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
        person = self._person(uid)
        newest = uid if len(person.uids) == 1 else self._newest(person, slot)
        return self._known_truth(newest, slot)[0] if newest is not None else None

    def _newest(self, person: _Person, slot: str) -> str | None:
        """The uid under which something was said last; of several at one time, the first by order."""
        if slot not in person.newest:
            told = sorted(self._told(person, slot))
            if not told:
                return None
            person.newest[slot] = max(told, key=lambda one: self._last_word(one, slot))
        return person.newest[slot]

    def _told(self, person: _Person, slot: str) -> set[str]:
        """Those uids of somebody of which something is true in a slot."""
        if slot not in person.told:
            known = {one for one in person.uids if self._known_truth(one, slot) is not _UNKNOWN}
            person.told[slot] = known
        return person.told[slot]

    def _last_word(self, uid: str, slot: str) -> int:
        """When something was last said under a uid, also where that changed nothing."""
        return max(self._known_truth(uid, slot)[1], self._confirmed_at((uid, slot)))

    def _hear(self, uid: str, slot: str) -> None:
        """Notes that something was said under a uid, so that it may be the newest."""
        person = self._persons.get(uid)
        if person is None or len(person.uids) == 1 or slot == SAME:
            return
        if self._known_truth(uid, slot) is not _UNKNOWN:
            self._told(person, slot).add(uid)
        if slot in person.newest:
            person.newest[slot] = self._newer(person.newest[slot], uid, slot)

    def _newer(self, one: str, other: str, slot: str) -> str:
        first, second = sorted((one, other))
        return second if self._last_word(second, slot) > self._last_word(first, slot) else first

    def persons(self, uid: str) -> Sequence[str]:
        return self._person(uid).ordered

    def first_of(self, uid: str) -> str:
        return self._person(uid).first

    def _person(self, uid: str) -> _Person:
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
            self._persons.update(dict.fromkeys(found, _Person(found)))
        return self._persons[uid]

    def _join(self, uid: str, other: str) -> None:
        """Makes one person of two. The smaller one goes into the larger, so a long chain costs little."""
        small, large = sorted((self._person(uid), self._person(other)), key=lambda one: len(one.uids))
        if small is large:
            return
        for slot in small.newest.keys() | large.newest.keys():
            winners = [one for one in (self._newest(small, slot), self._newest(large, slot)) if one]
            large.newest[slot] = self._newer(winners[0], winners[-1], slot)
        for slot in small.told.keys() | large.told.keys():
            self._told(large, slot).update(self._told(small, slot))
        large.uids |= small.uids
        large.first = min(large.first, small.first)
        self._persons.update(dict.fromkeys(small.uids, large))

    def is_dead(self, uid: str) -> bool:
        """Whether somebody, under whatever uid, has been counted out."""
        person = self._person(uid)
        if len(person.uids) == 1:
            number = self._known_truth(uid, NUMBER)[0]
        else:
            counted = self._told(person, NUMBER)
            number = self._counted(sorted(counted)) if counted else None
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
        self._hear(*key)

    def see(self, people: Iterable[str], place: str, seq: int) -> None:
        """Takes in where people are."""
        truth = self._truth
        for who in people:
            self._seen[who] = seq
            if truth.get((who, AT), _UNKNOWN)[0] != place or len(self._person(who).uids) > 1:
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
        """The time that the newest evidence speaks of; truth itself keeps only when the value came about."""
        subject, slot = key
        times = [self._confirmed.get(key, 0)]
        held = self._store.latest(self._lineage, subjects=[subject], slots=[slot], viewer=DM)
        times += [claim.valid_from for claim in held]
        if slot == AT:
            seen = self._store.latest_places(self._lineage, [subject], DM)
            times += [self._seen.get(subject, 0), *(row.seq for row in seen)]
        return max(times)
