"""Upkeep of a campaign: rebuild the views from the log, and verify that log, views and cursors agree."""

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
from dndbots.storage.head_state import TRACKED_SLOTS
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
from dndbots.storage.recorder import Recorder
from dndbots.storage.seals import REMEDY, Seal, describe_loss
from dndbots.storage.views.perceived_events import PAGE
from dndbots.storage.views.view import View

Progress = Callable[[int, int], None]
_ANYWHERE: Final = 2**62
# The `where` of a problem that the database itself reports.
STORAGE: Final = "storage"


class Problem(NamedTuple):
    """A problem that verification found: the branch, the part of it, and what is wrong."""

    branch: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"branch {self.branch}: {self.where}: {self.what}"


def lineage_of(branches: Collection[Branch], branch: Branch, upto: int) -> Lineage:
    """Return the lineage of a branch up to an event."""
    by_id = {known.id: known for known in branches}
    found: list[Segment] = []
    here: Branch | None = branch
    while here is not None:
        if upto > here.forked_at or here.parent is None:
            found.append(Segment(here.id, upto))
        upto = min(upto, here.forked_at)
        parent = None if here.parent is None else by_id.get(here.parent)
        if here.parent is not None and (parent is None or parent.id >= here.id):
            raise StoreDamaged(
                f"branch {here.name}", reason="its parent branch is wrong; restore the campaign from a copy"
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
    """Return a recorder for a branch."""
    branches = store.branches()
    lineage_to = partial(lineage_of, branches, branch)
    return Recorder(store, branch, lineage_to, at_hand=at_hand, undone=undone)


def seed_rows(store: Store, branch: Branch) -> Rows:
    """Return the first rows of a branch: what was true where it was forked."""
    view = View(store, lineage_of(store.branches(), branch, branch.forked_at), DM)
    rows = Rows(branch=branch.id, head=branch.forked_at, version=FOLD_VERSION)
    if branch.parent is not None:
        rows.truth = [
            TruthRow(
                branch.id,
                subject,
                settled.slot,
                as_json(settled.value),
                settled.claim.at,
                settled.claim.seq,
            )
            for subject, settled in view.truths(TRACKED_SLOTS)
        ]
    return rows


def rebuild_views(store: Store, progress: Progress | None = None) -> int:
    """Drop every view and fold the log again, branch by branch; return the number of events."""
    branches = store.branches()
    total = sum(branch.head - branch.forked_at for branch in branches)
    done = 0
    for branch in branches:
        with store.appending(branch.id) as head:
            store.clear_views(branch.id)
            store.write(seed_rows(store, branch))
            recorder = recorder_of(store, branch)
            events = map(codec.from_row, own_events(store, branch, head))
            for rows in recorder.refold(events, branch.forked_at):
                store.write(rows)
                if progress is not None:
                    progress(done + rows.head - branch.forked_at, max(total, 1))
        done += head - branch.forked_at
    return done


def own_events(store: Store, branch: Branch, head: int = _ANYWHERE) -> Iterator[EventRow]:
    """Yield the rows of a branch's own events, oldest first."""
    after = branch.forked_at
    while rows := store.events((Segment(branch.id, head),), after=after, limit=PAGE):
        yield from rows
        after = rows[-1].seq


def verify_store(store: Store, progress: Progress | None = None) -> list[Problem]:
    """Return all problems of a campaign; empty if it is sound. Others may write meanwhile."""
    problems = [Problem("all", STORAGE, fault) for fault in store.faults()]
    if problems:
        return problems
    # Read before the snapshot: seals noted later may be of later events.
    noted = store.noted_seals()
    with store.snapshot():
        return _verify(store, noted, progress)


def _verify(store: Store, noted: Mapping[int, Sealed], progress: Progress | None) -> list[Problem]:
    problems = [Problem("all", "members", f"{fault}; restore a copy") for fault in store.group_faults()]
    branches = store.branches()
    missing = sorted(noted.keys() - {branch.id for branch in branches})
    problems += [Problem("all", "log", f"branch no. {number} is lost; {REMEDY}") for number in missing]
    total = sum(branch.head - branch.forked_at for branch in branches)
    done = 0
    for branch in branches:
        seals = [seal for seal in (store.seal(branch.id), noted.get(branch.id)) if seal is not None]
        check = _BranchCheck(store, branch, seals)
        for checked in check.run():
            if progress is not None:
                progress(done + checked, max(total, 1))
        done += branch.head - branch.forked_at
        problems += check.problems
    return problems


class _EmptyViews:
    """A store with empty truth and totals, so that a fold for verification does not read the stored views."""

    def __init__(self, store: Store, truth: Iterable[TruthRow]) -> None:
        self._store = store
        self.true: dict[tuple[str, str], TruthRow] = {}
        self._same: dict[str, list[str]] = {}
        self.learn(truth)

    def learn(self, rows: Iterable[TruthRow]) -> None:
        """Take in the truth that the fold has found so far."""
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
    """Checks one branch: first its log, then its views against a fold of that log."""

    def __init__(self, store: Store, branch: Branch, seals: Collection[Sealed]) -> None:
        self._store, self._branch, self._seals = store, branch, seals
        self.problems: list[Problem] = []
        self._groups: dict[int, frozenset[str]] = {}

    def run(self) -> Iterator[int]:
        """Yield how many events are checked so far."""
        branch, seeded = self._branch, seed_rows(self._store, self._branch)
        cursor = self._store.cursor(branch.id)
        if (cursor.seq, cursor.version) != (branch.head, FOLD_VERSION):
            self._tell(
                "cursor",
                f"the views stand at {cursor.seq} (fold {cursor.version}), the log at {branch.head} "
                f"(fold {FOLD_VERSION}); rebuild the campaign",
            )
        sums = RowSums()
        empty: Any = _EmptyViews(self._store, seeded.truth)
        recorder = recorder_of(empty, branch, at_hand=None)
        try:
            for rows in recorder.refold(self._sound_events(), branch.forked_at):
                for view in VIEWS.keys() - {"truth"}:
                    sums.add(view, getattr(rows, view), +1)
                empty.learn(rows.truth)
                yield rows.head - branch.forked_at
        except StorageError as exc:
            self._tell("log", str(exc))
            return
        self._compare(sums, empty.true)

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
                self._tell(f"event {row.event_id}", "its audience is not the people that it names")
            yield event
        for sealed in {seal.seq for seal in self._seals if seal.seq > expected}:
            self._tell("log", describe_loss(sealed, expected))
        if expected != branch.head:
            self._tell("log", f"the head is {branch.head}, but the last event is {expected}")
        self._check_ids()

    def _check_seals(self, seal: Seal) -> None:
        if any(stored.seq == seal.seq and stored.digest != seal.digest for stored in self._seals):
            self._tell("log", describe_loss(seal.seq, seal.seq))

    def _check_ids(self) -> None:
        """Check that no event has the id of one before the fork."""
        branch = self._branch
        if branch.parent is None:
            return
        past = lineage_of(self._store.branches(), branch, branch.forked_at)
        for row in own_events(self._store, branch):
            if self._store.seqs_of(past, [row.event_id]):
                self._tell(f"event {row.event_id}", "an event before the fork has the same id")

    def _members(self, group: int | None) -> frozenset[str]:
        if group is None:
            return frozenset()
        if group not in self._groups:
            self._groups.update(self._store.members([group]))
        return self._groups[group]

    def _compare(self, sums: "RowSums", truth: dict[tuple[str, str], TruthRow]) -> None:
        for view in VIEWS:
            rows = self._store.view_rows(view, self._branch.id)
            if view == "truth":
                stored = {(str(row[1]), str(row[2])): tuple(row) for row in rows}
                for subject, slot in sorted(stored.keys() | truth.keys()):
                    if stored.get((subject, slot)) != truth.get((subject, slot)):
                        self._tell("truth", f"{subject} {slot!r} is not what the log says; rebuild")
            else:
                sums.add(view, rows, -1)
        for view, block in sums.unequal():
            first = block * BLOCK
            self._tell(
                view, f"rows of the events {first} to {first + BLOCK - 1} are not what the log says; rebuild"
            )


class RowSums:
    """Sums of row hashes for each block of events, to find differing blocks without keeping all rows.

    Add the rows of the fold and subtract those of the store, in any order.
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
        """Return the views and blocks whose rows differ."""
        return sorted(key for key, difference in self._sums.items() if difference)
