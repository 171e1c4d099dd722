"""The memory service: makes memories of places, people and the world, and prunes them.

A memory is made when a character leaves a location and when the story takes a step, from what its holder
perceived. The given summarizer writes the memories of the DM and of NPCs; those of the characters are made
without a model. A failure is logged and tried again the next time. It never stops play, and never holds
up another memory.
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
from dndbots.memory.entries import SummaryTask
from dndbots.memory.human_gates import gates_of
from dndbots.memory.notes import make_note, record_notes, shelf_after
from dndbots.memory.scoped.departures import Departure, find_departures, find_own_locations, group_by_location
from dndbots.memory.scoped.shelves import (
    SINCE,
    WORLD,
    entries_of,
    find_redundant,
    is_scoped,
    location_shelf,
    npc_shelf,
)
from dndbots.memory.scoped.spans import Span
from dndbots.memory.summaries.summarizer import SCOPED_TOKENS, Summarizer
from dndbots.memory.visits import find_trigger, triggers_of
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.upkeep import Progress
from dndbots.storage.views.view import View

log = logging.getLogger("dndbots.memory")

# A shelf without memories: its cursor says how far the log was read for triggers.
TRIGGERS: Final = "triggers"
# The cursor is noted down after this many events; reading some of them twice changes nothing.
NOTED_EVERY: Final = 200
# A holder and the name of one of its shelves.
_Shelf = tuple[str, str]
_REPORT_EVERY: Final = 50


class IMemoryService(Protocol):
    """The part of the service that game commands use. `game_state` is the campaign."""

    def on_location_exit(
        self, game_state: CampaignLog, *, characters: Collection[str] | None = None
    ) -> None: ...
    def on_world_event(
        self,
        game_state: CampaignLog,
        event_kind: str,
        tags: Sequence[str] | None = None,
        related: Mapping[str, Any] | None = None,
    ) -> None: ...
    def prune(self, game_state: CampaignLog) -> None: ...


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A memory to make: its holder, its messages, and its shelf in the state when they were read.

    `by_model` says that the given summarizer writes it.
    """

    holder: str
    shelf: str
    state: Shelf | None
    messages: list[GameEvent]
    task: SummaryTask
    tags: list[str]
    related: dict[str, JsonValue] = field(default_factory=dict)
    by_model: bool = True


