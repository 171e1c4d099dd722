"""JSON in one spelling, so that the same value is the same text everywhere, and a reader of foreign JSON."""

import json
from collections import Counter
from collections.abc import Callable
from math import isfinite
from typing import Any, Final, NoReturn

as_json: Callable[[object], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode

DEEPEST: Final = 100
_MOST_DIGITS: Final = 300  # more than any number that is kept; turning text into numbers costs their square


def read_json(text: str | bytes) -> Any:
    """Read what somebody else wrote, or raise a `ValueError` that says why not, and nothing else.

    Refused is also what JSON has no word for (`NaN`), nests too deep, or says a key twice.
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
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return made


def _integer(word: str) -> int:
    if len(word) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(word)} digits is none that can be kept")
    return int(word)


def _finite(word: str) -> float:
    number = float(word)
    return number if isfinite(number) else _no_number(word)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word[:40]} is no number that can be kept")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_finite, parse_constant=_no_number
)
