"""Memory kept in order round by round, for a game: at the cost of what is new, however long the log is.

All that it knows follows from the log, so that it can be made anew at any time, and notes down the same.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dndbots.canon.claims import Shelf
from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM
from dndbots.memory.compression import Summarizing, compressing, shortening, since, standing
from dndbots.memory.departures import departures, own_places
from dndbots.memory.driving import drive
from dndbots.memory.layers import SUMMARY
from dndbots.memory.manager import MAX_COMPRESSION_PASSES, NEAR, RETAIN_AFTER_COMPRESSION
from dndbots.memory.notes import Table, make_note, put, stands_with
from dndbots.memory.reading import Reading
from dndbots.memory.retelling import spoken_of
from dndbots.memory.service import NOTED_EVERY, TRIGGERS, MemoryService
from dndbots.memory.summarizer import Summarizer
from dndbots.storage.reader import View
from dndbots.tokens import estimate_tokens

# Of so many characters it is noted down where they were; those who were seen last.
_MOST_PLACED: Final = 64


class Tending:
    """Sees to the memory of some agents of one campaign, once a round.

    Others may record meanwhile, also from other processes. It belongs to one thread.
    """

    def __init__(
        self,
        table: Table,
        agents: Iterable[str],
        *,
        token_limit: int,
        service: MemoryService,
        summarizer: Summarizer,
    ) -> None:
        self._table, self._limit = table, token_limit
        self._service, self._summarizer = service, summarizer
        self._agents: dict[str, str] = {}
        for name in agents:
            with table.view(name) as view:
                self._agents[name] = view.viewer
        self._triggers = _Triggers()
        self._buffers: dict[str, _Buffer] = {}
        self._at = -1

    def tend(self, prompts: Mapping[str, int] | None = None) -> list[str]:
        """Makes the memories that the log asks for since the last time, and compresses full buffers.

        A buffer is full when what an agent perceived since its summary comes to 80 % of its limit.
        `prompts` says how much of that limit is taken by what else stands in an agent's prompt. Gives
        the names of those whose buffer was compressed.
        """
        taken = _checked(prompts or {}, self._agents)
        self._follow()
        # Whatever fails on the way, it begins anew next time.
        at, self._at = self._at, -1
        in_step = self._look()
        rooms = {name: max(self._limit - taken.get(name, 0), 1) for name in self._agents}
        sizes = {name: self._buffers[name].tokens for name in self._agents}
        due = [name for name in self._agents if self._is_due(name, rooms[name])]
        self._at = at if in_step else -1
        if due:
            with self._table.view(DM) as view:
                reading = Reading(view)
            work = {name: self._compressing(name, rooms[name], reading) for name in due}
            drive(work, self._summarizer)
            self._follow()
        return [name for name in due if self._buffers[name].tokens < sizes[name]]

    # What is new in the log.

    def _follow(self) -> None:
        """Takes in what was recorded since the last time, by whomever."""
        with self._table.view(DM) as view:
            at, self._at = self._at, -1
            if at < 0 or not all(self._take_in(event) for event in view.events(after=at)):
                self._begin(view)
            self._at = view.head

    def _take_in(self, event: GameEvent) -> bool:
        """One more event; says no if somebody else looked through the log meanwhile."""
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
        """All of it from the log: what the view's moment has."""
        self._triggers = _Triggers.of(self._table, view)
        self._buffers = {}
        for name, uid in self._agents.items():
            buffer = self._buffers[name] = _Buffer()
            own = view.of(uid)
            for event in since(own, own.shelf(uid, SUMMARY)):
                buffer.add(event)

    # Memories of places, people and the world.

    def _look(self) -> bool:
        """Looks through what is new for what asks for memories; says whether nobody else did meanwhile.

        How far it came is noted down with where everybody was, so that nothing is looked at twice.
        """
        triggers = self._triggers
        new, triggers.new = triggers.new, []
        found = False
        for departure in departures(new, triggers.places, before=triggers.before):
            self._service.follow(self._table, departure)
            found = True
        triggers.unnoted += len(new)
        if new:
            triggers.newest = new[-1]
        if triggers.newest is None or not (found or triggers.unnoted >= NOTED_EVERY):
            return True
        note = triggers.note(triggers.newest)
        if not put(self._table, [note]):
            return False
        triggers.noted(self._table, note)
        return True

    # Full buffers.

    def _is_due(self, name: str, room: int) -> bool:
        buffer = self._buffers[name]
        return buffer.tokens >= int(room * NEAR) and len(buffer) > RETAIN_AFTER_COMPRESSION

    def _compressing(self, name: str, room: int, reading: Reading) -> Summarizing:
        """One agent's buffer becomes summaries; if all together is still too much, the oldest become one."""
        uid = self._agents[name]
        made = yield from compressing(
            self._table, uid, retain=RETAIN_AFTER_COMPRESSION, token_limit=self._limit, reading=reading
        )
        for _ in range(MAX_COMPRESSION_PASSES - 1):
            if self._carries(name) <= room:
                break
            yield from shortening(self._table, uid, token_limit=self._limit)
        return made

    def _carries(self, name: str) -> int:
        """About how many tokens of summaries and of what it perceived since an agent carries."""
        self._follow()
        with self._table.view(self._agents[name]) as view:
            _, blocks = standing(view)
        return estimate_tokens("\n".join(block.text for block in blocks)) + self._buffers[name].tokens


