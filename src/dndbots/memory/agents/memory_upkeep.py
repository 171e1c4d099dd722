"""Memory upkeep for a game, round by round: it costs what is new, however long the log is.

Its state follows from the log alone. A new one, made at any time, continues in the same way.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dndbots.canon.claims import Shelf
from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM
from dndbots.memory.agents.manager import MAX_COMPRESSION_PASSES, NEAR, RETAIN_AFTER_COMPRESSION
from dndbots.memory.log_reader import LogReader
from dndbots.memory.notes import make_note, record_notes, shelf_after
from dndbots.memory.retold_events import spoken_of
from dndbots.memory.scoped.departures import find_departures, find_own_locations
from dndbots.memory.scoped.service import NOTED_EVERY, TRIGGERS, MemoryService
from dndbots.memory.summaries.compression import (
    SummaryWork,
    compression_steps,
    events_since,
    find_backlog,
    shortening_steps,
    standing_summaries,
)
from dndbots.memory.summaries.layers import SUMMARY
from dndbots.memory.summaries.parallel import run_compressions
from dndbots.memory.summaries.summarizer import Summarizer
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View
from dndbots.tokens import estimate_tokens

# The locations of this many characters are noted down, those seen last.
_MOST_PLACED: Final = 64


class MemoryUpkeep:
    """Keeps the memory of some agents of one campaign, once a round.

    Other threads and processes may record meanwhile, but the object itself belongs to one thread.
    """

    def __init__(
        self,
        campaign: CampaignLog,
        agents: Iterable[str],
        *,
        token_limit: int,
        service: MemoryService,
        summarizer: Summarizer,
        retain: int = RETAIN_AFTER_COMPRESSION,
    ) -> None:
        self._campaign, self._limit, self._retain = campaign, token_limit, retain
        self._service, self._summarizer = service, summarizer
        self._agents: dict[str, str] = {}
        for name in agents:
            with campaign.view(name) as view:
                self._agents[name] = view.viewer
        self._triggers = _Triggers()
        self._buffers: dict[str, _Buffer] = {}
        self._at = -1

    def tend(self, prompts: Mapping[str, int] | None = None) -> list[str]:
        """Make the memories that are due and compress full buffers; return whose were compressed.

        A buffer is full when it reaches 80 % of the agent's limit. `prompts` says how many tokens of that
        limit the other text of an agent's prompt takes.
        """
        taken = _checked(prompts or {}, self._agents)
        self._follow()
        # If something fails on the way, -1 makes the next call start from the log again.
        at, self._at = self._at, -1
        in_step = self._make_memories()
        rooms = {name: max(self._limit - taken.get(name, 0), 1) for name in self._agents}
        sizes = {name: self._buffers[name].tokens for name in self._agents}
        due = [name for name in self._agents if self._is_due(name, rooms[name])]
        self._at = at if in_step else -1
        if due:
            with self._campaign.view(DM) as view:
                reader = LogReader(view)
            work = {name: self._compression(name, rooms[name], reader) for name in due}
            run_compressions(work, self._summarizer)
            self._follow()
        return [name for name in due if self._buffers[name].tokens < sizes[name]]

    def begin_session(self) -> list[str]:
        """Summarise what is left of earlier sessions, so that buffers begin empty; return whose it was.

        Call it after the new session's first event is recorded.
        """
        self._follow()
        with self._campaign.view(DM) as view:
            reader = LogReader(view)
            old = [
                name
                for name, uid in self._agents.items()
                if find_backlog(view.of(uid), retain=None, reader=reader).due
            ]
        work = {
            name: compression_steps(
                self._campaign,
                self._agents[name],
                retain=None,
                token_limit=self._limit,
                reader=reader,
                written=self._summarizer.writes,
            )
            for name in old
        }
        run_compressions(work, self._summarizer)
        self._follow()
        return old

    # New events.

    def _follow(self) -> None:
        """Take in all events recorded since the last time, by any writer."""
        with self._campaign.view(DM) as view:
            at, self._at = self._at, -1
            if at < 0 or not all(self._take_in(event) for event in view.events(after=at)):
                self._begin(view)
            self._at = view.head

    def _take_in(self, event: GameEvent) -> bool:
        """Take in one event; return False if another writer has made memories meanwhile."""
        if not event.is_note:
            self._triggers.new.append(event)
            people = audience(event)
            for name, uid in self._agents.items():
                if uid in people:
                    self._buffers[name].add(event)
            return True
        note = event.known.memory if event.event_type in (EventType.SUMMARY, EventType.MEMORY) else None
        if note is None:
            return True
        if note.shelf == SUMMARY:
            for name, uid in self._agents.items():
                if uid == note.holder:
                    self._buffers[name].drop(note.cursor)
        return note.shelf != TRIGGERS or event.event_id == self._triggers.last

    def _begin(self, view: View) -> None:
        """Read the whole state from the log at the moment of the view."""
        self._triggers = _Triggers.of(self._campaign, view)
        self._buffers = {}
        for name, uid in self._agents.items():
            buffer = self._buffers[name] = _Buffer()
            own = view.of(uid)
            for event in events_since(own, own.shelf(uid, SUMMARY)):
                buffer.add(event)

    # Scoped memories.

    def _make_memories(self) -> bool:
        """Make the memories that new events ask for; return False if another writer did so meanwhile.

        The cursor is noted down with everybody's location, so that no event is read twice.
        """
        triggers = self._triggers
        new, triggers.new = triggers.new, []
        made = False
        for departure in find_departures(new, triggers.places, before=triggers.before):
            self._service.follow(self._campaign, departure)
            made = True
        triggers.unnoted += len(new)
        if new:
            triggers.newest = new[-1]
        if triggers.newest is None or not (made or triggers.unnoted >= NOTED_EVERY):
            return True
        note = triggers.note(triggers.newest)
        if not record_notes(self._campaign, [note]):
            return False
        triggers.noted(self._campaign, note)
        return True

    # Full buffers.

    def _is_due(self, name: str, room: int) -> bool:
        buffer = self._buffers[name]
        return buffer.tokens >= int(room * NEAR) and len(buffer) > self._retain

    def _compression(self, name: str, room: int, reader: LogReader) -> SummaryWork:
        """Summarise one agent's buffer; if the total is still too long, merge its oldest summaries."""
        uid = self._agents[name]
        made = yield from compression_steps(
            self._campaign,
            uid,
            retain=self._retain,
            token_limit=self._limit,
            reader=reader,
            written=self._summarizer.writes,
        )
        for _ in range(MAX_COMPRESSION_PASSES - 1):
            if self._tokens_of(name) <= room:
                break
            yield from shortening_steps(
                self._campaign, uid, token_limit=self._limit, written=self._summarizer.writes
            )
        return made

    def _tokens_of(self, name: str) -> int:
        """Return about how many tokens an agent's summaries and buffer have."""
        self._follow()
        with self._campaign.view(self._agents[name]) as view:
            _, blocks = standing_summaries(view)
        return estimate_tokens("\n".join(block.text for block in blocks)) + self._buffers[name].tokens


