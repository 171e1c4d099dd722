"""Compression with a log behind it: what an agent perceived becomes a summary, and its cursor moves on.

Both are one event. Nothing here waits for a model or for a disk: a compression yields the summary that it
needs as a task, and is sent the lines; it yields what is to be noted down, and goes on when that is. So
several agents can be waited for side by side, and what they note is written at once.
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
from dndbots.memory.entries import Entry, Line, SummaryTask, as_text
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.layers import SUMMARY, Block, Merge, next_merge, room_for, shorter
from dndbots.memory.notes import Table, make_note, stands_with
from dndbots.memory.reading import Reading
from dndbots.memory.summarizer import Summarizer
from dndbots.memory.visits import place_of
from dndbots.storage.reader import View
from dndbots.tokens import count_tokens

log = logging.getLogger("dndbots.memory")

# A scene ends where the session does, where the place changes, or when it is long.
_SHORTEST_SCENE: Final = 6
_LONGEST_SCENE: Final = 60
# How many entries are read at once; of a longer span, the best of each part are read again.
_PART: Final = 4_000
_PART_ROOM: Final = 4
_FEWER: Final = 0.9
# Layers that a failing model leaves undone are made without one when so many wait.
_OVERDUE: Final = 40
_SOMEBODY_ELSE: Final = "somebody else is summarising the same events"


class Noting(NamedTuple):
    """Notes to be recorded together. Whoever yields them is thrown what was refused.

    What is not `awaited` may be recorded later, with the next that is: what comes of it does not show
    before then.
    """

    table: Table
    notes: tuple[GameEvent, ...]
    awaited: bool = True


# Yields what is to be summarised and is sent the lines or what went wrong, or what is to be noted and is
# sent nothing; returns what came of it.
Step = SummaryTask | Noting
Answer = list[Line] | SummaryFailed
Summarizing = Generator[Step, Answer, str]


class Backlog(NamedTuple):
    """What an agent perceived since its cursor: what is due to be summarised, and what stays as it is."""

    shelf: Shelf | None
    due: list[GameEvent]
    kept: list[GameEvent]

    @property
    def session(self) -> str:
        """The session that is being played, as far as the agent knows."""
        newest = self.kept or self.due
        return newest[-1].session_id if newest else ""


def backlog(view: View, *, retain: int | None, reading: Reading | None = None) -> Backlog:
    """What came since the cursor. Of an earlier session all is due, of this one all but the newest.

    Without a number to `retain`, nothing of this session is due.
    """
    shelf = view.shelf(view.viewer, SUMMARY)
    events = list(since(view, shelf, reading))
    session = events[-1].session_id if events else ""
    # A session may be gone on with after another, and what came before is earlier all the same.
    due = max((n for n, event in enumerate(events, 1) if event.session_id != session), default=0)
    if retain is not None:
        due = max(due, len(events) - retain)
    return Backlog(shelf, events[:due], events[due:])


def since(view: View, shelf: Shelf | None, reading: Reading | None = None) -> Iterable[GameEvent]:
    """What the viewer perceived after a shelf's cursor; `reading` may have it at hand."""
    after = (view.place_of(shelf.cursor) if shelf else None) or 0
    if reading is not None:
        return reading.play(view.viewer, after)
    return (event for _, event in view.play(after=after))


def scenes(events: Iterable[GameEvent]) -> Iterator[list[GameEvent]]:
    """Events by scene: a session's at least, a place's if there is enough to tell, never too many."""
    scene: list[GameEvent] = []
    place: JsonValue = None
    for event in events:
        here = place_of(event)
        moved = here is not None and place is not None and here != place and len(scene) >= _SHORTEST_SCENE
        over = bool(scene) and event.session_id != scene[-1].session_id
        if over or moved or len(scene) >= _LONGEST_SCENE:
            yield scene
            scene = []
        scene.append(event)
        place = here or place
    if scene:
        yield scene


def compressing(
    table: Table, holder: str, *, retain: int, token_limit: int, reading: Reading | None = None
) -> Summarizing:
    """Summarises what is due, scene by scene, then whatever layers are full. Returns the new summaries.

    Each step is recorded by itself: what fails or is cut off is done again the next time. Those who
    are compressed together share a `reading`.
    """
    with table.view(DM) as everything:
        shared, view = reading or Reading(everything), everything.of(holder)
        waiting, gates = backlog(view, retain=retain, reading=shared), gates_of(view)
        entries = {entry.event_id: entry for entry in shared.retold(view, waiting.due, gates)}
    told = [
        (scene, [entries[event.event_id] for event in scene if event.event_id in entries])
        for scene in scenes(waiting.due)
    ]
    shelf, made = waiting.shelf, list[str]()
    notes: list[GameEvent] = []
    try:
        for scene, worth_telling in told:
            lines: Answer = []
            if worth_telling:
                yield from _noting(table, notes, awaited=False)
                lines = yield _task(holder, worth_telling, room_for("scene", token_limit))
            if isinstance(lines, SummaryFailed):
                return _failed(holder, lines.reason, made)
            after = shelf.cursor if shelf else None
            notes.append(
                make_note(holder, SUMMARY, shelf, lines=lines, upto=scene[-1], after=after, layer="scene")
            )
            shelf = stands_with(notes[-1])
            made.append(as_text(lines))
        yield from _noting(table, notes, awaited=True)
    except (DuplicateEvent, StaleNote):
        return _failed(holder, _SOMEBODY_ELSE, made[: len(made) - len(notes)])
    yield from _layering(table, holder, token_limit, waiting.session, shared)
    return "\n".join(filter(None, made))