class MemoryService:
    """Makes and prunes scoped memories. `summarizer` is a `Summarizer`, a chat model, or None."""

    def __init__(self, summarizer: Any = None) -> None:
        self._summarizer = Summarizer.of(summarizer)
        self._default = Summarizer()
        self._read_upto: WeakKeyDictionary[CampaignLog, str] = WeakKeyDictionary()

    # Leaving a location.

    def on_location_exit(
        self,
        game_state: CampaignLog,
        location_id: str | None = None,
        *,
        as_of: str | None = None,
        characters: Collection[str] | None = None,
    ) -> None:
        """Make memories of what is new at the party's location, or at the given one.

        An unknown location, or one where nothing happened, gets none. `as_of` is the last event that
        counts. `characters` are those who leave: they get a memory beside the DM and NPCs. By default
        that is the party, or at a given location everybody whom an event there reached.
        """
        with game_state.view(DM) as view:
            upto = view.seq_of(as_of) if as_of is not None else None
            if location_id is None:
                leaving = group_by_location(find_own_locations(game_state, upto, characters))
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
        """Yield the jobs for each NPC present and mentioned: its own memory, and the characters'.

        A character's own view decides who is present: it may have missed that somebody slipped away.
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

    # Story steps.

    def on_world_event(
        self,
        game_state: CampaignLog,
        event_kind: str,
        tags: Sequence[str] | None = None,
        related: Mapping[str, Any] | None = None,
        *,
        as_of: str | None = None,
    ) -> None:
        """Make memories of what led to a story step, for the DM and for all who perceived the step."""
        ids = {key: value for key, value in (related or {}).items() if value and key != SINCE}
        labels = [f"world:{event_kind}", *(tags or ())]
        task = {"kind": "world", "about": event_kind, "name": event_kind.replace("_", " ")}
        with game_state.view(DM) as view:
            span = Span(game_state, view, view.seq_of(as_of) if as_of is not None else None)
            messages = span.all(DM, WORLD)
            step = find_trigger(messages, event_kind, ids)
            jobs = list(self._job(span, DM, WORLD, messages, labels, ids, task))
            if step and jobs:
                # The characters get no tags or ids of the caller: those are the DM's.
                event, trigger = step
                for holder in _characters([event]):
                    own = span.all(holder, WORLD)
                    jobs += self._job(span, holder, WORLD, own, labels[:1], trigger.related, task)
        self._make(game_state, jobs)

    # Triggers in the log.

    def catch_up(self, game_state: CampaignLog, *, progress: Progress | None = None) -> None:
        """Make every memory that the log asks for since the last time.

        `progress` gets the events read and their total.
        """
        with game_state.view(DM) as view:
            shelf = view.shelf(DM, TRIGGERS)
            known = self._read_upto.get(game_state) or (shelf.cursor if shelf else None)
            start = (view.seq_of(known) or 0) if known else 0
            events = [event for _, event in view.play(after=start)]
        if not events:
            return
        at = find_own_locations(game_state, start) if known is not None else {}
        for departure in find_departures(_counted(events, progress), at, before=known):
            self.follow(game_state, departure)
        self._read_upto[game_state] = events[-1].event_id
        with game_state.view(DM) as view:
            unnoted = view.seqs_after((view.seq_of(shelf.cursor) or 0) if shelf else 0)
        if len(unnoted) >= NOTED_EVERY:
            after = shelf.cursor if shelf else None
            note = make_note(DM, TRIGGERS, shelf, lines=[], upto=events[-1], after=after)
            record_notes(game_state, [note])

    def follow(self, game_state: CampaignLog, departure: Departure) -> None:
        """Make the memories that one event of the log asks for, unless they exist."""
        event = departure.event
        for place, leaving in departure.left.items():
            # Characters who stay get their memory when they leave themselves.
            self.on_location_exit(game_state, place, as_of=departure.before, characters=leaving)
        for trigger in triggers_of(event):
            if not self._is_remembered(game_state, event):
                self.on_world_event(game_state, trigger.kind, related=trigger.related, as_of=event.event_id)

    def _is_remembered(self, campaign: CampaignLog, event: GameEvent) -> bool:
        with campaign.view(DM) as view:
            return _cursor(view, DM, WORLD) >= (event.seq or 0)

    # Pruning.

    def prune(self, game_state: CampaignLog) -> None:
        """Take superseded and redundant memories off their shelves. They stay in the log."""
        with game_state.view(DM) as view:
            shelves = [
                (holder, shelf)
                for holder in [DM, *view.everybody("pc_"), *view.everybody("npc_")]
                for shelf in view.shelves(holder)
                if is_scoped(shelf)
            ]
        for holder, shelf in shelves:
            self._prune(game_state, holder, shelf)

    def _prune(self, campaign: CampaignLog, holder: str, shelf_name: str) -> None:
        with campaign.view(holder) as view:
            shelf = view.shelf(holder, shelf_name)
            end = view.by_id([shelf.cursor]).get(shelf.cursor) if shelf else None
            if shelf is None or end is None:
                return
            pruned = _pruned(view, shelf_name, shelf, end)
        record_notes(campaign, pruned)

    # Making a memory.

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
        """Yield the memory to make of messages that a holder perceived; none if they say nothing."""
        entries = span.retold(holder, messages)
        if entries:
            named = task if "name" in task else {**task, "name": span.name(holder, task["about"])}
            since = messages[0].timestamp
            yield _Job(
                holder=holder,
                shelf=shelf,
                state=span.shelf(holder, shelf),
                messages=messages,
                task=SummaryTask(
                    agent=holder,
                    entries=tuple(entries),
                    tokens=SCOPED_TOKENS,
                    game_state=span.campaign,
                    related=related,
                    **named,
                ),
                tags=tags,
                related={**related, **({SINCE: since.isoformat()} if since else {})},
                by_model=not holder.startswith("pc_"),
            )

    def _make(self, campaign: CampaignLog, jobs: Sequence[_Job]) -> None:
        """Make memories side by side, and record all of them in one transaction."""
        by_model = [job for job in jobs if job.by_model]
        own = [job for job in jobs if not job.by_model]
        answers = [
            *zip(by_model, self._summarizer.condense_all(job.task for job in by_model), strict=True),
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
                job.state,
                lines=answer,
                upto=upto,
                after=job.state.cursor if job.state else None,
                tags=job.tags,
                related=job.related,
            )
            made[job.holder, job.shelf] = note, upto
        notes = [note for note, _ in made.values()]
        with campaign.view(DM) as view:
            for (holder, shelf), (note, upto) in made.items():
                notes += _pruned(view.of(holder), shelf, shelf_after(note), upto, new=note)
        record_notes(campaign, notes)


def _pruned(
    view: View, name: str, shelf: Shelf, upto: GameEvent, *, new: GameEvent | None = None
) -> list[GameEvent]:
    """Return the note that takes redundant memories off one of the viewer's shelves, if there are any.

    With a `new` memory, only those are taken off that it makes redundant: the others were checked when
    they came. A memory that was pinned or locked then stays until `prune` is called.
    """
    if len(shelf.standing) < 2:
        return []
    gates = gates_of(view)
    entries = entries_of(view, shelf.standing, gates=gates, new=new)
    came = None if new is None else sum(entry.memory_id == new.event_id for entry in entries)
    redundant = find_redundant(entries, kept=gates.locked | set(gates.pinned), new=came)
    return (
        [make_note(view.viewer, name, shelf, lines=[], upto=upto, after=None, replaces=redundant)]
        if redundant
        else []
    )


def _cursor(view: View, holder: str, shelf: str) -> int:
    state = view.shelf(holder, shelf)
    return (view.seq_of(state.cursor) or 0) if state else 0


def _characters(messages: Iterable[GameEvent]) -> list[str]:
    """Return the characters whom some messages reached."""
    return sorted({who for event in messages for who in audience(event) if who.startswith("pc_")})


def _counted(events: Sequence[GameEvent], progress: Progress | None) -> Iterable[GameEvent]:
    for number, event in enumerate(events):
        if progress is not None and number % _REPORT_EVERY == 0:
            progress(number, len(events))
        yield event
