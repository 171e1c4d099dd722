"""The events that one viewer perceived, and the lines that it perceived and another viewer did not."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from dndbots._jsontext import is_storable
from dndbots.canon.certainty import whispered_to
from dndbots.canon.entities import Moment
from dndbots.canon.event_marks import session_mark
from dndbots.events import GameEvent
from dndbots.ids import DM, SYSTEM
from dndbots.storage.ports import Lineage, Store
from dndbots.storage.row_maker import parts_of
from dndbots.storage.views.event_cache import CachedEvent
from dndbots.storage.views.people import People
from dndbots.storage.views.word_index import WordIndex, join_spans
from dndbots.text.labels import ENGINE, write_name

PAGE: Final = 1_000
# So few new events go through the cache: all who perceived them read them one after the other.
_A_FEW: Final = 256
_WIDER: Final = 16
# Lines that are no further apart than this are looked up in one span.
_NEAR: Final = 64


class PerceivedEvents(People):
    """The events that a viewer perceived, and no others."""

    def index(self) -> WordIndex:
        """Return the index of the words that this viewer perceived at the table."""
        return WordIndex(self._store, self._lineage, self.viewer)

    def unshared_with(self, other: str) -> "UnsharedLines":
        """Return the lines that this viewer perceived and another did not. Only the DM may ask."""
        return UnsharedLines(self._store, self._lineage, self.viewer, other)

    def seqs_of(self, ids: Collection[str]) -> dict[str, int]:
        """Return the seqs of those of some events that this viewer perceived, by event id."""
        seqs = self._store.seqs_of(self._lineage, [event_id for event_id in ids if is_storable(event_id)])
        perceived = self._perceived(list(seqs.values()))
        return {event_id: seq for event_id, seq in seqs.items() if seq in perceived}

    def has_perceived(self, seq: int) -> bool:
        """Return whether this viewer perceived the event with this seq."""
        return bool(self._perceived([seq]))

    def seq_of(self, event_id: str) -> int | None:
        """Return the seq of an event that this viewer perceived; None for any other."""
        return self.seqs_of([event_id]).get(event_id)

    def by_id(self, ids: Collection[str]) -> dict[str, GameEvent]:
        """Return those of some events that this viewer perceived, by event id."""
        seqs = self._store.seqs_of(self._lineage, ids)
        return {event.event_id: event for event in self.at(seqs.values())}

    def at(self, seqs: Iterable[int]) -> list[GameEvent]:
        """Return the events with these seqs that this viewer perceived, oldest first."""
        return list(self.events_by_seq(list(seqs)).values())

    def events_by_seq(self, seqs: Collection[int]) -> dict[int, GameEvent]:
        """Return the events with these seqs that this viewer perceived, by seq, oldest first."""
        events = self._perceived(seqs)
        return {seq: events[seq].shown_to(self.viewer) for seq in sorted(events)}

    def _perceived(self, seqs: Collection[int]) -> dict[int, CachedEvent]:
        events = self._read(seqs)
        if self.viewer == DM:
            return events
        groups = {group for event in events.values() for group in (event.audience, event.others)}
        mine = {group for group, people in self._members(groups).items() if self.viewer in people}
        return {
            seq: event for seq, event in events.items() if not mine.isdisjoint((event.audience, event.others))
        }

    def _read(self, seqs: Collection[int]) -> dict[int, CachedEvent]:
        if self._at_hand is None:
            return {seq: CachedEvent(row) for seq, row in self._store.events_at(self._lineage, seqs).items()}
        return self._at_hand.at(self._store, self._lineage, seqs)

    def _members(self, groups: Iterable[int | None]) -> dict[int, frozenset[str]]:
        wanted = [group for group in groups if group]
        if self._at_hand is None:
            return self._store.members(wanted)
        return self._at_hand.members(self._store, wanted)

    def newest_seqs(self, *, limit: int, about: Collection[str] | None = None) -> list[int]:
        """Return the seqs of the newest events of this viewer, or of those that mention somebody."""
        if about is None:
            return self._store.newest_perceived(self._lineage, self.viewer, limit=limit)
        return self._store.newest_mentions(self._lineage, about, self.viewer, limit=limit)

    def marked(self, mark: str, *, limit: int) -> list[GameEvent]:
        """Return the newest events with a mark that this viewer perceived, oldest first."""
        return self.at(self._store.newest_mentions(self._lineage, [mark], self.viewer, limit=limit))

    def sessions(self) -> dict[str, int]:
        """Return the sessions of this viewer, each with the seq of its first event, oldest first."""
        prefix = session_mark("")
        first = self._store.first_marked(self._lineage, prefix, self.viewer)
        ordered = sorted(first.items(), key=lambda item: item[1])
        return {mark.removeprefix(prefix): seq for mark, seq in ordered}

    def oldest(self, limit: int, *, after: int) -> list[GameEvent]:
        """Return the first events of play after `after` that this viewer perceived, oldest first."""
        found: list[int] = []
        first, width = after + 1, 2 * limit
        while len(found) < limit and first <= self.head:
            last = min(first + width, self.head)
            found += sorted(self._store.lines_between(self._lineage, self.viewer, [(first, last)]))
            first, width = last + 1, 4 * width
        return self.at(found[:limit])

    def events(self, *, after: int = 0) -> Iterator[GameEvent]:
        """Yield all events after `after` that this viewer perceived, oldest first, a page at a time."""
        if self._at_hand is not None and self.head - after <= _A_FEW:
            yield from self.at(range(after + 1, self.head + 1))
            return
        perceives: dict[int, bool] = {}
        while rows := self._store.events(self._lineage, after=after, limit=PAGE):
            after = rows[-1].seq
            new = {group for row in rows for group in (row.audience, row.others) if group} - perceives.keys()
            members = self._members(new) if self.viewer != DM else {}
            perceives.update({group: self.viewer == DM or self.viewer in members[group] for group in new})
            for row in rows:
                if perceives[row.audience] or (row.others and perceives[row.others]):
                    yield CachedEvent(row).shown_to(self.viewer)

    def play(self, *, after: int = 0, upto: int | None = None) -> Iterator[tuple[int, GameEvent]]:
        """Yield the events of play that this viewer perceived between two seqs, each with its seq."""
        if self.viewer == DM:
            # The DM perceived everything, so the log is read as it is.
            for event in self.until(upto).events(after=after):
                if not event.is_note:
                    yield event.seq or 0, event
            return
        wanted = self.until(upto).seqs_after(after)
        for start in range(0, len(wanted), PAGE):
            events = self._read(wanted[start : start + PAGE])
            for seq in sorted(events):
                yield seq, events[seq].shown_to(self.viewer)

    def seqs_after(self, after: int, *, about: Collection[str] | None = None) -> list[int]:
        """Return the seqs of all events of this viewer after `after`, oldest first.

        The index gives the newest ones, so it is asked for more until they reach back far enough.
        """
        limit = 256
        while True:
            seqs = self.newest_seqs(limit=limit, about=about)
            if len(seqs) < limit or seqs[-1] <= after:
                return sorted(seq for seq in seqs if seq > after)
            limit *= 4

    def newest(self, limit: int, *, about: str | None = None) -> list[GameEvent]:
        """Return the newest events of this viewer, or those about somebody, oldest first."""
        seqs = self.newest_seqs(limit=limit, about=None if about is None else self.find(about))
        events = self._read(seqs)
        return [events[seq].shown_to(self.viewer) for seq in sorted(events)]

    def moments(self, events: Iterable[GameEvent]) -> list[Moment]:
        """Return events as lines of a timeline, in the names that this viewer knows."""
        shown = [(event, event.known) for event in events]
        uids = {
            uid
            for event, known in shown
            for uid in (event.source, known.location, *known.together, *whispered_to(event, known))
            if uid
        }
        names = {uid: called.name for uid, called in self.called(sorted(uids - {DM, SYSTEM})).items()}
        names |= {DM: "DM", SYSTEM: "system"}

        def named(uid: str) -> str:
            return names[uid] if uid in ENGINE else write_name(names[uid])

        return [
            Moment(
                event_id=event.event_id,
                kind=event.event_type.value,
                session=event.session_id,
                turn=event.turn,
                time=event.timestamp.isoformat() if event.timestamp else None,
                who=" and ".join(map(named, known.together or [event.source])),
                where=names[known.location] if known.location else None,
                text=event.content,
                to=tuple(map(named, whispered_to(event, known))),
            )
            for event, known in shown
        ]


class UnsharedLines:
    """The lines that one viewer perceived and another did not: how many, and the newest of them.

    Two characters stand in the same groups, and so do two others; groups have running totals, whatever the
    length of the log. A character and somebody else are compared line by line, over as many lines as the one
    who perceived less has.
    """

    def __init__(self, store: Store, lineage: Lineage, viewer: str, other: str) -> None:
        self._store, self._lineage, self._viewer, self._other = store, lineage, viewer, other
        self._grouped = len(parts_of(frozenset((viewer, other)))) == 1

    def lines(self) -> int:
        """Return how many lines there are."""
        mine, others = (self._store.heard(self._lineage, who).lines for who in (self._viewer, self._other))
        if self._other == DM:
            return 0
        if self._viewer == DM:
            return mine - others
        if self._grouped:
            return mine - self._store.heard(self._lineage, self._viewer, beside=self._other).lines
        fewer, more = (self._viewer, self._other) if mine < others else (self._other, self._viewer)
        seqs = self._store.newest_perceived(self._lineage, fewer, limit=min(mine, others))
        return mine - len(self._heard_by(more, seqs))

    def newest(self, limit: int) -> list[int]:
        """Return the seqs of the newest lines, newest first."""
        wanted = width = min(limit, self.lines())
        while wanted:
            seqs = self._store.newest_perceived(self._lineage, self._viewer, limit=width, without=self._other)
            heard = set() if self._grouped else self._heard_by(self._other, seqs)
            unshared = [seq for seq in seqs if seq not in heard]
            if len(unshared) >= wanted or len(seqs) < width:
                return unshared[:wanted]
            width *= _WIDER
        return []

    def _heard_by(self, who: str, seqs: Collection[int]) -> set[int]:
        spans = join_spans((max(seq - _NEAR, 0), seq) for seq in seqs)
        return self._store.lines_between(self._lineage, who, spans).keys() & set(seqs)
