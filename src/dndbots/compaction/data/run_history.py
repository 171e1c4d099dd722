"""The history of compaction in the log: the cursor, the figures of each run, and the open scenes."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from dndbots.canon import claims
from dndbots.canon.claims import Shelf
from dndbots.compaction.data.models import SceneInfo
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.storage.views.view import View

SHELF: Final = "compaction"


class Run(BaseModel):
    """The figures of a run, as the campaign keeps them."""

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


class CompactionStatus(BaseModel):
    """The state of compaction: its cursor, what waits, totals, and the last runs, oldest first."""

    model_config = ConfigDict(frozen=True)

    cursor: str | None
    turns_waiting: int
    proposals_waiting: int
    totals: dict[str, int]
    runs: tuple[Run, ...]


class RefusedProposal(BaseModel):
    """A proposal that the checks of a run refused, with the rule and the reason."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    rule: str
    reason: str
    update: dict[str, Any]


def cursor_of(view: View) -> Shelf | None:
    """Return the shelf with the compaction cursor; None if no run was recorded yet."""
    return view.shelf(DM, SHELF)


def waiting_after(view: View) -> int:
    """Return the seq after which no event is compacted yet."""
    shelf = cursor_of(view)
    return (view.seq_of(shelf.cursor) or 0) if shelf else 0


def open_scenes(view: View) -> list[SceneInfo]:
    """Return the scenes that the last run left open, the latest last."""
    shelf = cursor_of(view)
    last = view.by_id([shelf.last]) if shelf else {}
    for event in last.values():
        note = event.known.compaction
        if note is not None:
            scenes = [SceneInfo.model_validate(scene) for scene in note.scenes.values()]
            return [scene for scene in scenes if scene.open]
    return []


def run_of(event: GameEvent) -> Run:
    """Return the figures of a run from its note in the log."""
    note, memory = event.known.compaction, event.known.memory
    if note is None or memory is None:
        raise ValueError(f"event {event.event_id!r} is not the note of a compaction run")
    return Run(
        run_id=event.event_id,
        held=len(note.held),
        upto=memory.upto,
        **note.model_dump(include=set(Run.model_fields) - {"run_id", "held", "upto"}),
    )


def last_runs(view: View, *, last: int) -> list[GameEvent]:
    """Return the notes of the last runs, oldest first."""
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
    """Return the sums of the figures of all runs."""
    return view.totals(claims.COMPACTION)
