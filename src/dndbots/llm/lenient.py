"""JSON in a text that may have anything around it: fences, tags, talk, a second object, no end."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_MOST_TRIES: Final = 200
_DECODER: Final = json.JSONDecoder()


class Found(NamedTuple):
    """An object, and where in the text it stands."""

    value: dict[str, Any]
    start: int
    end: int


def found_in(text: str) -> Iterator[Found]:
    """Every JSON object in a text, outermost only, in order. What breaks off in the middle is left out."""
    at = tries = 0
    while (at := text.find("{", at)) >= 0 and tries < _MOST_TRIES:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield Found(value, at, end)
        at = end


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The objects alone."""
    return (found.value for found in found_in(text))
