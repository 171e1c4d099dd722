"""The sessions that a viewer took part in, with their titles, read from the newest back."""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import retell_events
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import label_of

_PAGE: Final = 500
_LONGEST_TITLE: Final = 100
_MOST_NAMED: Final = 10


class PlayedSession(NamedTuple):
    """A session as a viewer perceived it. `name` is None if there was none."""

    name: str | None
    title: str = ""
    entries: tuple[Entry, ...] = ()


def read_session(view: View, session: str | None, gates: Gates) -> PlayedSession:
    """Return a session with all entries that the viewer has of it; by default the last one with any."""
    known: dict[str, None] = {}
    wanted: list[GameEvent] = []
    for name, events in _sessions(view):
        if session is None:
            entries = retell_events(view, events, gates)
            # A session with nothing but its start is skipped: it is not what was played last.
            begun = {event.event_id for event in events if event.event_type is EventType.SESSION_START}
            if any(entry.event_id not in begun for entry in entries):
                return _played(view, name, events, entries, gates)
        elif name == session:
            # A session may come in several parts: collect them all.
            wanted = events + wanted
        known[name] = None
    if session is None:
        return PlayedSession(None)
    if wanted:
        return _played(view, session, wanted, retell_events(view, wanted, gates), gates)
    listed = ", ".join(list(known)[:_MOST_NAMED]) or "none"
    who = label_of(view.viewer, view.called([view.viewer])[view.viewer].name)
    raise InvalidSetting("session", session, reason=f"is no session of {who}, who took part in: {listed}")


def _played(
    view: View, name: str, events: list[GameEvent], entries: list[Entry], gates: Gates
) -> PlayedSession:
    """Return a session without the events that open and close it: they are no part of the story."""
    bounds = {
        event.event_id
        for event in events
        if event.event_type in (EventType.SESSION_START, EventType.SESSION_END)
    }
    # Later sessions often have a number only: then the story has the title that it began with.
    title = _title(events, gates) or _title(list(islice(view.events(), 1)), gates)
    return PlayedSession(name, title, tuple(entry for entry in entries if entry.event_id not in bounds))


def _title(events: list[GameEvent], gates: Gates) -> str:
    """Return the title that a session was opened with; "" for none, or for its mere number."""
    for event in gates.shown(events):
        text = one_line(event.content).rstrip(".")
        if event.event_type is EventType.SESSION_START and text and not _is_number(text):
            return text[:_LONGEST_TITLE]
    return ""


def _is_number(title: str) -> bool:
    word, _, number = title.partition(" ")
    return word.casefold() == "session" and number.isdigit()


def _sessions(view: View) -> Iterator[tuple[str, list[GameEvent]]]:
    """Yield the viewer's sessions, newest first, each with its events in order.

    A session that was continued after another one comes in several parts.
    """
    pending: list[GameEvent] = []
    limit, seen = _PAGE, 0
    while True:
        places = view.newest_seqs(limit=limit)
        page = view.at(places[seen:])
        seen = len(places)
        pending = page + pending
        is_all = len(places) < limit
        while pending:
            name = pending[-1].session_id
            start = next((n + 1 for n in range(len(pending) - 1, -1, -1) if pending[n].session_id != name), 0)
            if start == 0 and not is_all:
                break
            yield name, pending[start:]
            pending = pending[:start]
        if is_all:
            return
        limit *= 4
