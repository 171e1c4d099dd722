"""Sections of the DM's context: memories of the party's location, of NPCs present, and of the world."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from dndbots.ids import DM
from dndbots.memory.scoped.shelves import WORLD, location_shelf, memories_on, npc_shelf
from dndbots.memory.visits import find_party_locations, npcs_at
from dndbots.models import MemoryEntry
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label

MAX_ENTRIES: Final = 3


class _MemoryBuilder(ABC):
    """A section with a title and at most `max_entries` entries for each of its subjects."""

    title = ""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self.max_entries = max_entries

    def build(self, game_state: CampaignLog) -> str:
        """Return the section as text, "" if there are no memories. `game_state` is the campaign."""
        with game_state.view(DM) as view:
            bullets = list(self._bullets(view))
        return "\n".join([f"## {self.title}", *bullets]) if bullets else ""

    @abstractmethod
    def _bullets(self, view: View) -> Iterable[str]: ...

    def _entries(self, view: View, holder: str, shelf: str, prefix: str = "") -> Iterable[str]:
        for entry in memories_on(view, holder, shelf, newest=self.max_entries):
            yield f"- {date_of(entry)}: {prefix}{one_line(entry.summary)}"


class LocationMemoryBuilder(_MemoryBuilder):
    """Memories of the locations where the party is."""

    title = "Recent Location Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        places = find_party_locations(view)
        for place in places:
            prefix = f"{_name(view, place)}: " if len(places) > 1 else ""
            yield from self._entries(view, DM, location_shelf(place), prefix)


class NPCMemoryBuilder(_MemoryBuilder):
    """Memories that the NPCs present have of their dealings with the party."""

    title = "NPC Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        for place in find_party_locations(view):
            for npc in npcs_at(view, place):
                yield from self._entries(view, npc, npc_shelf(npc), f"{_name(view, npc)}: ")


class WorldMemoryBuilder(_MemoryBuilder):
    """Memories of the steps of the story."""

    title = "World Memory"

    def _bullets(self, view: View) -> Iterable[str]:
        yield from self._entries(view, DM, WORLD)


def date_of(entry: MemoryEntry) -> str:
    """Return the in-game date of a memory, or its session if the date is unknown."""
    return entry.created_at.date().isoformat() if entry.created_at else write_label(entry.session_id)


def _name(view: View, uid: str) -> str:
    return write_label(view.called([uid])[uid].name)
