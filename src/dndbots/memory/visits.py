"""What a visit to a place consists of, who was there, and what an event triggers: all from the log.

Works on what one viewer perceived: whatever somebody is to remember is filtered by whom it reached.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.reducers import seen_in
from dndbots.canon.states import is_completed
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.reader import View

OBJECTIVE_COMPLETED: Final = "objective_completed"
QUEST_COMPLETED: Final = "quest_completed"
ACT_PROGRESSED: Final = "act_progressed"
LOCATION_CLEARED: Final = "location_cleared"
ENCOUNTER_COMPLETED: Final = "encounter_completed"
# Who took part in any of so many newest events at a place may be there.
LATELY: Final = 256


class Trigger(NamedTuple):
    """A step of the story, and the ids that it is about."""

    kind: str
    related: dict[str, str]


def triggers_of(event: GameEvent) -> Iterator[Trigger]:
    """The steps of the story that an event makes."""
    known = event.known
    if known.quest_id is not None:
        quest = {"quest_id": known.quest_id}
        if known.objective_id is not None and is_completed(known.objective_state or "completed"):
            yield Trigger(OBJECTIVE_COMPLETED, {**quest, "objective_id": known.objective_id})
        if is_completed(known.quest_state):
            yield Trigger(QUEST_COMPLETED, quest)
    if known.act_id is not None:
        yield Trigger(ACT_PROGRESSED, {"act_id": known.act_id})
    place = {"location_id": known.location} if known.location is not None else {}
    if place and known.danger_level is not None and known.danger_level.casefold() == "cleared":
        yield Trigger(LOCATION_CLEARED, place)
    ended = event.event_type is EventType.COMBAT_END and known.encounter_state is None
    if known.encounter_id is not None and (ended or is_completed(known.encounter_state)):
        yield Trigger(ENCOUNTER_COMPLETED, {**place, "encounter_id": known.encounter_id})


def triggering(
    events: Iterable[GameEvent], kind: str, related: Mapping[str, object]
) -> tuple[GameEvent, Trigger] | None:
    """The newest of some events that made a step of the story, and that step as the event tells it."""
    for event in reversed(list(events)):
        for trigger in triggers_of(event):
            if trigger.kind == kind and all(
                related.get(key, value) == value for key, value in trigger.related.items()
            ):
                return event, trigger
    return None


def messages_at(located: Sequence[GameEvent], played: Iterable[GameEvent]) -> list[GameEvent]:
    """What happened at a place, and what those who were there said meanwhile, in order."""
    present: set[str] = set()
    for event in located:
        present.update(audience(event), seen_in(event, event.known))
    present -= {DM, SYSTEM}
    placed = {event.event_id for event in located}
    return [event for event in played if event.event_id in placed or _is_heard_there(event, present)]


def _is_heard_there(event: GameEvent, present: set[str]) -> bool:
    """Whether an event that says no place was by or for those who were there."""
    return place_of(event) is None and not present.isdisjoint(audience(event))


def whereabouts(view: View) -> list[str]:
    """Where the characters are."""
    found = view.entities(view.everybody("pc_"))
    return sorted({entity.location for entity in found.values() if entity.location is not None})


def npcs_at(view: View, location: str) -> list[str]:
    """The NPCs who are at a place, of those who took part in anything there lately."""
    return still_at(view, location, npcs_in(view.at(view.places(limit=LATELY, about=[location])), location))


def npcs_in(events: Iterable[GameEvent], location: str) -> list[str]:
    """The NPCs who took part in what happened at a place, or perceived it."""
    return sorted(set().union(*(npcs_of(event) for event in events if location == place_of(event))))


def place_of(event: GameEvent) -> JsonValue:
    """Where something happened, without reading all the rest: this is asked of many events at a time."""
    return event.metadata.get("location")


def npcs_of(event: GameEvent) -> set[str]:
    """The NPCs who took part in an event, or perceived it."""
    people = {*audience(event), *(seen_in(event, event.known) if event.metadata.get("enemies") else ())}
    return {who for who in people if who.startswith("npc_")}


def still_at(view: View, location: str, met: Sequence[str]) -> list[str]:
    """Those of some NPCs who are at a place.

    Each goes by the uid that it was met under there: not everybody knows who it really is.
    """
    if not met:
        return []
    npcs, persons = view.entities(met), view.persons_of(met)
    return [uid for uid in met if npcs[persons[uid][0]].location == location]


def named_in(names: Iterable[str]) -> "re.Pattern[str]":
    """Finds any of some names, as whole words."""
    parts = sorted({re.escape(name) for name in names if name.strip()}, key=lambda part: (-len(part), part))
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)" if parts else r"(?!)", re.IGNORECASE)


class Said(NamedTuple):
    """What messages say, for a first look: whom they name by uid or otherwise, and all their words."""

    named: frozenset[JsonValue]
    words: str

    @classmethod
    def of(cls, messages: Iterable[GameEvent]) -> "Said":
        named: set[JsonValue] = set()
        for event in messages:
            named.update((event.source, *_listed(event, "participants"), *_listed(event, "npcs_mentioned")))
        return cls(frozenset(named), _alike("\n".join(event.content for event in messages)))

    def may_mention(self, uid: str, names: Iterable[str]) -> bool:
        """Whether it is worth looking for somebody. A name may still be part of another word."""
        return not self.named.isdisjoint((uid, *names)) or any(_alike(name) in self.words for name in names)


def _alike(text: str) -> str:
    """Text in which whatever a pattern takes for the same letter in any case is the same."""
    return text.replace("\u0130", "i").replace("\u0131", "i").casefold()


def around_mentions(messages: list[GameEvent], uid: str, names: Iterable[str]) -> list[GameEvent]:
    """The messages that mention somebody, with one before and one after each."""
    said, pattern = {uid, *names}, named_in(names)
    hits = [
        n
        for n, event in enumerate(messages)
        if uid == event.source
        or uid in _listed(event, "participants")
        or not said.isdisjoint(_listed(event, "npcs_mentioned"))
        or pattern.search(event.content)
    ]
    wanted = {n for hit in hits for n in (hit - 1, hit, hit + 1)}
    return [event for n, event in enumerate(messages) if n in wanted]


def _listed(event: GameEvent, key: str) -> list[JsonValue]:
    """A list of the metadata, without reading all the rest: this is asked for many messages at a time."""
    listed = event.metadata.get(key)
    return listed if isinstance(listed, list) else []
