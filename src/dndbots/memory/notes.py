"""Notes: memories as events, which can be recorded at any time but never twice.

A note names the note before it on its shelf. If another one got there first, the log refuses it.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from dndbots.canon.claims import Shelf
from dndbots.errors import DuplicateEvent, StaleNote
from dndbots.events import EventType, GameEvent, Layer
from dndbots.ids import DM, SYSTEM, is_uid, name_from_uid, slug
from dndbots.memory.entries import Line, join_lines
from dndbots.storage.campaign_log import CampaignLog

log = logging.getLogger("dndbots.memory")


def note_id(kind: str, holder: str, *parts: str | None) -> str:
    """Return an id that depends only on the note: short enough to type, and unique."""
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
    """Make a note of what its holder perceived after one event, up to another.

    Without lines, the note only moves the shelf's cursor. A note that `replaces` others takes their place
    and leaves the cursor alone. `compaction` holds the figures of a compaction run.
    """
    replaced = list(replaces)
    kind = EventType.SUMMARY if layer is not None else EventType.MEMORY
    if compaction is not None:
        kind = EventType.COMPACTION
    last = shelf.last if shelf else None
    event_id = note_id(layer or kind.value, holder, shelf_name, layer, after, upto.event_id, last)
    standing = list(shelf.standing) if shelf else []
    position = min((standing.index(earlier) for earlier in replaced), default=len(standing))
    standing = [earlier for earlier in standing if earlier not in replaced]
    if lines:
        standing.insert(position, event_id)
    note: dict[str, JsonValue] = {
        "holder": holder,
        "shelf": shelf_name,
        "upto": upto.event_id,
        "cursor": shelf.cursor if shelf and replaced else upto.event_id,
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
        content=join_lines(lines),
        session_id=upto.session_id,
        metadata={"memory": note, "witnesses": [] if holder == DM else [holder], **beside},
        timestamp=upto.timestamp,
    )


def shelf_after(event: GameEvent) -> Shelf:
    """Return the state of a shelf once a note is on it."""
    note = event.known.memory
    if note is None:
        raise ValueError(f"event {event.event_id} is not a memory")
    return Shelf(event.event_id, note.cursor, tuple(note.standing))


def record_notes(campaign: CampaignLog, notes: Sequence[GameEvent]) -> bool:
    """Record notes in one transaction. Return False if somebody else recorded one of them first."""
    try:
        if notes:
            campaign.record_many(notes)
    except (DuplicateEvent, StaleNote) as exc:
        log.warning("another writer made the same memory first; this one is dropped: %s", exc)
        return False
    return True
