"""What is true at the head of a branch, as far as recording needs it: read from the store, kept at hand.

What is at hand is bounded, and is forgotten as soon as somebody else wrote to the branch.
"""

import json
from collections.abc import Iterable
from itertools import islice
from typing import Final, TypeVar

from dndbots._json import as_json
from dndbots.canon.claims import AT, IN, NUMBER, PART_OF, SAME, Claim, change
from dndbots.ids import DM, PARTY_UID
from dndbots.storage.ports import Lineage, Store, TruthRow

OF_THE_PARTY: Final = f"{IN} {PARTY_UID}"
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
        self._truth: Bounded[tuple[str, str], object] = Bounded(at_hand)
        # What this batch says and shows, which the store does not have yet.
        self._confirmed: dict[tuple[str, str], int] = {}
        self._seen: dict[str, int] = {}
        self._changed: dict[tuple[str, str], TruthRow] = {}

    def begin(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._known.trim()
        self._truth.trim()
        self._confirmed.clear()
        self._seen.clear()

    def forget(self) -> None:
        self._known.clear()
        self._truth.clear()
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

    def _value(self, subject: str, slot: str) -> object:
        key = subject, slot
        if key not in self._truth:
            row = self._store.truth(self._branch, [key]).get(key)
            self._truth[key] = None if row is None else json.loads(row.value)
        return self._truth[key]

    def is_dead(self, uid: str) -> bool:
        """Whether somebody, or whoever that turned out to be, has been counted out."""
        one: str | None = uid
        while one is not None:
            number = self._value(one, NUMBER)
            if isinstance(number, int) and number <= 0:
                return True
            one = self.merged_into(one)
        return False

    def container_of(self, uid: str, slot: str) -> str | None:
        found = self._value(uid, slot)
        return found if isinstance(found, str) else None

    def merged_into(self, uid: str) -> str | None:
        return self.container_of(uid, SAME)

    def _where(self, slot: str, value: object) -> list[str]:
        """Everybody of whom something is true, what is not stored yet included."""
        wanted = as_json(value)
        stored = self._store.where_true(self._branch, slot, wanted)
        candidates = {*stored, *(subject for subject, of in self._changed if of == slot)}
        return sorted(who for who in candidates if self._value(who, slot) == value)

    def at(self, location: str) -> list[str]:
        """The living who are placed at a location."""
        return [who for who in self._where(AT, location) if not self.is_dead(who)]

    def party(self) -> list[str]:
        """The living of the party: who is stated to be in it, or else every character there is."""
        members: Iterable[str] = self._where(OF_THE_PARTY, value=True)
        if not members:
            known = {uid for uid, is_known in self._known.items() if is_known and uid.startswith("pc_")}
            members = sorted(known | self._store.sighted(self._lineage, self._store.uids_like("pc_")))
        return [who for who in members if not self.is_dead(who)]

    def apply(self, claim: Claim, *, at: int, seq: int) -> None:
        """Takes in what is true from now on. Late news of earlier times does not replace newer truth."""
        slot, value = claim.slot, claim.value
        if slot == change(NUMBER) and isinstance(value, int):
            before = self._value(claim.subject, NUMBER)
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
            if truth.get((who, AT)) != place:
                self._settle((who, AT), place, seq, seq)
        self._seen.update(dict.fromkeys(people, seq))

    def _settle(self, key: tuple[str, str], value: object, at: int, seq: int) -> None:
        if self._value(*key) != value:
            self._truth[key] = value
            self._changed[key] = TruthRow(self._branch, *key, as_json(value), at, seq)

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