class _Triggers:
    """The point up to which the log was read for memories to make, and everybody's location at that point."""

    def __init__(self) -> None:
        self.shelf: Shelf | None = None
        self.places: dict[str, str] = {}
        self.new: list[GameEvent] = []
        self.newest: GameEvent | None = None
        self.unnoted = 0

    @classmethod
    def of(cls, campaign: CampaignLog, view: View) -> "_Triggers":
        """Read it from the log. Events after the last noted cursor are read again."""
        made = cls()
        made.shelf = view.shelf(DM, TRIGGERS)
        after = 0
        if made.shelf is not None:
            after = view.seq_of(made.shelf.cursor) or 0
            note = view.by_id([made.shelf.last])[made.shelf.last].known.memory
            noted = note.related if note is not None else {}
            made.places = _placed(campaign, {who: str(place) for who, place in noted.items()}, after)
        made.new = [event for _, event in view.play(after=after)]
        return made

    @property
    def last(self) -> str | None:
        return self.shelf.last if self.shelf else None

    @property
    def before(self) -> str | None:
        """The id of the event that was read last."""
        if self.newest is not None:
            return self.newest.event_id
        return self.shelf.cursor if self.shelf else None

    def note(self, upto: GameEvent) -> GameEvent:
        """Make the note that moves the cursor to an event."""
        self.places = dict(sorted(list(self.places.items())[-_MOST_PLACED:]))
        after = self.shelf.cursor if self.shelf else None
        return make_note(DM, TRIGGERS, self.shelf, lines=[], upto=upto, after=after, related=self.places)

    def noted(self, campaign: CampaignLog, note: GameEvent) -> None:
        """Continue from a recorded note, as if it had been read from the log."""
        self.shelf = shelf_after(note)
        self.places = _placed(campaign, self.places, (self.newest.seq if self.newest else None) or 0)
        self.newest, self.unnoted = None, 0


class _Buffer:
    """The estimated tokens of the events that an agent perceived since its summary, by event id."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, event: GameEvent) -> None:
        size = self._sizes[event.event_id] = _size(event)
        self.tokens += size

    def drop(self, upto: str) -> None:
        """Drop all events up to one that was summarised. An unknown id was dropped before."""
        if upto in self._sizes:
            for name in list(self._sizes):
                self.tokens -= self._sizes.pop(name)
                if name == upto:
                    break


def _placed(campaign: CampaignLog, noted: dict[str, str], at: int) -> dict[str, str]:
    """Return the locations that were noted down, or where the characters took themselves to be."""
    return noted or find_own_locations(campaign, at)


def _size(event: GameEvent) -> int:
    """Return about how many tokens an event has. It uses uids: names may change, the size must not.

    Without words, the uids it is about stand in for the outcomes of the rules.
    """
    words = event.content if event.content.strip() else " ".join(spoken_of(event, event.known))
    return estimate_tokens(f"[{event.source}]: {words}")


def _checked(prompts: Mapping[str, int], agents: Mapping[str, str]) -> Mapping[str, int]:
    for name, tokens in prompts.items():
        if name not in agents:
            reason = f"has {name!r}, which is not one of the agents: {', '.join(agents)}"
            raise InvalidSetting("prompts", name, reason=reason)
        if not isinstance(tokens, int) or tokens < 0:
            raise InvalidSetting("prompts", tokens, reason=f"must be a number of tokens for {name!r}")
    return prompts
