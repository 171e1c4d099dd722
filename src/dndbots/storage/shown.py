"""What leaves the engine for a viewer: uids that would tell it a name that nobody told are spelled opaque.

Views work with the real uids. Whatever a viewer is handed goes through here once, at the very end.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dndbots.events import GameEvent
from dndbots.ids import CATEGORIES

# Also within an id that was made from one, such as that of a promise.
_UID: Final = re.compile(
    rf"(?<![a-z0-9])(?:{'|'.join(one.lower() for one in CATEGORIES if one != 'EVT')})(?:_[a-z0-9]+)+"
)
# Ids of events are what an answer is cited by, and no uids.
_EVENT_IDS: Final = frozenset(
    {"valid_from", "learned_from", "superseded_by", "extracted_in", "since", "opened", "touched"}
    | {"sources", "memory_id", "tells", "resolves"}
)
_MOST_AT_HAND: Final = 4_096
_Answer = TypeVar("_Answer", bound=BaseModel)
Spelled = Callable[[Collection[str]], Mapping[str, str]]


class Shown:
    """Spells uids for one viewer. How one is spelled never changes, so it is looked up once."""

    def __init__(self, spelled: Spelled) -> None:
        self._look_up = spelled
        self._spelled: dict[str, str] = {}

    def answer(self, answer: _Answer) -> _Answer:
        """An answer as the viewer may see it."""
        opaque = self._opaque(_texts(answer))
        return _respelled(answer, opaque) if opaque else answer

    def events(self, events: Iterable[GameEvent]) -> Iterator[GameEvent]:
        """Events with their source and metadata as the viewer may see them. Words stay as they were said."""
        for event in events:
            opaque = self._opaque([event.source, event.metadata_text])
            if opaque:
                metadata = _respelled(event.metadata, opaque)
                source = opaque.get(event.source, event.source)
                yield event.placed(event.seq, metadata).model_copy(update={"source": source})
            else:
                yield event

    def _opaque(self, texts: Iterable[str]) -> dict[str, str]:
        """The uids in some texts that are spelled opaque."""
        found = {uid for text in texts for uid in _UID.findall(text)}
        new = found - self._spelled.keys()
        if len(self._spelled) + len(new) > _MOST_AT_HAND:
            self._spelled, new = {}, found
        if new:
            self._spelled |= self._look_up(new)
        return {uid: self._spelled[uid] for uid in found if self._spelled[uid] != uid}


def respell(text: str, opaque: Mapping[str, str]) -> str:
    """A text with some uids in it spelled otherwise."""
    return _UID.sub(lambda found: opaque.get(found[0], found[0]), text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _texts(getattr(value, name))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(one)


def _respelled(value: Any, opaque: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return respell(value, opaque)
    if isinstance(value, BaseModel):
        return type(value)(
            **_fields({name: getattr(value, name) for name in type(value).model_fields}, opaque)
        )
    if isinstance(value, Mapping):
        return {_respelled(key, opaque): one for key, one in _fields(value, opaque).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)([_respelled(one, opaque) for one in value])
    return value


def _fields(fields: Mapping[str, Any], opaque: Mapping[str, str]) -> dict[str, Any]:
    return {name: one if name in _EVENT_IDS else _respelled(one, opaque) for name, one in fields.items()}
