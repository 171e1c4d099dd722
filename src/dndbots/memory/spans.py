"""A part of the log up to an event, as each of those who are to remember it perceived it."""

from dndbots.canon.claims import Shelf
from dndbots.events import GameEvent
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.notes import Table
from dndbots.memory.reading import Reading
from dndbots.memory.scoped import location_shelf, npc_shelf
from dndbots.memory.visits import around_mentions, messages_at, npcs_at
from dndbots.storage.reader import Called, View


class Span:
    """What each holder perceived up to a place since its own cursor, as it stands at one moment."""

    def __init__(self, table: Table, view: View, upto: int | None) -> None:
        self.table, self._view, self._upto = table, view, upto
        self._reading = Reading(view, upto)
        # A shelf is looked at once: what is put there meanwhile must not pass for what was read here.
        self._stands: dict[tuple[str, str], Shelf | None] = {}
        self._places: dict[str, int] = {}
        self._gates: dict[str, Gates] = {}
        self._called: dict[tuple[str, str], Called] = {}

    def stands(self, holder: str, shelf: str) -> Shelf | None:
        if (holder, shelf) not in self._stands:
            self._stands[holder, shelf] = self._view.of(holder).shelf(holder, shelf)
        return self._stands[holder, shelf]

    def _after(self, holder: str, shelf: str) -> int:
        stands = self.stands(holder, shelf)
        if stands is None:
            return 0
        if stands.cursor not in self._places:
            self._places[stands.cursor] = self._view.place_of(stands.cursor) or 0
        return self._places[stands.cursor]

    def at(self, holder: str, shelf: str, location: str, *others: str) -> list[GameEvent]:
        """What somebody perceived at a place since all of some shelves were added to."""
        after = max(self._after(holder, one) for one in (shelf, *others))
        mentions = self._reading.mentions(holder, location, after)
        located = [event for event in mentions if event.known.location == location]
        if not located:
            return []
        return messages_at(located, self._reading.play(holder, (located[0].seq or 0) - 1))

    def all(self, holder: str, shelf: str) -> list[GameEvent]:
        return self._reading.play(holder, self._after(holder, shelf))

    def about(self, holder: str, npc: str, location: str) -> list[GameEvent]:
        """The messages around each mention of somebody at a place, as far as the holder perceived them.

        Of itself, an NPC has all that it perceived: it may have come here from elsewhere.
        """
        if holder == npc:
            messages = self.all(npc, npc_shelf(npc))
        else:
            # Earlier visits were looked through when they ended.
            messages = self.at(holder, npc_shelf(npc), location, location_shelf(location))
        if not messages:
            return []
        called = self._names(holder, npc)
        return around_mentions(messages, npc, (called.name, *called.aliases))

    def npcs_at(self, holder: str, location: str) -> list[str]:
        """The NPCs who are at a place in the end, as far as somebody knows."""
        lately = self._reading.newest(holder, location)
        return npcs_at(self._view.until(self._upto).of(holder), location, lately)

    def name(self, holder: str, uid: str) -> str:
        return self._names(holder, uid).name

    def _names(self, holder: str, uid: str) -> Called:
        if (holder, uid) not in self._called:
            self._called[holder, uid] = self._view.of(holder).called([uid])[uid]
        return self._called[holder, uid]

    def retold(self, holder: str, messages: list[GameEvent]) -> list[Entry]:
        view = self._view.of(holder)
        if holder not in self._gates:
            self._gates[holder] = gates_of(view)
        return self._reading.retold(view, messages, self._gates[holder])
