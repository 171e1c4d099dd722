"""Where the DM retells what went before: the best summary there is, and free.

Found by style, since no two tables open with the same words: early in a session, long, in the past tense
and the third person, with many names.
"""

import re
from collections.abc import Iterable
from typing import Final

from dndbots.memory.entries import Entry

EARLY: Final = 150
_LONG: Final = 50
_READ: Final = 20_000
_LEAST_PAST: Final = 0.05
_MOST_PERSON: Final = 0.05
_LEAST: Final = 0.055

_PAST = re.compile(
    r"\b(?:\w{3,}ed|was|were|had|came|went|found|took|made|fell|left|gave|met|fought|began|led|saw|got|told|held"
    r"|kept|knew|stood|ran|broke|brought|lost|won|slew|fled|spoke|swore|became)\b"
)
_PERSON = re.compile(r"\b(?:I|you|me|my|your|(?:I|you)['\u2019]\w+)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][a-z]")


def retellings(entries: Iterable[Entry]) -> frozenset[int]:
    """The places of the entries that retell."""
    found = []
    session, since = "", 0
    for place, entry in enumerate(entries):
        since = since + 1 if entry.session == session else 0
        session = entry.session
        if since < EARLY and is_retelling(entry):
            found.append(place)
    return frozenset(found)


def is_retelling(entry: Entry) -> bool:
    """Whether an entry is told like a retelling; that it stands early is for the caller to know."""
    if not entry.narrated or entry.text.count(" ", 0, _READ) < _LONG:
        return False
    text = entry.text[:_READ]
    words = len(_WORD.findall(text)) or 1
    past, person, names = (len(found.findall(text)) / words for found in (_PAST, _PERSON, _NAME))
    return past >= _LEAST_PAST and person <= _MOST_PERSON and past + names - person >= _LEAST
