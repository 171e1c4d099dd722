"""Edits that a person made in a data file, field by field, to be offered as corrections.

This module only compares. It trusts nothing: a file edited by hand may contain anything.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, JsonValue

from dndbots.compaction.data.files import (
    CAMPAIGN_FILE,
    SHELVES_IN,
    STATE_FILE,
    DataShelf,
    defaults_of,
    parse_file,
    problem_with,
)

# Fields that are mappings: each changed key is an edit of its own.
_BY_KEY: Final = ("facts", "inventory", "objectives")


class Edit(NamedTuple):
    """A field that was changed by hand, with its old and new value; None means absent.

    `uid` is the uid of an entity, or the id of a scene or narrative; None for fields of the campaign.
    `field` is `name`, `alive`, `facts.role`, `facts.role.certainty`, `inventory.rope` and so on. For an entry
    that was removed, `field` is empty and `old` is its name.
    """

    file: str
    uid: str | None
    field: str
    old: JsonValue
    new: JsonValue


class EditedFile(NamedTuple):
    """A file that was changed by hand: the edits, where the file was moved, and what is wrong with it."""

    file: str
    edits: tuple[Edit, ...] = ()
    moved_to: Path | None = None
    problem: str = ""


def edited_file(file: str, *, written: bytes | None, found: JsonValue) -> EditedFile:
    """Compare a file's content with what was written; return the edits."""
    before = parse_file(written) if written is not None else {}
    edits = tuple(_edits(file, _as_object(before), _as_object(found)))
    return EditedFile(file, edits, problem=problem_with(file, found))


def _edits(file: str, before: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> Iterator[Edit]:
    if file not in (CAMPAIGN_FILE, STATE_FILE):
        yield from _on_shelf(file, SHELVES_IN[file][0], before, now)
        return
    shelves = {shelf.field: shelf for shelf in SHELVES_IN.get(file, ())}
    for field in _keys(before, now):
        if field in shelves:
            old, new = _as_object(before.get(field)), _as_object(now.get(field))
            yield from _on_shelf(file, shelves[field], old, new)
        elif not _is_same(before.get(field), now.get(field)):
            yield Edit(file, None, field, before.get(field), now.get(field))


def _on_shelf(
    file: str, shelf: DataShelf, before: Mapping[str, JsonValue], now: Mapping[str, JsonValue]
) -> Iterator[Edit]:
    for key in _keys(before, now):
        old, new = _as_object(before.get(key)), _as_object(now.get(key))
        if key not in now:
            yield Edit(file, key, "", old.get("name"), None)
        else:
            for field, was, is_now in _fields(shelf.model, old, new):
                yield Edit(file, key, field, was, is_now)


def _fields(
    model: type[BaseModel], old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    for field in _keys(old, new):
        if field in _BY_KEY:
            before, now = _as_object(old.get(field)), _as_object(new.get(field))
            for key in _keys(before, now):
                yield from _under_key(f"{field}.{key}", before.get(key), now.get(key))
        else:
            was, is_now = _value(model, field, old), _value(model, field, new)
            if not _is_same(was, is_now):
                yield field, was, is_now


def _under_key(field: str, old: JsonValue, new: JsonValue) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Yield the changes under a key. A fact is an object with a `value`, but a person may write it bare."""
    if not (field.startswith("facts.") and isinstance(old, dict) and "value" in old):
        old_value, new_value = _bare(field, old), _bare(field, new)
        if not _is_same(old_value, new_value):
            yield field, old_value, new_value
        return
    if not (isinstance(new, dict) and "value" in new):
        if not _is_same(old["value"], new):
            yield field, old["value"], new
        return
    if not _is_same(old["value"], new["value"]):
        yield field, old["value"], new["value"]
    for part in _keys(old, new):
        if part != "value" and not _is_same(old.get(part), new.get(part)):
            yield f"{field}.{part}", old.get(part), new.get(part)


def _bare(field: str, value: JsonValue) -> JsonValue:
    is_fact = field.startswith("facts.") and isinstance(value, dict) and "value" in value
    return value["value"] if is_fact and isinstance(value, dict) else value


def _value(model: type[BaseModel], field: str, fields: Mapping[str, JsonValue]) -> JsonValue:
    """Return the value of a field, or its default if it is left out."""
    default = defaults_of(model).get(field)
    found = fields.get(field, default)
    return list(found) if isinstance(found, tuple) else found


def _is_same(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two values are equal in JSON, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _as_object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _keys(one: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> list[str]:
    """Return the keys of both, the old ones first."""
    return list(dict.fromkeys((*one, *other)))
