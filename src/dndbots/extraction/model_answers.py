"""Reads updates out of a chat model's answer, in whatever wrapping they come."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from dndbots.extraction.port import Kind, Update
from dndbots.llm.responses.lenient_json import objects_in
from dndbots.llm.retry import AnswerRefused
from dndbots.memory.summaries.model_summaries import text_of

LONGEST_ANSWER: Final = 200_000
_MOST_ITEMS: Final = 500
_NUMBER = re.compile(r"\s*+(?:(?:turn|#)\s*+)?(\d{1,6})\s*+(?:\.\s*+)?", re.IGNORECASE)
_NOBODY: Final = frozenset(("", "none", "null", "nobody", "n/a", "dm", "narrator", "unknown"))


def updates_of(answer: object, turns: Sequence[str], kind: Kind | None) -> list[Update]:
    """Return the updates of an answer, possibly none; raise AnswerRefused if nothing in it can be read.

    `turns` are the ids of the turns that the model was shown, in the order of their numbers.
    """
    items = _items(answer)
    found = [update for item in items[:_MOST_ITEMS] if (update := _update(item, turns, kind))]
    if items and not found:
        raise AnswerRefused(
            "no update in the answer has a kind, a name, a field, a value and a turn that was shown"
        )
    return found


def _items(answer: object) -> list[object]:
    """Return the raw items of an answer, before any of them is checked."""
    if isinstance(answer, Mapping) and "raw" in answer and "parsed" in answer:
        parsed = answer["parsed"]
        answer = parsed if parsed is not None else answer["raw"]
    if isinstance(answer, BaseModel) and "updates" in type(answer).model_fields:
        answer = answer.model_dump()
    if isinstance(answer, Mapping) and (found := _listed(answer)) is not None:
        return found
    text = text_of(answer)
    if len(text) > LONGEST_ANSWER:
        raise AnswerRefused(f"the answer has {len(text):,} characters")
    items: list[object] = []
    read = False
    for value in objects_in(text):
        listed = _listed(value)
        read = read or listed is not None
        items += listed or ()
    if not read:
        raise AnswerRefused(
            "there is no JSON object with updates in the answer" if text.strip() else "it is empty"
        )
    return items


def _listed(value: Mapping[Any, Any]) -> list[object] | None:
    """Return the raw updates of one JSON object: its list, its single item, or the object itself."""
    if "updates" in value:
        updates = value["updates"]
        return list(updates) if isinstance(updates, list | tuple) else [updates]
    return [value] if {"name", "value"} <= value.keys() else None


def _update(item: object, turns: Sequence[str], kind: Kind | None) -> Update | None:
    if isinstance(item, BaseModel):
        item = item.model_dump()
    if not isinstance(item, Mapping):
        return None
    turn = _turn(item.get("turn"), turns)
    said_by = item.get("said_by")
    spoken = said_by if isinstance(said_by, str) and said_by.strip().lower() not in _NOBODY else None
    try:
        return Update(
            kind=kind or _word(item.get("kind")),
            name=_text(item.get("name")),
            field=_word(item.get("field")),
            value=_text(item.get("value")),
            turn=turn,
            said_by=spoken.strip() if spoken else None,
        )
    except ValidationError:
        return None


def _turn(number: object, turns: Sequence[str]) -> str:
    """Return the id of the turn with this number, in any spelling; "" if there is no such turn."""
    found = _NUMBER.fullmatch(str(number)) if isinstance(number, int | str) else None
    place = int(found.group(1)) if found and not isinstance(number, bool) else 0
    return turns[place - 1] if 0 < place <= len(turns) else ""


def _text(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""


def _word(value: object) -> str:
    return "_".join(value.lower().split()) if isinstance(value, str) else ""
