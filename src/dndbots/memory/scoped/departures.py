"""Departures: the events in the log at which memories are made.

A character leaves a location, or the story takes a step.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from dndbots.canon.reducers import seen_in
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.visits import triggers_of
from dndbots.storage.campaign_log import CampaignLog


class Departure(NamedTuple):
    """An event at which characters leave locations or the story takes a step, with the event before it."""

    event: GameEvent
    before: str | None
    left: dict[str, list[str]]


def find_departures(
    events: Iterable[GameEvent], at: dict[str, str], *, before: str | None
) -> Iterator[Departure]:
    """Yield the events that ask for memories, and keep everybody's location in `at`, latest last.

    A character leaves the location where it took itself to be: its memory must not tell it otherwise.
    """
    for event in events:
        here = event.known.location
        movers = [who for who in seen_in(event, event.known) if who.startswith("pc_")] if here else []
        left = group_by_location({who: at[who] for who in movers if at.get(who, here) != here})
        if left or any(True for _ in triggers_of(event)):
            yield Departure(event, before, left)
        for who in movers:
            at.pop(who, None)
        at.update({who: here for who in movers if here is not None})
        before = event.event_id


def group_by_location(at: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the characters by location."""
    characters: dict[str, list[str]] = {}
    for who in sorted(at):
        characters.setdefault(at[who], []).append(who)
    return characters


def find_own_locations(
    campaign: CampaignLog, upto: int | None, characters: Collection[str] | None = None
) -> dict[str, str]:
    """Return where some characters, or all, took themselves to be at a seq of the log."""
    locations: dict[str, str] = {}
    with campaign.view(DM) as view:
        known = view.everybody("pc_")
        for who in known if characters is None else [uid for uid in known if uid in characters]:
            [me] = view.of(who).until(upto).entities([who]).values()
            if me.location is not None:
                locations[who] = me.location
    return locations
