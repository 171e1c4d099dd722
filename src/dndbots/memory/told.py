"""Events retold for several who perceived them, each told once for all who know the same names."""

from collections.abc import Collection, Iterable, Sequence

from dndbots.events import GameEvent
from dndbots.ids import DM, SYSTEM
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates
from dndbots.memory.retelling import retold, spoken_of
from dndbots.storage.reader import Called, View

# An event, what its viewer calls those whom it speaks of, and the words that somebody decided on.
_Key = tuple[str, tuple[str, ...], str | None]


class Told:
    """What was retold in one look at a log. Nobody is told anything in names that they do not know."""

    def __init__(self) -> None:
        self._entries: dict[_Key, Entry | None] = {}
        self._uids: dict[str, tuple[str, ...]] = {}
        self._called: dict[tuple[str, int], dict[str, Called]] = {}

    def retold(self, view: View, events: Iterable[GameEvent], gates: Gates) -> list[Entry]:
        """What is worth telling of some events, as `retelling.retold` tells it."""
        shown = [event for event in events if not event.is_note and event.event_id not in gates.forgotten]
        keys = self._keys(view, shown, gates)
        missing = [event for event, key in zip(shown, keys, strict=True) if key not in self._entries]
        if missing:
            told = {entry.event_id: entry for entry in retold(view, missing, gates)}
            self._entries |= {
                key: told.get(event.event_id)
                for event, key in zip(shown, keys, strict=True)
                if key not in self._entries
            }
        return [entry for key in keys if (entry := self._entries[key]) is not None]

    def _keys(self, view: View, shown: Sequence[GameEvent], gates: Gates) -> list[_Key]:
        """What each entry depends on."""
        for event in shown:
            if event.event_id not in self._uids:
                self._uids[event.event_id] = _spoken_of(event)
        called = self.called(view, {uid for event in shown for uid in self._uids[event.event_id]})
        return [
            (
                event.event_id,
                tuple([called[uid].name for uid in self._uids[event.event_id]]),
                gates.corrected.get(event.event_id),
            )
            for event in shown
        ]

    def called(self, view: View, uids: Collection[str]) -> dict[str, Called]:
        """What the viewer calls some others, and whom else it was asked of before."""
        known = self._called.setdefault((view.viewer, view.head), {})
        missing = [uid for uid in uids if uid not in known]
        if missing:
            known |= view.called(sorted(missing))
        return known


def _spoken_of(event: GameEvent) -> tuple[str, ...]:
    known = event.known
    uids = {event.source, known.location or "", *known.together, *spoken_of(event, known)}
    return tuple(sorted(uids - {"", DM, SYSTEM}))
