"""The facade: one campaign, its log, and all views of it. Every interface goes through here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from pydantic import JsonValue

from dndbots import ids
from dndbots.canon.claims import ACT, ENCOUNTER
from dndbots.canon.entities import Entity, Fact, HeldFact, Milestone, Moment
from dndbots.compaction.campaign_compaction import CampaignCompaction
from dndbots.errors import InvalidSetting, UnknownCategory
from dndbots.events import GameEvent, StatedFact
from dndbots.ids import DM
from dndbots.interop import log_lines, transcripts
from dndbots.interop.campaign_interop import CampaignInterop
from dndbots.interop.scribe import Scribe
from dndbots.interop.transcripts import Imported
from dndbots.memory.campaign_memory import CampaignMemory
from dndbots.memory.usage import ModelUsage, reports_of, usage_of
from dndbots.models import MemoryEntry
from dndbots.storage.address import TIMEOUT, name_of, open_store
from dndbots.storage.campaign_log import BranchLog, close_on_error
from dndbots.storage.ports import MAIN, Branch, Store
from dndbots.storage.upkeep import STORAGE, Problem, Progress
from dndbots.storage.views.graph import Graph
from dndbots.storage.views.knowledge import fact_question
from dndbots.storage.views.opaque_uids import UidSpelling
from dndbots.storage.views.view import View
from dndbots.tokens import DEFAULT_ENCODING, Calibration, calibrated

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from dndbots.compaction.data.run_history import CompactionStatus
    from dndbots.memory.context import Briefing, Context
    from dndbots.memory.scoped.service import MemoryService
    from dndbots.storage.neo4j.projection import Projection

__all__ = ["Campaign", "Imported", "Problem", "Progress"]

_MOST_EVENTS: Final = 1 << 40
_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def _delegate(
    part: str, method: Callable[Concatenate[Any, _Params], _Result]
) -> Callable[Concatenate["Campaign", _Params], _Result]:
    """Make a `Campaign` method that calls a method of one of its parts, with signature and docstring."""

    @wraps(method)
    def call(self: "Campaign", /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        return method(getattr(self, part), *args, **kwargs)

    return call


class Campaign:
    """A campaign on one of its branches. Open one with `Campaign.open`; it is also a context manager.

    Reads that answer for somebody take the `viewer`: a uid, or a name that belongs to exactly one entity.
    `"dm"` sees everything. `as_of` is an event id: the answer is given as if the log ended there.

    It is made of three parts: the log of the branch, the memory of its agents, and its compaction.
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
        self._log = BranchLog(store, branch)
        self.address = None if address is None else str(address)
        self._scribe = Scribe(self._log)
        self._memory = CampaignMemory(self, summarizer)
        self._compaction = CampaignCompaction(self._log, extractor=extractor, address=self.address)
        self.home = self._compaction.home
        self._interop = CampaignInterop(self._log, self._continue_elsewhere)

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
        """Open a campaign: a folder, or `postgresql://…/database?campaign=name`.

        It is created if it does not exist; with `create=False` that is an error. `branch` opens a fork.
        `summarizer` writes the summaries: a `Summarizer` or a chat model. `extractor` reads facts out of
        prose: an object with `extract`, or a chat model. Without them, no model is asked.
        """
        store = open_store(where, create=create, timeout=timeout)
        with close_on_error(store):
            return cls(store, branch=branch, summarizer=summarizer, extractor=extractor, address=where)

    def close(self) -> None:
        """Close the connection to the store."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def summarizer(self) -> Any:
        """The summarizer or chat model that writes summaries, or None."""
        return self._memory.summarizer

    @summarizer.setter
    def summarizer(self, summarizer: Any) -> None:
        self._memory.summarizer = summarizer

    @property
    def extractor(self) -> Any:
        """The extractor or chat model that reads facts out of prose, or None."""
        return self._compaction.extractor

    @extractor.setter
    def extractor(self, extractor: Any) -> None:
        self._compaction.extractor = extractor

    # The log.

    def record(self, event: GameEvent, *, expected: int | None = None) -> GameEvent:
        """Append an event and return it as stored, with its seq and its witnesses.

        With `expected`, raise `SequenceConflict` unless that is the log's head. Without it, the event is
        checked against what is true once this writer has its turn.
        """
        return self._log.record(event, expected=expected)

    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]:
        """Append events in one transaction, all or none, and return them as stored."""
        return self._log.record_many(events, expected=expected)

    # The same by names, with ids, session and hearers filled in.
    say = _delegate("_scribe", Scribe.say)
    narrate = _delegate("_scribe", Scribe.narrate)
    note = _delegate("_scribe", Scribe.note)
    replay = _delegate("_log", BranchLog.replay)
    listen = _delegate("_log", BranchLog.listen)
    introduce = _delegate("_log", BranchLog.introduce)

    @property
    def head(self) -> int:
        """The seq of the newest event."""
        return self._log.head

    def view(self, viewer: str, as_of: str | None = None) -> "AbstractContextManager[View]":
        """Open the view of one viewer, for code that builds on a campaign. The DM's has everything."""
        return self._log.view(viewer, as_of)

    def events(
        self, *, viewer: str, last: int | None = None, as_of: str | None = None
    ) -> Iterator[GameEvent]:
        """Return the events that the viewer perceived, oldest first: all, read as needed, or the last."""
        with self._log.snapshot(viewer, as_of) as view:
            if last is not None:
                newest = view.with_own_events().newest(_checked_count(last))
                return iter([*_shown_to_viewer(view, newest)])
        return self._all_events(view.with_own_events())

    def _all_events(self, view: View) -> Iterator[GameEvent]:
        with self._log.guard():
            yield from _shown_to_viewer(view, view.events())

    def timeline(
        self, *, viewer: str, last: int = 20, about: str | None = None, as_of: str | None = None
    ) -> list[Moment]:
        """Return the last moments that the viewer perceived, or those about somebody; oldest first."""
        with self._log.snapshot(viewer, as_of) as view:
            return view.moments(view.newest(_checked_count(last), about=about))

    # Canon and knowledge.

    def entity(self, who: str, *, viewer: str, as_of: str | None = None) -> Entity:
        """Return a person, place or thing, by uid or name, as the viewer knows it."""
        with self._log.snapshot(viewer, as_of) as view:
            return UidSpelling(view.spell_uids).answer(view.entity(who))

    def entities(self, *, viewer: str, category: str | None = None, as_of: str | None = None) -> list[Entity]:
        """Return all entities that the viewer knows of, or those of a category."""
        if category is not None and category.upper() not in ids.CATEGORIES:
            raise UnknownCategory(category, known=ids.CATEGORIES)
        wanted = None if category is None else category.upper()
        with self._log.snapshot(viewer, as_of) as view:
            uids = [uid for uid in view.everybody() if wanted in (None, ids.category_of(uid))]
            shown = map(UidSpelling(view.spell_uids).answer, view.entities(uids).values())
            return sorted(shown, key=lambda entity: entity.uid)

    def history(self, who: str, *, viewer: str, as_of: str | None = None) -> list[Fact]:
        """Return every fact that the viewer ever held about somebody, with the one that superseded it."""
        with self._log.snapshot(viewer, as_of) as view:
            return list(map(UidSpelling(view.spell_uids).answer, view.history(who)))

    def acts(self, *, viewer: str, as_of: str | None = None) -> list[Milestone]:
        """Return the acts of the story that the viewer knows of."""
        with self._log.snapshot(viewer, as_of) as view:
            return view.milestones(ACT)

    def encounters(self, *, viewer: str, as_of: str | None = None) -> list[Milestone]:
        """Return the encounters that the viewer knows of."""
        with self._log.snapshot(viewer, as_of) as view:
            return view.milestones(ENCOUNTER)

    def who_knows(
        self, fact: StatedFact | Fact | Mapping[str, Any], *, as_of: str | None = None
    ) -> list[HeldFact]:
        """Return everybody but the DM who holds a fact, with their certainty and the event it came from.

        A mapping has `subject` and either `op` (and `object`) or `key` (and `value`). Without object or
        value, the answer lists everybody who holds anything there, and what they hold. A subject may be
        a name.
        """
        with self._log.snapshot(DM, as_of) as view:
            return view.who_knows(fact_question(fact, view))

    def graph(self, *, viewer: str, as_of: str | None = None) -> Graph:
        """Return the graph of people, places and things and their connections, as the viewer knows it."""
        return Graph(lambda: self._log.snapshot(viewer, as_of))

    # Tokens and money that models took.

    def usage(self, *, viewer: str = DM, as_of: str | None = None) -> list[ModelUsage]:
        """Return what each model took in each role: answers, tokens, time, and cost if prices are known.

        A viewer gets the usage of its own seat.
        """
        with self._log.snapshot(viewer, as_of) as view:
            return usage_of(view)

    def calibration(self, model: str, *, viewer: str = DM) -> Calibration:
        """Return how a model's provider counts tokens, from its latest reports: here, or in one seat."""
        with self._log.snapshot(viewer) as view:
            return calibrated(model, reports_of(view, model))

    # Memory.

    def context(
        self,
        viewer: str,
        budget: int = 2000,
        *,
        query: str | None = None,
        as_of: str | None = None,
        encoding: str = DEFAULT_ENCODING,
        beside: str = "",
        briefing: "Briefing | None" = None,
        told: Iterable[str] = (),
    ) -> "Context":
        """Return what the viewer knows and needs now, as text for a model, within the token budget.

        `items` say why each line is there and where it comes from; `dropped` says what was left out.
        `query` adds what answers it. With `beside`, the other text of the prompt (rules, a sheet,
        secrets), the budget is that of the whole `prompt`. `briefing` is what a game adds for this viewer,
        such as the adventure's file for the DM. `told` are texts that the reader has in front of it anyway,
        oldest first, such as the chat that a client sends: their lines are not told again, and older ones get
        their room. No model is asked.
        """
        return self._memory.context(
            viewer,
            budget,
            query=query,
            as_of=as_of,
            encoding=encoding,
            beside=beside,
            briefing=briefing,
            told=told,
        )

    recall = _delegate("_memory", CampaignMemory.recall)
    recap = _delegate("_memory", CampaignMemory.recap)
    memory = _delegate("_memory", CampaignMemory.memory)
    memories = _delegate("_memory", CampaignMemory.memories)
    carried = _delegate("_memory", CampaignMemory.carried)
    summaries = _delegate("_memory", CampaignMemory.summaries)
    threads = _delegate("_memory", CampaignMemory.threads)
    callbacks = _delegate("_memory", CampaignMemory.callbacks)
    diff = _delegate("_memory", CampaignMemory.diff)
    game_state = _delegate("_memory", CampaignMemory.game_state)
    drop_cache = _delegate("_memory", CampaignMemory.drop_cache)
    # Memory upkeep.
    compress = _delegate("_memory", CampaignMemory.compress)
    remember = _delegate("_memory", CampaignMemory.remember)
    remembered = _delegate("_memory", CampaignMemory.remembered)
    tending = _delegate("_memory", CampaignMemory.tending)
    start_session = _delegate("_memory", CampaignMemory.start_session)
    # Decisions of people.
    gates = _delegate("_memory", CampaignMemory.gates)
    pin = _delegate("_memory", CampaignMemory.pin)
    lock = _delegate("_memory", CampaignMemory.lock)
    forget = _delegate("_memory", CampaignMemory.forget)
    correct = _delegate("_memory", CampaignMemory.correct)
    correct_fact = _delegate("_memory", CampaignMemory.correct_fact)

    @property
    def memory_service(self) -> "MemoryService":
        """The service that makes the scoped memories of this campaign."""
        return self._memory.memory_service

    @property
    def location_memories(self) -> dict[str, list[MemoryEntry]]:
        """The DM's memories of places, by uid."""
        return self._memory.location_memories

    @property
    def npc_memories(self) -> dict[str, list[MemoryEntry]]:
        """Each NPC's memories of its dealings with the party, by uid."""
        return self._memory.npc_memories

    @property
    def world_memories(self) -> list[MemoryEntry]:
        """The DM's memories of the steps of the story."""
        return self._memory.world_memories

    @property
    def last_world_message_index(self) -> int:
        """The log index that the world memory has reached, or -1."""
        return self._memory.last_world_message_index

    @property
    def last_location_message_index(self) -> dict[str, int]:
        """The log index that the memory of each place has reached, by uid."""
        return self._memory.last_location_message_index

    @property
    def last_npc_message_index(self) -> dict[str, int]:
        """The log index that the memory of each NPC has reached, by uid."""
        return self._memory.last_npc_message_index

    # Compaction.

    compact = _delegate("_compaction", CampaignCompaction.compact)
    compacting = _delegate("_compaction", CampaignCompaction.compacting)
    data = _delegate("_compaction", CampaignCompaction.data)
    save_data = _delegate("_compaction", CampaignCompaction.save_data)
    export_data = _delegate("_compaction", CampaignCompaction.export_data)
    proposals = _delegate("_compaction", CampaignCompaction.proposals)
    accept = _delegate("_compaction", CampaignCompaction.accept)
    reject = _delegate("_compaction", CampaignCompaction.reject)
    rejections = _delegate("_compaction", CampaignCompaction.rejections)

    def compaction(self, *, last: int = 10) -> "CompactionStatus":
        """Return how far compaction has come, with the last runs."""
        return self._compaction.status(last=last)

    # Branches.

    @property
    def branch(self) -> str:
        """The name of this branch now: an undo elsewhere may have renamed it."""
        return self._log.branch

    def branches(self) -> list[Branch]:
        """Return all branches of the campaign."""
        return self._store.branches()

    def fork(self, name: str, *, at: str | None = None) -> "Campaign":
        """Add a branch from here, or from a past event, and open it. It shares all that came before."""
        ids.check_name(name)
        store = self._store.another()
        with close_on_error(store):
            self._log.add_branch(name, at=at, store=store)
            return self._open_on(store, name)

    def undo(self, *, to: str) -> str:
        """Take back everything after an event, and return the name of the branch that keeps it.

        Nothing is deleted from the log. A new branch that ends with the event takes this branch's name,
        and this campaign continues there, memory included. The old branch continues under the returned
        name, also for other programs that have it open.
        """
        kept = self._log.undo(to)
        self._continue_elsewhere(kept)
        return kept

    def _continue_elsewhere(self, kept: str) -> None:
        """Follow the log to the branch that took the name of this one; the old one is called `kept`."""
        self._memory.reset()
        self._compaction.move_data(kept)

    def another(self) -> "Campaign":
        """Open the same branch through a connection of its own."""
        return self.another_branch(self.branch)

    def another_branch(self, name: str) -> "Campaign":
        """Open another branch of this campaign through a connection of its own."""
        store = self._store.another()
        with close_on_error(store):
            return self._open_on(store, name)

    def _open_on(self, store: Store, branch: str) -> "Campaign":
        return Campaign(
            store,
            branch=branch,
            summarizer=self.summarizer,
            extractor=self.extractor,
            address=self.address,
        )

    # Import and export.

    def import_transcript(
        self, lines: Iterable[Mapping[str, JsonValue]], *, progress: Progress | None = None
    ) -> Imported:
        """Append lines of play as events; return how many were added, and how many were there already.

        `progress` gets the lines added and their total.
        """
        return transcripts.import_lines(self._log, self._store, lines, progress)

    chat = _delegate("_interop", CampaignInterop.chat)
    import_files = _delegate("_interop", CampaignInterop.import_files)
    importer = _delegate("_interop", CampaignInterop.importer)
    persona = _delegate("_interop", CampaignInterop.persona)

    def export(self, *, viewer: str = DM) -> Iterator[str]:
        """Return the log as lines of JSON, for `import_log`; or the part that a viewer perceived."""
        return log_lines.to_lines(self.events(viewer=viewer))

    def import_log(self, lines: Iterable[str], *, progress: Callable[[int], None] | None = None) -> int:
        """Append an exported log, all or none, and return how many events it had.

        The export may be only what one viewer perceived, so its events may mention what is unknown here.
        """
        return self._log.append(log_lines.from_lines(lines), progress)

    def projection(self, neo4j: str, *, name: str | None = None) -> "Projection":
        """Return the projection of this campaign in Neo4j, under its address or the given name.

        User and password come from the environment; they are left out of the name.
        """
        from dndbots.storage.neo4j.projection import Projection
        from dndbots.storage.neo4j.server import Server

        server = Server.from_environment(neo4j)
        title = name or (self._store.where if self.address is None else name_of(self.address))
        return Projection(server, self._store, title, self.branch)

    # Upkeep.

    def rebuild(self, progress: Progress | None = None) -> int:
        """Drop every view and fold the log again; return how many events were folded.

        The log is accepted as it is: `verify` no longer reports missing or changed events afterwards.
        """
        return self._log.rebuild(progress)

    def verify(self, progress: Progress | None = None) -> list[Problem]:
        """Return what is wrong with log, views, cursors and data files; an empty list if they agree."""
        problems = self._log.verify(progress)
        if any(problem.where == STORAGE for problem in problems):
            return problems  # the branches cannot be listed
        with self._log.guard():
            return problems + self._compaction.data_problems(branch.name for branch in self.branches())


def _shown_to_viewer(view: View, events: Iterable[GameEvent]) -> Iterable[GameEvent]:
    """Return events as the viewer may see them: only the DM sees the real uids."""
    return events if view.viewer == DM else UidSpelling(view.spell_uids).events(events)


def _checked_count(last: int) -> int:
    if not isinstance(last, int) or last < 1:
        raise InvalidSetting("last", last, reason="must be a number of events, at least 1")
    return min(last, _MOST_EVENTS)
