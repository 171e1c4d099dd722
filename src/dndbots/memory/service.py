"""Memories of places, people and the world: made when a place is left and when the story takes a step.

Each holder's is made from what that holder perceived. The summarizer that was given writes the DM's and
those of NPCs; the characters' own are made without a model. What fails is warned of and done the next
time; it never stops play, and never holds up another memory.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from pydantic import JsonValue

from dndbots.canon.claims import Shelf
from dndbots.errors import SummaryFailed
from dndbots.events import GameEvent, audience
from dndbots.ids import DM
from dndbots.memory.departures import Departure, by_place, departures, own_places
from dndbots.memory.entries import SummaryTask
from dndbots.memory.gates import gates_of
from dndbots.memory.notes import Table, make_note, put, stands_with
from dndbots.memory.pruning import superfluous
from dndbots.memory.scoped import SINCE, WORLD, entries_of, is_scoped, location_shelf, npc_shelf
from dndbots.memory.spans import Span
from dndbots.memory.summarizer import SCOPED_TOKENS, Summarizer
from dndbots.memory.visits import triggering, triggers_of
from dndbots.storage.reader import View
from dndbots.storage.upkeep import Progress

log = logging.getLogger("dndbots.memory")

# How far the log was looked through for triggers, as a shelf without memories.
TRIGGERS: Final = "triggers"
# Looked through so far is noted down every now and then; what was looked through twice changes nothing.
NOTED_EVERY: Final = 200
# A holder and the name of one of its shelves.
_Shelf = tuple[str, str]
_TOLD_EVERY: Final = 50


class IMemoryService(Protocol):
    """What commands need of it. `game_state` is the campaign."""

    def on_location_exit(self, game_state: Table, *, characters: Collection[str] | None = None) -> None: ...
    def on_world_event(
        self,
        game_state: Table,
        event_kind: str,
        tags: Sequence[str] | None = None,
        related: Mapping[str, Any] | None = None,
    ) -> None: ...
    def prune(self, game_state: Table) -> None: ...


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A memory to be made: whose, of which messages, on which shelf, as it stood when they were read."""

    holder: str
    shelf: str
    stands: Shelf | None
    messages: list[GameEvent]
    task: SummaryTask
    tags: list[str]
    related: dict[str, JsonValue] = field(default_factory=dict)
    written: bool = True


