"""Which memories are no longer needed: those that newer ones supersede or repeat. The log keeps them all."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from dndbots.memory.visits import OBJECTIVE_COMPLETED, QUEST_COMPLETED
from dndbots.models import MemoryEntry

MOST_ENTRIES: Final = 50
# How much of a memory must stand in a newer one for it to say nothing by itself.
_REPEATED: Final = 0.9
_WORD: Final = re.compile(r"\w+")


def superfluous(entries: Sequence[MemoryEntry], *, kept: Collection[str]) -> list[str]:
    """The memories of one shelf to be taken off it, oldest first. What is pinned or locked is `kept`."""
    words = [set(_WORD.findall(entry.summary.casefold())) for entry in entries]
    gone: list[str] = []
    for n, entry in enumerate(entries):
        newer = range(n + 1, len(entries))
        told_again = any(_is_superseded(entry, entries[m]) or _is_repeated(words[n], words[m]) for m in newer)
        if entry.memory_id not in kept and (told_again or len(newer) >= MOST_ENTRIES):
            gone.append(entry.memory_id)
    return gone


def _is_superseded(older: MemoryEntry, newer: MemoryEntry) -> bool:
    """A quest that is completed has no objectives any more; a place is cleared only once."""
    if older.quest_id is not None and older.quest_id == newer.quest_id:
        return f"world:{OBJECTIVE_COMPLETED}" in older.tags and f"world:{QUEST_COMPLETED}" in newer.tags
    same = older.location_id is not None and older.location_id == newer.location_id
    cleared = "world:location_cleared"
    return same and cleared in older.tags and cleared in newer.tags


def _is_repeated(older: set[str], newer: set[str]) -> bool:
    return bool(older) and len(older & newer) >= _REPEATED * len(older)
