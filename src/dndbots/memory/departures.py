"""Where characters go and what the story does, followed through the log: what memories are made at."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from dndbots.canon.reducers import seen_in
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.notes import Table
from dndbots.memory.visits import triggers_of


class Departure(NamedTuple):
    """An event with which characters leave places or the story takes a step, and the event before it."""

    event: GameEvent
    before: str | None
    left: dict[str, list[str]]


def departures(events: Iterable[GameEvent], at: dict[str, str], *, before: str | None) -> Iterator[Departure]:
    """What asks for memories in some events. Where everybody is then stands in `at`, the latest last.

    Where a character comes from is where it took itself to be: its memory must not tell it otherwise.
    """
    for event in events:
        here = event.known.location
        movers = [who for who in seen_in(event, event.known) if who.startswith("pc_")] if here else []
        left = by_place({who: at[who] for who in movers if at.get(who, here) != here})
        if left or any(True for _ in triggers_of(event)):
            yield Departure(event, before, left)
        for who in movers:
            at.pop(who, None)
        at.update({who: here for who in movers if here is not None})
        before = event.event_id


def by_place(at: Mapping[str, str]) -> dict[str, list[str]]:
    """Who is at each place."""
    found: dict[str, list[str]] = {}
    for who in sorted(at):
        found.setdefault(at[who], []).append(who)
    return found


def own_places(table: Table, place: int | None, characters: Collection[str] | None = None) -> dict[str, str]:
    """Where some characters, or all, took themselves to be when the log had come to a place."""
    found: dict[str, str] = {}
    with table.view(DM) as view:
        known = view.everybody("pc_")
        for who in known if characters is None else [one for one in known if one in characters]:
            [me] = view.of(who).until(place).entities([who]).values()
            if me.location is not None:
                found[who] = me.location
    return found
