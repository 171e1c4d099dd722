"""The facade: one campaign, one log, and the views of it. Everything else goes through here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue

from dndbots import ids
from dndbots.canon.claims import ACT, ENCOUNTER
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.canon.values import Entity, Fact, Knowing, Milestone, Moment
from dndbots.compaction.compacting import Compacting
from dndbots.errors import (
    BranchExists,
    InvalidSetting,
    SequenceConflict,
    StoreTooNew,
    UnknownBranch,
    UnknownCategory,
    UnknownEvent,
)
from dndbots.events import EventType, GameEvent, StatedFact, is_storable
from dndbots.ids import DM
from dndbots.interop import jsonl, transcripts
from dndbots.interop.transcripts import Imported
from dndbots.memory.remembering import Remembering
from dndbots.memory.usage import ModelUsage, reports_of, usage_of
from dndbots.storage import upkeep
from dndbots.storage.asking import asked_of
from dndbots.storage.at_hand import EventsAtHand
from dndbots.storage.damage import told_as_damage
from dndbots.storage.graph import Graph
from dndbots.storage.opening import TIMEOUT, name_of, open_store
from dndbots.storage.ports import MAIN, Branch, Lineage, Store
from dndbots.storage.reader import View
from dndbots.storage.shown import Shown
from dndbots.storage.upkeep import Problem, Progress
from dndbots.tokens import Calibration, calibrated

if TYPE_CHECKING:
    from dndbots.storage.neo4j.projection import Projection

__all__ = ["Campaign", "Imported", "Problem", "Progress"]

_MOST_EVENTS = 1 << 40
# With what stands behind it, it is still a name.
_LONGEST_UNDONE = 180


class Campaign(Remembering, Compacting):
    """One branch of one campaign. `Campaign.open` is the way to get one; it is also a context manager.

    Reads that answer for somebody take the `viewer`: a uid, or a name that belongs to exactly one
    entity. `"dm"` sees everything. `as_of` is an event id, and answers as if the log ended there.
    """

    def __init__(
        self,
        store: Store,
        *,
        branch: str = MAIN,
        summarizer: Any = None,
        extractor: Any = None,
        address: str | Path | None = None,
    ) -> None:
        self._store = store
        self.summarizer, self.extractor = summarizer, extractor
        self.address = None if address is None else str(address)
        self.home = None if self.address is None or "://" in self.address else Path(self.address)
        self._events_at_hand = EventsAtHand()
        self._listeners: list[Callable[[list[GameEvent]], None]] = []
        with told_as_damage(store):
            self._go_on(self._find_branch(branch))
            cursor = store.cursor(self._branch.id)
            if cursor.version > FOLD_VERSION:
                raise StoreTooNew(store.where, reason="a newer dndbots folded its views; upgrade dndbots")
            if cursor.version < FOLD_VERSION:
                upkeep.rebuild(store)

    @classmethod
    def open(
        cls,
        where: str | Path,
        *,
        create: bool = True,
        branch: str = MAIN,
        timeout: float = TIMEOUT,
        summarizer: Any = None,
        extractor: Any = None,
    ) -> Self:
        """A campaign's folder, or `postgresql://…/database?campaign=name`; made if it is not there.

        `summarizer` makes the summaries: a `Summarizer`, or a chat model; without one, none is needed.
        `extractor` reads facts out of what was said: an object with `extract`, or a chat model, likewise.
        """
        store = open_store(where, create=create, timeout=timeout)
        try:
            return cls(store, branch=branch, summarizer=summarizer, extractor=extractor, address=where)
        except BaseException:  # whatever it was, nobody else would close the store
            store.close()
            raise

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The log.

    def record(self, event: GameEvent, *, expected: int | None = None) -> GameEvent:
        """Appends an event, and gives it back as it was stored: with its place and its witnesses.

        `expected` is the place that the log must be at; if it is not, `SequenceConflict`. Without it,
        the event is checked against whatever is true once it is this writer's turn.
        """
        return self.record_many([event], expected=expected)[0]

    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]:
        """Appends events in one transaction: all of them, or none."""
        return self._heard(self._recorded(events, expected=expected))

    def replay(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]:
        """Appends what was played elsewhere, as it is: not checked against what is true here."""
        return self._heard(self._recorded(events, expected=expected, lawful=False))

    def _recorded(
        self, events: Iterable[GameEvent], *, expected: int | None, lawful: bool = True
    ) -> list[GameEvent]:
        with told_as_damage(self._store):
            return self._recorder.record(events, expected=expected, lawful=lawful)

    def listen(self, heard: Callable[[list[GameEvent]], None]) -> Callable[[], None]:
        """Tells somebody of what is recorded here, right after it was; what is given back ends that."""
        self._listeners.append(heard)

        def ended() -> None:
            if heard in self._listeners:
                self._listeners.remove(heard)

        return ended

    def _heard(self, stored: list[GameEvent]) -> list[GameEvent]:
        for heard in tuple(self._listeners):
            heard(stored)
        return stored

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
        """Brings somebody or something to life under a uid that nobody has, and gives that uid back.

        `metadata` says who learns of it, and where, as in any event.
        """
        names = [ids.check_name(one) for one in (name, *aliases)]
        given = dict(metadata or {})
        other_names = given.get("names")
        other_names = other_names if isinstance(other_names, dict) else {}
        while True:
            head, lineage = self.past()
            uid = View(self._store, lineage, DM).minted(category, name)
            event = GameEvent(
                event_id=f"introduced_{uid}",
                event_type=EventType.SYSTEM,
                source=DM,
                content=content or f"{name} is introduced.",
                session_id=session_id,
                metadata={**given, "names": {**other_names, uid: [*names]}},
            )
            try:
                self.record(event, expected=head)
            except SequenceConflict:
                continue
            return uid

    @property
    def head(self) -> int:
        """The place of the newest event."""
        return self._now().head

    def past(self) -> tuple[int, Lineage]:
        """The head, and what this branch looks back on from there."""
        branches = self._store.branches()
        branch = self._now(branches)
        return branch.head, upkeep.lineage_of(branches, branch, branch.head)

    def events(
        self, *, viewer: str, last: int | None = None, as_of: str | None = None
    ) -> Iterator[GameEvent]:
        """What the viewer perceived, oldest first: all of it, read as it is needed, or the newest."""
        with self._reading(viewer, as_of) as view:
            if last is not None:
                newest = view.by_itself().newest(_number(last))
                return iter(newest if view.viewer == DM else list(Shown(view.spelled).events(newest)))
        return self._each(view.by_itself())

    def _each(self, view: View) -> Iterator[GameEvent]:
        with told_as_damage(self._store):
            events = view.events()
            yield from events if view.viewer == DM else Shown(view.spelled).events(events)

    def timeline(
        self,
        *,
        viewer: str,
        last: int = 20,
        about: str | None = None,
        as_of: str | None = None,
    ) -> list[Moment]:
        """The newest of what the viewer perceived, or of what concerned somebody; oldest first."""
        with self._reading(viewer, as_of) as view:
            return view.moments(view.newest(_number(last), about=about))

    # Canon and knowledge.

    def entity(self, who: str, *, viewer: str, as_of: str | None = None) -> Entity:
        """Somebody or something, by uid or name, as the viewer knows it."""
        with self._reading(viewer, as_of) as view:
            return Shown(view.spelled).answer(view.entity(who))

    def entities(self, *, viewer: str, category: str | None = None, as_of: str | None = None) -> list[Entity]:
        """All that the viewer knows of, or those of a category."""
        if category is not None and category.upper() not in ids.CATEGORIES:
            raise UnknownCategory(category, known=ids.CATEGORIES)
        wanted = None if category is None else category.upper()
        with self._reading(viewer, as_of) as view:
            found = [uid for uid in view.everybody() if wanted in (None, ids.category_of(uid))]
            shown = map(Shown(view.spelled).answer, view.entities(found).values())
            return sorted(shown, key=lambda entity: entity.uid)

    def history(self, who: str, *, viewer: str, as_of: str | None = None) -> list[Fact]:
        """All that the viewer ever held true of somebody, oldest first, with what superseded it."""
        with self._reading(viewer, as_of) as view:
            return list(map(Shown(view.spelled).answer, view.history(who)))

    def acts(self, *, viewer: str, as_of: str | None = None) -> list[Milestone]:
        with self._reading(viewer, as_of) as view:
            return view.milestones(ACT)

    def encounters(self, *, viewer: str, as_of: str | None = None) -> list[Milestone]:
        with self._reading(viewer, as_of) as view:
            return view.milestones(ENCOUNTER)

    def who_knows(
        self, fact: StatedFact | Fact | Mapping[str, Any], *, as_of: str | None = None
    ) -> list[Knowing]:
        """Who holds a fact, the DM aside, with what certainty and from where.

        A mapping has `subject` and either `op` (and `object`) or `key` (and `value`); without object
        or value, the answer is everybody who holds anything there, with what they hold. A subject may
        be a name.
        """
        with self._reading(DM, as_of) as view:
            return view.who_knows(asked_of(fact, view))

    # What models took.

    def usage(self, *, viewer: str = DM, as_of: str | None = None) -> list[ModelUsage]:
        """What each model took in each role: answers, tokens, time, and money where prices were known.

        A viewer gets what was taken in its own seat.
        """
        with self._reading(viewer, as_of) as view:
            return usage_of(view)

    def calibration(self, model: str, *, viewer: str = DM) -> Calibration:
        """How a model's provider counts tokens, by what it reported lately: here, or in a viewer's seat."""
        with self._reading(viewer) as view:
            return calibrated(model, reports_of(view, model))

    def graph(self, *, viewer: str, as_of: str | None = None) -> Graph:
        """Questions of who has to do with whom, as far as the viewer knows."""
        return Graph(lambda: self._reading(viewer, as_of))

    # Branches.

    @property
    def branch(self) -> str:
        """What this branch is called now: where somebody takes a round back, it gets another name."""
        return self._now().name

    def branches(self) -> list[Branch]:
        return self._store.branches()

    def fork(self, name: str, *, at: str | None = None) -> "Campaign":
        """A new branch from here, or from an event of the past, that shares all that came before."""
        ids.check_name(name)
        store = self._store.another()
        try:
            forked_at = self._place(at)
            parent = next(one for one in self.past()[1] if forked_at <= one.upto)
            store.add_branch(name, parent=parent.branch, forked_at=forked_at, seed=upkeep.seed)
            return self._on(store, name)
        except BaseException:  # whatever it was, nobody else would close the store
            store.close()
            raise

    def undo(self, *, to: str) -> str:
        """Takes back all that came after an event; says which branch it is kept in.

        Nothing is taken out of the log. A branch that ends with the event takes the name of this one, and
        this campaign goes on there, memory included. What was goes on under the other name, also for
        whoever has it open.
        """
        place = self._place(to)
        with told_as_damage(self._store):
            parent = next(one for one in self.past()[1] if place <= one.upto)
            for number in count(1):
                kept = f"{self.branch[:_LONGEST_UNDONE]}.undone-{number}"
                with suppress(BranchExists):
                    made = self._store.add_branch(
                        kept,
                        parent=parent.branch,
                        forked_at=place,
                        seed=upkeep.seed,
                        instead_of=self._branch.id,
                    )
                    break
            self._go_on(made)
        self.move_data(kept)
        return kept

    def _go_on(self, branch: Branch) -> None:
        """Whatever is at hand is of a branch, so that it is left behind with it."""
        self._branch = branch
        self._recorder = upkeep.recorder_of(self._store, branch, undone=self._events_at_hand.forget)
        self.let_go_of_all()

    def another(self) -> "Campaign":
        """The same branch through a connection of its own."""
        return self.another_branch(self.branch)

    def another_branch(self, name: str) -> "Campaign":
        """Another branch of the same campaign, through a connection of its own."""
        store = self._store.another()
        try:
            return self._on(store, name)
        except BaseException:  # whatever it was, nobody else would close the store
            store.close()
            raise

    def _on(self, store: Store, branch: str) -> "Campaign":
        return Campaign(
            store,
            branch=branch,
            summarizer=self.summarizer,
            extractor=self.extractor,
            address=self.address,
        )

    # In and out.

    def import_transcript(
        self, lines: Iterable[Mapping[str, JsonValue]], *, progress: Progress | None = None
    ) -> Imported:
        """Lines of play become events. Lines that are there already are skipped; see the docs."""
        return transcripts.import_lines(self, self._store, lines, progress)

    def export(self, *, viewer: str = DM) -> Iterator[str]:
        """The log as lines of JSON, for `import_log` or anything else; or what a viewer perceived of it."""
        return jsonl.to_lines(self.events(viewer=viewer))

    def import_log(self, lines: Iterable[str], *, progress: Callable[[int], None] | None = None) -> int:
        """Appends an exported log, all of it or nothing; says how many events it had.

        It may be what somebody perceived of a campaign, so that what it speaks of need not be known here.
        """
        read = 0

        def told(events: list[GameEvent]) -> None:
            nonlocal read
            read += len(events)
            if progress is not None:
                progress(read)

        with told_as_damage(self._store):
            return self._recorder.append(jsonl.from_lines(lines), told, from_elsewhere=True)

    def projection(self, neo4j: str, *, name: str | None = None) -> "Projection":
        """This campaign in Neo4j, under its address or a name; user and password are the environment's.

        Of the address of a server, nobody's user and no password go into the name.
        """
        from dndbots.storage.neo4j.projection import Projection
        from dndbots.storage.neo4j.server import Server

        server = Server.from_environment(neo4j)
        called = name or (self._store.where if self.address is None else name_of(self.address))
        return Projection(server, self._store, called, self.branch)

    # Upkeep.

    def rebuild(self, progress: Progress | None = None) -> int:
        """Drops every view and folds the log again; says how many events that took.

        The log is taken as it is: what `verify` misses or finds changed there is no problem afterwards.
        """
        self._recorder.forget()
        self._events_at_hand.forget()
        with told_as_damage(self._store):
            self._store.accept()
            return upkeep.rebuild(self._store, progress)

    def verify(self, progress: Progress | None = None) -> list[Problem]:
        """What is wrong with log, views, cursors and data files; nothing, if they agree."""
        with told_as_damage(self._store):
            found = upkeep.verify(self._store, progress)
            if any(problem.where == upkeep.STORAGE for problem in found):
                return found  # nobody knows which branches there are
            return found + self.data_problems(branch.name for branch in self._store.branches())

    # How a call finds its branch, its viewer and its place in the log.

    def _now(self, branches: list[Branch] | None = None) -> Branch:
        """This branch as it is now, whatever it is called."""
        found = self._store.branches() if branches is None else branches
        return next(one for one in found if one.id == self._branch.id)

    def _find_branch(self, name: str) -> Branch:
        branches = self._store.branches()
        for branch in branches:
            if branch.name == name:
                return branch
        raise UnknownBranch(name, known=[branch.name for branch in branches])

    def _place(self, event_id: str | None) -> int:
        head, lineage = self.past()
        if event_id is None:
            return head
        if not isinstance(event_id, str):
            raise UnknownEvent(str(event_id))
        found = self._store.places_of(lineage, [event_id]).get(event_id) if is_storable(event_id) else None
        if found is None:
            raise UnknownEvent(event_id)
        return found

    @contextmanager
    def _reading(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """A view for one answer, for which all is read in one go."""
        with self._store.kept(), self.view(viewer, as_of) as view:
            yield view

    @contextmanager
    def view(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """All that one viewer may read, for what is built on a campaign. The DM's has everything."""
        if not isinstance(viewer, str):
            raise InvalidSetting("viewer", viewer, reason="is neither a uid nor a name")
        with told_as_damage(self._store):
            _, lineage = self.past()
            uid = View(self._store, lineage, DM).perceiver(viewer)
            if as_of is not None:
                place = self._place(as_of)
                if not View(self._store, lineage, uid).perceived(place):
                    raise UnknownEvent(as_of)
                lineage = upkeep.lineage_of(self._store.branches(), self._branch, place)
            yield View(self._store, lineage, uid, self._events_at_hand)


def _number(last: int) -> int:
    if not isinstance(last, int) or last < 1:
        raise InvalidSetting("last", last, reason="is not a number of events")
    return min(last, _MOST_EVENTS)
