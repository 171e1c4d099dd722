"""A part of the log up to an event, as each of those who are to remember it perceived it."""

from dndbots.canon.claims import Shelf
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.gates import gates_of
from dndbots.memory.notes import Table
from dndbots.memory.retelling import retold
from dndbots.memory.scoped import location_shelf, npc_shelf
from dndbots.memory.visits import around_mentions, messages_at, npcs_at
from dndbots.storage.reader import View


class Span:
    """A part of the log up to an event, as each holder perceived it since its own cursor."""

    def __init__(self, table: Table, as_of: str | None) -> None:
        self.table = table
        # A shelf is looked at once: what is put there meanwhile must not pass for what was read here.
        self._stands: dict[tuple[str, str], Shelf | None] = {}
        with table.view(DM) as view:
            self.upto = view.place_of(as_of) if as_of is not None else None

    def stands(self, holder: str, shelf: str) -> Shelf | None:
        if (holder, shelf) not in self._stands:
            with self.table.view(holder) as view:
                self._stands[holder, shelf] = view.shelf(holder, shelf)
        return self._stands[holder, shelf]

    def _after(self, view: View, holder: str, shelf: str) -> int:
        stands = self.stands(holder, shelf)
        return (view.place_of(stands.cursor) or 0) if stands else 0

    def at(self, holder: str, shelf: str, location: str, *others: str) -> list[GameEvent]:
        """What somebody perceived at a place since all of some shelves were added to."""
        with self.table.view(holder) as view:
            after = max(self._after(view, holder, one) for one in (shelf, *others))
            return messages_at(view, location, after=after, upto=self.upto)

    def all(self, holder: str, shelf: str) -> list[GameEvent]:
        with self.table.view(holder) as view:
            after = self._after(view, holder, shelf)
            return [event for _, event in view.play(after=after, upto=self.upto)]

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
        with self.table.view(holder) as view:
            called = view.called([npc])[npc]
        return around_mentions(messages, npc, (called.name, *called.aliases))

    def npcs_at(self, holder: str, location: str) -> list[str]:
        """The NPCs who are at a place in the end, as far as somebody knows."""
        with self.table.view(holder) as view:
            return npcs_at(view.until(self.upto), location)

    def name(self, holder: str, uid: str) -> str:
        with self.table.view(holder) as view:
            return view.called([uid])[uid].name

    def retold(self, holder: str, messages: list[GameEvent]) -> list[Entry]:
        with self.table.view(holder) as view:
            return retold(view, messages, gates_of(view))
