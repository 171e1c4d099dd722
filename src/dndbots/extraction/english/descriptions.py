"""Takes descriptions apart: "a tall dwarven smith from Leilon" is a role, a race, a look and a home."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.extraction.english.grammar import tidy
from dndbots.extraction.english.word_tables import (
    ADJECTIVES,
    DEVOTED,
    FEATURES,
    FOLK,
    LEADERS,
    LOOKS,
    RACES,
    ROLE_ENDINGS,
    ROLES,
    RULERS,
    TRADES,
    either,
)
from dndbots.text.words import fold_word

_MARKED_TAIL = re.compile(
    r"^ (?P<how>of|to|for|at|from|in|on) (?:the )?(?:(?:village|town|city|kingdom|lands?) of )?"
    r"(?:the )?@(?P<letter>[A-Z])(?P<number>\d+)@(?P<more>.*)$"
)
# The captain of the guard of Dunmarsh.
_DOUBLE_TAIL = re.compile(r"^ of (?:the )?[a-z][a-z'-]* (?:of|at|in) (?:the )?@[PUIL]\d+@(?!['\u2019])")
_PLAIN_TAIL = re.compile(r"^ (?:of|to|for) (?:the |an? |this |his |her )?[a-z][^@]*$")
_LOOKING = re.compile(
    r"^ (?:with|whose|wearing|dressed|in (?:[\w-]+ ){0,4}(?:robes?|armou?r|cloak|clothes|garb"
    r"|mail|leathers?|rags|silks?|hood|mask|coat|dress|gown|uniform|veil|shawl|hat|apron|scarf|furs?|cape))\b"
)
_OVER: Final = frozenset(["master", "mistress", "head", "keeper", "speaker", "voice", "hand"])
_OWNS: Final = frozenset(["owner", "keeper", "bearer", "maker"])
# "With a scar" is a look, "with opinions" is none.
_SEEN: Final = re.compile(rf"^ (?!with )|\b{either(FEATURES)}\b")
_GENERAL_WORDS: Final = frozenset(
    ["friend", "person", "individual", "creature", "figure", "being", "stranger"]
)


class DescriptionPart(NamedTuple):
    """A fact in a description: a field, and a value or the number of a name.

    With `of_number` the fact is about that name: a mayor is the ruler of the town.
    """

    field: str
    value: str = ""
    number: int | None = None
    of_number: bool = False


def read_description(np: str, tail: str) -> Iterator[DescriptionPart]:
    """Yield the facts in a noun phrase and its tail."""
    words = np.replace(",", "").split()
    low = [fold_word(word) for word in words]
    head = low[-1]
    if head in ADJECTIVES:
        return
    yield from _race(words, low)
    is_role = (
        head in ROLES
        or head in _OVER
        or " ".join(low[-2:]) in ROLES
        or (head not in RACES | FOLK and head.endswith(ROLE_ENDINGS))
    )
    named = _MARKED_TAIL.match(tail)
    if is_role:
        yield from _role(words, low, tail, named)
    if named:
        yield from _of_name(head, named)
    if (_LOOKING.match(tail) and _SEEN.search(tail) and "@" not in tail.split(" and ", maxsplit=1)[0]) or (
        head in FOLK and _looks(low)
    ):
        kept = tail if _LOOKING.match(tail) else ""
        if kept or (head not in _GENERAL_WORDS and sum(word in LOOKS for word in low) > 1):
            yield DescriptionPart("description", tidy(np.replace(", ", " ") + kept))


def is_look(tail: str) -> bool:
    """Return whether the words after a description tell how somebody looks: "with an enormous moustache"."""
    return bool(_LOOKING.match(tail) and _SEEN.search(tail))


def _race(words: list[str], low: list[str]) -> Iterator[DescriptionPart]:
    if " ".join(low[-2:]) in RACES:
        yield DescriptionPart("race", " ".join(words[-2:]))
        return
    races = [word for word, plain in zip(words, low, strict=True) if plain in RACES]
    if len(races) == 1:
        yield DescriptionPart("race", races[0])


def _looks(low: list[str]) -> bool:
    return any(word in LOOKS for word in low[:-1])


def _role(
    words: list[str], low: list[str], tail: str, named: re.Match[str] | None
) -> Iterator[DescriptionPart]:
    first = len(low) - 1
    while first and (low[first - 1] in TRADES or low[first - 1].endswith(("'s", "s'"))):
        first -= 1
    kept = words[first:]
    plain_tail = tail if _PLAIN_TAIL.match(tail) and not _LOOKING.match(tail) else ""
    if plain_tail.startswith(" of sorts"):
        return
    # A smith of Oakhurst is a smith who works there; a priest of Oakhurst is the priest of that place.
    held_for = "PUIL" if low[-1] in DEVOTED else "PUI"
    if named and named["how"] in ("of", "to") and named["letter"] in held_for:
        plain_tail = tail[: named.start("more")]
    elif not named and (double := _DOUBLE_TAIL.match(tail)):
        plain_tail = double.group()
    yield DescriptionPart("role", tidy(" ".join(kept) + plain_tail))


def _of_name(head: str, named: re.Match[str]) -> Iterator[DescriptionPart]:
    number, letter, how = int(named["number"]), named["letter"], named["how"]
    if letter == "L" or (letter == "U" and how == "from"):
        if how == "from":
            yield DescriptionPart("home", number=number)
        elif how == "of" and head in RULERS:
            yield DescriptionPart("ruler", number=number, of_number=True)
        elif how in ("in", "at", "on") or (how == "of" and head not in _OWNS):
            yield DescriptionPart("place", number=number)
    elif letter == "F" and how in ("of", "for", "in", "from"):
        yield DescriptionPart("faction", number=number)
        if how == "of" and head in LEADERS:
            yield DescriptionPart("leader", number=number, of_number=True)
