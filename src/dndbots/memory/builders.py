"""Scoped memories as sections of the DM's context: where the party is, who is there, and the world."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from dndbots.ids import DM
from dndbots.memory.notes import Table
from dndbots.memory.scoped import WORLD, location_shelf, memories_on, npc_shelf
from dndbots.memory.visits import npcs_at, whereabouts
from dndbots.models import MemoryEntry
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_label

MAX_ENTRIES: Final = 3


class _MemoryBuilder(ABC):
    """A section with its title, and at most so many entries of each thing that it is about."""

    title = ""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self.max_entries = max_entries

    def build(self, game_state: Table) -> str:
        """The section as text, empty if there is nothing to say. `game_state` is the campaign."""
        with game_state.view(DM) as view:
            bullets = list(self._bullets(view))
        return "\n".join([f"## {self.title}", *bullets]) if bullets else ""

    @abstractmethod
    def _bullets(self, view: View) -> Iterable[str]: ...

    def _entries(self, view: View, holder: str, shelf: str, prefix: str = "") -> Iterable[str]:
        for entry in memories_on(view, holder, shelf, newest=self.max_entries):
            yield f"- {when(entry)}: {prefix}{one_line(entry.summary)}"


class LocationMemoryBuilder(_MemoryBuilder):
    """What happened before where the party is."""

    title = "Recent Location Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        places = whereabouts(view)
        for place in places:
            prefix = f"{_name(view, place)}: " if len(places) > 1 else ""
            yield from self._entries(view, DM, location_shelf(place), prefix)


class NPCMemoryBuilder(_MemoryBuilder):
    """What those who are there remember of their dealings with the party."""

    title = "NPC Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        for place in whereabouts(view):
            for npc in npcs_at(view, place):
                yield from self._entries(view, npc, npc_shelf(npc), f"{_name(view, npc)}: ")


class WorldMemoryBuilder(_MemoryBuilder):
    """How far the story has come."""

    title = "World Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        yield from self._entries(view, DM, WORLD)


def when(entry: MemoryEntry) -> str:
    """The date of a memory in the game, or the session where none is known."""
    return entry.created_at.date().isoformat() if entry.created_at else one_line(entry.session_id)


def _name(view: View, uid: str) -> str:
    return write_label(view.called([uid])[uid].name)
