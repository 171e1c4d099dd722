"""What the fields of a module hold: keys, lines, texts, topics, dice. Each checks itself.

Modules come from strangers and their words go into prompts, so that nothing hidden is let in.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from dndbots.game.adventures import when
from dndbots.ids import check_name, is_hidden

LONGEST_TEXT: Final = 8_000
_SHORT: Final = 100
MOST_GOLD: Final = 10_000_000


def _key(key: str) -> str:
    if key in when.JOINING:
        raise ValueError(f"{key!r} joins conditions and cannot be a key")
    return key


def _plain(text: str) -> bool:
    """Nothing to look at closely; nearly all text is so, and modules have much of it."""
    return text.isascii() and text.isprintable()


def _line(text: str) -> str:
    return text if 0 < len(text) <= _SHORT and _plain(text) else check_name(text)


def _text(text: str) -> str:
    if not _plain(text) and any(is_hidden(char) and char != "\n" for char in text):
        raise ValueError("it holds control or invisible characters")
    return text


def _condition(text: str) -> str:
    when.parse(text)
    return text


def listed(value: Any) -> Any:
    """Where a list may stand, one alone may stand too."""
    return (value,) if isinstance(value, str | int | Mapping) else value


def keyed(value: Any, *, field: str = "key") -> Any:
    """Each entry is told what it is filed under, a blank one too. Other shapes are left for pydantic."""
    if not isinstance(value, Mapping):
        return value
    value = {key: {} if entry is None else entry for key, entry in value.items()}
    for key, entry in value.items():
        if isinstance(entry, Mapping) and entry.get(field, key) != key:
            raise ValueError(f"{key!r} says that its {field} is {entry[field]!r}; leave that out")
    return {
        key: {**entry, field: key} if isinstance(entry, Mapping) else entry for key, entry in value.items()
    }


def numbered(entries: Any, owner: object = None) -> Any:
    """Entries of a list that have no key of their own go by their number: `maren_1`, or `1`."""
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
Texts = Annotated[tuple[Text, ...], BeforeValidator(listed)]
Keys = Annotated[tuple[Key, ...], BeforeValidator(listed)]
Topic = Annotated[Line, StringConstraints(max_length=60), AfterValidator(when.topic)]
Topics = Annotated[tuple[Topic, ...], BeforeValidator(listed)]
When = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_condition)]
Dice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Gold = Annotated[int, Field(ge=0, le=MOST_GOLD)]
