"""Opaque uids: a uid that would give away a name the viewer never heard is replaced by an opaque one.

Views work with the real uids. Every answer for a viewer passes through here once, at the very end.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dndbots.events import GameEvent
from dndbots.ids import CATEGORIES

# A uid may also be part of another id, such as that of a promise.
_UID: Final = re.compile(
    rf"(?<![a-z0-9])(?:{'|'.join(kind.lower() for kind in CATEGORIES if kind != 'EVT')})(?:_[a-z0-9]+)+"
)
# Fields that hold event ids, which answers cite; they are not uids.
_EVENT_IDS: Final = frozenset(
    {"valid_from", "learned_from", "superseded_by", "extracted_in", "since", "opened", "touched"}
    | {"sources", "memory_id", "tells", "resolves"}
)
_MOST_AT_HAND: Final = 4_096
_Answer = TypeVar("_Answer", bound=BaseModel)
Spelled = Callable[[Collection[str]], Mapping[str, str]]


class UidSpelling:
    """Spells uids for one viewer. The spelling of a uid never changes, so it is looked up once."""

    def __init__(self, spelled: Spelled) -> None:
        self._look_up = spelled
        self._spelled: dict[str, str] = {}

    def answer(self, answer: _Answer) -> _Answer:
        """Return an answer as the viewer may see it."""
        opaque = self._opaque(_texts(answer))
        return _respelled(answer, opaque) if opaque else answer

    def events(self, events: Iterable[GameEvent]) -> Iterator[GameEvent]:
        """Yield events with source and metadata as the viewer may see them. Their content stays as it is."""
        for event in events:
            opaque = self._opaque([event.source, event.metadata_text])
            if opaque:
                metadata = _respelled(event.metadata, opaque)
                source = opaque.get(event.source, event.source)
                yield event.placed(event.seq, metadata).model_copy(update={"source": source})
            else:
                yield event

    def _opaque(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the uids in some texts that the viewer may not see, each with its opaque spelling."""
        uids = {uid for text in texts for uid in _UID.findall(text)}
        new = uids - self._spelled.keys()
        if len(self._spelled) + len(new) > _MOST_AT_HAND:
            self._spelled, new = {}, uids
        if new:
            self._spelled |= self._look_up(new)
        return {uid: self._spelled[uid] for uid in uids if self._spelled[uid] != uid}


def respell(text: str, opaque: Mapping[str, str]) -> str:
    """Return a text with its uids replaced by their opaque spelling."""
    return _UID.sub(lambda match: opaque.get(match[0], match[0]), text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _texts(getattr(value, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


def _respelled(value: Any, opaque: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return respell(value, opaque)
    if isinstance(value, BaseModel):
        return type(value)(
            **_fields({name: getattr(value, name) for name in type(value).model_fields}, opaque)
        )
    if isinstance(value, Mapping):
        return {_respelled(key, opaque): item for key, item in _fields(value, opaque).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)([_respelled(item, opaque) for item in value])
    return value


def _fields(fields: Mapping[str, Any], opaque: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: value if name in _EVENT_IDS else _respelled(value, opaque) for name, value in fields.items()
    }
