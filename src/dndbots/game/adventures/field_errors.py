"""Pydantic's errors in words for authors who never programmed."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dndbots.game.adventures.module import Module, Value
from dndbots.game.adventures.module_index import suggest
from dndbots.game.adventures.yaml_lines import Path

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
    "string_type": "expects a text, not {input}",
    "string_too_short": "is blank; write a text",
    "string_too_long": "is longer than {max_length} characters; shorten it",
    "string_pattern_mismatch": "{input} is not valid here; expected {pattern}",
    "mapping_type": "expects entries with keys (`key: …`, indented), not {input}",
    "model_type": "expects fields (`field: …`, indented), not {input}",
    "tuple_type": "expects a list (lines that begin with `-`), not {input}",
    "too_short": "needs at least {min_length}",
    "greater_than_equal": "{input} is less than the minimum of {ge}",
    "less_than_equal": "{input} is more than the maximum of {le}",
}
# Descriptions of patterns, by a part of the pattern.
_PATTERNS: Final = {
    "[1-9][0-9]{0,3}": "a key: lower-case letters, digits and underscores, beginning with a letter",
    "^[a-z]": "a key: lower-case letters, digits and underscores, beginning with a letter",
    "^[A-Za-z_]": "one word: letters, digits and underscores",
    " in ": "`1 in 6`",
    "-[0-9]": "`1-3`",
}


def explain_errors(error: ValidationError) -> Iterator[tuple[Path, str]]:
    """Yield each error as a path and a reason."""
    for detail in error.errors(include_url=False):
        path = tuple(part for part in detail["loc"] if part != _KEY)
        yield path, _reason(detail, path)


def _reason(detail: ErrorDetails, path: Path) -> str:
    """Return a plain reason for an error."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), detail["input"], path[:-1])
    if kind == "value_error":
        return str(context["error"])
    given = detail["input"]
    if kind == "literal_error":
        words = str(context["expected"]).replace("'", "")
        return f"{_shown(given)} is not one of {words}{_closest(given, words)}"
    words = _WORDS.get(kind, detail["msg"])
    context = {**context, "pattern": _meaning(str(context.get("pattern", "")))}
    return words.format(input=_shown(given), **context) if kind in _WORDS else words


def _unknown(name: str, given: object, path: Path) -> str:
    """Return a reason for a field that does not exist, with the nearest one that does."""
    if given is None and " " in name:
        return f"{name!r} is not a field: a comma inside braces ends a text; put the text in quotes"
    return f"there is no field {name!r} here{suggest(name, _fields_at(path))}"


def _closest(given: object, words: str) -> str:
    """Return a suggestion if one is close; the message lists all words anyway."""
    close = suggest(str(given), words.replace(" or ", ", ").split(", "))
    return close if "did you mean" in close else ""


def _meaning(pattern: str) -> str:
    """Return the description of a pattern."""
    return next((words for mark, words in _PATTERNS.items() if mark in pattern), pattern)


def _shown(given: object) -> str:
    """Return an input as an author recognizes it, cut to a short length."""
    if isinstance(given, dict):
        return "fields"
    if isinstance(given, list | tuple):
        return "a list"
    shown = repr(given)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _fields_at(path: Path) -> list[str]:
    """Return the fields allowed at a path, without `key` and `label`, which come from the entry itself."""
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
    """Return the model class inside a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _value_in(inner))), None)


def _holds_many(annotation: Any) -> bool:
    return "Mapping" in str(annotation) or "tuple" in str(annotation)
