"""Events as they are stored: under a registered name and version, and made current again when read.

A kind's stored name never changes. When its payload must, the version is raised and an upcast is
registered that lifts the old payload; what is in the log stays as it is.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.canon.claims import AT, Certainty, HeldClaim
from dndbots.canon.holding import EXTRACTED, PERCEIVED
from dndbots.canon.values import CertaintyName
from dndbots.errors import StoreDamaged, StoreTooNew
from dndbots.events import EventType, GameEvent
from dndbots.storage.ports import ClaimRow, EventRow, MentionRow

Payload = dict[str, Any]
Upcast = Callable[[Payload], Payload]

CERTAINTY: Final[dict[int, CertaintyName]] = {
    Certainty.FACT: "fact",
    Certainty.BELIEF: "belief",
    Certainty.RUMOR: "rumor",
}


class StoredName(NamedTuple):
    name: str
    version: int


class EventNames:
    """Which name and version a kind of event is stored under, and how older ones are lifted."""

    def __init__(self, kinds: Mapping[EventType, StoredName]) -> None:
        self._stored = dict(kinds)
        self._kinds = {stored.name: kind for kind, stored in kinds.items()}
        self._versions = {stored.name: stored.version for stored in kinds.values()}
        self._upcasts: dict[StoredName, tuple[StoredName, Upcast]] = {}

    def upcast(self, old: StoredName, new: StoredName) -> Callable[[Upcast], Upcast]:
        """Registers a function that lifts a payload (`source`, `content`, `metadata`) to its next version."""

        def register(lift: Upcast) -> Upcast:
            self._upcasts[old] = (new, lift)
            return lift

        return register

    def stored(self, kind: EventType) -> StoredName:
        return self._stored[kind]

    def __contains__(self, stored: StoredName) -> bool:
        """Whether events under this name are lifted when they are read."""
        return stored in self._upcasts

    def lifted(self, stored: StoredName, payload: Payload) -> tuple[EventType, Payload]:
        """The kind that a stored name stands for today, and the payload as it is written today."""
        while stored in self._upcasts:
            stored, lift = self._upcasts[stored]
            payload = lift(payload)
        kind = self._kinds.get(stored.name)
        if kind is None or stored.version > self._versions[stored.name]:
            raise StoreTooNew(
                f"event of the kind {stored.name!r}, version {stored.version}",
                reason="this dndbots does not know it; a newer one wrote it, so use that",
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
    """The event of a row. It was checked when it was recorded; `checked` checks it again."""
    try:
        if bytes in map(type, row):  # SQLite keeps anything in any column
            raise ValueError("it has bytes where text or a number belongs")  # noqa: TRY301 told as the others
        stored = StoredName(row.name, row.version)
        payload = {"source": row.source, "content": row.content, "metadata": json.loads(row.metadata)}
        kind, payload = names.lifted(stored, payload)
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
        # Which field, but not what is in it: whoever reads this need not have perceived it.
        raise StoreDamaged(
            f"event {row.seq} of the log",
            reason=f"cannot be read ({_fault(exc)}); restore the campaign from a copy or an export",
        ) from exc


def _fault(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        fields = {str(error["loc"][0]) for error in exc.errors(include_input=False) if error["loc"]}
        return f"not as it was recorded: {', '.join(sorted(fields)) or 'the event'}"
    return "its metadata are no JSON" if isinstance(exc, json.JSONDecodeError) else type(exc).__name__


def held_claim(row: ClaimRow) -> HeldClaim:
    """The claim of a row."""
    return HeldClaim(
        row.subject,
        row.slot,
        row.holders,
        row.certainty,
        row.valid_from,
        row.seq,
        row.n,
        json.loads(row.value),
        row.total,
        row.how,
        row.said_by,
    )


def held_place(row: MentionRow) -> HeldClaim:
    """Where somebody was seen, as a claim; whatever the same event states comes after it."""
    perceived = Certainty.FACT, row.seq, row.seq, -1, row.place, None, PERCEIVED, None
    return HeldClaim(row.uid, AT, row.audience, *perceived)


def said_at(claim: HeldClaim) -> int:
    """The place of the event that says something, be it in words that were read only later."""
    return claim.at if claim.how == EXTRACTED else claim.seq
