"""The event log as JSON lines: a header, then one event a line. An exported log imports byte for byte."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import ValidationError

from dndbots._jsontext import as_json, read_json
from dndbots.errors import InvalidTranscript
from dndbots.events import GameEvent
from dndbots.ids import short
from dndbots.storage.codec import NAMES, StoredName

VERSION: Final = 1
_HEADER: Final = "dndbots_log"
# JSON allows these characters unescaped, but many readers break a line at them.
_BREAKS: Final = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


def to_lines(events: Iterable[GameEvent]) -> Iterator[str]:
    """Yield the header, then one JSON line for each event."""
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
        text = as_json({key: value for key, value in line.items() if value is not None})
        yield text.translate(_BREAKS)


def from_lines(lines: Iterable[str]) -> Iterator[GameEvent]:
    """Yield the events of an exported log; an error names the first line that is not an event."""
    numbered = enumerate(lines, 1)
    _check_header(next(numbered, (1, ""))[1])
    for number, text in numbered:
        if text.strip():
            yield _event(number, text)


def _check_header(text: str) -> None:
    try:
        header = read_json(text)
        version = header.get(_HEADER) if isinstance(header, dict) else None
    except ValueError:
        version = None
    if type(version) is not int:
        raise InvalidTranscript(line=1, field="header", reason="this is not an exported dndbots log")
    if version > VERSION:
        raise InvalidTranscript(
            line=1, field="header", reason=f"version {version} is from a newer dndbots; upgrade dndbots"
        )


def _fields(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("the line is not a JSON object with the fields of an event")
    return value


def _version(value: object) -> int:
    if type(value) is not int or value < 1:
        raise TypeError(f"its version is {short(repr(value), 40)}, but should be a whole number from 1 up")
    return value


def _event(number: int, text: str) -> GameEvent:
    try:
        line = _fields(read_json(text))
        stored = StoredName(str(line.pop("kind")), _version(line.pop("version", 1)))
        payload: dict[str, Any] = {
            key: line.pop(key) for key in ("source", "content", "metadata") if key in line
        }
        kind, payload = NAMES.lift(stored, payload)
        return GameEvent.model_validate({**line, **payload, "event_type": kind})
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(map(str, first["loc"])) or "event"
        raise InvalidTranscript(line=number, field=field, reason=first["msg"]) from exc
    except KeyError as exc:
        raise InvalidTranscript(line=number, field="event", reason=f"{exc} is missing") from exc
    except (ValueError, TypeError, AttributeError) as exc:
        raise InvalidTranscript(line=number, field="event", reason=f"cannot be read: {exc}") from exc
