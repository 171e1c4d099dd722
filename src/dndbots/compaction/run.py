"""A run of compaction: reads the turns since the last run, checks the proposals and appends the facts.

A run appends everything or nothing, at any head, and only if no other run came first. Proposals are checked
twice: before the append, outside of the log's lock, and inside it against what is true then.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.claims import Shelf
from dndbots.canon.laws import uses_of
from dndbots.compaction.checks import Accepted, Rejected, Rejections, SharedChecks, UpdateTally, check_all
from dndbots.compaction.data.models import SceneInfo
from dndbots.compaction.data.run_history import (
    SHELF,
    Run,
    cursor_of,
    open_scenes,
    run_of,
    waiting_after,
)
from dndbots.compaction.heard_turns import HearerReading, readings_of, turns_of
from dndbots.compaction.scenes import Narrative, Scenes, narrative_of
from dndbots.compaction.update_events import UpdateEvents, UpdateRecorder
from dndbots.errors import DuplicateEvent, EventRefused, ExtractionFailed, StaleNote
from dndbots.events import GameEvent
from dndbots.extraction.port import Extractor, Turn, Update
from dndbots.ids import DM, SYSTEM, short
from dndbots.llm.timeouts import within
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.notes import make_note
from dndbots.memory.retold_events import retell_events
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View
from dndbots.tokens import count_many

MOST_EVENTS: Final = 250
MOST_PER_TURN: Final = 8
TIMEOUT: Final = 300.0
_MOST_REJECTIONS: Final = 40
_MOST_PROPOSED: Final = 20_000
# A run stops at this many characters, however few events they are.
_MOST_TEXT: Final = 200_000
_LARGEST_FIGURE: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class _RunBatch:
    """The input of a run: the events after the cursor, and what was read out of them."""

    shelf: Shelf | None
    events: Sequence[GameEvent]
    turns: int
    readings: Sequence[HearerReading]
    scenes: Scenes
    narratives: Sequence[Narrative]
    tokens: int

    @property
    def by_id(self) -> dict[str, GameEvent]:
        """The events by id."""
        return {event.event_id: event for event in self.events}


def compact_once(
    campaign_log: CampaignLog,
    extractor: Extractor,
    *,
    most: int = MOST_EVENTS,
    review: bool = False,
    timeout: float | None = TIMEOUT,
) -> Run | None:
    """Compact the next events after the cursor; return the run, or None if there are no events.

    With `review`, the updates wait for a person. Raises ExtractionFailed if the extractor fails, and
    StaleNote if another run came first; in both cases nothing is changed.
    """
    began = time.perf_counter()
    with campaign_log.view(DM) as view:
        batch = _read(view, most, extractor)
        if batch is None:
            return None
    proposed = _proposed(extractor, batch, timeout)
    with campaign_log.view(DM) as view:
        accepted, rejections = _checked(view, batch, proposed)
    run = _RunRecorder(
        campaign_log=campaign_log,
        batch=batch,
        by=extractor_name(extractor),
        proposed=sum(
            len(found)
            for reading, found in zip(batch.readings, proposed, strict=True)
            if DM in reading.hearers
        ),
        accepted=accepted,
        counts=dict(rejections.counts),
        kept=list(rejections.kept),
        review=review,
        began=began,
    )
    return run.record()


class _HeardUpdate(NamedTuple):
    """An update accepted for one hearer, and the turn as that hearer read it."""

    accepted: Accepted
    turn: Turn


def _checked(
    view: View, batch: "_RunBatch", proposed: Sequence[Sequence[Any]]
) -> tuple[dict[str, list[_HeardUpdate]], Rejections]:
    """Return the accepted updates of each hearer, and the rejections.

    A rejection counts only if the DM's reading is rejected and no hearer's is accepted.
    """
    recorder, checks = UpdateRecorder(view, batch.by_id), SharedChecks()
    accepted: dict[str, list[_HeardUpdate]] = {}
    rejected = UpdateTally()
    for reading, found in zip(batch.readings, proposed, strict=True):
        room = MOST_PER_TURN * len(reading.turns)
        for who in reading.hearers:
            passed, rejections = check_all(
                found,
                reading.turns,
                recorder.hearer(who),
                most_per_turn=MOST_PER_TURN,
                most=room,
                checks=checks,
            )
            accepted.setdefault(who, []).extend(
                _HeardUpdate(update, reading.turns[update.update.turn]) for update in passed
            )
            if who == DM:
                rejected.merge(rejections)
    for_anybody = {heard.accepted.update for updates in accepted.values() for heard in updates}
    return accepted, rejected.without(for_anybody)


def extractor_name(extractor: Extractor) -> str:
    """Return the name of an extractor, for the record of a run."""
    return short(str(getattr(extractor, "name", None) or type(extractor).__name__), 80)


# Reading


def _read(view: View, most: int, extractor: Extractor) -> _RunBatch | None:
    shelf, gates = cursor_of(view), gates_of(view)
    events = list(_next(view, most))
    if not events:
        return None
    turns = turns_of(view, events, gates)
    scenes = Scenes(open_scenes(view))
    outcomes = {entry.event_id: entry.outcomes for entry in retell_events(view, events, gates)}
    for event in events:
        scenes.take(event, outcomes.get(event.event_id, ()))
    return _RunBatch(
        shelf=shelf,
        events=events,
        turns=len(turns),
        readings=readings_of(view, events, extractor),
        scenes=scenes,
        narratives=_narratives(view, scenes.closed, gates),
        tokens=sum(count_many(turn.text for turn in turns)),
    )


def _next(view: View, most: int) -> Iterator[GameEvent]:
    """Yield the events of the next run: at most `most`, and not too much text together."""
    length = 0
    for _, event in islice(view.play(after=waiting_after(view)), most):
        length += len(event.content)
        if length > _MOST_TEXT and length > len(event.content):
            return
        yield event


def _narratives(view: View, closed: Iterable[SceneInfo], gates: Gates) -> list[Narrative]:
    narratives = (narrative_of(view, scene, gates) for scene in closed)
    return [narrative for narrative in narratives if narrative is not None]


def _proposed(extractor: Extractor, batch: _RunBatch, timeout: float | None) -> list[list[Any]]:
    """Return the extractor's proposals for each reading, limited in time and number."""
    if not batch.readings:
        return []

    def read(reading: HearerReading) -> list[Any]:
        proposals = extractor.extract(list(reading.turns.values()), reading.known)
        return list(islice(iter(proposals), _MOST_PROPOSED))

    try:
        return within(timeout, lambda: [read(reading) for reading in batch.readings])
    except ExtractionFailed:
        raise
    except (Exception, SystemExit) as exc:  # whatever an extractor raises, only this run fails
        reason = str(exc) if isinstance(exc, TimeoutError) else f"{type(exc).__name__}: {exc}"
        raise ExtractionFailed(turns=batch.turns, reason=short(reason)) from exc


