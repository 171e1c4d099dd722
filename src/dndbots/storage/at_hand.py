"""Events that were read lately, made once for all who perceived them.

What is in the log stays as it is, so nothing here grows old. It is bounded by what it holds, and has only
what was committed: who writes reads past it.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from threading import Lock
from typing import Final

from dndbots.events import GameEvent, as_perceived
from dndbots.ids import DM
from dndbots.storage import codec
from dndbots.storage.ports import EventRow, Lineage, Store

# Characters, and what an event costs beside them.
_MOST: Final = 6_000_000
_ENTRY: Final = 2_000
_MOST_GROUPS: Final = 4_096
_MOST_VIEWERS: Final = 16
_Place = tuple[int, int]


class Read:
    """An event as the DM gets it, and as each of the others does: a place would tell how much one missed."""

    __slots__ = ("_shown", "audience", "event", "others")

    def __init__(self, row: EventRow) -> None:
        self.event, self.audience, self.others = codec.from_row(row), row.audience, row.others
        self._shown: dict[str, GameEvent] = {}

    def shown_to(self, viewer: str) -> GameEvent:
        """The event for one who perceived it."""
        if viewer == DM:
            return self.event
        shown = self._shown.get(viewer)
        if shown is None:
            if len(self._shown) >= _MOST_VIEWERS:
                self._shown = {}
            own = as_perceived(self.event, viewer)
            # Those who get it as it is share one.
            key = "" if own is self.event else viewer
            shown = self._shown.get(key) or own.placed(None)
            self._shown[key] = self._shown[viewer] = shown
        return shown

    @property
    def cost(self) -> int:
        return len(self.event.content) + len(self.event.metadata_text) + _ENTRY


class EventsAtHand:
    """The events of one campaign, by branch and place, and who is in which group."""

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._held = most, 0
        self._read: OrderedDict[_Place, Read] = OrderedDict()
        self._groups: dict[int, frozenset[str]] = {}
        self._lock = Lock()

    def at(self, store: Store, lineage: Lineage, seqs: Collection[int]) -> dict[int, Read]:
        """The events at some places, each from the segment that it belongs to."""
        places = _placed(lineage, seqs)
        with self._lock:
            found = {seq: read for seq, place in places.items() if (read := self._read.get(place))}
            for seq in found:
                self._read.move_to_end(places[seq])
        missing = [seq for seq in places if seq not in found]
        if missing:
            made = {seq: Read(row) for seq, row in store.events_at(lineage, missing).items()}
            self._keep({places[seq]: read for seq, read in made.items()})
            found |= made
        return found

    def members(self, store: Store, groups: Iterable[int]) -> dict[int, frozenset[str]]:
        wanted = set(groups)
        missing = wanted - self._groups.keys()
        if not missing:
            return {group: self._groups[group] for group in wanted}
        found = store.members(missing)
        found |= {group: people for group in wanted - missing if (people := self._groups.get(group))}
        if len(self._groups) > _MOST_GROUPS:
            self._groups = {}
        self._groups |= found
        return found

    def forget(self) -> None:
        """Drops everything: some of it may have been read while it was written, and was undone."""
        with self._lock:
            self._read.clear()
            self._groups, self._held = {}, 0

    def _keep(self, made: dict[_Place, Read]) -> None:
        with self._lock:
            for place, read in made.items():
                if place not in self._read and read.cost <= self._most:
                    self._read[place] = read
                    self._held += read.cost
            while self._held > self._most:
                _, dropped = self._read.popitem(last=False)
                self._held -= dropped.cost


def _placed(lineage: Lineage, seqs: Iterable[int]) -> dict[int, _Place]:
    """Which branch each place belongs to; none has what is after them all."""
    found: dict[int, _Place] = {}
    for seq in seqs:
        for branch, upto in lineage:
            if seq <= upto:
                found[seq] = branch, seq
                break
    return found
