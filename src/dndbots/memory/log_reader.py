"""A reader of the log for several holders at once: shared events are read and retold only once.

Each holder still gets only the events that have it in their audience, as it perceived them.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from dndbots.events import GameEvent, as_perceived, audience, learners_of
from dndbots.ids import DM
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import Reteller
from dndbots.memory.visits import LATELY
from dndbots.storage.views.people import KnownAs
from dndbots.storage.views.view import View

# A holder who looks back further than this is read through the index: it may have perceived little of it.
_NEAR_BY: Final = 500


class _AudienceEvent(NamedTuple):
    """An event and its audience."""

    event: GameEvent
    people: frozenset[str]


class LogReader:
    """Reads the log up to a seq for any number of holders. Its own view is the DM's."""

    def __init__(self, view: View, upto: int | None = None) -> None:
        self._view = view.until(upto)
        self._told = Reteller()
        self._events: dict[int, _AudienceEvent] = {}
        self._from = self._view.head
        self._played: list[int] = []
        self._mentions: dict[str, tuple[int, list[int]]] = {}
        self._newest: dict[str, list[int]] = {}

    def play(self, holder: str, after: int, upto: int | None = None) -> list[GameEvent]:
        """Return the events of play that a holder perceived between two seqs."""
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
        """Return the entries that are worth telling of some events, for a viewer."""
        return self._told.retell(view, events, gates)

    def called(self, view: View, uids: Collection[str]) -> dict[str, KnownAs]:
        """Return the names that a viewer knows for some uids, and for all uids asked before."""
        return self._told.called(view, uids)

    def mentions(self, holder: str, uid: str, after: int) -> list[GameEvent]:
        """Return the events about a uid that a holder perceived after a seq."""
        begins, seqs = self._mentions.get(uid, (after + 1, []))
        if after < begins:
            seqs = self._view.of(holder).seqs_after(after, about=[uid])
            if holder == DM:
                self._mentions[uid] = after, seqs
        seqs = seqs[bisect_right(seqs, after) :]
        events = self._perceived(holder, seqs)
        if self._is_named_apart(holder, uid, seqs):
            return self._perceived(holder, self._view.of(holder).seqs_after(after, about=[uid]))
        return events

    def newest(self, holder: str, uid: str) -> list[GameEvent]:
        """Return the newest events about a uid that a holder perceived."""
        if uid not in self._newest:
            self._newest[uid] = sorted(self._view.newest_seqs(limit=LATELY, about=[uid]))
        events = self._perceived(holder, self._newest[uid])
        is_cut = len(events) < LATELY <= len(self._newest[uid])
        if is_cut or self._is_named_apart(holder, uid, self._newest[uid]):
            events = self._perceived(holder, self._view.of(holder).newest_seqs(limit=LATELY, about=[uid]))
        return events

    def _is_named_apart(self, holder: str, uid: str, seqs: Collection[int]) -> bool:
        """Return whether an event names a uid to some of its audience, and not to this holder.

        Such an event is about that uid only for those who learn the name.
        """
        learners = (learners_of(self._events[seq].event).get(uid) for seq in seqs)
        return any(people is not None and holder not in people for people in learners)

    def _perceived(self, holder: str, seqs: Collection[int]) -> list[GameEvent]:
        missing = [seq for seq in seqs if seq not in self._events]
        if missing:
            self._keep(self._view.events_by_seq(missing))
        known = (self._events[seq] for seq in seqs)
        return [as_perceived(event, holder) for event, people in known if holder in people]

    def _keep(self, events: dict[int, GameEvent]) -> None:
        self._events |= {seq: _AudienceEvent(event, audience(event)) for seq, event in events.items()}
