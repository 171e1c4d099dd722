"""Told lines: the events of a game as its viewer reads them, on any screen.

A line is narration, speech or a whisper, with its dice. Bookkeeping of the game makes no line.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from dndbots.events import EventType, GameEvent, audience
from dndbots.game.state.game_notes import MARCH, PlayNote, played_of
from dndbots.game.state.table import Table
from dndbots.ids import DM
from dndbots.text.labels import write_name

_SPOKEN: Final = frozenset((EventType.DIALOGUE, EventType.PLAYER_ACTION, EventType.WHISPER))


class Manner(StrEnum):
    """The form of a line: told by the DM, or in a speaker's own words."""

    NARRATION = "narration"
    SPEECH = "speech"
    WHISPER = "whisper"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLine:
    """An event as a line of the story.

    `place` is the scene it belongs to, `hearers` the uids that a whisper goes to, `rolls` its dice in words.
    `is_unseen` says that only the DM knows of it.
    """

    event: GameEvent
    manner: Manner
    place: str | None
    hearers: tuple[str, ...] = ()
    rolls: tuple[str, ...] = ()
    is_unseen: bool = False
    is_level_up: bool = False


def told_line(event: GameEvent, table: Table) -> ToldLine | None:
    """Return an event as a line for the viewer of a table that has heard it; None for bookkeeping."""
    note = played_of(event)
    if event.is_note or _is_bookkeeping(event, note, table.viewer):
        return None
    return ToldLine(
        event=event,
        manner=_manner(event, table),
        place=note.origin if note is not None and note.origin is not None else event.known.location,
        hearers=_hearers(event),
        rolls=tuple(_roll_texts(note.rolls)) if note is not None else (),
        is_unseen=_is_unseen(event),
        is_level_up=_is_level_up(event, note, table),
    )


def _is_bookkeeping(event: GameEvent, note: PlayNote | None, viewer: str) -> bool:
    """Tell whether an event shows nothing new: sheets, cursors, and a march as onlookers saw it.

    The DM and the marching characters themselves read of the march where it begins. An event without words
    and dice was told in another event.
    """
    if not event.content and not (note is not None and note.rolls):
        return True
    if event.event_type is EventType.SYSTEM:
        return _is_unseen(event) or (note is not None and note.joined is not None)
    if note is None or note.step != MARCH:
        return False
    if viewer != DM:
        return _is_seen_to_come(event, note) and viewer in event.known.participants
    return _is_seen_to_go(event) or _is_seen_to_come(event, note)


def _manner(event: GameEvent, table: Table) -> Manner:
    if event.event_type is EventType.WHISPER:
        return Manner.WHISPER
    if event.event_type not in _SPOKEN or _is_narrated(event, table):
        return Manner.NARRATION
    return Manner.SPEECH


def _is_narrated(event: GameEvent, table: Table) -> bool:
    """Tell whether an event is narration: speech that the DM tells has the speaker's name in it."""
    if event.source in table.seats:
        return False
    return event.source == DM or write_name(table.name(event.source)).casefold() in event.content.casefold()


def _hearers(event: GameEvent) -> tuple[str, ...]:
    if event.event_type is not EventType.WHISPER:
        return ()
    known = event.known
    return tuple(who for who in (*known.participants, *known.told_to) if who != event.source)


def _is_level_up(event: GameEvent, note: PlayNote | None, table: Table) -> bool:
    """Tell whether a character who was already at the table rose a level."""
    risen = {fact.subject for fact in event.known.facts if fact.key == "level"}
    return bool(risen & table.seats.keys()) and (note is None or note.joined is None)


def _is_seen_to_go(event: GameEvent) -> bool:
    gone = [fact.op == "@" and fact.ended for fact in event.known.facts]
    return bool(gone) and all(gone)


def _is_seen_to_come(event: GameEvent, note: PlayNote) -> bool:
    return event.event_type is EventType.LOCATION_CHANGE and note.origin is None


def _is_unseen(event: GameEvent) -> bool:
    return audience(event) == {DM}


def _roll_texts(rolls: Iterable[Any]) -> Iterator[str]:
    for roll in rolls:
        text = roll.get("text") if isinstance(roll, dict) else None
        if isinstance(text, str) and text.strip():
            yield text
