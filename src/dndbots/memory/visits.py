"""Visits to a location, the NPCs met there, and the story steps that an event triggers.

Everything works on the events that one viewer perceived, so no memory learns more than its holder.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.reducers import seen_in
from dndbots.canon.states import REFUSED, is_completed, is_over
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.views.view import View

OBJECTIVE_COMPLETED: Final = "objective_completed"
QUEST_COMPLETED: Final = "quest_completed"
# Any other end of a quest: failed, ransomed, truce.
QUEST_ENDED: Final = "quest_ended"
ACT_PROGRESSED: Final = "act_progressed"
LOCATION_CLEARED: Final = "location_cleared"
ENCOUNTER_COMPLETED: Final = "encounter_completed"
# An NPC who took part in one of this many newest events at a location may still be there.
LATELY: Final = 256


class Trigger(NamedTuple):
    """A step of the story, and the ids that it is about."""

    kind: str
    related: dict[str, str]


def triggers_of(event: GameEvent) -> Iterator[Trigger]:
    """Yield the story steps that an event completes."""
    known = event.known
    if known.quest_id is not None:
        quest = {"quest_id": known.quest_id}
        if known.objective_id is not None and is_completed(known.objective_state or "completed"):
            yield Trigger(OBJECTIVE_COMPLETED, {**quest, "objective_id": known.objective_id})
        if is_completed(known.quest_state):
            yield Trigger(QUEST_COMPLETED, quest)
        elif is_over(known.quest_state) and known.quest_state != REFUSED:
            yield Trigger(QUEST_ENDED, quest)
    if known.act_id is not None:
        yield Trigger(ACT_PROGRESSED, {"act_id": known.act_id})
    place = {"location_id": known.location} if known.location is not None else {}
    if place and known.danger_level is not None and known.danger_level.casefold() == "cleared":
        yield Trigger(LOCATION_CLEARED, place)
    ended = event.event_type is EventType.COMBAT_END and known.encounter_state is None
    if known.encounter_id is not None and (ended or is_completed(known.encounter_state)):
        yield Trigger(ENCOUNTER_COMPLETED, {**place, "encounter_id": known.encounter_id})


def find_trigger(
    events: Iterable[GameEvent], kind: str, related: Mapping[str, object]
) -> tuple[GameEvent, Trigger] | None:
    """Return the newest event that made the given story step, with the step as that event states it."""
    for event in reversed(list(events)):
        for trigger in triggers_of(event):
            if trigger.kind == kind and all(
                related.get(key, value) == value for key, value in trigger.related.items()
            ):
                return event, trigger
    return None


def messages_at(located: Sequence[GameEvent], played: Iterable[GameEvent]) -> list[GameEvent]:
    """Return the events at a location and what the people there said meanwhile, in order."""
    present: set[str] = set()
    for event in located:
        present.update(audience(event), seen_in(event, event.known))
    present -= {DM, SYSTEM}
    placed = {event.event_id for event in located}
    return [event for event in played if event.event_id in placed or _is_heard_there(event, present)]


def _is_heard_there(event: GameEvent, present: set[str]) -> bool:
    """Return True if an event without a location was by or for somebody present."""
    return location_of(event) is None and not present.isdisjoint(audience(event))


def find_party_locations(view: View) -> list[str]:
    """Return the locations of the player characters."""
    characters = view.entities(view.everybody("pc_"))
    return sorted({entity.location for entity in characters.values() if entity.location is not None})


def npcs_at(view: View, location: str) -> list[str]:
    """Return the NPCs at a location, of those who lately took part in something there."""
    return still_at(
        view, location, npcs_in(view.at(view.newest_seqs(limit=LATELY, about=[location])), location)
    )


def npcs_in(events: Iterable[GameEvent], location: str) -> list[str]:
    """Return the NPCs who took part in the events at a location, or perceived them."""
    return sorted(set().union(*(npcs_of(event) for event in events if location == location_of(event))))


def location_of(event: GameEvent) -> JsonValue:
    """Return the location of an event. Reads only that key: it is asked of many events at a time."""
    return event.metadata.get("location")


def npcs_of(event: GameEvent) -> set[str]:
    """Return the NPCs who took part in an event, or perceived it."""
    people = {*audience(event), *(seen_in(event, event.known) if event.metadata.get("enemies") else ())}
    return {who for who in people if who.startswith("npc_")}


def still_at(view: View, location: str, met: Sequence[str]) -> list[str]:
    """Return those of some NPCs who are still at a location.

    Each keeps the uid that it was met under: the viewer may not know who it really is.
    """
    if not met:
        return []
    npcs, persons = view.entities(met), view.persons_of(met)
    return [uid for uid in met if npcs[persons[uid][0]].location == location]


def name_pattern(names: Iterable[str]) -> "re.Pattern[str]":
    """Return a pattern that finds any of some names as whole words."""
    parts = sorted({re.escape(name) for name in names if name.strip()}, key=lambda part: (-len(part), part))
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)" if parts else r"(?!)", re.IGNORECASE)


class MentionIndex(NamedTuple):
    """A quick index of messages: the uids and names they list, and all their words."""

    named: frozenset[JsonValue]
    words: str

    @classmethod
    def of(cls, messages: Iterable[GameEvent]) -> "MentionIndex":
        """Build the index of some messages."""
        named: set[JsonValue] = set()
        for event in messages:
            named.update((event.source, *_listed(event, "participants"), *_listed(event, "npcs_mentioned")))
        return cls(frozenset(named), _fold_case("\n".join(event.content for event in messages)))

    def may_mention(self, uid: str, names: Iterable[str]) -> bool:
        """Return False if nothing mentions somebody. True is a maybe: a name may be part of a word."""
        return not self.named.isdisjoint((uid, *names)) or any(
            _fold_case(name) in self.words for name in names
        )


def _fold_case(text: str) -> str:
    """Return the text case folded the way a pattern with IGNORECASE compares it."""
    return text.replace("\u0130", "i").replace("\u0131", "i").casefold()


def around_mentions(messages: list[GameEvent], uid: str, names: Iterable[str]) -> list[GameEvent]:
    """Return the messages that mention somebody, with one before and one after each."""
    spellings, pattern = {uid, *names}, name_pattern(names)
    hits = [
        n
        for n, event in enumerate(messages)
        if uid == event.source
        or uid in _listed(event, "participants")
        or not spellings.isdisjoint(_listed(event, "npcs_mentioned"))
        or pattern.search(event.content)
    ]
    wanted = {n for hit in hits for n in (hit - 1, hit, hit + 1)}
    return [event for n, event in enumerate(messages) if n in wanted]


def _listed(event: GameEvent, key: str) -> list[JsonValue]:
    """Return a list of the metadata. Reads only that key: it is asked of many messages at a time."""
    listed = event.metadata.get(key)
    return listed if isinstance(listed, list) else []
