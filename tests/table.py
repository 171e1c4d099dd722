"""Characters and events in few words."""

from typing import Any

from dndbots.events import EventType, GameEvent
from dndbots.models import Character, Stats


def character(name: str, char_class: str, /, **fields: Any) -> Character:
    sheet: dict[str, Any] = {
        "name": name,
        "char_class": char_class,
        "level": 1,
        "hp": 8,
        "hp_max": 24,
        "ac": 5,
        "stats": Stats(str=17, dex=12, con=15, int=8, wis=10, cha=9),
        "equipment": ["longsword"],
        "gold": 25,
    }
    return Character(**(sheet | fields))


def event(
    event_id: str,
    source: str,
    content: str,
    *,
    kind: EventType = EventType.PLAYER_ACTION,
    session: str = "s01",
    **metadata: Any,
) -> GameEvent:
    return GameEvent(
        event_id=event_id,
        event_type=kind,
        source=source,
        content=content,
        session_id=session,
        metadata=metadata,
    )
