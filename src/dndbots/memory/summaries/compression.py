"""Compression of an agent's buffer: its events become a summary and the cursor moves on, in one event.

Nothing here waits for a model or a disk. A compression is a generator: it yields a task and is sent the
lines of the summary; it yields notes and goes on when they are recorded. So several agents can wait side by
side, and their notes are recorded together.
"""

import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.claims import Shelf
from dndbots.errors import DuplicateEvent, StaleNote, SummaryFailed
from dndbots.events import GameEvent
from dndbots.ids import DM, name_from_uid
from dndbots.memory.entries import Entry, Line, SummaryTask, join_lines
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.log_reader import LogReader
from dndbots.memory.notes import make_note, shelf_after
from dndbots.memory.summaries.layers import (
    SUMMARY,
    WRITTEN,
    Merge,
    SummaryBlock,
    find_full_layer,
    find_oldest_merge,
    room_for,
)
from dndbots.memory.visits import location_of
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View
from dndbots.tokens import count_tokens

log = logging.getLogger("dndbots.memory")

# A scene ends with the session, when the location changes, or when it is long.
_SHORTEST_SCENE: Final = 6
_LONGEST_SCENE: Final = 60
# This many entries are read at once; of a longer span, the best of each part are read again.
_PART: Final = 4_000
_PART_ROOM: Final = 4
_FEWER: Final = 0.9
# When this many summaries wait because the model fails, they are merged without a model.
_OVERDUE: Final = 40
_CONFLICT: Final = "another writer is summarising the same events"


class NotesToRecord(NamedTuple):
    """Notes to record together. If the log refuses them, the error is thrown into the generator.

    Notes that are not `awaited` may be recorded later, together with the next ones that are.
    """

    campaign: CampaignLog
    notes: tuple[GameEvent, ...]
    awaited: bool = True


# Yields a task and is sent its lines or the failure, or yields notes and is sent nothing; returns the text of
# the new summaries.
WorkStep = SummaryTask | NotesToRecord
SummaryAnswer = list[Line] | SummaryFailed
SummaryWork = Generator[WorkStep, SummaryAnswer, str]


class Backlog(NamedTuple):
    """The events that an agent perceived since its cursor: those due for a summary, and those kept."""

    shelf: Shelf | None
    due: list[GameEvent]
    kept: list[GameEvent]

    @property
    def session(self) -> str:
        """The current session, as far as the agent knows."""
        newest = self.kept or self.due
        return newest[-1].session_id if newest else ""


def find_backlog(view: View, *, retain: int | None, reader: LogReader | None = None) -> Backlog:
    """Split the events since the cursor. Of an earlier session all are due, of this one all but the newest.

    With `retain=None`, nothing of this session is due.
    """
    shelf = view.shelf(view.viewer, SUMMARY)
    events = list(events_since(view, shelf, reader))
    session = events[-1].session_id if events else ""
    # A session may be resumed after another one; the events before that count as earlier.
    due = max((n for n, event in enumerate(events, 1) if event.session_id != session), default=0)
    if retain is not None:
        due = max(due, len(events) - retain)
    return Backlog(shelf, events[:due], events[due:])


def events_since(view: View, shelf: Shelf | None, reader: LogReader | None = None) -> Iterable[GameEvent]:
    """Return what the viewer perceived after a shelf's cursor, through a shared `reader` if there is one."""
    after = (view.seq_of(shelf.cursor) if shelf else None) or 0
    if reader is not None:
        return reader.play(view.viewer, after)
    return (event for _, event in view.play(after=after))


def split_scenes(events: Iterable[GameEvent]) -> Iterator[list[GameEvent]]:
    """Split events into scenes: at sessions, at locations if there is enough to tell, never too long."""
    scene: list[GameEvent] = []
    location: JsonValue = None
    for event in events:
        here = location_of(event)
        moved = (
            here is not None and location is not None and here != location and len(scene) >= _SHORTEST_SCENE
        )
        over = bool(scene) and event.session_id != scene[-1].session_id
        if over or moved or len(scene) >= _LONGEST_SCENE:
            yield scene
            scene = []
        scene.append(event)
        location = here or location
    if scene:
        yield scene


