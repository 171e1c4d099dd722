"""Rebuilding the views from the log, and checking that log, views and cursors agree."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from dndbots._jsontext import as_json
from dndbots.canon.claims import SAME
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import StorageError, StoreDamaged
from dndbots.events import GameEvent, audience
from dndbots.ids import DM
from dndbots.storage import codec
from dndbots.storage.happened import PAGE
from dndbots.storage.ports import (
    BLOCK,
    VIEWS,
    Branch,
    EventRow,
    Lineage,
    Rows,
    Sealed,
    Segment,
    Store,
    TruthRow,
)
from dndbots.storage.reader import View
from dndbots.storage.recorder import Recorder
from dndbots.storage.seals import REMEDY, Seal, lost
from dndbots.storage.standing import TRACKED

Progress = Callable[[int, int], None]
_ANYWHERE: Final = 2**62
# Where a problem is that the database itself has.
STORAGE: Final = "storage"


class Problem(NamedTuple):
    """Something that verification found wrong, and where."""

    branch: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"branch {self.branch}: {self.where}: {self.what}"


def lineage_of(branches: Collection[Branch], branch: Branch, upto: int) -> Lineage:
    """What a branch looks back on from a place in the log."""
    by_id = {one.id: one for one in branches}
    found: list[Segment] = []
    here: Branch | None = branch
    while here is not None:
        if upto > here.forked_at or here.parent is None:
            found.append(Segment(here.id, upto))
        upto = min(upto, here.forked_at)
        parent = None if here.parent is None else by_id.get(here.parent)
        if here.parent is not None and (parent is None or parent.id >= here.id):
            raise StoreDamaged(
                f"branch {here.name}", reason="its parent makes no sense; restore the campaign from a copy"
            )
        here = parent
    return tuple(reversed(found))


def recorder_of(
    store: Store,
    branch: Branch,
    *,
    at_hand: int | None = 200_000,
    undone: Callable[[], None] = lambda: None,
) -> Recorder:
    branches = store.branches()
    lineage_to = partial(lineage_of, branches, branch)
    return Recorder(store, branch, lineage_to, at_hand=at_hand, undone=undone)


def seed(store: Store, branch: Branch) -> Rows:
    """What a branch begins with: the truth of the place where it was forked."""
    view = View(store, lineage_of(store.branches(), branch, branch.forked_at), DM)
    rows = Rows(branch=branch.id, head=branch.forked_at, version=FOLD_VERSION)
    if branch.parent is not None:
        rows.truth = [
            TruthRow(branch.id, subject, one.slot, as_json(one.value), one.claim.at, one.claim.seq)
            for subject, one in view.truths(TRACKED)
        ]
    return rows


def rebuild(store: Store, progress: Progress | None = None) -> int:
    """Drops every view and folds the log again, one branch after the other; says how many events."""
    branches = store.branches()
    total = sum(branch.head - branch.forked_at for branch in branches)
    done = 0
    for branch in branches:
        with store.appending(branch.id) as head:
            store.clear_views(branch.id)
            store.write(seed(store, branch))
            recorder = recorder_of(store, branch)
            events = map(codec.from_row, own_events(store, branch, head))
            for rows in recorder.refold(events, branch.forked_at):
                store.write(rows)
                if progress is not None:
                    progress(done + rows.head - branch.forked_at, max(total, 1))
        done += head - branch.forked_at
    return done


def own_events(store: Store, branch: Branch, head: int = _ANYWHERE) -> Iterator[EventRow]:
    """The rows of a branch's own events, oldest first."""
    after = branch.forked_at
    while rows := store.events((Segment(branch.id, head),), after=after, limit=PAGE):
        yield from rows
        after = rows[-1].seq


def verify(store: Store, progress: Progress | None = None) -> list[Problem]:
    """Everything that is wrong with a campaign; nothing, if it is sound. Others may write meanwhile."""
    found = [Problem("all", STORAGE, fault) for fault in store.faults()]
    if found:
        return found
    # Before the moment that is looked at: what is noted later may be of events that come later.
    noted = store.noted()
    with store.snapshot():
        return _verified(store, noted, progress)


def _verified(store: Store, noted: Mapping[int, Sealed], progress: Progress | None) -> list[Problem]:
    found = [Problem("all", "members", f"{fault}; restore a copy") for fault in store.group_faults()]
    branches = store.branches()
    missing = sorted(noted.keys() - {branch.id for branch in branches})
    found += [Problem("all", "log", f"branch no. {number} is lost; {REMEDY}") for number in missing]
    total = sum(branch.head - branch.forked_at for branch in branches)
    done = 0
    for branch in branches:
        seals = [one for one in (store.seal(branch.id), noted.get(branch.id)) if one is not None]
        check = _BranchCheck(store, branch, seals)
        for checked in check.run():
            if progress is not None:
                progress(done + checked, max(total, 1))
        done += branch.head - branch.forked_at
        found += check.problems
    return found


