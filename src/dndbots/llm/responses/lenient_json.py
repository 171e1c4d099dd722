"""Find JSON in text that may have anything around it: fences, tags, talk, a second object, no end."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_MOST_TRIES: Final = 200
_DECODER: Final = json.JSONDecoder()


class JsonFound(NamedTuple):
    """A JSON object and its position in the text."""

    value: dict[str, Any]
    start: int
    end: int


def found_in(text: str) -> Iterator[JsonFound]:
    """Yield every outermost JSON object in a text, in order. Skip one that breaks off."""
    at = tries = 0
    while (at := text.find("{", at)) >= 0 and tries < _MOST_TRIES:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield JsonFound(value, at, end)
        at = end


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects without their positions."""
    return (found.value for found in found_in(text))
