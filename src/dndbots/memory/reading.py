"""The log read for several who remember it: what they share is read and retold once.

Each one's part of it is what has them in its audience, as they perceived it: as in every view.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from dndbots.events import GameEvent, as_perceived, audience
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates
from dndbots.memory.told import Told
from dndbots.memory.visits import LATELY
from dndbots.storage.people import Called
from dndbots.storage.reader import View

# Whoever looks back further than this is read for by the index: it may have been elsewhere most of the time.
_NEAR_BY: Final = 500


class _Heard(NamedTuple):
    """An event, and who perceived it."""

    event: GameEvent
    people: frozenset[str]


class Reading:
    """The log up to a place, read once for all who look back on it. It is the DM's, and knows everything."""

    def __init__(self, view: View, upto: int | None = None) -> None:
        self._view = view.until(upto)
        self._told = Told()
        self._heard: dict[int, _Heard] = {}
        self._from = self._view.head
        self._played: list[int] = []
        self._mentions: dict[str, tuple[int, list[int]]] = {}
        self._newest: dict[str, list[int]] = {}

    def play(self, holder: str, after: int, upto: int | None = None) -> list[GameEvent]:
        """What somebody perceived at the table between two places."""
        if after < self._from:
            if holder != DM and self._view.head - after > _NEAR_BY:
                return [event for _, event in self._view.of(holder).play(after=after, upto=upto)]
            earlier = list(self._view.play(after=after, upto=self._from))
            self._keep(dict(earlier))
            self._played = [seq for seq, _ in earlier] + self._played
            self._from = after
        end = len(self._played) if upto is None else bisect_right(self._played, upto)
        return self._perceived(holder, self._played[bisect_right(self._played, after) : end])

    def retold(self, view: View, events: Iterable[GameEvent], gates: Gates) -> list[Entry]:
        """What is worth telling of some events, for a viewer."""
        return self._told.retold(view, events, gates)

    def called(self, view: View, uids: Collection[str]) -> dict[str, Called]:
        """What a viewer calls some others, and whom else it was asked of before."""
        return self._told.called(view, uids)

    def mentions(self, holder: str, uid: str, after: int) -> list[GameEvent]:
        """What somebody perceived after a place that has to do with a uid."""
        begins, found = self._mentions.get(uid, (after + 1, []))
        if after < begins:
            found = self._view.of(holder).places_after(after, about=[uid])
            if holder == DM:
                self._mentions[uid] = after, found
        return self._perceived(holder, found[bisect_right(found, after) :])

    def newest(self, holder: str, uid: str) -> list[GameEvent]:
        """The newest events that have to do with a uid, of those that somebody perceived."""
        if uid not in self._newest:
            self._newest[uid] = sorted(self._view.places(limit=LATELY, about=[uid]))
        found = self._perceived(holder, self._newest[uid])
        if len(found) < LATELY <= len(self._newest[uid]):
            found = self._perceived(holder, self._view.of(holder).places(limit=LATELY, about=[uid]))
        return found

    def _perceived(self, holder: str, seqs: Collection[int]) -> list[GameEvent]:
        missing = [seq for seq in seqs if seq not in self._heard]
        if missing:
            self._keep(self._view.placed(missing))
        heard = (self._heard[seq] for seq in seqs)
        return [as_perceived(one.event, holder) for one in heard if holder in one.people]

    def _keep(self, events: dict[int, GameEvent]) -> None:
        self._heard |= {seq: _Heard(event, audience(event)) for seq, event in events.items()}
