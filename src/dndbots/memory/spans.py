"""A part of the log up to an event, as each of those who are to remember it perceived it."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from dndbots.canon.claims import Shelf
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.notes import Table
from dndbots.memory.reading import Reading
from dndbots.memory.scoped import location_shelf, npc_shelf
from dndbots.memory.visits import Said, around_mentions, messages_at, npcs_of, place_of, still_at
from dndbots.storage.people import Called
from dndbots.storage.reader import View

_Made = TypeVar("_Made")


class Span:
    """What each holder perceived up to a place since its own cursor, as it stands at one moment."""

    def __init__(self, table: Table, view: View, upto: int | None) -> None:
        self.table, self._view, self._upto = table, view, upto
        self._reading = Reading(view, upto)
        # A shelf is looked at once: what is put there meanwhile must not pass for what was read here.
        self._stands: dict[tuple[str, str], Shelf | None] = {}
        self._places: dict[str, int] = {}
        self._gates: dict[str, Gates] = {}
        self._made: dict[object, Any] = {}

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
        located = [event for event in mentions if place_of(event) == location]
        if not located:
            return []
        played = self._reading.play(holder, (located[0].seq or 0) - 1)
        same = ("at", holder, location, _ids(located), _ids(played))
        return self._once(same, lambda: messages_at(located, played))

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
        names = _all(self._names(holder, [npc])[npc])
        same = ("about", npc, names, _ids(messages))
        return self._once(same, lambda: around_mentions(messages, npc, names))

    def npcs_at(self, holder: str, location: str) -> list[str]:
        """The NPCs who are at a place in the end, as far as somebody knows.

        For a character only those count whom something of its visit mentions.
        """
        lately = self._reading.newest(holder, location)
        met = sorted(
            set().union(*(self._npcs(holder, event) for event in lately if place_of(event) == location))
        )
        if holder != DM and met:
            messages = self.at(holder, location_shelf(location), location)
            said = self._once(("said", _ids(messages)), lambda: Said.of(messages))
            names = self._names(holder, met)
            met = [npc for npc in met if said.may_mention(npc, _all(names[npc]))]
        return still_at(self._view.until(self._upto).of(holder), location, met)

    def _npcs(self, holder: str, event: GameEvent) -> set[str]:
        return self._once(("npcs", holder, event.event_id), lambda: npcs_of(event))

    def name(self, holder: str, uid: str) -> str:
        return self._names(holder, [uid])[uid].name

    def _names(self, holder: str, uids: Collection[str]) -> dict[str, Called]:
        return self._reading.called(self._view.of(holder), uids)

    def _once(self, key: object, make: Callable[[], _Made]) -> _Made:
        if key not in self._made:
            self._made[key] = make()
        made: _Made = self._made[key]
        return made

    def retold(self, holder: str, messages: list[GameEvent]) -> list[Entry]:
        view = self._view.of(holder)
        if holder not in self._gates:
            self._gates[holder] = gates_of(view)
        return self._reading.retold(view, messages, self._gates[holder])


def _ids(events: Iterable[GameEvent]) -> tuple[str, ...]:
    return tuple([event.event_id for event in events])


def _all(called: Called) -> tuple[str, ...]:
    return called.name, *called.aliases
