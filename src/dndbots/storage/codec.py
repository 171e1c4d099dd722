"""The stored form of events: a registered name and version; older versions are lifted when they are read.

The stored name of a kind never changes. When its payload must change, raise the version and register an
upcast that lifts the old payload. Stored events stay as they are.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.canon.certainty import EXTRACTED, PERCEIVED
from dndbots.canon.claims import AT, CertaintyRank, HeldClaim
from dndbots.canon.entities import CertaintyName
from dndbots.errors import StoreDamaged, StoreTooNew
from dndbots.events import EventType, GameEvent
from dndbots.storage.ports import ClaimRow, EventRow, MentionRow

Payload = dict[str, Any]
Upcast = Callable[[Payload], Payload]

CERTAINTY: Final[dict[int, CertaintyName]] = {
    CertaintyRank.FACT: "fact",
    CertaintyRank.BELIEF: "belief",
    CertaintyRank.RUMOR: "rumor",
}


class StoredName(NamedTuple):
    """The name and the version under which a kind of event is stored."""

    name: str
    version: int


class EventNames:
    """The stored names of all kinds of events, and the upcasts of older versions."""

    def __init__(self, kinds: Mapping[EventType, StoredName]) -> None:
        self._stored = dict(kinds)
        self._kinds = {stored.name: kind for kind, stored in kinds.items()}
        self._versions = {stored.name: stored.version for stored in kinds.values()}
        self._upcasts: dict[StoredName, tuple[StoredName, Upcast]] = {}

    def upcast(self, old: StoredName, new: StoredName) -> Callable[[Upcast], Upcast]:
        """Register a function that lifts a payload (`source`, `content`, `metadata`) to the next version."""

        def register(lift: Upcast) -> Upcast:
            self._upcasts[old] = (new, lift)
            return lift

        return register

    def stored(self, kind: EventType) -> StoredName:
        return self._stored[kind]

    def __contains__(self, stored: StoredName) -> bool:
        """Return whether events under this name are lifted when they are read."""
        return stored in self._upcasts

    def lift(self, stored: StoredName, payload: Payload) -> tuple[EventType, Payload]:
        """Return the kind that a stored name stands for today, and the payload in its current form."""
        while stored in self._upcasts:
            stored, lift = self._upcasts[stored]
            payload = lift(payload)
        kind = self._kinds.get(stored.name)
        if kind is None or stored.version > self._versions[stored.name]:
            raise StoreTooNew(
                f"event of kind {stored.name!r}, version {stored.version}",
                reason="a newer dndbots wrote it; upgrade dndbots to read it",
            )
        return kind, payload


NAMES = EventNames(
    {
        EventType.SESSION_START: StoredName("session_start", 1),
        EventType.SESSION_END: StoredName("session_end", 1),
        EventType.DM_NARRATION: StoredName("dm_narration", 1),
        EventType.PLAYER_ACTION: StoredName("player_action", 1),
        EventType.DIALOGUE: StoredName("dialogue", 1),
        EventType.WHISPER: StoredName("whisper", 1),
        EventType.DICE_ROLL: StoredName("dice_roll", 1),
        EventType.COMBAT_START: StoredName("combat_start", 1),
        EventType.COMBAT_ROUND: StoredName("combat_round", 1),
        EventType.COMBAT_END: StoredName("combat_end", 1),
        EventType.DAMAGE: StoredName("damage", 1),
        EventType.HEALING: StoredName("healing", 1),
        EventType.CONDITION: StoredName("condition", 1),
        EventType.DEATH: StoredName("death", 1),
        EventType.LOCATION_CHANGE: StoredName("location_change", 1),
        EventType.DISCOVERY: StoredName("discovery", 1),
        EventType.LOOT: StoredName("loot", 1),
        EventType.QUEST_UPDATE: StoredName("quest_update", 1),
        EventType.REPUTATION_CHANGE: StoredName("reputation_change", 1),
        EventType.SYSTEM: StoredName("system", 1),
        EventType.SUMMARY: StoredName("summary", 1),
        EventType.MEMORY: StoredName("memory", 1),
        EventType.GATE: StoredName("gate", 1),
        EventType.EXTRACTION: StoredName("extraction", 1),
        EventType.COMPACTION: StoredName("compaction", 1),
        EventType.USAGE: StoredName("usage", 1),
    }
)


def to_row(event: GameEvent, branch: int, audience: int, others: int | None = None, /) -> EventRow:
    """Return the row of an event, with the numbers of its groups."""
    name, version = NAMES.stored(event.event_type)
    return EventRow(
        branch,
        event.seq or 0,
        event.event_id,
        name,
        version,
        event.source,
        event.session_id,
        event.turn,
        event.timestamp.isoformat() if event.timestamp else None,
        audience,
        others,
        event.content,
        event.metadata_text,
    )


def from_row(row: EventRow, *, names: EventNames = NAMES, checked: bool = False) -> GameEvent:
    """Return the event of a row. It was checked when it was recorded; `checked` checks it again.

    Raises `StoreDamaged` if the row makes no sense.
    """
    try:
        if bytes in map(type, row):  # SQLite stores anything in any column
            raise ValueError("it has bytes where text or a number belongs")  # noqa: TRY301 - as the others
        stored = StoredName(row.name, row.version)
        payload = {"source": row.source, "content": row.content, "metadata": json.loads(row.metadata)}
        kind, payload = names.lift(stored, payload)
        fields = {
            "event_id": row.event_id,
            "event_type": kind,
            "source": payload["source"],
            "content": payload["content"],
            "session_id": row.session_id,
            "metadata": payload["metadata"],
            "timestamp": datetime.fromisoformat(row.timestamp) if row.timestamp else None,
            "turn": row.turn,
            "seq": row.seq,
        }
        if checked:
            return GameEvent.model_validate(fields)
        return GameEvent.restored(fields, as_json(fields["metadata"]) if stored in names else row.metadata)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
        # The message names the field, but not its content: the reader may not have perceived the event.
        raise StoreDamaged(
            f"event {row.seq} of the log",
            reason=f"cannot be read ({_fault(exc)}); restore the campaign from a copy or an export",
        ) from exc


def _fault(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        fields = {str(error["loc"][0]) for error in exc.errors(include_input=False) if error["loc"]}
        return f"not as it was recorded: {', '.join(sorted(fields)) or 'the event'}"
    return "its metadata are not JSON" if isinstance(exc, json.JSONDecodeError) else type(exc).__name__


def claim_from_row(row: ClaimRow) -> HeldClaim:
    """Return the claim of a row."""
    if bytes in map(type, row):  # SQLite stores anything in any column
        raise TypeError("a claim has bytes where text or a number belongs")
    _, subject, slot, holders, certainty, valid_from, seq, n, written, total, how, said_by = row
    value = _text_of(written) if written.startswith('"') else json.loads(written)
    return HeldClaim(subject, slot, holders, certainty, valid_from, seq, n, value, total, how, said_by)


@lru_cache(maxsize=4_096)
def _text_of(value: str) -> Any:
    """Parse a JSON text. Most claims say one of few words, which cannot be changed: they are parsed once."""
    return json.loads(value)


def place_from_row(row: MentionRow) -> HeldClaim:
    """Return a mention with a place as a claim, ordered before all that the same event states."""
    perceived = CertaintyRank.FACT, row.seq, row.seq, -1, row.place, None, PERCEIVED, None
    return HeldClaim(row.uid, AT, row.audience, *perceived)


def said_seq(claim: HeldClaim) -> int:
    """Return the seq of the event that says a claim, also if it was extracted from its words later."""
    return claim.at if claim.how == EXTRACTED else claim.seq
