"""The log of one branch: record events, open views, listen, fork and undo.

`CampaignLog` is the small part that memory and compaction need. `BranchLog` is the log over a store.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from typing import Any, Final, Protocol

from pydantic import JsonValue

from dndbots import ids
from dndbots._jsontext import is_storable
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import (
    BranchExists,
    InvalidSetting,
    SequenceConflict,
    StoreTooNew,
    UnknownBranch,
    UnknownEvent,
)
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.storage import upkeep
from dndbots.storage.damage import report_damage
from dndbots.storage.ports import MAIN, Branch, Lineage, Store
from dndbots.storage.upkeep import Problem, Progress
from dndbots.storage.views.event_cache import EventCache
from dndbots.storage.views.view import View

Listener = Callable[[list[GameEvent]], None]
# A branch name this long still fits with ".undone-<number>" behind it.
_LONGEST_UNDONE: Final = 180


class CampaignLog(Protocol):
    """A log to read as one viewer and to append to. `Campaign` and `BranchLog` are both one."""

    def view(self, viewer: str, as_of: str | None = None) -> AbstractContextManager[View]: ...
    def record(self, event: GameEvent) -> GameEvent: ...
    def record_many(self, events: Iterable[GameEvent]) -> list[GameEvent]: ...


class BranchLog:
    """The log of a branch over a store, with the listeners that hear of new events.

    Opening it rebuilds the views if an older version of dndbots folded them.
    """

    def __init__(self, store: Store, branch: str = MAIN) -> None:
        self.store = store
        self._event_cache = EventCache()
        self._listeners: list[Listener] = []
        with report_damage(store):
            self._switch_to(self._find_branch(branch))
            cursor = store.cursor(self._branch.id)
            if cursor.version > FOLD_VERSION:
                raise StoreTooNew(store.where, reason="a newer dndbots folded its views; upgrade dndbots")
            if cursor.version < FOLD_VERSION:
                upkeep.rebuild_views(store)

    def close(self) -> None:
        self.store.close()

    # Append.

    def record(self, event: GameEvent, *, expected: int | None = None) -> GameEvent:
        """Append an event and return it as stored. See `record_many`."""
        return self.record_many([event], expected=expected)[0]

    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]:
        """Append events in one transaction and return them as stored.

        Raises `SequenceConflict` if `expected` is given and is not the head.
        """
        return self._record(events, expected=expected, lawful=True)

    def replay(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]:
        """Append events that were played elsewhere, without checking them against what is true here."""
        return self._record(events, expected=expected, lawful=False)

    def _record(self, events: Iterable[GameEvent], *, expected: int | None, lawful: bool) -> list[GameEvent]:
        with report_damage(self.store):
            stored = self._recorder.record(events, expected=expected, lawful=lawful)
        for listener in tuple(self._listeners):
            listener(stored)
        return stored

    def append(self, events: Iterable[GameEvent], progress: Callable[[int], None] | None = None) -> int:
        """Append the events of an exported log, all or none, and return how many there were.

        The events are checked one by one, but not against what is true here: an export may be only
        the part that one viewer perceived. Listeners do not hear of them.
        """
        done = 0

        def report(written: list[GameEvent]) -> None:
            nonlocal done
            done += len(written)
            if progress is not None:
                progress(done)

        with report_damage(self.store):
            return self._recorder.append(events, report, from_elsewhere=True)

    def introduce(
        self,
        category: str,
        name: str,
        *,
        aliases: Iterable[str] = (),
        session_id: str = "prologue",
        content: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """Record a new person, place or thing under a free uid and return the uid.

        `metadata` says who learns of it, and where, as in any event.
        """
        names = [ids.check_name(alias) for alias in (name, *aliases)]
        extra = dict(metadata or {})
        other_names = extra.get("names")
        other_names = other_names if isinstance(other_names, dict) else {}
        while True:
            head, lineage = self.past()
            uid = View(self.store, lineage, DM).mint_uid(category, name)
            event = GameEvent(
                event_id=f"introduced_{uid}",
                event_type=EventType.SYSTEM,
                source=DM,
                content=content or f"{name} is introduced.",
                session_id=session_id,
                metadata={**extra, "names": {**other_names, uid: [*names]}},
            )
            try:
                self.record(event, expected=head)
            except SequenceConflict:
                continue  # somebody else may have taken the uid
            return uid

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a listener with every batch that is recorded here; return a function that stops it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    # Read.

    @property
    def head(self) -> int:
        """The seq of the newest event."""
        return self._current().head

    def past(self) -> tuple[int, Lineage]:
        """Return the head and the lineage of this branch up to it."""
        branches = self.store.branches()
        branch = self._current(branches)
        return branch.head, upkeep.lineage_of(branches, branch, branch.head)

    def seq_of(self, event_id: str | None) -> int:
        """Return the seq of an event of this branch, or the head for None; raise `UnknownEvent`."""
        head, lineage = self.past()
        if event_id is None:
            return head
        if not isinstance(event_id, str):
            raise UnknownEvent(str(event_id))
        seq = self.store.seqs_of(lineage, [event_id]).get(event_id) if is_storable(event_id) else None
        if seq is None:
            raise UnknownEvent(event_id)
        return seq

    @contextmanager
    def view(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """Open the view of one viewer: all that it may read. The DM's has everything.

        `as_of` must be an event that the viewer perceived.
        """
        if not isinstance(viewer, str):
            raise InvalidSetting("viewer", viewer, reason="is neither a uid nor a name")
        with report_damage(self.store):
            _, lineage = self.past()
            uid = View(self.store, lineage, DM).perceiver(viewer)
            if as_of is not None:
                seq = self.seq_of(as_of)
                if not View(self.store, lineage, uid).has_perceived(seq):
                    raise UnknownEvent(as_of)
                lineage = upkeep.lineage_of(self.store.branches(), self._branch, seq)
            yield View(self.store, lineage, uid, self._event_cache)

    @contextmanager
    def snapshot(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """Open a view for one answer, which reads everything from the same moment."""
        with self.store.keep_connection(), self.view(viewer, as_of) as view:
            yield view

    def guard(self) -> AbstractContextManager[None]:
        """Turn errors that damaged rows cause into `StoreDamaged` while the block runs."""
        return report_damage(self.store)

    # Branches.

    @property
    def branch(self) -> str:
        """The name of this branch now: an undo elsewhere may have renamed it."""
        return self._current().name

    def add_branch(self, name: str, *, at: str | None, store: Store) -> None:
        """Add a branch that forks at an event, or at the head, through the given connection."""
        self.add_branch_at(name, self.seq_of(at), store=store)

    def add_branch_at(self, name: str, seq: int, *, store: Store) -> None:
        """Add a branch that forks after a seq; 0 is before the first event."""
        parent = next(segment for segment in self.past()[1] if seq <= segment.upto)
        store.add_branch(name, parent=parent.branch, forked_at=seq, seed=upkeep.seed_rows)

    def undo(self, to: str) -> str:
        """Continue on a new branch that ends with an event and takes this one's name.

        Returns the name under which the old branch is kept.
        """
        seq = self.seq_of(to)
        with report_damage(self.store):
            kept, made = self._add_undone(seq, instead_of=self._branch.id)
            self._switch_to(made)
        return kept

    def _add_undone(self, seq: int, *, instead_of: int | None) -> tuple[str, Branch]:
        """Add a branch that ends with an event, and return the name for what is undone with it."""
        parent = next(segment for segment in self.past()[1] if seq <= segment.upto)
        for number in count(1):
            name = f"{self.branch[:_LONGEST_UNDONE]}.undone-{number}"
            with suppress(BranchExists):
                made = self.store.add_branch(
                    name,
                    parent=parent.branch,
                    forked_at=seq,
                    seed=upkeep.seed_rows,
                    instead_of=instead_of,
                )
                return name, made
        raise AssertionError("numbers do not end")

    @contextmanager
    def rewritten(self, after: int) -> Iterator["RewrittenLog"]:
        """Replace everything after an event, all or nothing: 0 replaces the whole log.

        The block appends to a draft that ends with that event. When the block ends, the draft takes the name
        of this branch, and this log continues there; the old branch goes on under the draft's `kept` name.
        If the block fails, or somebody else appends meanwhile, this branch stays as it was.
        """
        head = self.head
        with report_damage(self.store):
            kept, made = self._add_undone(after, instead_of=None)
            draft = RewrittenLog(self.store, kept)
            yield draft
            self.store.exchange_names(self._branch.id, made.id, expected=head)
            self._switch_to(made)

    def reopen(self, branch: str | None = None) -> "BranchLog":
        """Open this or another branch through a connection of its own."""
        name = self.branch if branch is None else branch
        store = self.store.another()
        with close_on_error(store):
            return BranchLog(store, name)

    # Upkeep.

    def rebuild(self, progress: Progress | None = None) -> int:
        """Drop every view and fold the log again; return how many events were folded."""
        self._recorder.forget()
        self._event_cache.forget()
        with report_damage(self.store):
            self.store.accept()
            return upkeep.rebuild_views(self.store, progress)

    def verify(self, progress: Progress | None = None) -> list[Problem]:
        """Return what is wrong with log, views and cursors of all branches."""
        with report_damage(self.store):
            return upkeep.verify_store(self.store, progress)

    # The branch itself.

    def _current(self, branches: list[Branch] | None = None) -> Branch:
        """Return this branch as the store has it now, whatever its name is."""
        known = self.store.branches() if branches is None else branches
        return next(branch for branch in known if branch.id == self._branch.id)

    def _find_branch(self, name: str) -> Branch:
        branches = self.store.branches()
        for branch in branches:
            if branch.name == name:
                return branch
        raise UnknownBranch(name, known=[branch.name for branch in branches])

    def _switch_to(self, branch: Branch) -> None:
        self._branch = branch
        self._recorder = upkeep.recorder_of(self.store, branch, undone=self._event_cache.forget)


@contextmanager
def close_on_error(closes: Any) -> Iterator[None]:
    """Close something if the block fails: the caller never gets hold of it then."""
    try:
        yield
    except BaseException:  # also on an interrupt: nobody else would close it
        closes.close()
        raise


class RewrittenLog(BranchLog):
    """A log that will replace another branch. `kept` is the name that the other branch will have."""

    def __init__(self, store: Store, kept: str) -> None:
        super().__init__(store, kept)
        self.kept = kept
