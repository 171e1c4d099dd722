"""What happened, as far as one viewer perceived it: the events of the log, each in its place."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from dndbots.canon.marks import session_mark
from dndbots.canon.values import Moment
from dndbots.events import GameEvent, is_storable
from dndbots.ids import DM, SYSTEM
from dndbots.storage.apart import Apart
from dndbots.storage.at_hand import Read
from dndbots.storage.finding import Index
from dndbots.storage.people import People
from dndbots.text.labels import ENGINE, write_name

PAGE: Final = 1_000
# What was recorded since the last time is read by all who perceived it, one after the other.
_A_FEW: Final = 256


class Happenings(People):
    """The events that a viewer perceived, and no others."""

    def index(self) -> Index:
        """The words of all that this viewer perceived at the table."""
        return Index(self._store, self._lineage, self.viewer)

    def apart_from(self, other: str) -> Apart:
        """What this viewer perceived at the table and somebody else did not. It is for the DM to know."""
        return Apart(self._store, self._lineage, self.viewer, other)

    def seqs_of(self, ids: Collection[str]) -> dict[str, int]:
        """The places of those of some events that this viewer perceived."""
        places = self._store.places_of(self._lineage, [one for one in ids if is_storable(one)])
        rows = self._perceived(list(places.values()))
        return {name: seq for name, seq in places.items() if seq in rows}

    def perceived(self, seq: int) -> bool:
        """Whether this viewer perceived the event at a place."""
        return bool(self._perceived([seq]))

    def place_of(self, event_id: str) -> int | None:
        """The place of an event that this viewer perceived."""
        place = (
            self._store.places_of(self._lineage, [event_id]).get(event_id) if is_storable(event_id) else None
        )
        return place if place is not None and self.perceived(place) else None

    def by_id(self, ids: Collection[str]) -> dict[str, GameEvent]:
        """Those of some events that this viewer perceived."""
        places = self._store.places_of(self._lineage, ids)
        return {event.event_id: event for event in self.at(places.values())}

    def at(self, seqs: Iterable[int]) -> list[GameEvent]:
        """The events at some places that this viewer perceived, oldest first."""
        return list(self.placed(list(seqs)).values())

    def placed(self, seqs: Collection[int]) -> dict[int, GameEvent]:
        """The same, each with its place."""
        found = self._perceived(seqs)
        return {seq: found[seq].shown_to(self.viewer) for seq in sorted(found)}

    def _perceived(self, seqs: Collection[int]) -> dict[int, Read]:
        found = self._read(seqs)
        if self.viewer == DM:
            return found
        members = self._members({group for one in found.values() for group in (one.audience, one.others)})
        mine = {group for group, people in members.items() if self.viewer in people}
        return {seq: one for seq, one in found.items() if not mine.isdisjoint((one.audience, one.others))}

    def _read(self, seqs: Collection[int]) -> dict[int, Read]:
        if self._at_hand is None:
            return {seq: Read(row) for seq, row in self._store.events_at(self._lineage, seqs).items()}
        return self._at_hand.at(self._store, self._lineage, seqs)

    def _members(self, groups: Iterable[int | None]) -> dict[int, frozenset[str]]:
        wanted = [group for group in groups if group]
        if self._at_hand is None:
            return self._store.members(wanted)
        return self._at_hand.members(self._store, wanted)

    def places(self, *, limit: int, about: Collection[str] | None = None) -> list[int]:
        """Where the newest of what this viewer perceived is in the log, or what mentions somebody."""
        if about is None:
            return self._store.newest_perceived(self._lineage, self.viewer, limit=limit)
        return self._store.newest_mentions(self._lineage, about, self.viewer, limit=limit)

    def marked(self, mark: str, *, limit: int) -> list[GameEvent]:
        """The newest events with a mark that this viewer perceived, oldest first."""
        return self.at(self._store.newest_mentions(self._lineage, [mark], self.viewer, limit=limit))

    def sessions(self) -> dict[str, int]:
        """The sessions that this viewer perceived anything of and where each began for it, oldest first."""
        prefix = session_mark("")
        first = self._store.first_marked(self._lineage, prefix, self.viewer)
        return {mark.removeprefix(prefix): seq for mark, seq in sorted(first.items(), key=lambda one: one[1])}

    def oldest(self, limit: int, *, after: int) -> list[GameEvent]:
        """The first events after a place that this viewer perceived at the table, oldest first."""
        found: list[int] = []
        first, width = after + 1, 2 * limit
        while len(found) < limit and first <= self.head:
            last = min(first + width, self.head)
            found += sorted(self._store.lines_between(self._lineage, self.viewer, [(first, last)]))
            first, width = last + 1, 4 * width
        return self.at(found[:limit])

    def events(self, *, after: int = 0) -> Iterator[GameEvent]:
        """All events that this viewer perceived, oldest first, read as they are needed."""
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
                    yield Read(row).shown_to(self.viewer)

    def play(self, *, after: int = 0, upto: int | None = None) -> Iterator[tuple[int, GameEvent]]:
        """What this viewer perceived at the table between two places of the log, with the place of each."""
        if self.viewer == DM:
            # It perceived everything, so that the log is read as it is.
            for event in self.until(upto).events(after=after):
                if not event.is_note:
                    yield event.seq or 0, event
            return
        wanted = self.until(upto).places_after(after)
        for start in range(0, len(wanted), PAGE):
            found = self._read(wanted[start : start + PAGE])
            for seq in sorted(found):
                yield seq, found[seq].shown_to(self.viewer)

    def places_after(self, after: int, *, about: Collection[str] | None = None) -> list[int]:
        """Where in the log is what this viewer perceived after a place; oldest first.

        The index knows the newest, so it is asked for more until it has gone back far enough.
        """
        limit = 256
        while True:
            found = self.places(limit=limit, about=about)
            if len(found) < limit or found[-1] <= after:
                return sorted(seq for seq in found if seq > after)
            limit *= 4

    def newest(self, limit: int, *, about: str | None = None) -> list[GameEvent]:
        """The newest events that this viewer perceived, or those about somebody; oldest first."""
        seqs = self.places(limit=limit, about=None if about is None else self.find(about))
        found = self._read(seqs)
        return [found[seq].shown_to(self.viewer) for seq in sorted(found)]

    def moments(self, events: Iterable[GameEvent]) -> list[Moment]:
        """Events as lines of a timeline, in the names that this viewer knows."""
        shown = [(event, event.known) for event in events]
        uids = {
            uid for event, known in shown for uid in (event.source, known.location, *known.together) if uid
        }
        names = {uid: called.name for uid, called in self.called(sorted(uids - {DM, SYSTEM})).items()}
        names |= {DM: "DM", SYSTEM: "system"}
        return [
            Moment(
                event_id=event.event_id,
                kind=event.event_type.value,
                session=event.session_id,
                turn=event.turn,
                time=event.timestamp.isoformat() if event.timestamp else None,
                who=" and ".join(
                    names[uid] if uid in ENGINE else write_name(names[uid])
                    for uid in known.together or [event.source]
                ),
                where=names[known.location] if known.location else None,
                text=event.content,
            )
            for event, known in shown
        ]
