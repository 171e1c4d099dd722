"""JSON: one spelling, so that equal values are equal texts; a strict reader; and checks of values."""

import json
from collections import Counter
from collections.abc import Callable
from math import isfinite
from typing import Any, Final, NoReturn

as_json: Callable[[object], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode

DEEPEST: Final = 100
DEEPEST_METADATA: Final = 32
LARGEST_INTEGER: Final = 10**30
_MOST_DIGITS: Final = 300  # more than any stored number has; reading a number takes the square of its digits


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text from outside; raise `ValueError`, and nothing else, with the reason.

    Also refuses values that JSON does not have (`NaN`), deep nesting, and a key that occurs twice.
    """
    text = (text if isinstance(text, str) else text.decode("utf-8")).removeprefix("\ufeff")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep() from None
    if text.count("[") + text.count("{") > DEEPEST and _depth(value) > DEEPEST:
        raise _too_deep()
    return value


def _too_deep() -> ValueError:
    return ValueError(f"is nested deeper than {DEEPEST} levels")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice[:40]!r} occurs twice in one object; keep one")
    return made


def _integer(word: str) -> int:
    if len(word) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(word)} digits is too long; at most {_MOST_DIGITS} are read")
    return int(word)


def _finite(word: str) -> float:
    number = float(word)
    return number if isfinite(number) else _refuse_number(word)


def _refuse_number(word: str) -> NoReturn:
    raise ValueError(f"{word[:40]} is not a finite number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_finite, parse_constant=_refuse_number
)


# Checks


def check_storable(text: str) -> str:
    """Return a text that every database can store; raise `ValueError` if it has NUL or a lone surrogate."""
    if "\x00" in text:
        raise ValueError("has a NUL character, which cannot be stored as text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("has a lone surrogate, which cannot be stored as text") from None
    return text


def is_storable(text: str) -> bool:
    """Return True if every database can store a text."""
    try:
        check_storable(text)
    except ValueError:
        return False
    return True


def check_json(value: object, *, where: str, depth: int = 0) -> None:
    """Raise `ValueError` unless JSON can hold a value and give it back. `where` is its key."""
    if depth > DEEPEST_METADATA:
        raise ValueError(f"{where}: nested deeper than {DEEPEST_METADATA} levels")
    if isinstance(value, str):
        check_storable(value)
    elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{where}: an integer of more than 30 digits")
    elif isinstance(value, list):
        # Thousands may have perceived an event, so their uids are checked together.
        is_words = value and all(type(inner) is str for inner in value)
        for inner in [" ".join(map(str, value))] if is_words else value:
            check_json(inner, where=where, depth=depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_json(inner, where=check_storable(key), depth=depth + 1)
