"""Scoped memories as a view: what somebody remembers of a place, of a person, or of the world."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.gates import Gates, gates_of
from dndbots.models import MemoryEntry, MemorySource
from dndbots.storage.reader import View

WORLD: Final = "world"
SINCE: Final = "since"


def location_shelf(uid: str) -> str:
    return f"{MemorySource.LOCATION}:{uid}"


def npc_shelf(uid: str) -> str:
    return f"{MemorySource.NPC}:{uid}"


def is_scoped(shelf: str) -> bool:
    return shelf == WORLD or shelf.startswith((location_shelf(""), npc_shelf("")))


def about_of(shelf: str) -> str:
    """The uid that a shelf is about; empty for the world."""
    return shelf.partition(":")[2]


def memories_on(
    view: View, holder: str, shelf: str, *, gates: Gates | None = None, newest: int | None = None
) -> list[MemoryEntry]:
    """What stands on a shelf, oldest first: all of it, or the newest. What is to be forgotten is left out."""
    found = view.shelf(holder, shelf)
    if found is None:
        return []
    decided = _decided(view, holder) if gates is None else gates
    standing, shown = list(found.standing), list[GameEvent]()
    # Of a full shelf, mostly the last few are wanted: it is read from its end, as far as needed.
    while standing and (newest is None or len(shown) < newest):
        some = list(standing) if newest is None else standing[-newest:]
        del standing[-len(some) :]
        shown = [*_that_say_anything(view, some, decided), *shown]
    shown = shown if newest is None else shown[max(len(shown) - newest, 0) :]
    places = _places(view, shown)
    return [_entry(event, places) for event in shown]


def _that_say_anything(view: View, notes: Sequence[str], decided: Gates) -> list[GameEvent]:
    """Some notes, as decided. All that one was made from may be forgotten, and then it says nothing."""
    events = view.by_id(notes)
    shown = decided.shown(events[one] for one in notes if one in events)
    return [event for event in shown if event.content.strip()]


def entries_of(
    view: View, standing: Iterable[str], *, gates: Gates, new: GameEvent | None = None
) -> list[MemoryEntry]:
    """The memories that stand on one of the viewer's shelves, and a new one that is not in the log yet.

    Where they are in the log is not said.
    """
    events = view.by_id([one for one in standing if new is None or one != new.event_id])
    if new is not None:
        events[new.event_id] = new
    shown = gates.shown(events[one] for one in standing if one in events)
    return [_entry(event, {}) for event in shown if event.content.strip()]


def _decided(view: View, holder: str) -> Gates:
    """What holds for somebody's memories as the viewer reads them: what was decided for either."""
    mine = gates_of(view)
    if holder == view.viewer:
        return mine
    theirs = gates_of(view, holder)
    return theirs._replace(
        forgotten=theirs.forgotten | mine.forgotten, corrected={**theirs.corrected, **mine.corrected}
    )


def all_memories(view: View, holder: str) -> dict[str, list[MemoryEntry]]:
    """All scoped memories of somebody, by shelf: places, then people, then the world."""
    gates = gates_of(view)
    shelves = sorted(filter(is_scoped, view.shelves(holder)))
    found = {shelf: memories_on(view, holder, shelf, gates=gates) for shelf in shelves}
    return {shelf: entries for shelf, entries in found.items() if entries}


def _places(view: View, notes: Iterable[GameEvent]) -> dict[str, int]:
    """Where the newest source of each note is. Places would tell a character how much it missed."""
    if view.viewer != DM:
        return {}
    ends = {note.upto for event in notes if (note := event.known.memory) is not None}
    return {event.event_id: event.seq or 0 for event in view.by_id(sorted(ends)).values()}


def _entry(event: GameEvent, places: dict[str, int]) -> MemoryEntry:
    note = event.known.memory
    if note is None:
        raise ValueError(f"{event.event_id} is no memory")
    source, _, about = note.shelf.partition(":")
    related = {key: value for key, value in note.related.items() if isinstance(value, str)}
    return MemoryEntry(
        created_at=event.timestamp,
        source=MemorySource(source),
        summary=event.content.replace("\n", " "),
        tags=[*note.tags],
        location_id=about if source == MemorySource.LOCATION else related.get("location_id"),
        npc_ids=[about] if source == MemorySource.NPC else [],
        quest_id=related.get("quest_id"),
        encounter_id=related.get("encounter_id"),
        since_timestamp=_time(related.get(SINCE)),
        since_message_index=places.get(note.upto),
        memory_id=event.event_id,
        session_id=event.session_id,
        sources=tuple(dict.fromkeys(one for line in note.line_sources for one in line)),
    )


def _time(said: str | None) -> datetime | None:
    """A log may come from anywhere: what is no time must not make all memories unreadable."""
    try:
        return datetime.fromisoformat(said) if said else None
    except ValueError:
        return None
