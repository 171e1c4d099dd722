"""YAML of foreign notes and documents: plain data, bounded, without aliases; odd notes are forgiven."""

import re
from datetime import date, datetime
from typing import Any, Final

import yaml

_FENCE: Final = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)(?:^|\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_LARGEST: Final = 1 << 20
_PAIR: Final = re.compile(r"^([\w][\w -]{0,60}):[ \t]*(.*)$")
_ITEM: Final = re.compile(r"^\s*-\s+(.*)$")


class _PlainLoader(yaml.SafeLoader):
    """Loads plain data. An alias could stand for a million copies, so it is refused."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it uses aliases")
        return super().compose_node(parent, index)


def parse_yaml(text: str) -> Any:
    """Return YAML as plain data; raise `ValueError` with a plain reason."""
    if len(text) > _LARGEST:
        raise ValueError("its YAML is too long")
    try:
        return _as_plain(yaml.load(text, _PlainLoader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ValueError(f"it is not YAML: {str(exc).splitlines()[0]}") from exc


def split_note(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a note, and its body. Odd front matter is read line by line."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    found = _FENCE.match(text)
    if found is None:
        return {}, text
    head = found[1].replace("\t", "  ")
    try:
        fields = parse_yaml(head)
    except ValueError:
        fields = _parse_pairs(head)
    return fields if isinstance(fields, dict) else {}, text[found.end() :]


def _parse_pairs(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    key = ""
    for line in text.split("\n"):
        pair, item = _PAIR.match(line), _ITEM.match(line)
        if pair is not None:
            key = pair[1].strip()
            fields[key] = pair[2].strip().strip("\"'") or None
        elif item is not None and key:
            kept = fields[key] if isinstance(fields[key], list) else []
            fields[key] = [*kept, item[1].strip().strip("\"'")]
    return fields


def _as_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _as_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_as_plain(inner) for inner in value]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
