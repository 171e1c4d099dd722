"""The part of a campaign that remembers: what each agent carries, and what people decide about it.

Everything here is either a view of the log, for one viewer, or a command that appends events to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from threading import Lock
from typing import Any, Final

from pydantic import ValidationError

from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.memory.carrying import Carried, carried, summaries
from dndbots.memory.compression import compressing
from dndbots.memory.context import Context, Following, context_of
from dndbots.memory.deciding import correct_fact, decide
from dndbots.memory.differing import Difference, difference_of
from dndbots.memory.driving import drive
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.layers import Block
from dndbots.memory.manager import context_manager
from dndbots.memory.recalling import Recall, recall_of
from dndbots.memory.recap import Recap, recap_of
from dndbots.memory.scoped import WORLD, about_of, all_memories, location_shelf, memories_on, npc_shelf
from dndbots.memory.service import MemoryService
from dndbots.memory.summarizer import Summarizer
from dndbots.memory.table import Remembered, remembered, table_state
from dndbots.memory.tending import Tending
from dndbots.memory.threads import Thread, callbacks, threads_of
from dndbots.models import AgentMemory, GameState, MemoryEntry, MemorySource
from dndbots.storage.reader import View
from dndbots.storage.shown import Shown
from dndbots.storage.upkeep import Progress
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

TOKEN_LIMIT: Final = 8000
_MOST_FOLLOWED: Final = 32
_following_lock = Lock()


class Remembering(ABC):
    """What a campaign can do with its memory. `summarizer` writes summaries; None needs no model."""

    summarizer: Any = None

    @abstractmethod
    def view(self, viewer: str, as_of: str | None = None) -> AbstractContextManager[View]: ...
    @abstractmethod
    def record(self, event: GameEvent, *, expected: int | None = None) -> GameEvent: ...
    @abstractmethod
    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]: ...

    # What somebody remembers.

    def memory(self, viewer: str, *, token_limit: int = TOKEN_LIMIT, as_of: str | None = None) -> AgentMemory:
        """What an agent carries: its summary, its buffer, and what it knows of itself."""
        return self.carried(viewer, token_limit=token_limit, as_of=as_of).memory

    def carried(self, viewer: str, *, token_limit: int = TOKEN_LIMIT, as_of: str | None = None) -> Carried:
        """The same, with the ids of the events in the buffer."""
        _check_limit(token_limit)
        with self.view(viewer, as_of) as view:
            return carried(view, token_limit=token_limit)

    def game_state(self, *, token_limit: int = TOKEN_LIMIT) -> GameState:
        """The memories of the DM and of every character, for `MemoryManager` and `context_manager`.

        Keys are `dm` and each name's slug, or the uid where two are alike.
        """
        _check_limit(token_limit)
        with self.view(DM) as view:
            return table_state(self, view, token_limit=token_limit, summarizer=self.summarizer)

    def summaries(self, viewer: str, *, as_of: str | None = None) -> list[Block]:
        """The parts of the viewer's summary, oldest first, each with its id and its layer."""
        with self.view(viewer, as_of) as view:
            return summaries(view, gates_of(view))

    def memories(
        self,
        viewer: str,
        *,
        about: str | None = None,
        source: MemorySource | str | None = None,
        as_of: str | None = None,
    ) -> list[MemoryEntry]:
        """Scoped memories of the viewer, oldest first on each shelf: of places, of people, of the world."""
        if source is not None and source not in list(MemorySource):
            raise InvalidSetting("source", source, reason=f"is none of {', '.join(MemorySource)}")
        wanted = None if source is None else MemorySource(source)
        with self.view(viewer, as_of) as view:
            uids = None if about is None else view.find(about)
            shown = Shown(view.spelled)
            return [
                shown.answer(entry)
                for shelf, entries in all_memories(view, view.viewer).items()
                if uids is None or about_of(shelf) in uids
                for entry in entries
                if wanted in (None, entry.source)
            ]

    @property
    def location_memories(self) -> dict[str, list[MemoryEntry]]:
        """The DM's memories of places, by uid."""
        with self.view(DM) as view:
            return _by_uid(view, DM, MemorySource.LOCATION)

    @property
    def npc_memories(self) -> dict[str, list[MemoryEntry]]:
        """What each NPC remembers of its dealings with the party, by uid."""
        with self.view(DM) as view:
            found = {npc: memories_on(view, npc, npc_shelf(npc)) for npc in _npcs(view)}
        return {npc: entries for npc, entries in found.items() if entries}

    @property
    def world_memories(self) -> list[MemoryEntry]:
        """The DM's memories of the steps of the story."""
        with self.view(DM) as view:
            return memories_on(view, DM, WORLD)

    @property
    def last_world_message_index(self) -> int:
        """How far the world's memory has come: an index of the log, -1 before anything."""
        with self.view(DM) as view:
            return _index(view, DM, WORLD)

    @property
    def last_location_message_index(self) -> dict[str, int]:
        with self.view(DM) as view:
            prefix = location_shelf("")
            shelves = [shelf for shelf in view.shelves(DM) if shelf.startswith(prefix)]
            return {about_of(shelf): _index(view, DM, shelf) for shelf in shelves}

    @property
    def last_npc_message_index(self) -> dict[str, int]:
        with self.view(DM) as view:
            found = {npc: _index(view, npc, npc_shelf(npc)) for npc in _npcs(view)}
        return {npc: index for npc, index in found.items() if index >= 0}

    def threads(self, viewer: str, *, resolved: bool = False, as_of: str | None = None) -> list[Thread]:
        """What may come back, as far as the viewer knows: best callback first; open ones, or all."""
        with self.view(viewer, as_of) as view:
            return list(map(Shown(view.spelled).answer, threads_of(view, resolved=resolved)))

    def callbacks(self, viewer: str = DM, *, limit: int = 3) -> list[Thread]:
        """The best of what sleeps, to be brought up again."""
        with self.view(viewer) as view:
            return list(map(Shown(view.spelled).answer, callbacks(view, limit=limit)))

    def recap(
        self, viewer: str, session: str | None = None, length: str = "medium", *, as_of: str | None = None
    ) -> Recap:
        """Previously on …: a session as the viewer knows it, with open threads. Short, medium or long."""
        with self.view(viewer, as_of) as view:
            recap = recap_of(view, session=session, length=length)
            threads = tuple(map(Shown(view.spelled).answer, recap.threads))
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
    ) -> Context:
        """What the viewer knows and needs now, for a model to read: never more tokens than the budget.

        `items` say why each line is there and where it comes from, `dropped` what was left out. A
        `query` adds what answers it. With what stands `beside` it in the prompt (rules, a sheet,
        secrets), the budget is that of the whole `prompt`. No model is asked.
        """
        count_tokens("", encoding)
        with self.view(viewer, as_of) as view:
            following = Following(encoding) if as_of is not None else self._following(view.viewer, encoding)
            with following.lock, ExitStack() as stack:
                seen = view
                if view.head < following.at:
                    # Somebody who looked later came first; to go back would be to begin anew.
                    seen = stack.enter_context(self.view(view.viewer))
                return context_of(
                    seen, following, budget=budget, query=query, encoding=encoding, beside=beside
                )

    def _following(self, viewer: str, encoding: str) -> Following:
        """What is at hand of a viewer, who is asked for turn after turn; the one asked last is kept last."""
        with _following_lock:
            at_hand: dict[tuple[str, str], Following] = self.__dict__.setdefault("_at_hand", {})
            found = at_hand.pop((viewer, encoding), None) or Following(encoding)
            at_hand[viewer, encoding] = found
            while len(at_hand) > _MOST_FOLLOWED:
                del at_hand[next(iter(at_hand))]
        return found

    def let_go(self, viewer: str) -> None:
        """Drops what is at hand of a viewer who is not asked for any more. The log has it all."""
        with _following_lock:
            at_hand: dict[tuple[str, str], Following] = self.__dict__.get("_at_hand", {})
            for key in [key for key in at_hand if key[0] == viewer]:
                del at_hand[key]

    def let_go_of_all(self) -> None:
        """Drops what is at hand of everybody: the log itself is another one now."""
        with _following_lock:
            self.__dict__.pop("_at_hand", None)
        self.__dict__.pop("_memory_service", None)

    def recall(
        self,
        viewer: str,
        query: str,
        budget: int = 500,
        *,
        as_of: str | None = None,
        encoding: str = DEFAULT_ENCODING,
    ) -> Recall:
        """What the viewer can know of a question: cited lines and facts, or an honest "no record".

        Never more tokens than the budget, which is at least 200.
        """
        with self.view(viewer, as_of) as view:
            return recall_of(view, query, budget=budget, encoding=encoding)

    def diff(self, a: str, b: str, *, last: int = 10, as_of: str | None = None) -> Difference:
        """What A knows and B does not, what B knows and A does not, and where they disagree.

        It answers for the DM, and tells the secrets of both. `last` is how many of the events that
        only one perceived are told; how many there are is always said.
        """
        with self.view(DM, as_of) as view, self.view(a) as one, self.view(b) as other:
            return difference_of(view.of(one.viewer), view.of(other.viewer), last=last)

    # What keeps memory in order.

    def compress(self, viewer: str, *, retain: int = 0, token_limit: int = TOKEN_LIMIT) -> str:
        """Summarises what somebody perceived since the last time, but for the newest; gives what it says."""
        _check_limit(token_limit)
        with self.view(viewer) as view:
            holder = view.viewer
        work = compressing(self, holder, retain=retain, token_limit=token_limit)
        return drive({holder: work}, Summarizer.of(self.summarizer))[holder]

    def remember(self, *, token_limit: int = TOKEN_LIMIT, progress: Progress | None = None) -> GameState:
        """Sees to everybody's memory: what the log asks for since the last time, and full buffers.

        `progress` is told how many events of how many were looked at, then how many summaries were
        made; how many there will be shows only at the end, so that their total is 0.
        """
        self.memory_service.catch_up(self, progress=progress)
        return context_manager(self.game_state(token_limit=token_limit), progress=progress)

    def tending(self, agents: Iterable[str], *, token_limit: int = TOKEN_LIMIT) -> Tending:
        """What keeps the memory of a game's agents in order; it is asked once a round, before the DM's turn.

        Agents are viewers: "dm", names or uids. Unlike `remember`, it costs what is new in a round, and
        compresses a buffer only when it is full: contexts choose from the whole log.
        """
        _check_limit(token_limit)
        return Tending(
            self,
            agents,
            token_limit=token_limit,
            service=self.memory_service,
            summarizer=Summarizer.of(self.summarizer),
        )

    def remembered(self, *, after: int = 0) -> list[Remembered]:
        """What was noted down for whom after a place in the log: the DM, the characters, then NPCs.

        It answers for the DM. Agents for whom nothing was are listed too.
        """
        with self.view(DM) as view:
            return remembered(view, after=after)

    @property
    def memory_service(self) -> MemoryService:
        """What makes scoped memories for this campaign."""
        if "_memory_service" not in self.__dict__:
            self._memory_service = MemoryService(self.summarizer)
        return self._memory_service

    def start_session(self, session_id: str, *, title: str = "") -> GameEvent:
        """Begins a session: everybody starts with summaries, facts and threads, and an empty buffer."""
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
            raise InvalidSetting(name, value, reason=f"cannot be one: {first['msg']}") from exc
        started = self.record(start)
        context_manager(self.game_state())
        return started

    # What people decide.

    def gates(self, viewer: str, *, as_of: str | None = None) -> Gates:
        """What people decided on what the viewer remembers: pinned, locked, forgotten, corrected."""
        with self.view(viewer, as_of) as view:
            return gates_of(view)

    def pin(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Keeps an event or a memory in every context of those who perceived it, or of one of them."""
        return decide(self, target, "pinned", on=on, holder=viewer)

    def lock(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Keeps a memory as it is: it is neither pruned, nor summarised further, nor corrected."""
        return decide(self, target, "locked", on=on, holder=viewer)

    def forget(self, target: str, *, on: bool = True, viewer: str | None = None) -> GameEvent:
        """Leaves an event or a memory out of every context. It stays in the log, and can be taken back."""
        return decide(self, target, "forgotten", on=on, holder=viewer)

    def correct(self, target: str, text: str | None, *, viewer: str | None = None) -> GameEvent:
        """Puts an event or a memory into other words, for contexts; None takes that back."""
        return decide(self, target, "corrected", on=text is not None, text=text, holder=viewer)

    def correct_fact(self, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
        """Says what is so after all; whoever held the old value holds the new one."""
        return correct_fact(self, subject, key, value)


def _check_limit(token_limit: int) -> None:
    if not isinstance(token_limit, int) or token_limit < 1:
        raise InvalidSetting("token_limit", token_limit, reason="is not a number of tokens from 1 up")


def _npcs(view: View) -> list[str]:
    """Every uid of every NPC: one who turned out to be another still remembers under its own."""
    persons = view.persons_of(view.everybody("npc_"))
    return sorted({uid for same in persons.values() for uid in same if uid.startswith("npc_")})


def _by_uid(view: View, holder: str, source: MemorySource) -> dict[str, list[MemoryEntry]]:
    return {
        about_of(shelf): entries
        for shelf, entries in all_memories(view, holder).items()
        if shelf.startswith(f"{source}:")
    }


def _index(view: View, holder: str, shelf: str) -> int:
    found = view.shelf(holder, shelf)
    place = view.place_of(found.cursor) if found else None
    return -1 if place is None else place
