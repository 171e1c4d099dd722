"""One run of compaction: the turns since the last one, read, checked, and appended with their sources.

A run appends at any head, all of it or nothing, and only if no other run came first. What it proposes
is checked before that, outside of the log's lock, and once more inside, against what is true then.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Shelf
from dndbots.canon.laws import uses_of
from dndbots.compaction.checking import Accepted, Checks, Rejected, Rejections, Tally, check_all
from dndbots.compaction.data import SceneInfo
from dndbots.compaction.readings import Reading, readings_of
from dndbots.compaction.recording import Gathered, Gathering
from dndbots.compaction.scenes import Narrative, Scenes, narrative_of
from dndbots.compaction.turns import turns_of
from dndbots.compaction.values import Extractor, Turn, Update
from dndbots.errors import DuplicateEvent, EventRefused, ExtractionFailed, StaleNote
from dndbots.events import GameEvent
from dndbots.ids import DM, SYSTEM, short
from dndbots.llm.waiting import within
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.notes import Table, make_note
from dndbots.memory.retelling import retold
from dndbots.storage.reader import View
from dndbots.tokens import count_many

SHELF: Final = "compaction"
MOST_EVENTS: Final = 250
MOST_PER_TURN: Final = 8
TIMEOUT: Final = 300.0
_MOST_REJECTIONS: Final = 40
_MOST_PROPOSED: Final = 20_000
# So many characters are enough for a run, however few events they are.
_MOST_TEXT: Final = 200_000
_LARGEST_FIGURE: Final = 1_000_000


class Run(BaseModel):
    """What a run did: figures that are kept in the campaign."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    by: str
    turns: int
    tokens: int
    kept_tokens: int
    proposed: int
    updates: int
    repeated: int
    rejected: Mapping[str, int]
    held: int
    milliseconds: int
    upto: str


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """What a run works on: events after the cursor, as they stood when they were read."""

    shelf: Shelf | None
    events: Sequence[GameEvent]
    turns: int
    readings: Sequence[Reading]
    scenes: Scenes
    narratives: Sequence[Narrative]
    tokens: int

    @property
    def by_id(self) -> dict[str, GameEvent]:
        return {event.event_id: event for event in self.events}


