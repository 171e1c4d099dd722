"""Which memories are no longer needed: those that newer ones supersede or repeat. The log keeps them all."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from dndbots.memory.visits import OBJECTIVE_COMPLETED, QUEST_COMPLETED
from dndbots.models import MemoryEntry

MOST_ENTRIES: Final = 50
# How much of a memory must stand in a newer one for it to say nothing by itself.
_REPEATED: Final = 0.9
_WORD: Final = re.compile(r"\w+")


def superfluous(
    entries: Sequence[MemoryEntry], *, kept: Collection[str], new: int | None = None
) -> list[str]:
    """The memories of one shelf to be taken off it, oldest first. What is pinned or locked is `kept`.

    `new` says how many came since the shelf was last looked through: only they make others superfluous.
    """
    number = len(entries)
    looked_through = 0 if new is None else number - new
    words = [_words(entry.summary) for entry in entries]
    gone: list[str] = []
    for n, entry in enumerate(entries):
        if entry.memory_id in kept:
            continue
        newer = range(max(n + 1, looked_through), number)
        if number - n > MOST_ENTRIES or any(
            _is_superseded(entry, entries[m]) or _is_repeated(words[n], words[m]) for m in newer
        ):
            gone.append(entry.memory_id)
    return gone


@lru_cache(maxsize=4096)
def _words(summary: str) -> frozenset[str]:
    return frozenset(_WORD.findall(summary.casefold()))


def _is_superseded(older: MemoryEntry, newer: MemoryEntry) -> bool:
    """A quest that is completed has no objectives any more; a place is cleared only once."""
    if older.quest_id is not None and older.quest_id == newer.quest_id:
        return f"world:{OBJECTIVE_COMPLETED}" in older.tags and f"world:{QUEST_COMPLETED}" in newer.tags
    same = older.location_id is not None and older.location_id == newer.location_id
    cleared = "world:location_cleared"
    return same and cleared in older.tags and cleared in newer.tags


def _is_repeated(older: frozenset[str], newer: frozenset[str]) -> bool:
    return bool(older) and len(older & newer) >= _REPEATED * len(older)
