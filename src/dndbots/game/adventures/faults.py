"""What pydantic finds wrong, in words for somebody who never programmed."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dndbots.game.adventures.reading import Path
from dndbots.game.adventures.values import Module, Value
from dndbots.game.adventures.wording import meant

MISSING: Final = "is missing"
_KEY: Final = "[key]"
_LONGEST_SHOWN: Final = 60

_WORDS: Final = {
    "missing": MISSING,
    "int_parsing": "{input} is not a whole number",
    "int_type": "{input} is not a whole number",
    "int_from_float": "{input} is not a whole number",
    "bool_parsing": "{input} is neither yes nor no",
    "bool_type": "{input} is neither yes nor no",
    "string_type": "a text stands here, not {input}",
    "string_too_short": "it is blank",
    "string_too_long": "it is longer than {max_length} characters",
    "string_pattern_mismatch": "{input} does not fit; it must look like {pattern}",
    "mapping_type": "entries with keys stand here (`key: …`, indented), not {input}",
    "model_type": "fields stand here (`field: …`, indented), not {input}",
    "tuple_type": "a list stands here (lines that begin with `-`), not {input}",
    "too_short": "at least {min_length} is needed",
    "greater_than_equal": "{input} is less than {ge}",
    "less_than_equal": "{input} is more than {le}",
}
# What patterns mean.
_PATTERNS: Final = {
    "[1-9][0-9]{0,3}": "a key: small letters, digits and underscores, beginning with a letter",
    "^[a-z]": "a key: small letters, digits and underscores, beginning with a letter",
    "^[A-Za-z_]": "one word: letters, digits and underscores",
    " in ": "`1 in 6`",
    "-[0-9]": "`1-3`",
}


def told(error: ValidationError) -> Iterator[tuple[Path, str]]:
    """Each fault as a path and a reason."""
    for detail in error.errors(include_url=False):
        path = tuple(part for part in detail["loc"] if part != _KEY)
        yield path, _reason(detail, path)


def _reason(detail: ErrorDetails, path: Path) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), detail["input"], path[:-1])
    if kind == "value_error":
        return str(context["error"])
    given = detail["input"]
    if kind == "literal_error":
        words = str(context["expected"]).replace("'", "")
        return f"{_shown(given)} is none of {words}{_closest(given, words)}"
    words = _WORDS.get(kind, detail["msg"])
    context = {**context, "pattern": _meaning(str(context.get("pattern", "")))}
    return words.format(input=_shown(given), **context) if kind in _WORDS else words


def _unknown(name: str, given: object, path: Path) -> str:
    if given is None and " " in name:
        return f"{name!r} is no field: in braces a comma ends a text; put the text in quotes"
    return f"there is no field {name!r} here{meant(name, _fields_at(path))}"


def _closest(given: object, words: str) -> str:
    close = meant(str(given), words.replace(" or ", ", ").split(", "))
    return close if "did you mean" in close else ""


def _meaning(pattern: str) -> str:
    return next((words for mark, words in _PATTERNS.items() if mark in pattern), pattern)


def _shown(given: object) -> str:
    if isinstance(given, dict):
        return "fields"
    if isinstance(given, list | tuple):
        return "a list"
    shown = repr(given)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _fields_at(path: Path) -> list[str]:
    """The fields that may stand at a path, without the keys that values are told by themselves."""
    kind: type[Value] | None = Module
    parts = iter(path)
    for part in parts:
        field = kind.model_fields.get(str(part)) if kind else None
        if field is None:
            return []
        inner = _value_in(field.annotation)
        if inner is not None and _holds_many(field.annotation):
            next(parts, None)
        kind = inner
    return (
        [f.alias or name for name, f in kind.model_fields.items() if name not in ("key", "label")]
        if kind
        else []
    )


def _value_in(annotation: Any) -> type[Value] | None:
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _value_in(inner))), None)


def _holds_many(annotation: Any) -> bool:
    return "Mapping" in str(annotation) or "tuple" in str(annotation)