def compact_once(
    table: Table,
    extractor: Extractor,
    *,
    most: int = MOST_EVENTS,
    review: bool = False,
    timeout: float | None = TIMEOUT,
) -> Run | None:
    """Compacts the next events after the cursor; None if there are none.

    With `review`, what is found waits for a person. If the extractor fails, `ExtractionFailed`, and
    everything is as before. If another run came first, `StaleNote`.
    """
    began = time.perf_counter()
    with table.view(DM) as view:
        batch = _read(view, most, turn_by_turn=getattr(extractor, "turn_by_turn", False))
        if batch is None:
            return None
    proposed = _proposed(extractor, batch, timeout)
    with table.view(DM) as view:
        accepted, rejections = _checked(view, batch, proposed)
    run = _Recording(
        table=table,
        batch=batch,
        by=name_of(extractor),
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


class _Weighed(NamedTuple):
    """What was accepted for somebody, and the turn as it was read."""

    accepted: Accepted
    turn: Turn


def _checked(
    view: View, batch: "_Batch", proposed: Sequence[Sequence[Any]]
) -> tuple[dict[str, list[_Weighed]], Rejections]:
    """What stands for each who heard it. Of what does not, it is told what the DM would not have either."""
    gathering, checks = Gathering(view, batch.by_id), Checks()
    accepted: dict[str, list[_Weighed]] = {}
    rejected = Tally()
    for reading, found in zip(batch.readings, proposed, strict=True):
        room = MOST_PER_TURN * len(reading.turns)
        for who in reading.hearers:
            standing, rejections = check_all(
                found,
                reading.turns,
                gathering.hearer(who),
                most_per_turn=MOST_PER_TURN,
                most=room,
                checks=checks,
            )
            accepted.setdefault(who, []).extend(
                _Weighed(one, reading.turns[one.update.turn]) for one in standing
            )
            if who == DM:
                rejected.merge(rejections)
    anybody = {one.accepted.update for several in accepted.values() for one in several}
    return accepted, rejected.without(anybody)


def name_of(extractor: Extractor) -> str:
    return short(str(getattr(extractor, "name", None) or type(extractor).__name__), 80)


# Reading


def cursor_of(view: View) -> Shelf | None:
    """How far compaction has come."""
    return view.shelf(DM, SHELF)


def waiting_after(view: View) -> int:
    """The place in the log after which nothing is compacted yet."""
    shelf = cursor_of(view)
    return (view.place_of(shelf.cursor) or 0) if shelf else 0


def _read(view: View, most: int, *, turn_by_turn: bool) -> _Batch | None:
    shelf, gates = cursor_of(view), gates_of(view)
    events = list(_next(view, most))
    if not events:
        return None
    turns = turns_of(view, events, gates)
    scenes = Scenes(open_scenes(view))
    told = {entry.event_id: entry.outcomes for entry in retold(view, events, gates)}
    for event in events:
        scenes.take(event, told.get(event.event_id, ()))
    return _Batch(
        shelf=shelf,
        events=events,
        turns=len(turns),
        readings=readings_of(view, events, turn_by_turn=turn_by_turn),
        scenes=scenes,
        narratives=_narratives(view, scenes.closed, gates),
        tokens=sum(count_many(turn.text for turn in turns)),
    )


def _next(view: View, most: int) -> Iterator[GameEvent]:
    """The events of the next run: so many, or so many that together are not too long."""
    length = 0
    for _, event in islice(view.play(after=waiting_after(view)), most):
        length += len(event.content)
        if length > _MOST_TEXT and length > len(event.content):
            return
        yield event


def _narratives(view: View, closed: Iterable[SceneInfo], gates: Gates) -> list[Narrative]:
    told = [narrative_of(view, scene, gates) for scene in closed]
    return [one for one in told if one is not None]


def open_scenes(view: View) -> list[SceneInfo]:
    """The scenes that went on when the last run looked, the one told of last at the end."""
    shelf = cursor_of(view)
    last = view.by_id([shelf.last]) if shelf else {}
    for event in last.values():
        note = event.known.compaction
        if note is not None:
            scenes = [SceneInfo.model_validate(scene) for scene in note.scenes.values()]
            return [scene for scene in scenes if scene.open]
    return []


def _proposed(extractor: Extractor, batch: _Batch, timeout: float | None) -> list[list[Any]]:
    """All that the extractor proposes for each reading, within a time and a number."""
    if not batch.readings:
        return []

    def read(one: Reading) -> list[Any]:
        found = extractor.extract(list(one.turns.values()), one.known)
        return list(islice(iter(found), _MOST_PROPOSED))

    try:
        return within(timeout, lambda: [read(one) for one in batch.readings])
    except ExtractionFailed:
        raise
    except (Exception, SystemExit) as exc:  # whatever an extractor raises, it is only a run that failed
        reason = str(exc) if isinstance(exc, TimeoutError) else f"{type(exc).__name__}: {exc}"
        raise ExtractionFailed(turns=batch.turns, reason=short(reason)) from exc


# Recording


@dataclass(kw_only=True)
class _Recording:
    """What is appended of a run. What the log refuses is left out and said so, and the rest goes in."""

    table: Table
    batch: _Batch
    by: str
    proposed: int
    accepted: dict[str, list[_Weighed]]
    counts: dict[str, int]
    kept: list[Rejected]
    review: bool
    began: float

    def __post_init__(self) -> None:
        self._gathered = Gathered([], 0, 0, [])
        self._held: list[Update] = []
        self._refused: list[Rejected] = []
        self._kept_tokens = 0
        self._at = -1

    def record(self) -> Run:
        with self.table.view(DM) as view:
            self._check(view)
        while True:
            try:
                stored = self.table.record_many(self._events())
            except EventRefused as exc:
                if not self._leave_out(exc):
                    raise self._as_stale(exc) from exc
            else:
                return run_of(stored[0])

    def _events(self) -> Iterator[GameEvent]:
        """Asked for inside the log's own transaction, when nobody else writes."""
        with self.table.view(DM) as view:
            if not self._still_stands(view):
                self._check(view)
        yield self._note()
        yield from self._gathered.events

    def _check(self, view: View) -> None:
        """What becomes of what was accepted, by what is true now."""
        gathering, checks = Gathering(view, self.batch.by_id), Checks()
        standing: dict[str, list[Accepted]] = {}
        refused: dict[Update, Rejected] = {}
        for who, weighed in self.accepted.items():
            for one in weighed:
                turns = {one.turn.id: one.turn}
                checked = checks.check(one.accepted.update, turns, gathering.hearer(who))
                if isinstance(checked, Accepted):
                    standing.setdefault(who, []).append(checked)
                else:
                    refused[one.accepted.update] = checked
        stand = {one.update: None for several in standing.values() for one in several}
        self._gathered = Gathered([], 0, 0, []) if self.review else gathering.gather(standing)
        self._held = [*stand] if self.review else []
        self._refused = [one for update, one in refused.items() if update not in stand]
        self._refused += self._gathered.rejected
        self._kept_tokens = sum(count_many(event.content for event in self._gathered.events))
        self._at = view.head

    def _still_stands(self, view: View) -> bool:
        """Whether nothing came since that says anything of those it is about, or who anybody is."""
        if self._at < 0 or (self.review and view.head > self._at):
            return False
        about = {uid for event in self._gathered.events for uid in _uids_in(event)}
        return not any(
            event.is_note or event.known.names or event.known.same_as or not about.isdisjoint(_uids_in(event))
            for event in view.events(after=self._at)
        )

    def _note(self) -> GameEvent:
        batch, gathered, refused = self.batch, self._gathered, self._refused
        counts = Counter(self.counts) + Counter(one.rule for one in refused)
        note: dict[str, JsonValue] = {
            "by": self.by,
            "turns": batch.turns,
            "tokens": min(batch.tokens, _LARGEST_FIGURE),
            "kept_tokens": self._kept_tokens,
            "proposed": self.proposed,
            "updates": gathered.updates,
            "repeated": gathered.repeated,
            "rejected": {rule: counts[rule] for rule in sorted(counts)},
            "rejections": [_as_json(one) for one in (*self.kept, *refused)[:_MOST_REJECTIONS]],
            "milliseconds": min(round(1_000 * (time.perf_counter() - self.began)), _LARGEST_FIGURE),
            "held": {proposal_id(one): one.model_dump(exclude_defaults=True) for one in self._held},
            "scenes": {
                scene.scene_id: scene.model_dump(mode="json", exclude_defaults=True)
                for scene in (*batch.scenes.closed, *batch.scenes.open)
            },
            "narratives": {one.scene: _narrative(one) for one in batch.narratives},
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
        """That the very same run is there already says that another came first."""
        if not isinstance(exc, DuplicateEvent):
            return exc
        before = self.batch.shelf.last if self.batch.shelf else None
        return StaleNote(exc.event_id, follows=before, actual=exc.event_id)

    def _leave_out(self, exc: EventRefused) -> bool:
        """Goes on without what the log refused; False, if it was nothing that was read out of a turn."""
        refused = [event for event in self._gathered.events if event.event_id == exc.event_id]
        heard = {(event.known.valid_from, who) for event in refused for who in _hearers(event)}
        out: dict[Update, None] = {}
        for who, weighed in self.accepted.items():
            out.update(
                (one.accepted.update, None) for one in weighed if (one.accepted.update.turn, who) in heard
            )
            weighed[:] = [one for one in weighed if (one.accepted.update.turn, who) not in heard]
        for update in out:
            self.counts["refused"] = self.counts.get("refused", 0) + 1
            self.kept.append(Rejected(update, short(str(exc)), "refused"))
        self._at = -1
        return bool(out)


def _hearers(event: GameEvent) -> list[str]:
    """For whom an event was made. The DM gets what nobody else does, too, so it must not come again."""
    return [*(event.known.witnesses or ()), DM]


def _uids_in(event: GameEvent) -> set[str]:
    uses = uses_of(event, event.known)
    return {*uses.shown, *(use.uid for use in uses.referred)} - {DM, SYSTEM}


def proposal_id(update: Update) -> str:
    digest = hashlib.sha256(update.model_dump_json().encode()).hexdigest()
    return f"proposal_{digest[:10]}"


def _as_json(one: Rejected) -> JsonValue:
    proposed = one.update.model_dump(exclude_defaults=True) if isinstance(one.update, Update) else one.update
    return {"update": dict(proposed), "rule": one.rule, "reason": one.reason}


def _narrative(one: Narrative) -> JsonValue:
    lines: list[JsonValue] = [{"text": line.text, "sources": [*line.sources]} for line in one.lines]
    return {"kind": one.kind, "scene": one.scene, "lines": lines}


# What was done


def run_of(event: GameEvent) -> Run:
    note, memory = event.known.compaction, event.known.memory
    if note is None or memory is None:
        raise ValueError(f"{event.event_id} is no run of compaction")
    return Run(
        run_id=event.event_id,
        held=len(note.held),
        upto=memory.upto,
        **note.model_dump(include=set(Run.model_fields) - {"run_id", "held", "upto"}),
    )


def last_runs(view: View, *, last: int) -> list[GameEvent]:
    """The notes of the last runs, oldest first."""
    found: list[GameEvent] = []
    shelf = cursor_of(view)
    name = shelf.last if shelf else None
    while name is not None and len(found) < last:
        event = view.by_id([name])[name]
        note, memory = event.known.compaction, event.known.memory
        if note is not None and note.turns:
            found.append(event)
        name = memory.follows if memory else None
    return found[::-1]


def totals_of(view: View) -> dict[str, int]:
    """The figures of all runs together."""
    return view.totals(claims.COMPACTION)