class _FromNothing:
    """A store whose truth and totals are empty: what is folded on it does not take them from the views."""

    def __init__(self, store: Store, truth: Iterable[TruthRow]) -> None:
        self._store = store
        self.true: dict[tuple[str, str], TruthRow] = {}
        self._same: dict[str, list[str]] = {}
        self.learn(truth)

    def learn(self, rows: Iterable[TruthRow]) -> None:
        """What the fold has found to be true so far."""
        for row in rows:
            self.true[row.subject, row.slot] = row
            if row.slot == SAME:
                self._same.setdefault(row.value, []).append(row.subject)

    def where_true(self, _branch: int, slot: str, value: str) -> list[str]:
        return self._same.get(value, []) if slot == SAME else []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def truth(self, _branch: int, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], TruthRow]:
        return {key: self.true[key] for key in keys if key in self.true}

    def intern(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        wanted = list(groups)
        return dict.fromkeys(wanted, -1) | self._store.groups(wanted)

    def nothing(self, *_args: object) -> dict[Any, Any]:
        return {}

    claim_totals = line_totals = nothing


class _BranchCheck:
    """The check of one branch: its log first, then its views against a fold of that log."""

    def __init__(self, store: Store, branch: Branch, seals: Collection[Sealed]) -> None:
        self._store, self._branch, self._seals = store, branch, seals
        self.problems: list[Problem] = []
        self._groups: dict[int, frozenset[str]] = {}

    def run(self) -> Iterator[int]:
        """Yields how many events are checked, as it goes."""
        branch, seeded = self._branch, seed(self._store, self._branch)
        cursor = self._store.cursor(branch.id)
        if (cursor.seq, cursor.version) != (branch.head, FOLD_VERSION):
            self._tell(
                "cursor",
                f"the views stand at {cursor.seq} (fold {cursor.version}), the log at {branch.head} "
                f"(fold {FOLD_VERSION}); rebuild the campaign",
            )
        heaps = Heaps()
        blank: Any = _FromNothing(self._store, seeded.truth)
        recorder = recorder_of(blank, branch, at_hand=None)
        try:
            for rows in recorder.refold(self._sound_events(), branch.forked_at):
                for view in VIEWS.keys() - {"truth"}:
                    heaps.add(view, getattr(rows, view), +1)
                blank.learn(rows.truth)
                yield rows.head - branch.forked_at
        except StorageError as exc:
            self._tell("log", str(exc))
            return
        self._compare(heaps, blank.true)

    def _tell(self, where: str, what: str) -> None:
        self.problems.append(Problem(self._branch.name, where, what))

    def _sound_events(self) -> Iterator[GameEvent]:
        branch, expected = self._branch, self._branch.forked_at
        seal = Seal(expected)
        self._check_seals(seal)
        for row in own_events(self._store, branch):
            expected += 1
            if row.seq != expected:
                self._tell("log", f"event {expected} is missing; the next one is {row.seq}")
                expected = row.seq
            seal = seal.extended([row])
            self._check_seals(seal)
            event = codec.from_row(row, checked=True)
            if audience(event) != self._members(row.audience) | self._members(row.others):
                self._tell(f"event {row.event_id}", "its audience is not the one that it names")
            yield event
        for sealed in {one.seq for one in self._seals if one.seq > expected}:
            self._tell("log", lost(sealed, expected))
        if expected != branch.head:
            self._tell("log", f"the head is {branch.head}, but the last event is {expected}")
        self._check_ids()

    def _check_seals(self, seal: Seal) -> None:
        if any(one.seq == seal.seq and one.digest != seal.digest for one in self._seals):
            self._tell("log", lost(seal.seq, seal.seq))

    def _check_ids(self) -> None:
        """Ids are unique along a branch's past too, not only among its own events."""
        branch = self._branch
        if branch.parent is None:
            return
        past = lineage_of(self._store.branches(), branch, branch.forked_at)
        for row in own_events(self._store, branch):
            if self._store.places_of(past, [row.event_id]):
                self._tell(f"event {row.event_id}", "its id is also that of an event before the fork")

    def _members(self, group: int | None) -> frozenset[str]:
        if group is None:
            return frozenset()
        if group not in self._groups:
            self._groups.update(self._store.members([group]))
        return self._groups[group]

    def _compare(self, heaps: "Heaps", truth: dict[tuple[str, str], TruthRow]) -> None:
        for view in VIEWS:
            rows = self._store.view_rows(view, self._branch.id)
            if view == "truth":
                stored = {(str(row[1]), str(row[2])): tuple(row) for row in rows}
                for subject, slot in sorted(stored.keys() | truth.keys()):
                    if stored.get((subject, slot)) != truth.get((subject, slot)):
                        self._tell("truth", f"{subject} {slot!r} is not what the log says; rebuild")
            else:
                heaps.add(view, rows, -1)
        for view, heap in heaps.unequal():
            first = heap * BLOCK
            self._tell(
                view, f"rows of the events {first} to {first + BLOCK - 1} are not what the log says; rebuild"
            )


class Heaps:
    """Sums of row hashes, by block of events: a fault can be placed without keeping all rows.

    The rows of the fold are added, those of the store taken away, in any order.
    """

    def __init__(self) -> None:
        self._sums: Counter[tuple[str, int]] = Counter()
        self._seq = {
            view: kind._fields.index("seq" if "seq" in kind._fields else "block")
            for view, kind in VIEWS.items()
        }

    def add(self, view: str, rows: Iterable[Sequence[object]], sign: int) -> None:
        sums, column = self._sums, self._seq[view]
        size = 1 if view == "postings" else BLOCK
        for row in rows:
            seq = row[column]
            sums[view, seq // size if isinstance(seq, int) else -1] += sign * hash(tuple(row))

    def unequal(self) -> list[tuple[str, int]]:
        return sorted(heap for heap, difference in self._sums.items() if difference)
