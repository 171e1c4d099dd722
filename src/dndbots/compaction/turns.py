"""The turns of a log as extractors read them: who said what, in names, and whom the words may mean."""

from collections.abc import Iterable, Sequence
from typing import Final

from dndbots.compaction.values import Known, Role, Turn
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import CATEGORIES, DM, SYSTEM, category_of, folded
from dndbots.memory.extract.names import names_said
from dndbots.memory.gates import Gates
from dndbots.storage.reader import View

# What somebody says or tells. What the engine reports is structured already.
SPOKEN: Final = frozenset(
    (EventType.DM_NARRATION, EventType.PLAYER_ACTION, EventType.DIALOGUE, EventType.WHISPER)
)


def is_spoken(event: GameEvent) -> bool:
    return event.event_type in SPOKEN and bool(event.content.strip())


def perceivers(event: GameEvent) -> frozenset[str]:
    """Who heard it, beside the DM, who hears everything."""
    return audience(event) - {DM, SYSTEM}


def turns_of(view: View, events: Sequence[GameEvent], gates: Gates) -> list[Turn]:
    """What was said. What people decided to forget or to put in other words is not read out of again."""
    decided = gates.forgotten | gates.corrected.keys()
    said = [event for event in events if is_spoken(event) and event.event_id not in decided]
    return [
        Turn(
            id=event.event_id,
            speaker=moment.who,
            role=role_of(event.source),
            text=event.content,
            session=event.session_id,
            place=moment.where,
        )
        for event, moment in zip(said, view.moments(said), strict=True)
    ]


def role_of(source: str) -> Role:
    if source in (DM, SYSTEM):
        return "dm"
    return "pc" if source.startswith("pc_") else "npc"


def known_in(view: View, turns: Iterable[Turn]) -> Known:
    """Those whom the turns may name, as the DM knows them. However many others there are costs nothing."""
    read = list(turns)
    said = {name for turn in read for name in (*names_said(turn.text), folded(turn.speaker))}
    bearers = {uid for found in view.given(said).values() for uid in found} - {DM}
    names: dict[str, str] = {}
    for uid, called in view.called(sorted(bearers)).items():
        for name in (called.name, *called.aliases):
            names[name] = str(category_of(uid))
    return Known({name: category for name, category in names.items() if category in CATEGORIES})
