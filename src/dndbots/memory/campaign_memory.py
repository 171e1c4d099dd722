"""The memory of one campaign: contexts, recaps, summaries, scoped memories and decisions on them.

Every method is a view of the log for one viewer, or a command that appends events to the log. Each imports
what it needs, so that a program with one question does not load the rest.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent, Gating
from dndbots.ids import DM
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.scoped.shelves import (
    WORLD,
    all_memories,
    location_shelf,
    memories_on,
    npc_shelf,
    subject_of,
)
from dndbots.models import AgentMemory, GameState, MemoryEntry, MemorySource
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.upkeep import Progress
from dndbots.storage.views.opaque_uids import UidSpelling
from dndbots.storage.views.view import View
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

if TYPE_CHECKING:
    from dndbots.memory.agents.agent_memory import CarriedMemory
    from dndbots.memory.agents.game_state import NewMemories
    from dndbots.memory.agents.memory_upkeep import MemoryUpkeep
    from dndbots.memory.context import Briefing, Context, ViewerCache
    from dndbots.memory.differences import Difference
    from dndbots.memory.recall.search import Recall
    from dndbots.memory.recaps import Recap
    from dndbots.memory.scoped.service import MemoryService
    from dndbots.memory.summaries.layers import SummaryBlock
    from dndbots.memory.threads import Thread

TOKEN_LIMIT: Final = 8000
_MOST_CACHES: Final = 32


class CampaignMemory:
    """The memory of all agents of one campaign.

    `campaign` is the log that it reads and records to; summarizers get it as their `game_state`.
    `summarizer` writes summaries: a `Summarizer` or a chat model. None writes them without a model.
    """

    def __init__(self, campaign: CampaignLog, summarizer: Any = None) -> None:
        self._campaign = campaign
        self.summarizer = summarizer
        self._service: MemoryService | None = None
        self._caches: dict[tuple[str, str], ViewerCache] = {}
        self._lock = Lock()

    # Views.

    def memory(self, viewer: str, *, token_limit: int = TOKEN_LIMIT, as_of: str | None = None) -> AgentMemory:
        """Return an agent's memory: its summary, its buffer, and what it knows of itself."""
        return self.carried(viewer, token_limit=token_limit, as_of=as_of).memory

    def carried(
        self, viewer: str, *, token_limit: int = TOKEN_LIMIT, as_of: str | None = None
    ) -> "CarriedMemory":
        """Return an agent's memory with the ids of the events in its buffer."""
        from dndbots.memory.agents.agent_memory import read_agent_memory

        _check_limit(token_limit)
        with self._campaign.view(viewer, as_of) as view:
            return read_agent_memory(view, token_limit=token_limit)

    def game_state(self, *, token_limit: int = TOKEN_LIMIT) -> GameState:
        """Return the memories of the DM and every character, for `MemoryManager` and `context_manager`.

        The keys are `dm` and the slug of each name, or the uid where two slugs are equal.
        """
        from dndbots.memory.agents.game_state import build_game_state

        _check_limit(token_limit)
        with self._campaign.view(DM) as view:
            return build_game_state(self._campaign, view, token_limit=token_limit, summarizer=self.summarizer)

    def summaries(self, viewer: str, *, as_of: str | None = None) -> "list[SummaryBlock]":
        """Return the blocks of the viewer's summary, oldest first, each with its id and layer."""
        from dndbots.memory.agents.agent_memory import read_summaries

        with self._campaign.view(viewer, as_of) as view:
            return read_summaries(view, gates_of(view))

    def memories(
        self,
        viewer: str,
        *,
        about: str | None = None,
        source: MemorySource | str | None = None,
        as_of: str | None = None,
    ) -> list[MemoryEntry]:
        """Return the viewer's memories of places, people and the world, oldest first on each shelf."""
        if source is not None and source not in list(MemorySource):
            raise InvalidSetting("source", source, reason=f"must be one of {', '.join(MemorySource)}")
        wanted = None if source is None else MemorySource(source)
        with self._campaign.view(viewer, as_of) as view:
            uids = None if about is None else view.find(about)
            shown = UidSpelling(view.spell_uids)
            return [
                shown.answer(entry)
                for shelf, entries in all_memories(view, view.viewer).items()
                if uids is None or subject_of(shelf) in uids
                for entry in entries
                if wanted in (None, entry.source)
            ]

    @property
    def location_memories(self) -> dict[str, list[MemoryEntry]]:
        """The DM's memories of places, by uid."""
        with self._campaign.view(DM) as view:
            return _by_uid(view, DM, MemorySource.LOCATION)

    @property
    def npc_memories(self) -> dict[str, list[MemoryEntry]]:
        """Each NPC's memories of its dealings with the party, by uid."""
        with self._campaign.view(DM) as view:
            memories = {npc: memories_on(view, npc, npc_shelf(npc)) for npc in _npcs(view)}
        return {npc: entries for npc, entries in memories.items() if entries}

    @property
    def world_memories(self) -> list[MemoryEntry]:
        """The DM's memories of the steps of the story."""
        with self._campaign.view(DM) as view:
            return memories_on(view, DM, WORLD)

    @property
    def last_world_message_index(self) -> int:
        """The log index that the world memory has reached, or -1."""
        with self._campaign.view(DM) as view:
            return _index(view, DM, WORLD)

    @property
    def last_location_message_index(self) -> dict[str, int]:
        """The log index that the memory of each place has reached, by uid."""
        with self._campaign.view(DM) as view:
            prefix = location_shelf("")
            shelves = [shelf for shelf in view.shelves(DM) if shelf.startswith(prefix)]
            return {subject_of(shelf): _index(view, DM, shelf) for shelf in shelves}

    @property
    def last_npc_message_index(self) -> dict[str, int]:
        """The log index that the memory of each NPC has reached, by uid."""
        with self._campaign.view(DM) as view:
            indexes = {npc: _index(view, npc, npc_shelf(npc)) for npc in _npcs(view)}
        return {npc: index for npc, index in indexes.items() if index >= 0}

    def threads(self, viewer: str, *, resolved: bool = False, as_of: str | None = None) -> "list[Thread]":
        """Return the open threads that the viewer knows, best callback first; or all, with `resolved`."""
        from dndbots.memory.threads import find_threads

        with self._campaign.view(viewer, as_of) as view:
            return list(map(UidSpelling(view.spell_uids).answer, find_threads(view, resolved=resolved)))

    def callbacks(self, viewer: str = DM, *, limit: int = 3) -> "list[Thread]":
        """Return the best sleeping threads to bring up again."""
        from dndbots.memory.threads import find_callbacks

        with self._campaign.view(viewer) as view:
            return list(map(UidSpelling(view.spell_uids).answer, find_callbacks(view, limit=limit)))

    def recap(
        self, viewer: str, session: str | None = None, length: str = "medium", *, as_of: str | None = None
    ) -> "Recap":
        """Tell a session as the viewer knows it ("Previously on …"), with open threads.

        Without `session`, it is the last one. `length` is short, medium or long.
        """
        from dndbots.memory.recaps import write_recap

        with self._campaign.view(viewer, as_of) as view:
            recap = write_recap(view, session=session, length=length)
            threads = tuple(map(UidSpelling(view.spell_uids).answer, recap.threads))
            return recap.model_copy(update={"threads": threads})

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
        """Return what the viewer knows and needs now, within the budget. See `Campaign.context`."""
        from dndbots.memory.context import NO_BRIEFING, ToldBeside, ViewerCache, fit_context

        count_tokens("", encoding)
        with self._campaign.view(viewer, as_of) as view:
            cache = ViewerCache(encoding) if as_of is not None else self._cache_of(view.viewer, encoding)
            with cache.lock, ExitStack() as stack:
                current = view
                if view.head < cache.at:
                    # Another thread has moved the cache past this view; going back would empty it.
                    current = stack.enter_context(self._campaign.view(view.viewer))
                return fit_context(
                    current,
                    cache,
                    budget=budget,
                    query=query,
                    encoding=encoding,
                    beside=beside,
                    briefing=briefing or NO_BRIEFING,
                    told=ToldBeside.of(told),
                )

    def _cache_of(self, viewer: str, encoding: str) -> "ViewerCache":
        """Return the cache of a viewer, kept from turn to turn; the least recently asked one is dropped."""
        from dndbots.memory.context import ViewerCache

        with self._lock:
            cache = self._caches.pop((viewer, encoding), None) or ViewerCache(encoding)
            self._caches[viewer, encoding] = cache
            while len(self._caches) > _MOST_CACHES:
                del self._caches[next(iter(self._caches))]
        return cache

    def drop_cache(self, viewer: str) -> None:
        """Drop the cache of a viewer that nobody will ask for again. The log still has everything."""
        with self._lock:
            for key in [key for key in self._caches if key[0] == viewer]:
                del self._caches[key]

    def reset(self) -> None:
        """Drop all caches: the campaign continues on another branch."""
        with self._lock:
            self._caches.clear()
            self._service = None

    def recall(
        self,
        viewer: str,
        query: str,
        budget: int = 500,
        *,
        as_of: str | None = None,
        encoding: str = DEFAULT_ENCODING,
    ) -> "Recall":
        """Answer a question from what the viewer can know: cited lines and facts, or "no record".

        The answer never has more tokens than the budget, which is at least 200.
        """
        from dndbots.memory.recall.search import answer_query

        with self._campaign.view(viewer, as_of) as view:
            return answer_query(view, query, budget=budget, encoding=encoding)

    def diff(self, a: str, b: str, *, last: int = 10, as_of: str | None = None) -> "Difference":
        """Return what only A knows, what only B knows, and where they disagree.

        The answer is for the DM, and tells the secrets of both. `last` limits how many events that only
        one of them perceived are listed; their number is always given.
        """
        from dndbots.memory.differences import compare_views

        with (
            self._campaign.view(DM, as_of) as view,
            self._campaign.view(a) as first,
            self._campaign.view(b) as second,
        ):
            return compare_views(view.of(first.viewer), view.of(second.viewer), last=last)

    # Upkeep.

    def compress(self, viewer: str, *, retain: int = 0, token_limit: int = TOKEN_LIMIT) -> str:
        """Summarise a viewer's buffer, all but the newest `retain` entries, and return the summary."""
        from dndbots.memory.summaries.compression import compression_steps
        from dndbots.memory.summaries.parallel import run_compressions
        from dndbots.memory.summaries.summarizer import Summarizer

        _check_limit(token_limit)
        with self._campaign.view(viewer) as view:
            holder = view.viewer
        summarizer = Summarizer.of(self.summarizer)
        work = compression_steps(
            self._campaign, holder, retain=retain, token_limit=token_limit, written=summarizer.writes
        )
        return run_compressions({holder: work}, summarizer)[holder]

    def remember(self, *, token_limit: int = TOKEN_LIMIT, progress: Progress | None = None) -> GameState:
        """Make all scoped memories that are due and compress full buffers; return the game state.

        `progress` gets the events read and their total, then the summaries made with a total of 0: it is
        not known before.
        """
        from dndbots.memory.agents.manager import context_manager

        self.memory_service.catch_up(self._campaign, progress=progress)
        return context_manager(self.game_state(token_limit=token_limit), progress=progress)

    def tending(
        self, agents: Iterable[str], *, token_limit: int = TOKEN_LIMIT, retain: int | None = None
    ) -> "MemoryUpkeep":
        """Return the memory upkeep of a game's agents, to run once a round before the DM's turn.

        Agents are viewers: "dm", names or uids. Unlike `remember`, a run costs only what is new in the
        round, and compresses a buffer only when it is full: contexts choose from the whole log. The newest
        `retain` entries of a buffer stay; 3 by default.
        """
        from dndbots.memory.agents.manager import RETAIN_AFTER_COMPRESSION
        from dndbots.memory.agents.memory_upkeep import MemoryUpkeep
        from dndbots.memory.summaries.summarizer import Summarizer

        _check_limit(token_limit)
        return MemoryUpkeep(
            self._campaign,
            agents,
            token_limit=token_limit,
            service=self.memory_service,
            summarizer=Summarizer.of(self.summarizer),
            retain=RETAIN_AFTER_COMPRESSION if retain is None else retain,
        )

    def remembered(self, *, after: int = 0) -> "list[NewMemories]":
        """Return how many memories each agent got after a seq: the DM, the characters, then NPCs.

        The answer is for the DM. Agents without new memories are listed too.
        """
        from dndbots.memory.agents.game_state import count_new_memories

        with self._campaign.view(DM) as view:
            return count_new_memories(view, after=after)

    @property
    def memory_service(self) -> "MemoryService":
        """The service that makes the scoped memories of this campaign."""
        from dndbots.memory.scoped.service import MemoryService

        if self._service is None:
            self._service = MemoryService(self.summarizer)
        return self._service

    def start_session(self, session_id: str, *, title: str = "") -> GameEvent:
        """Begin a session: every agent keeps its summaries, facts and threads, and its buffer is empty."""
        from dndbots.memory.agents.manager import context_manager

        if not session_id.strip():
            raise InvalidSetting("session_id", session_id, reason="is blank; give the session a name")
        try:
            start = GameEvent(
                event_id=f"session_start_{session_id}",
                event_type=EventType.SESSION_START,
                source=DM,
                content=title,
                session_id=session_id,
            )
        except ValidationError as exc:
            first = exc.errors()[0]
            about_title = first["loc"] == ("content",)
            name, value = ("title", title) if about_title else ("session_id", session_id)
            raise InvalidSetting(name, value, reason=f"is not valid: {first['msg']}") from exc
        started = self._campaign.record(start)
        context_manager(self.game_state())
        return started

    # Decisions of people.

    def gates(self, viewer: str, *, as_of: str | None = None) -> Gates:
        """Return the decisions on the viewer's memories: pinned, locked, forgotten, corrected."""
        with self._campaign.view(viewer, as_of) as view:
            return gates_of(view)

    def pin(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Keep an event or a memory in every context of those who perceived it, or of one viewer."""
        return self._decide(target, "pinned", on=on, holder=viewer)

    def lock(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Keep a memory as it is: not pruned, not summarised further, not corrected."""
        return self._decide(target, "locked", on=on, holder=viewer)

    def forget(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Leave an event or a memory out of every context. It stays in the log; `on=False` brings it back."""
        return self._decide(target, "forgotten", on=on, holder=viewer)

    def correct(self, target: str, text: str | None, *, viewer: str | None = None) -> GameEvent:
        """Replace the text of an event or a memory in contexts; None takes that back."""
        return self._decide(target, "corrected", on=text is not None, text=text, holder=viewer)

    def _decide(self, target: str, what: Gating, **options: Any) -> GameEvent:
        from dndbots.memory.decisions import record_decision

        return record_decision(self._campaign, target, what, **options)

    def correct_fact(self, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
        """Set a fact to its true value; everybody who held the old value now holds the new one."""
        from dndbots.memory.decisions import correct_fact

        return correct_fact(self._campaign, subject, key, value)


def _check_limit(token_limit: int) -> None:
    if not isinstance(token_limit, int) or token_limit < 1:
        raise InvalidSetting(
            "token_limit", token_limit, reason="must be a whole number of tokens, at least 1"
        )


def _npcs(view: View) -> list[str]:
    """Return every uid of every NPC: a merged NPC still remembers under its old uid."""
    persons = view.persons_of(view.everybody("npc_"))
    return sorted({uid for same in persons.values() for uid in same if uid.startswith("npc_")})


def _by_uid(view: View, holder: str, source: MemorySource) -> dict[str, list[MemoryEntry]]:
    return {
        subject_of(shelf): entries
        for shelf, entries in all_memories(view, holder).items()
        if shelf.startswith(f"{source}:")
    }


def _index(view: View, holder: str, shelf: str) -> int:
    state = view.shelf(holder, shelf)
    seq = view.seq_of(state.cursor) if state else None
    return -1 if seq is None else seq
