"""The new part of the log for each holder of a memory, as that holder perceived it."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from dndbots.canon.claims import Shelf
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.log_reader import LogReader
from dndbots.memory.scoped.shelves import location_shelf, npc_shelf
from dndbots.memory.visits import MentionIndex, around_mentions, location_of, messages_at, npcs_of, still_at
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.people import KnownAs
from dndbots.storage.views.view import View

_Made = TypeVar("_Made")


class Span:
    """The events up to a seq that each holder perceived after the cursor of its shelf, at one moment."""

    def __init__(self, campaign: CampaignLog, view: View, upto: int | None) -> None:
        self.campaign, self._view, self._upto = campaign, view, upto
        self._reader = LogReader(view, upto)
        # Each shelf is read once: a note that comes meanwhile must not pass for one read here.
        self._shelves: dict[tuple[str, str], Shelf | None] = {}
        self._places: dict[str, int] = {}
        self._gates: dict[str, Gates] = {}
        self._made: dict[object, Any] = {}

    def shelf(self, holder: str, shelf: str) -> Shelf | None:
        """Return the state of a holder's shelf."""
        if (holder, shelf) not in self._shelves:
            self._shelves[holder, shelf] = self._view.of(holder).shelf(holder, shelf)
        return self._shelves[holder, shelf]

    def _after(self, holder: str, shelf: str) -> int:
        state = self.shelf(holder, shelf)
        if state is None:
            return 0
        if state.cursor not in self._places:
            self._places[state.cursor] = self._view.seq_of(state.cursor) or 0
        return self._places[state.cursor]

    def at(self, holder: str, shelf: str, location: str, *others: str) -> list[GameEvent]:
        """Return what a holder perceived at a location since the newest cursor of some shelves."""
        after = max(self._after(holder, name) for name in (shelf, *others))
        mentions = self._reader.mentions(holder, location, after)
        located = [event for event in mentions if location_of(event) == location]
        if not located:
            return []
        played = self._reader.play(holder, (located[0].seq or 0) - 1)
        same = ("at", holder, location, _ids(located), _ids(played))
        return self._once(same, lambda: messages_at(located, played))

    def all(self, holder: str, shelf: str) -> list[GameEvent]:
        """Return all that a holder perceived since the cursor of a shelf."""
        return self._reader.play(holder, self._after(holder, shelf))

    def about(self, holder: str, npc: str, location: str) -> list[GameEvent]:
        """Return the messages around each mention of an NPC at a location that the holder perceived.

        For its own memory, an NPC gets mentions from everywhere: it may have come from elsewhere.
        """
        if holder == npc:
            messages = self.all(npc, npc_shelf(npc))
        else:
            # Earlier visits were read when they ended.
            messages = self.at(holder, npc_shelf(npc), location, location_shelf(location))
        if not messages:
            return []
        names = _all_names(self._names(holder, [npc])[npc])
        same = ("about", npc, names, _ids(messages))
        return self._once(same, lambda: around_mentions(messages, npc, names))

    def npcs_at(self, holder: str, location: str) -> list[str]:
        """Return the NPCs who are at a location in the end, as far as the holder knows.

        For a character, only NPCs count that something of its visit mentions.
        """
        lately = self._reader.newest(holder, location)
        met = sorted(
            set().union(*(self._npcs(holder, event) for event in lately if location_of(event) == location))
        )
        if holder != DM and met:
            messages = self.at(holder, location_shelf(location), location)
            mentions = self._once(("mentions", _ids(messages)), lambda: MentionIndex.of(messages))
            names = self._names(holder, met)
            met = [npc for npc in met if mentions.may_mention(npc, _all_names(names[npc]))]
        return still_at(self._view.until(self._upto).of(holder), location, met)

    def _npcs(self, holder: str, event: GameEvent) -> set[str]:
        return self._once(("npcs", holder, event.event_id), lambda: npcs_of(event))

    def name(self, holder: str, uid: str) -> str:
        """Return the name that a holder knows for a uid."""
        return self._names(holder, [uid])[uid].name

    def _names(self, holder: str, uids: Collection[str]) -> dict[str, KnownAs]:
        return self._reader.called(self._view.of(holder), uids)

    def _once(self, key: object, make: Callable[[], _Made]) -> _Made:
        if key not in self._made:
            self._made[key] = make()
        made: _Made = self._made[key]
        return made

    def retold(self, holder: str, messages: list[GameEvent]) -> list[Entry]:
        """Return the entries that are worth telling of some messages, for a holder."""
        view = self._view.of(holder)
        if holder not in self._gates:
            self._gates[holder] = gates_of(view)
        return self._reader.retold(view, messages, self._gates[holder])


def _ids(events: Iterable[GameEvent]) -> tuple[str, ...]:
    return tuple([event.event_id for event in events])


def _all_names(called: KnownAs) -> tuple[str, ...]:
    return called.name, *called.aliases
