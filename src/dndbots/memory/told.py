"""Events retold for several who perceived them: what each calls the others is looked up once."""

from collections.abc import Collection, Iterable

from dndbots.events import GameEvent
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates
from dndbots.memory.retelling import named_in, retold
from dndbots.storage.people import Called
from dndbots.storage.reader import View


class Told:
    """Who is called what, in one look at a log. Nobody is told anything in names that they do not know."""

    def __init__(self) -> None:
        self._called: dict[tuple[str, int], dict[str, Called]] = {}

    def retold(self, view: View, events: Iterable[GameEvent], gates: Gates) -> list[Entry]:
        """What is worth telling of some events, as `retelling.retold` tells it."""
        shown = [event for event in events if not event.is_note and event.event_id not in gates.forgotten]
        called = self.called(view, set().union(*map(named_in, shown)))
        return retold(view, shown, gates, called={uid: one.name for uid, one in called.items()})

    def called(self, view: View, uids: Collection[str]) -> dict[str, Called]:
        """What the viewer calls some others, and whom else it was asked of before."""
        known = self._called.setdefault((view.viewer, view.head), {})
        missing = [uid for uid in uids if uid not in known]
        if missing:
            known |= view.called(sorted(missing))
        return known