class MemoryService:
    """Makes, finds and prunes scoped memories. `summarizer` is a `Summarizer`, a chat model, or nothing."""

    def __init__(self, summarizer: Any = None) -> None:
        self._summarizer = Summarizer.of(summarizer)
        self._default = Summarizer()
        self._looked_at: WeakKeyDictionary[Table, str] = WeakKeyDictionary()

    # Leaving a place.

    def on_location_exit(
        self,
        game_state: Table,
        location_id: str | None = None,
        *,
        as_of: str | None = None,
        characters: Collection[str] | None = None,
    ) -> None:
        """Remembers what happened where the party is, or at a place, since it was last remembered.

        A place that nobody knows of, or where nothing happened, leaves nothing behind. `as_of` is the
        last event that counts, `characters` those who leave, and so get a memory of it beside the DM and
        NPCs. Without them it is the party that leaves, or, of a given place, all whom anything reached.
        """
        with game_state.view(DM) as view:
            upto = view.place_of(as_of) if as_of is not None else None
            if location_id is None:
                leaving = by_place(own_places(game_state, upto, characters))
            elif characters is None:
                new = Span(game_state, view, upto).at(DM, location_shelf(location_id), location_id)
                leaving = {location_id: _characters(new)}
            else:
                leaving = {location_id: sorted(characters)}
        for place, reached in leaving.items():
            with game_state.view(DM) as view:
                span = Span(game_state, view, upto)
                jobs = [*self._visit(span, place, reached), *self._dealings(span, place, reached)]
            self._make(game_state, jobs)

    def _visit(self, span: Span, location: str, characters: Iterable[str]) -> Iterable[_Job]:
        shelf, tags = location_shelf(location), ["session", f"location:{location}"]
        for holder in [DM, *characters]:
            messages = span.at(holder, shelf, location)
            task = {"kind": "location", "about": location}
            yield from self._job(span, holder, shelf, messages, tags, {}, task)

    def _dealings(self, span: Span, location: str, characters: Iterable[str]) -> Iterable[_Job]:
        """For each NPC present and mentioned: its own memory of it, and those of the characters.

        Who is present for a character is who it takes to be: that somebody slipped away is not told.
        """
        met = [(npc, npc) for npc in span.npcs_at(DM, location)]
        met += [(holder, npc) for holder in characters for npc in span.npcs_at(holder, location)]
        for holder, npc in met:
            messages = span.about(holder, npc, location)
            tags = ["npc-session", f"location:{location}", f"npc:{npc}"]
            task = {"kind": "npc", "about": npc}
            yield from self._job(
                span, holder, npc_shelf(npc), messages, tags, {"location_id": location}, task
            )

    # A step of the story.

    def on_world_event(
        self,
        game_state: Table,
        event_kind: str,
        tags: Sequence[str] | None = None,
        related: Mapping[str, Any] | None = None,
        *,
        as_of: str | None = None,
    ) -> None:
        """Remembers what led to a step of the story: for the DM, and for those who perceived the step."""
        given = {key: value for key, value in (related or {}).items() if value and key != SINCE}
        labels = [f"world:{event_kind}", *(tags or ())]
        task = {"kind": "world", "about": event_kind, "name": event_kind.replace("_", " ")}
        with game_state.view(DM) as view:
            span = Span(game_state, view, view.place_of(as_of) if as_of is not None else None)
            messages = span.all(DM, WORLD)
            step = triggering(messages, event_kind, given)
            jobs = list(self._job(span, DM, WORLD, messages, labels, given, task))
            if step and jobs:
                # What else the caller knows of the step, in tags and ids, is the DM's.
                event, trigger = step
                for holder in _characters([event]):
                    told = span.all(holder, WORLD)
                    jobs += self._job(span, holder, WORLD, told, labels[:1], trigger.related, task)
        self._make(game_state, jobs)

    # Triggers off the log.

    def catch_up(self, game_state: Table, *, progress: Progress | None = None) -> None:
        """Makes every memory that the log asks for since the last time: places left, steps of the story.

        `progress` is told how many events of how many were looked at.
        """
        with game_state.view(DM) as view:
            shelf = view.shelf(DM, TRIGGERS)
            known = self._looked_at.get(game_state) or (shelf.cursor if shelf else None)
            start = (view.place_of(known) or 0) if known else 0
            events = [event for _, event in view.play(after=start)]
        if not events:
            return
        at = own_places(game_state, start) if known is not None else {}
        for departure in departures(_counted(events, progress), at, before=known):
            self.follow(game_state, departure)
        self._looked_at[game_state] = events[-1].event_id
        with game_state.view(DM) as view:
            unnoted = view.places_after((view.place_of(shelf.cursor) or 0) if shelf else 0)
        if len(unnoted) >= NOTED_EVERY:
            after = shelf.cursor if shelf else None
            note = make_note(DM, TRIGGERS, shelf, lines=[], upto=events[-1], after=after)
            put(game_state, [note])

    def follow(self, game_state: Table, departure: Departure) -> None:
        """Makes the memories that one event of the log asks for; those that are there, not again."""
        event = departure.event
        for place, leaving in departure.left.items():
            # Who stays behind remembers the place when it leaves itself.
            self.on_location_exit(game_state, place, as_of=departure.before, characters=leaving)
        for trigger in triggers_of(event):
            if not self._is_remembered(game_state, event):
                self.on_world_event(game_state, trigger.kind, related=trigger.related, as_of=event.event_id)

    def _is_remembered(self, table: Table, event: GameEvent) -> bool:
        with table.view(DM) as view:
            return _cursor(view, DM, WORLD) >= (event.seq or 0)

    # Pruning.

    def prune(self, game_state: Table) -> None:
        """Takes superseded and redundant memories off their shelves. They stay in the log."""
        with game_state.view(DM) as view:
            shelves = [
                (holder, shelf)
                for holder in [DM, *view.everybody("pc_"), *view.everybody("npc_")]
                for shelf in view.shelves(holder)
                if is_scoped(shelf)
            ]
        for holder, shelf in shelves:
            self._prune(game_state, holder, shelf)

    def _prune(self, table: Table, holder: str, shelf_name: str) -> None:
        with table.view(holder) as view:
            shelf = view.shelf(holder, shelf_name)
            end = view.by_id([shelf.cursor]).get(shelf.cursor) if shelf else None
            if shelf is None or end is None:
                return
            pruned = _pruned(view, shelf_name, shelf, end)
        put(table, pruned)

    # How a memory is made.

    def _job(
        self,
        span: Span,
        holder: str,
        shelf: str,
        messages: list[GameEvent],
        tags: list[str],
        related: Mapping[str, JsonValue],
        task: Mapping[str, Any],
    ) -> Iterable[_Job]:
        """The memory that somebody gets of messages that it perceived; none, if they say nothing."""
        entries = span.retold(holder, messages)
        if entries:
            named = task if "name" in task else {**task, "name": span.name(holder, task["about"])}
            since = messages[0].timestamp
            yield _Job(
                holder=holder,
                shelf=shelf,
                stands=span.stands(holder, shelf),
                messages=messages,
                task=SummaryTask(
                    agent=holder,
                    entries=tuple(entries),
                    tokens=SCOPED_TOKENS,
                    game_state=span.table,
                    related=related,
                    **named,
                ),
                tags=tags,
                related={**related, **({SINCE: since.isoformat()} if since else {})},
                written=not holder.startswith("pc_"),
            )

    def _make(self, table: Table, jobs: Sequence[_Job]) -> None:
        """Makes memories side by side, and puts all that came of it into the log at once."""
        written = [job for job in jobs if job.written]
        own = [job for job in jobs if not job.written]
        answers = [
            *zip(written, self._summarizer.condense_all(job.task for job in written), strict=True),
            *zip(own, self._default.condense_all(job.task for job in own), strict=True),
        ]
        made: dict[_Shelf, tuple[GameEvent, GameEvent]] = {}
        for job, answer in answers:
            if isinstance(answer, SummaryFailed):
                log.warning("%s has no new memory of %s: %s", job.holder, job.shelf, answer.reason)
                continue
            upto = job.messages[-1]
            note = make_note(
                job.holder,
                job.shelf,
                job.stands,
                lines=answer,
                upto=upto,
                after=job.stands.cursor if job.stands else None,
                tags=job.tags,
                related=job.related,
            )
            made[job.holder, job.shelf] = note, upto
        notes = [note for note, _ in made.values()]
        with table.view(DM) as view:
            for (holder, shelf), (note, upto) in made.items():
                notes += _pruned(view.of(holder), shelf, stands_with(note), upto, new=note)
        put(table, notes)


