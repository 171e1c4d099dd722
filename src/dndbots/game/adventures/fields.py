"""Field types of a module: keys, lines, texts, topics, conditions and dice. Each validates itself.

Modules come from strangers and their words go into prompts, so hidden characters are refused.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from dndbots.game.adventures import conditions
from dndbots.ids import check_name, is_hidden

LONGEST_TEXT: Final = 8_000
_SHORT: Final = 100
MOST_GOLD: Final = 10_000_000


def _key(key: str) -> str:
    if key in conditions.JOINING:
        raise ValueError(f"{key!r} joins conditions and cannot be a key; choose another one")
    return key


def _plain(text: str) -> bool:
    """Return whether a text needs no closer check. Nearly all text passes, which keeps loading fast."""
    return text.isascii() and text.isprintable()


def _line(text: str) -> str:
    return text if 0 < len(text) <= _SHORT and _plain(text) else check_name(text)


def _text(text: str) -> str:
    if not _plain(text) and any(is_hidden(char) and char != "\n" for char in text):
        raise ValueError("contains control or invisible characters; remove them")
    return text


def _condition(text: str) -> str:
    conditions.parse_condition(text)
    return text


def wrap_single(value: Any) -> Any:
    """Wrap a single value in a tuple, where a list is expected."""
    return (value,) if isinstance(value, str | int | Mapping) else value


def add_keys(value: Any, *, field: str = "key") -> Any:
    """Write each entry's key into the entry, blank entries too. Pydantic reports other shapes."""
    if not isinstance(value, Mapping):
        return value
    value = {key: {} if entry is None else entry for key, entry in value.items()}
    for key, entry in value.items():
        if isinstance(entry, Mapping) and entry.get(field, key) != key:
            raise ValueError(f"{key!r} has another {field}, {entry[field]!r}, inside; leave that out")
    return {
        key: {**entry, field: key} if isinstance(entry, Mapping) else entry for key, entry in value.items()
    }


def number_entries(entries: Any, owner: object = None) -> Any:
    """Give entries of a list without a key their number as key: `maren_1`, or `1`."""
    if not isinstance(entries, list | tuple):
        return entries
    prefix = "" if owner is None else f"{owner}_"
    return tuple(
        {"key": f"{prefix}{number}", **entry} if isinstance(entry, Mapping) else entry
        for number, entry in enumerate(entries, start=1)
    )


Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*\z", max_length=60), AfterValidator(_key)]
Line = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_line)]
Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TEXT),
    AfterValidator(_text),
]
Texts = Annotated[tuple[Text, ...], BeforeValidator(wrap_single)]
Keys = Annotated[tuple[Key, ...], BeforeValidator(wrap_single)]
Topic = Annotated[Line, StringConstraints(max_length=60), AfterValidator(conditions.normalize_topic)]
Topics = Annotated[tuple[Topic, ...], BeforeValidator(wrap_single)]
When = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_condition)]
Dice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Price = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[1-9][0-9]{0,5} (cp|sp|gp)\z")]
Gold = Annotated[int, Field(ge=0, le=MOST_GOLD)]