def _noting(table: Table, notes: list[GameEvent], *, awaited: bool) -> Generator[Step, Answer, None]:
    """Has notes recorded, if there are any; then they are waited for no more."""
    if notes:
        yield Noting(table, tuple(notes), awaited)
        notes.clear()


def _layering(
    table: Table, holder: str, token_limit: int, session: str, reading: Reading
) -> Generator[Step, Answer, None]:
    """Makes one of the summaries of every layer that is full."""
    while True:
        with table.view(holder) as view:
            shelf, blocks = standing(view)
        merge = next_merge(blocks, session or (blocks[-1].session if blocks else ""))
        if merge is None or shelf is None:
            return
        room, overdue = room_for(merge.layer, token_limit), len(blocks) > _OVERDUE
        if not (yield from merging(table, holder, shelf, merge, room, overdue=overdue, reading=reading)):
            return


def shortening(table: Table, holder: str, *, token_limit: int) -> Summarizing:
    """Makes the oldest summaries one, from their events, when all together are too long."""
    with table.view(holder) as view:
        shelf, blocks = standing(view)
    merge = shorter(blocks)
    if merge is None or shelf is None:
        return ""
    room = room_for(merge.layer, token_limit)
    if len(merge.blocks) == 1:
        room = max(room // 2, 1)
        # What it is all about is too long for other reasons, and would be done again turn after turn.
        if count_tokens(merge.blocks[0].text) <= room:
            return ""
    return (yield from merging(table, holder, shelf, merge, room))


def standing(view: View, gates: Gates | None = None) -> tuple[Shelf | None, list[Block]]:
    """The summaries of the viewer that count, oldest first, in the words that do."""
    shelf = view.shelf(view.viewer, SUMMARY)
    if shelf is None:
        return None, []
    decided = gates_of(view) if gates is None else gates
    events = {one: decided.as_decided(event) for one, event in view.by_id(shelf.standing).items()}
    found = [Block.of(events[one], locked=one in decided.locked) for one in shelf.standing if one in events]
    return shelf, [block for block in found if block is not None]


def merging(
    table: Table,
    holder: str,
    shelf: Shelf,
    merge: Merge,
    room: int,
    *,
    overdue: bool = False,
    reading: Reading | None = None,
) -> Summarizing:
    """Summarises the events of a span anew, in place of its summaries. Returns "" if that failed.

    What is overdue is not left waiting for a model that fails: it is made without one.
    """
    first, last = merge.blocks[0], merge.blocks[-1]
    with table.view(DM) as everything:
        shared, view = reading or Reading(everything), everything.of(holder)
        end = view.by_id([last.upto])[last.upto]
        entries = shared.retold(view, _events_of(view, merge, shared), gates_of(view))
    lines = yield from _condensing(holder, entries, room)
    if isinstance(lines, SummaryFailed):
        failed = _failed(holder, lines.reason, [])
        if not overdue:
            return failed
        try:
            lines = Summarizer().condense(_task(holder, entries, room))
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
    )
    try:
        yield Noting(table, (note,))
    except (DuplicateEvent, StaleNote):
        return _failed(holder, _SOMEBODY_ELSE, [])
    return as_text(lines)


def _events_of(view: View, merge: Merge, reading: Reading) -> list[GameEvent]:
    """What is read to make one of some summaries: their events.

    Of the campaign so far, which only ever grows, it is those that its summary was made of: of a part that
    is too long to be read at once, too, only the best is read again. A summary that does not say for each
    of its lines what that was made of is made from its whole span.
    """
    notes = {name: event.known.memory for name, event in view.by_id([one.id for one in merge.blocks]).items()}
    cited: set[str] = set()
    whole: list[Block] = []
    for block in merge.blocks:
        note = notes.get(block.id)
        if block.layer == "campaign" and note is not None and note.line_sources and all(note.line_sources):
            cited.update(one for line in note.line_sources for one in line)
        else:
            whole.append(block)
    found = dict(view.by_id(cited))
    if whole:
        after = view.place_of(whole[0].after) if whole[0].after else 0
        played = reading.play(view.viewer, after or 0, view.place_of(whole[-1].upto))
        found |= {event.event_id: event for event in played}
    return sorted(found.values(), key=_place)


def _place(event: GameEvent) -> int:
    return event.seq or 0


def _condensing(holder: str, entries: Sequence[Entry], room: int) -> Generator[Step, Answer, Answer]:
    """One summary of any number of entries. Of too many to read at once, the best of each part are."""
    while len(entries) > _PART:
        best: list[Entry] = []
        for part in _parts(entries):
            lines = yield _task(holder, part, room * _PART_ROOM)
            if isinstance(lines, SummaryFailed):
                return lines
            best += _reread(lines, part)
        if len(best) > _FEWER * len(entries):
            break  # there is room for nearly all of it, so that reading the best again gains nothing
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


def _failed(holder: str, reason: str, made: list[str]) -> str:
    log.warning("the memory of %s was not summarised: %s", holder, reason)
    return "\n".join(filter(None, made))
