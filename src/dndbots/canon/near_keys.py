"""Metadata keys that are almost one that the engine understands: `participant`, `told-to`, `Witnesses`.

Other unknown keys are kept. One of these is a slip, and nobody would remember what it says.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from dndbots.events import KnownMetadata

# Shorter words are often one letter away from each other: gate, date.
_LONG: Final = 8
# Near to a known key, but what chats and other programs say of a message.
_OTHER_WORDS: Final = frozenset(("name", "source", "speaker", "thread"))


@lru_cache(maxsize=4096)
def find_meant_key(key: str) -> str | None:
    """Find the known key that an unknown one is a slip of, by case, signs, number or one letter."""
    if key in KnownMetadata.model_fields or key in _OTHER_WORDS:
        return None
    letters, known = _letters(key), _known()
    for form in _forms(letters):
        if form in known:
            return known[form]
    near = (one for one in known if min(len(one), len(letters)) >= _LONG and _is_one_slip(one, letters))
    return next((known[one] for one in near), None)


@cache
def _known() -> dict[str, str]:
    return {_letters(name): name for name in KnownMetadata.model_fields}


def _letters(key: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", key).casefold() if char.isalnum())


def _forms(word: str) -> Iterator[str]:
    """The word, and what one or several of it are called."""
    yield from (word, f"{word}s", f"{word}es", word.removesuffix("s"), word.removesuffix("es"))
    if word.endswith("y"):
        yield f"{word[:-1]}ies"
    if word.endswith("ies"):
        yield f"{word[:-3]}y"


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one letter behind the first is missing, too many, another, or in the place of the next."""
    short, long = sorted((one, other), key=len)
    if short[0] != long[0] or len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = long[at : at + 2][::-1] == short[at : at + 2] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]