# Recording


@dataclass(kw_only=True)
class _RunRecorder:
    """Appends a run to the log. Updates that the log refuses are left out and counted; the rest goes in."""

    campaign_log: CampaignLog
    batch: _RunBatch
    by: str
    proposed: int
    accepted: dict[str, list[_HeardUpdate]]
    counts: dict[str, int]
    kept: list[Rejected]
    review: bool
    began: float

    def __post_init__(self) -> None:
        self._updates = UpdateEvents([], 0, 0, [])
        self._held: list[Update] = []
        self._refused: list[Rejected] = []
        self._kept_tokens = 0
        self._checked_at = -1

    def record(self) -> Run:
        """Append the run; return its figures."""
        with self.campaign_log.view(DM) as view:
            self._check(view)
        while True:
            try:
                stored = self.campaign_log.record_many(self._events())
            except EventRefused as exc:
                if not self._leave_out(exc):
                    raise self._as_stale(exc) from exc
            else:
                return run_of(stored[0])

    def _events(self) -> Iterator[GameEvent]:
        """Yield the run's events. The log asks for them inside its transaction, while nobody else writes."""
        with self.campaign_log.view(DM) as view:
            if not self._is_up_to_date(view):
                self._check(view)
        yield self._note()
        yield from self._updates.events

    def _check(self, view: View) -> None:
        """Check the accepted updates again, by what is true now, and make their events."""
        recorder, checks = UpdateRecorder(view, self.batch.by_id), SharedChecks()
        passed: dict[str, list[Accepted]] = {}
        refused: dict[Update, Rejected] = {}
        for who, updates in self.accepted.items():
            for heard in updates:
                turns = {heard.turn.id: heard.turn}
                checked = checks.check(heard.accepted.update, turns, recorder.hearer(who))
                if isinstance(checked, Accepted):
                    passed.setdefault(who, []).append(checked)
                else:
                    refused[heard.accepted.update] = checked
        unique = {accepted.update: None for updates in passed.values() for accepted in updates}
        self._updates = UpdateEvents([], 0, 0, []) if self.review else recorder.make_events(passed)
        self._held = [*unique] if self.review else []
        self._refused = [rejected for update, rejected in refused.items() if update not in unique]
        self._refused += self._updates.rejected
        self._kept_tokens = sum(count_many(event.content for event in self._updates.events))
        self._checked_at = view.head

    def _is_up_to_date(self, view: View) -> bool:
        """Return whether no newer event touches the entities of this run, or says who somebody is."""
        if self._checked_at < 0 or (self.review and view.head > self._checked_at):
            return False
        about = {uid for event in self._updates.events for uid in _uids_in(event)}
        return not any(
            event.is_note or event.known.names or event.known.same_as or not about.isdisjoint(_uids_in(event))
            for event in view.events(after=self._checked_at)
        )

    def _note(self) -> GameEvent:
        batch, updates, refused = self.batch, self._updates, self._refused
        counts = Counter(self.counts) + Counter(rejected.rule for rejected in refused)
        note: dict[str, JsonValue] = {
            "by": self.by,
            "turns": batch.turns,
            "tokens": min(batch.tokens, _LARGEST_FIGURE),
            "kept_tokens": self._kept_tokens,
            "proposed": self.proposed,
            "updates": updates.updates,
            "repeated": updates.repeated,
            "rejected": {rule: counts[rule] for rule in sorted(counts)},
            "rejections": [_as_json(rejected) for rejected in (*self.kept, *refused)[:_MOST_REJECTIONS]],
            "milliseconds": min(round(1_000 * (time.perf_counter() - self.began)), _LARGEST_FIGURE),
            "held": {proposal_id(update): update.model_dump(exclude_defaults=True) for update in self._held},
            "scenes": {
                scene.scene_id: scene.model_dump(mode="json", exclude_defaults=True)
                for scene in (*batch.scenes.closed, *batch.scenes.open)
            },
            "narratives": {narrative.scene: _narrative(narrative) for narrative in batch.narratives},
        }
        return make_note(
            DM,
            SHELF,
            batch.shelf,
            lines=(),
            after=batch.shelf.cursor if batch.shelf else None,
            upto=batch.events[-1],
            compaction={key: value for key, value in note.items() if value or key == "by"},
        )

    def _as_stale(self, exc: EventRefused) -> EventRefused:
        """Return StaleNote if the log has this very run already: then another run came first."""
        if not isinstance(exc, DuplicateEvent):
            return exc
        before = self.batch.shelf.last if self.batch.shelf else None
        return StaleNote(exc.event_id, follows=before, actual=exc.event_id)

    def _leave_out(self, exc: EventRefused) -> bool:
        """Drop the updates that the log refused; return False if it refused none of the updates."""
        refused = [event for event in self._updates.events if event.event_id == exc.event_id]
        heard = {(event.known.valid_from, who) for event in refused for who in _hearers(event)}
        out: dict[Update, None] = {}
        for who, updates in self.accepted.items():
            dropped = [one for one in updates if (one.accepted.update.turn, who) in heard]
            out.update((one.accepted.update, None) for one in dropped)
            updates[:] = [one for one in updates if (one.accepted.update.turn, who) not in heard]
        for update in out:
            self.counts["refused"] = self.counts.get("refused", 0) + 1
            self.kept.append(Rejected(update, short(str(exc)), "refused"))
        self._checked_at = -1
        return bool(out)


def _hearers(event: GameEvent) -> list[str]:
    """Return the hearers of an event. The DM is one, too: else the DM would get the update again."""
    return [*(event.known.witnesses or ()), DM]


def _uids_in(event: GameEvent) -> set[str]:
    uses = uses_of(event, event.known)
    return {*uses.shown, *(use.uid for use in uses.referred)} - {DM, SYSTEM}


def proposal_id(update: Update) -> str:
    """Return the id under which an update waits for a person, made from its content."""
    digest = hashlib.sha256(update.model_dump_json().encode()).hexdigest()
    return f"proposal_{digest[:10]}"


def _as_json(rejected: Rejected) -> JsonValue:
    update = rejected.update
    proposed = update.model_dump(exclude_defaults=True) if isinstance(update, Update) else update
    return {"update": dict(proposed), "rule": rejected.rule, "reason": rejected.reason}


def _narrative(narrative: Narrative) -> JsonValue:
    lines: list[JsonValue] = [{"text": line.text, "sources": [*line.sources]} for line in narrative.lines]
    return {"kind": narrative.kind, "scene": narrative.scene, "lines": lines}
