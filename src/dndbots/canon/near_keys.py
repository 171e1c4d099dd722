"""Misspelled metadata keys: `participant`, `told-to`, `Witnesses`.

Unknown keys are kept, but a misspelled one is refused: the engine would silently ignore its value.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from dndbots.events import KnownMetadata
from dndbots.ids import fold_case

# Shorter words are often one letter away from each other: gate, date.
_LONG: Final = 8
# Close to a known key, but common in the messages of chats and other programs.
_OTHER_WORDS: Final = frozenset(("name", "source", "speaker", "thread"))


@lru_cache(maxsize=4096)
def find_meant_key(key: str) -> str | None:
    """Return the known key that a key misspells, by case, signs, plural or one letter; None if none."""
    if key in KnownMetadata.model_fields or key in _OTHER_WORDS:
        return None
    letters, known = _letters(key), _known()
    for form in _forms(letters):
        if form in known:
            return known[form]
    long = (word for word in known if min(len(word), len(letters)) >= _LONG)
    return next((known[word] for word in long if _is_one_slip(word, letters)), None)


@cache
def _known() -> dict[str, str]:
    return {_letters(name): name for name in KnownMetadata.model_fields}


def _letters(key: str) -> str:
    return "".join(char for char in fold_case(key) if char.isalnum())


def _forms(word: str) -> Iterator[str]:
    """Yield the word, and its possible singulars and plurals."""
    yield from (word, f"{word}s", f"{word}es", word.removesuffix("s"), word.removesuffix("es"))
    if word.endswith("y"):
        yield f"{word[:-1]}ies"
    if word.endswith("ies"):
        yield f"{word[:-3]}y"


def _is_one_slip(word: str, other: str) -> bool:
    """Return True if one letter after the first is missing, added, replaced or swapped with the next."""
    short, long = sorted((word, other), key=len)
    if short[0] != long[0] or len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = long[at : at + 2][::-1] == short[at : at + 2] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]
