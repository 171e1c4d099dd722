"""The log as JSON lines: a header, then an event a line. What is written can be read back, byte for byte."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import ValidationError

from dndbots._json import as_json
from dndbots.errors import InvalidTranscript
from dndbots.events import GameEvent
from dndbots.storage.codec import NAMES, StoredName

VERSION: Final = 1
_HEADER: Final = "dndbots_log"


def to_lines(events: Iterable[GameEvent]) -> Iterator[str]:
    yield as_json({_HEADER: VERSION})
    for event in events:
        name, version = NAMES.stored(event.event_type)
        line: dict[str, Any] = {
            "event_id": event.event_id,
            "kind": name,
            "version": version,
            "source": event.source,
            "session_id": event.session_id,
            "turn": event.turn,
            "timestamp": event.timestamp.isoformat() if event.timestamp else None,
            "content": event.content,
            "metadata": event.metadata,
        }
        yield as_json({key: value for key, value in line.items() if value is not None})


def from_lines(lines: Iterable[str]) -> Iterator[GameEvent]:
    """The events of an exported log; an error names the line that is none."""
    numbered = enumerate(lines, 1)
    _check_header(next(numbered, (1, ""))[1])
    for number, text in numbered:
        if text.strip():
            yield _event(number, text)


def _check_header(text: str) -> None:
    try:
        header = json.loads(text)
        version = header.get(_HEADER) if isinstance(header, dict) else None
    except ValueError:
        version = None
    if not isinstance(version, int):
        raise InvalidTranscript(line=1, field="header", reason="this is not an exported dndbots log")
    if version > VERSION:
        raise InvalidTranscript(
            line=1, field="header", reason=f"version {version} is from a newer dndbots; upgrade dndbots"
        )


def _event(number: int, text: str) -> GameEvent:
    try:
        line = json.loads(text)
        stored = StoredName(str(line.pop("kind")), int(line.pop("version", 1)))
        payload = {key: line.pop(key) for key in ("source", "content", "metadata") if key in line}
        kind, payload = NAMES.lifted(stored, payload)
        return GameEvent.model_validate({**line, **payload, "event_type": kind})
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(map(str, first["loc"])) or "event"
        raise InvalidTranscript(line=number, field=field, reason=first["msg"]) from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise InvalidTranscript(line=number, field="event", reason=f"cannot be read: {exc}") from exc