def compression_steps(
    campaign: CampaignLog,
    holder: str,
    *,
    retain: int | None,
    token_limit: int,
    reader: LogReader | None = None,
    written: bool = False,
) -> SummaryWork:
    """Summarise the due events scene by scene, then merge full layers. Returns the new summaries.

    Each step is recorded on its own: a step that fails or is cut off is done again the next time. Agents
    that are compressed together share a `reader`. `written` says that the summaries are not only quoted.
    """
    with campaign.view(DM) as everything:
        shared, view = reader or LogReader(everything), everything.of(holder)
        waiting, gates = find_backlog(view, retain=retain, reader=shared), gates_of(view)
        entries = {entry.event_id: entry for entry in shared.retold(view, waiting.due, gates)}
    told_scenes = [
        (scene, [entries[event.event_id] for event in scene if event.event_id in entries])
        for scene in split_scenes(waiting.due)
    ]
    shelf, made = waiting.shelf, list[str]()
    notes: list[GameEvent] = []
    try:
        for scene, worth_telling in told_scenes:
            lines: SummaryAnswer = []
            if worth_telling:
                yield from _recorded(campaign, notes, awaited=False)
                lines = yield _task(holder, worth_telling, room_for("scene", token_limit))
            if isinstance(lines, SummaryFailed):
                return _failed(holder, lines.reason, made)
            after = shelf.cursor if shelf else None
            notes.append(
                make_note(
                    holder,
                    SUMMARY,
                    shelf,
                    lines=lines,
                    upto=scene[-1],
                    after=after,
                    layer="scene",
                    tags=_tags(written=written),
                )
            )
            shelf = shelf_after(notes[-1])
            made.append(join_lines(lines))
        yield from _recorded(campaign, notes, awaited=True)
    except (DuplicateEvent, StaleNote):
        return _failed(holder, _CONFLICT, made[: len(made) - len(notes)])
    yield from _merge_full_layers(campaign, holder, token_limit, waiting.session, shared, written=written)
    return "\n".join(filter(None, made))


def _recorded(
    campaign: CampaignLog, notes: list[GameEvent], *, awaited: bool
) -> Generator[WorkStep, SummaryAnswer, None]:
    """Have notes recorded, if there are any, and clear the list."""
    if notes:
        yield NotesToRecord(campaign, tuple(notes), awaited)
        notes.clear()


def _merge_full_layers(
    campaign: CampaignLog, holder: str, token_limit: int, session: str, reader: LogReader, *, written: bool
) -> Generator[WorkStep, SummaryAnswer, None]:
    """Merge the summaries of every layer that is full."""
    while True:
        with campaign.view(holder) as view:
            shelf, blocks = standing_summaries(view)
        merge = find_full_layer(blocks, session or (blocks[-1].session if blocks else ""))
        if merge is None or shelf is None:
            return
        room, overdue = room_for(merge.layer, token_limit), len(blocks) > _OVERDUE
        merging = merge_steps(
            campaign, holder, shelf, merge, room, overdue=overdue, reader=reader, written=written
        )
        if not (yield from merging):
            return


