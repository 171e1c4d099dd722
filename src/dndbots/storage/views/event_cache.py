"""A cache of recently read events, made once for all viewers who perceived them.

Events in the log never change, so the cache never gets stale. It is bounded by size, and holds committed
events only: a writer reads past it.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from threading import Lock
from typing import Final

from dndbots.events import GameEvent, as_perceived
from dndbots.ids import DM
from dndbots.storage import codec
from dndbots.storage.ports import EventRow, Lineage, Store

# The limit in characters, and the overhead of one event in characters.
_MOST: Final = 6_000_000
_ENTRY: Final = 2_000
_MOST_GROUPS: Final = 4_096
_MOST_VIEWERS: Final = 16
# A branch and a seq.
_Key = tuple[int, int]


class CachedEvent:
    """An event for the DM, and for other viewers, without its seq: that would tell how much they missed."""

    __slots__ = ("_shown", "audience", "event", "others")

    def __init__(self, row: EventRow) -> None:
        self.event, self.audience, self.others = codec.from_row(row), row.audience, row.others
        self._shown: dict[str, GameEvent] = {}

    def shown_to(self, viewer: str) -> GameEvent:
        """Return the event as a viewer who perceived it may read it."""
        if viewer == DM:
            return self.event
        shown = self._shown.get(viewer)
        if shown is None:
            if len(self._shown) >= _MOST_VIEWERS:
                self._shown = {}
            own = as_perceived(self.event, viewer)
            # All viewers who get the event unchanged share one copy.
            key = "" if own is self.event else viewer
            shown = self._shown.get(key) or own.placed(None)
            self._shown[key] = self._shown[viewer] = shown
        return shown

    @property
    def cost(self) -> int:
        return len(self.event.content) + len(self.event.metadata_text) + _ENTRY


class EventCache:
    """The recent events of one campaign by branch and seq, and the members of groups."""

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._held = most, 0
        self._read: OrderedDict[_Key, CachedEvent] = OrderedDict()
        self._groups: dict[int, frozenset[str]] = {}
        self._lock = Lock()

    def at(self, store: Store, lineage: Lineage, seqs: Collection[int]) -> dict[int, CachedEvent]:
        """Return the events with these seqs, each from the segment of the lineage that holds it."""
        keys = _keys(lineage, seqs)
        with self._lock:
            found = {seq: event for seq, key in keys.items() if (event := self._read.get(key))}
            for seq in found:
                self._read.move_to_end(keys[seq])
        missing = [seq for seq in keys if seq not in found]
        if missing:
            new = {seq: CachedEvent(row) for seq, row in store.events_at(lineage, missing).items()}
            self._keep({keys[seq]: event for seq, event in new.items()})
            found |= new
        return found

    def members(self, store: Store, groups: Iterable[int]) -> dict[int, frozenset[str]]:
        """Return the members of some groups."""
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
        """Drop everything: some of it may have been read inside a transaction that was rolled back."""
        with self._lock:
            self._read.clear()
            self._groups, self._held = {}, 0

    def _keep(self, new: dict[_Key, CachedEvent]) -> None:
        with self._lock:
            for key, event in new.items():
                if key not in self._read and event.cost <= self._most:
                    self._read[key] = event
                    self._held += event.cost
            while self._held > self._most:
                _, dropped = self._read.popitem(last=False)
                self._held -= dropped.cost


def _keys(lineage: Lineage, seqs: Iterable[int]) -> dict[int, _Key]:
    """Return the branch and seq of each event; a seq after the end of the lineage is left out."""
    found: dict[int, _Key] = {}
    for seq in seqs:
        for branch, upto in lineage:
            if seq <= upto:
                found[seq] = branch, seq
                break
    return found