class _Triggers:
    """How far the log was looked through for what asks for memories, and where everybody was then."""

    def __init__(self) -> None:
        self.shelf: Shelf | None = None
        self.places: dict[str, str] = {}
        self.new: list[GameEvent] = []
        self.newest: GameEvent | None = None
        self.unnoted = 0

    @classmethod
    def of(cls, table: Table, view: View) -> "_Triggers":
        """From the log. What was looked through and not noted down is looked through again."""
        made = cls()
        made.shelf = view.shelf(DM, TRIGGERS)
        after = 0
        if made.shelf is not None:
            after = view.place_of(made.shelf.cursor) or 0
            note = view.by_id([made.shelf.last])[made.shelf.last].known.memory
            noted = note.related if note is not None else {}
            made.places = _placed(table, {who: str(place) for who, place in noted.items()}, after)
        made.new = [event for _, event in view.play(after=after)]
        return made

    @property
    def last(self) -> str | None:
        return self.shelf.last if self.shelf else None

    @property
    def before(self) -> str | None:
        """The event that was looked at last."""
        if self.newest is not None:
            return self.newest.event_id
        return self.shelf.cursor if self.shelf else None

    def note(self, upto: GameEvent) -> GameEvent:
        """How far it came, to be noted down."""
        self.places = dict(sorted(list(self.places.items())[-_MOST_PLACED:]))
        after = self.shelf.cursor if self.shelf else None
        return make_note(DM, TRIGGERS, self.shelf, lines=[], upto=upto, after=after, related=self.places)

    def noted(self, table: Table, note: GameEvent) -> None:
        """It was noted down: from here on, it is as if it had been read there."""
        self.shelf = stands_with(note)
        self.places = _placed(table, self.places, (self.newest.seq if self.newest else None) or 0)
        self.newest, self.unnoted = None, 0


class _Buffer:
    """What an agent perceived since its summary: how much each event is, by its id."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, event: GameEvent) -> None:
        size = self._sizes[event.event_id] = _size(event)
        self.tokens += size

    def drop(self, upto: str) -> None:
        """What was summarised goes. What is not here went before."""
        if upto in self._sizes:
            for name in list(self._sizes):
                self.tokens -= self._sizes.pop(name)
                if name == upto:
                    break


def _placed(table: Table, noted: dict[str, str], at: int) -> dict[str, str]:
    """Where everybody was, as it was noted down; or else where they took themselves to be."""
    return noted or own_places(table, at)


def _size(event: GameEvent) -> int:
    """About how many tokens an event is, by itself: who is called what may change, and this must not.

    Where there are no words, those of whom it speaks stand in for what the rules decided.
    """
    words = event.content if event.content.strip() else " ".join(spoken_of(event, event.known))
    return estimate_tokens(f"[{event.source}]: {words}")


def _checked(prompts: Mapping[str, int], agents: Mapping[str, str]) -> Mapping[str, int]:
    for name, tokens in prompts.items():
        if name not in agents:
            reason = f"has {name!r}, who is none of {', '.join(agents)}"
            raise InvalidSetting("prompts", name, reason=reason)
        if not isinstance(tokens, int) or tokens < 0:
            raise InvalidSetting("prompts", tokens, reason=f"has no number of tokens for {name!r}")
    return prompts