def _pruned(
    view: View, name: str, shelf: Shelf, upto: GameEvent, *, new: GameEvent | None = None
) -> list[GameEvent]:
    """The note that takes superfluous memories of the viewer off a shelf, if there are any.

    With a `new` one, only what that makes so: the others were looked through when they came. What was
    pinned or locked until then stays until everything is pruned.
    """
    if len(shelf.standing) < 2:
        return []
    gates = gates_of(view)
    entries = entries_of(view, shelf.standing, gates=gates, new=new)
    came = None if new is None else sum(entry.memory_id == new.event_id for entry in entries)
    gone = superfluous(entries, kept=gates.locked | set(gates.pinned), new=came)
    return (
        [make_note(view.viewer, name, shelf, lines=[], upto=upto, after=None, replaces=gone)] if gone else []
    )


def _cursor(view: View, holder: str, shelf: str) -> int:
    found = view.shelf(holder, shelf)
    return (view.place_of(found.cursor) or 0) if found else 0


def _characters(messages: Iterable[GameEvent]) -> list[str]:
    """The characters whom some messages reached."""
    return sorted({who for event in messages for who in audience(event) if who.startswith("pc_")})


def _counted(events: Sequence[GameEvent], progress: Progress | None) -> Iterable[GameEvent]:
    for number, event in enumerate(events):
        if progress is not None and number % _TOLD_EVERY == 0:
            progress(number, len(events))
        yield event