def shortening_steps(
    campaign: CampaignLog, holder: str, *, token_limit: int, written: bool = False
) -> SummaryWork:
    """Merge the oldest summaries into one, made from their events, when the total is too long."""
    with campaign.view(holder) as view:
        shelf, blocks = standing_summaries(view)
    merge = find_oldest_merge(blocks)
    if merge is None or shelf is None:
        return ""
    room = room_for(merge.layer, token_limit)
    if len(merge.blocks) == 1:
        room = max(room // 2, 1)
        # The total is too long for other reasons; merging again every turn would not help.
        if count_tokens(merge.blocks[0].text) <= room:
            return ""
    return (yield from merge_steps(campaign, holder, shelf, merge, room, written=written))


def standing_summaries(view: View, gates: Gates | None = None) -> tuple[Shelf | None, list[SummaryBlock]]:
    """Return the viewer's current summaries, oldest first, with the decisions of people applied."""
    shelf = view.shelf(view.viewer, SUMMARY)
    if shelf is None:
        return None, []
    decided = gates_of(view) if gates is None else gates
    events = {note_id: decided.as_decided(event) for note_id, event in view.by_id(shelf.standing).items()}
    blocks = [
        SummaryBlock.of(events[note_id], locked=note_id in decided.locked)
        for note_id in shelf.standing
        if note_id in events
    ]
    return shelf, [block for block in blocks if block is not None]


def merge_steps(
    campaign: CampaignLog,
    holder: str,
    shelf: Shelf,
    merge: Merge,
    room: int,
    *,
    overdue: bool = False,
    reader: LogReader | None = None,
    written: bool = False,
) -> SummaryWork:
    """Summarise the events of a span again, in place of its summaries. Returns "" if that failed.

    An `overdue` merge does not wait for a model that fails: it is made without one.
    """
    first, last = merge.blocks[0], merge.blocks[-1]
    with campaign.view(DM) as everything:
        shared, view = reader or LogReader(everything), everything.of(holder)
        end = view.by_id([last.upto])[last.upto]
        entries = shared.retold(view, _events_of(view, merge, shared), gates_of(view))
    lines = yield from _condensed(holder, entries, room)
    if isinstance(lines, SummaryFailed):
        failed = _failed(holder, lines.reason, [])
        if not overdue:
            return failed
        try:
            from dndbots.memory.summaries.summarizer import Summarizer  # reading a memory needs none

            lines, written = Summarizer().condense(_task(holder, entries, room)), False
        except SummaryFailed:
            return failed
    note = make_note(
        holder,
        SUMMARY,
        shelf,
        lines=lines,
        upto=end,
        after=first.after,
        layer=merge.layer,
        replaces=[block.id for block in merge.blocks],
        tags=_tags(written=written),
    )
    try:
        yield NotesToRecord(campaign, (note,))
    except (DuplicateEvent, StaleNote):
        return _failed(holder, _CONFLICT, [])
    return join_lines(lines)


def _events_of(view: View, merge: Merge, reader: LogReader) -> list[GameEvent]:
    """Return the events to read for a merge.

    They are all events of the spans, except for the campaign layer, whose span only ever grows: of it, only
    the events that its summary cites are read again. If any of its lines cites none, its whole span is.
    """
    notes = {
        name: event.known.memory for name, event in view.by_id([block.id for block in merge.blocks]).items()
    }
    cited: set[str] = set()
    whole: list[SummaryBlock] = []
    for block in merge.blocks:
        note = notes.get(block.id)
        if block.layer == "campaign" and note is not None and note.line_sources and all(note.line_sources):
            cited.update(source for line in note.line_sources for source in line)
        else:
            whole.append(block)
    events = dict(view.by_id(cited))
    if whole:
        after = view.seq_of(whole[0].after) if whole[0].after else 0
        played = reader.play(view.viewer, after or 0, view.seq_of(whole[-1].upto))
        events |= {event.event_id: event for event in played}
    return sorted(events.values(), key=_seq)


def _seq(event: GameEvent) -> int:
    return event.seq or 0


def _condensed(
    holder: str, entries: Sequence[Entry], room: int
) -> Generator[WorkStep, SummaryAnswer, SummaryAnswer]:
    """Make one summary of any number of entries. Of too many, only the best of each part are read."""
    while len(entries) > _PART:
        best: list[Entry] = []
        for part in _parts(entries):
            lines = yield _task(holder, part, room * _PART_ROOM)
            if isinstance(lines, SummaryFailed):
                return lines
            best += _reread(lines, part)
        if len(best) > _FEWER * len(entries):
            break  # nearly everything fits, so reading the best again gains nothing
        entries = best
    if not entries:
        return []
    return (yield _task(holder, entries, room))


def _parts(entries: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    source = iter(entries)
    while part := tuple(islice(source, _PART)):
        yield part


def _reread(lines: Iterable[Line], part: Iterable[Entry]) -> Iterator[Entry]:
    by_id = {entry.event_id: entry for entry in part}
    for line in lines:
        source = by_id.get(line.sources[0]) if line.sources else None
        session = source.session if source else ""
        yield Entry(
            text=line.text, event_id=line.sources[0] if line.sources else "", session=session, narrated=True
        )


def _task(holder: str, entries: Sequence[Entry], room: int) -> SummaryTask:
    name = "the dungeon master" if holder == DM else name_from_uid(holder)
    return SummaryTask(agent=holder, name=name, entries=tuple(entries), tokens=room)


def _tags(*, written: bool) -> list[str]:
    return [WRITTEN] if written else []


def _failed(holder: str, reason: str, made: list[str]) -> str:
    log.warning("the memory of %s was not summarised: %s", holder, reason)
    return "\n".join(filter(None, made))
