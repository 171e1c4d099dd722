"""Memories as events: how a note is made, so that it can be recorded at any time and never twice.

A note follows the one before it on its shelf. If another was put there meanwhile, the log refuses it.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from pydantic import JsonValue

from dndbots.canon.claims import Shelf
from dndbots.errors import DuplicateEvent, StaleNote
from dndbots.events import EventType, GameEvent, Layer
from dndbots.ids import DM, SYSTEM, is_uid, name_from_uid, slug
from dndbots.memory.entries import Line, as_text
from dndbots.storage.reader import View

log = logging.getLogger("dndbots.memory")


class Table(Protocol):
    """What memory needs of a campaign: to look on as somebody, and to put an event into the log."""

    def view(self, viewer: str, as_of: str | None = None) -> AbstractContextManager[View]: ...
    def record(self, event: GameEvent) -> GameEvent: ...
    def record_many(self, events: Iterable[GameEvent]) -> list[GameEvent]: ...


def note_id(kind: str, holder: str, *parts: str | None) -> str:
    """An id that the same note always has: short enough to type, and nobody else's."""
    digest = hashlib.sha256("\x1f".join(part or "" for part in (holder, *parts)).encode()).hexdigest()
    name = slug(name_from_uid(holder)) if is_uid(holder) else holder
    return f"{kind}_{name[:40]}_{digest[:10]}"


def make_note(
    holder: str,
    shelf_name: str,
    shelf: Shelf | None,
    *,
    lines: Sequence[Line],
    upto: GameEvent,
    after: str | None,
    layer: Layer | None = None,
    replaces: Iterable[str] = (),
    tags: Sequence[str] = (),
    related: Mapping[str, JsonValue] | None = None,
    compaction: Mapping[str, JsonValue] | None = None,
) -> GameEvent:
    """A note of what its holder perceived after an event, up to another. Without lines it only moves on.

    One that `replaces` others takes their place, and leaves the shelf's cursor where it is. One of
    `compaction` says what was done with what it passed.
    """
    gone = list(replaces)
    kind = EventType.SUMMARY if layer is not None else EventType.MEMORY
    if compaction is not None:
        kind = EventType.COMPACTION
    last = shelf.last if shelf else None
    event_id = note_id(layer or kind.value, holder, shelf_name, layer, after, upto.event_id, last)
    standing = list(shelf.standing) if shelf else []
    place = min((standing.index(one) for one in gone), default=len(standing))
    standing = [one for one in standing if one not in gone]
    if lines:
        standing.insert(place, event_id)
    note: dict[str, JsonValue] = {
        "holder": holder,
        "shelf": shelf_name,
        "upto": upto.event_id,
        "cursor": shelf.cursor if shelf and gone else upto.event_id,
        "standing": [*standing],
        "line_sources": [[*line.sources] for line in lines],
    }
    beside: dict[str, JsonValue] = {} if compaction is None else {"compaction": dict(compaction)}
    optional: dict[str, JsonValue] = {"layer": layer, "after": after, "follows": last, "tags": [*tags]}
    optional["related"] = dict(related or {})
    note |= {key: value for key, value in optional.items() if value}
    return GameEvent(
        event_id=event_id,
        event_type=kind,
        source=SYSTEM,
        content=as_text(lines),
        session_id=upto.session_id,
        metadata={"memory": note, "witnesses": [] if holder == DM else [holder], **beside},
        timestamp=upto.timestamp,
    )


def stands_with(event: GameEvent) -> Shelf:
    """How a shelf stands once a note is on it."""
    note = event.known.memory
    if note is None:
        raise ValueError(f"{event.event_id} is no memory")
    return Shelf(event.event_id, note.cursor, tuple(note.standing))


def put(table: Table, notes: Sequence[GameEvent]) -> bool:
    """Records notes together. What somebody else noted meanwhile is not noted twice; it says so."""
    try:
        if notes:
            table.record_many(notes)
    except (DuplicateEvent, StaleNote) as exc:
        log.warning("a memory was made twice at the same time; the later one is not kept: %s", exc)
        return False
    return True
