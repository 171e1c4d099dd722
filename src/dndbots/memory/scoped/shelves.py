"""Shelves: the scoped memories of a holder about one place, one person or the world, as a view.

Newer memories make older ones redundant; those are taken off their shelf, but stay in the log.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.visits import OBJECTIVE_COMPLETED, QUEST_COMPLETED, QUEST_ENDED
from dndbots.models import MemoryEntry, MemorySource
from dndbots.storage.views.view import View

WORLD: Final = "world"
SINCE: Final = "since"
MOST_ENTRIES: Final = 50
# The share of a memory's words that a newer one must have to repeat it.
_REPEATED: Final = 0.9
_WORD: Final = re.compile(r"\w+")


def location_shelf(uid: str) -> str:
    return f"{MemorySource.LOCATION}:{uid}"


def npc_shelf(uid: str) -> str:
    return f"{MemorySource.NPC}:{uid}"


def is_scoped(shelf: str) -> bool:
    return shelf == WORLD or shelf.startswith((location_shelf(""), npc_shelf("")))


def subject_of(shelf: str) -> str:
    """Return the uid that a shelf is about; "" for the world."""
    return shelf.partition(":")[2]


def memories_on(
    view: View, holder: str, shelf: str, *, gates: Gates | None = None, newest: int | None = None
) -> list[MemoryEntry]:
    """Return the memories on a shelf, oldest first: all, or the newest. Forgotten ones are left out."""
    state = view.shelf(holder, shelf)
    if state is None:
        return []
    decided = _decided(view, holder) if gates is None else gates
    standing, shown = list(state.standing), list[GameEvent]()
    # Mostly the last few of a full shelf are wanted, so it is read from its end.
    while standing and (newest is None or len(shown) < newest):
        some = list(standing) if newest is None else standing[-newest:]
        del standing[-len(some) :]
        shown = [*_non_empty(view, some, decided), *shown]
    shown = shown if newest is None else shown[max(len(shown) - newest, 0) :]
    places = _places(view, shown)
    return [_entry(event, places) for event in shown]


def _non_empty(view: View, notes: Sequence[str], decided: Gates) -> list[GameEvent]:
    """Return notes with decisions applied, without those whose sources are all forgotten."""
    events = view.by_id(notes)
    shown = decided.shown(events[note_id] for note_id in notes if note_id in events)
    return [event for event in shown if event.content.strip()]


def entries_of(
    view: View, standing: Iterable[str], *, gates: Gates, new: GameEvent | None = None
) -> list[MemoryEntry]:
    """Return the memories on one of the viewer's shelves, and a new one that is not in the log yet.

    They have no log index.
    """
    events = view.by_id([note_id for note_id in standing if new is None or note_id != new.event_id])
    if new is not None:
        events[new.event_id] = new
    shown = gates.shown(events[note_id] for note_id in standing if note_id in events)
    return [_entry(event, {}) for event in shown if event.content.strip()]


def _decided(view: View, holder: str) -> Gates:
    """Return the decisions on a holder's memories as the viewer reads them: those for either."""
    mine = gates_of(view)
    if holder == view.viewer:
        return mine
    theirs = gates_of(view, holder)
    return theirs._replace(
        forgotten=theirs.forgotten | mine.forgotten, corrected={**theirs.corrected, **mine.corrected}
    )


def all_memories(view: View, holder: str) -> dict[str, list[MemoryEntry]]:
    """Return all scoped memories of a holder by shelf: places, then people, then the world."""
    gates = gates_of(view)
    shelves = sorted(filter(is_scoped, view.shelves(holder)))
    memories = {shelf: memories_on(view, holder, shelf, gates=gates) for shelf in shelves}
    return {shelf: entries for shelf, entries in memories.items() if entries}


def _places(view: View, notes: Iterable[GameEvent]) -> dict[str, int]:
    """Return the seq of each note's newest source; only for the DM: it would tell how much one missed."""
    if view.viewer != DM:
        return {}
    ends = {note.upto for event in notes if (note := event.known.memory) is not None}
    return {event.event_id: event.seq or 0 for event in view.by_id(sorted(ends)).values()}


def _entry(event: GameEvent, places: dict[str, int]) -> MemoryEntry:
    note = event.known.memory
    if note is None:
        raise ValueError(f"event {event.event_id} is not a memory")
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
        sources=tuple(dict.fromkeys(event_id for line in note.line_sources for event_id in line)),
    )


def _time(text: str | None) -> datetime | None:
    """Return a time, or None if the text is none: an imported log must not make memories unreadable."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


# Redundant memories.


def find_redundant(
    entries: Sequence[MemoryEntry], *, kept: Collection[str], new: int | None = None
) -> list[str]:
    """Return the ids of the redundant memories on a shelf, oldest first. `kept` ids are never redundant.

    `new` is the number of memories since the shelf was last pruned: only they make others redundant.
    """
    number = len(entries)
    pruned_before = 0 if new is None else number - new
    words = [_words(entry.summary) for entry in entries]
    redundant: list[str] = []
    for n, entry in enumerate(entries):
        if entry.memory_id in kept:
            continue
        newer = range(max(n + 1, pruned_before), number)
        if number - n > MOST_ENTRIES or any(
            _is_superseded(entry, entries[m]) or _is_repeated(words[n], words[m]) for m in newer
        ):
            redundant.append(entry.memory_id)
    return redundant


@lru_cache(maxsize=4096)
def _words(summary: str) -> frozenset[str]:
    return frozenset(_WORD.findall(summary.casefold()))


def _is_superseded(older: MemoryEntry, newer: MemoryEntry) -> bool:
    """Return True if a newer memory ends an older one: a quest is completed, a place cleared again."""
    if older.quest_id is not None and older.quest_id == newer.quest_id:
        over = {f"world:{QUEST_COMPLETED}", f"world:{QUEST_ENDED}"}
        return f"world:{OBJECTIVE_COMPLETED}" in older.tags and not over.isdisjoint(newer.tags)
    same = older.location_id is not None and older.location_id == newer.location_id
    cleared = "world:location_cleared"
    return same and cleared in older.tags and cleared in newer.tags


def _is_repeated(older: frozenset[str], newer: frozenset[str]) -> bool:
    return bool(older) and len(older & newer) >= _REPEATED * len(older)
