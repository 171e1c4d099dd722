"""Previously on …: a session retold to one viewer, from what that viewer perceived. It asks no model."""

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent
from dndbots.memory.carrying import pinned_texts
from dndbots.memory.entries import Entry, SummaryTask
from dndbots.memory.extract import Extractive
from dndbots.memory.gates import Gates, gates_of
from dndbots.memory.retelling import retold
from dndbots.memory.threads import Thread, threads_of
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line

Length = Literal["short", "medium", "long"]
# How many tokens of the story, and how many threads.
LENGTHS: Final[dict[str, tuple[int, int]]] = {"short": (120, 2), "medium": (400, 4), "long": (1000, 8)}
_PAGE: Final = 500
_TOLD_OF: Final = ("quest", "promise", "threat", "debt", "mystery")


class RecapLine(BaseModel):
    """A line of a recap, and the events that it was made from."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: tuple[str, ...] = ()


class Recap(BaseModel):
    """A session retold: `text` is all of it, ready to be read aloud."""

    model_config = ConfigDict(frozen=True)

    viewer: str
    session: str | None
    length: Length
    lines: tuple[RecapLine, ...] = ()
    pinned: tuple[str, ...] = ()
    threads: tuple[Thread, ...] = ()
    text: str

    def __str__(self) -> str:
        return self.text


def recap_of(view: View, *, session: str | None, length: str) -> Recap:
    """What the viewer perceived of a session; by default of the last that there is something to tell of."""
    if length not in LENGTHS:
        raise InvalidSetting("length", length, reason=f"is none of {', '.join(LENGTHS)}")
    tokens, most = LENGTHS[length]
    gates = gates_of(view)
    told, entries = _told(view, session, gates)
    task = SummaryTask(agent=view.viewer, entries=tuple(entries), tokens=tokens)
    lines = Extractive(shortened=False).summarize(task)
    pinned = tuple(pinned_texts(view, gates, tokens).values())
    threads = tuple(thread for thread in threads_of(view) if thread.kind in _TOLD_OF)[:most]
    found = tuple(RecapLine(text=line.text, sources=line.sources) for line in lines)
    return Recap(
        viewer=view.viewer,
        session=told,
        length=length,
        lines=found,
        pinned=pinned,
        threads=threads,
        text=_text(told, found, pinned, threads),
    )


def _text(
    session: str | None, lines: tuple[RecapLine, ...], pinned: tuple[str, ...], threads: tuple[Thread, ...]
) -> str:
    if session is None:
        return "Previously on …: nothing yet."
    parts = [f"Previously on {one_line(session)}:", *(line.text for line in lines)]
    if pinned:
        parts += ["", "To keep in mind:", *(f"- {text}" for text in pinned)]
    if threads:
        parts += ["", "Open threads:", *(f"- {thread.kind}: {thread.text}" for thread in threads)]
    return "\n".join(parts)


def _told(view: View, session: str | None, gates: Gates) -> tuple[str | None, list[Entry]]:
    """The session that is told of, and all that the viewer has to tell of it."""
    known: dict[str, None] = {}
    found: list[GameEvent] = []
    for name, events in _sessions(view):
        if session is None:
            entries = retold(view, events, gates)
            # A session that has only begun is not what was played last, whatever its title.
            begun = {event.event_id for event in events if event.event_type is EventType.SESSION_START}
            if any(entry.event_id not in begun for entry in entries):
                return name, entries
        elif name == session:
            # It may have been gone on with later: all of it is told.
            found = events + found
        known[name] = None
    if session is None:
        return None, []
    if found:
        return session, retold(view, found, gates)
    listed = ", ".join(list(known)[:10]) or "none"
    raise InvalidSetting(
        "session", session, reason=f"is no session that {view.viewer} took part in; these are: {listed}"
    )


def _sessions(view: View) -> Iterator[tuple[str, list[GameEvent]]]:
    """The sessions that the viewer took part in, the newest first, each with its events in order.

    One that was gone on with after another comes in parts.
    """
    open_ones: list[GameEvent] = []
    limit, seen = _PAGE, 0
    while True:
        places = view.places(limit=limit)
        page = view.at(places[seen:])
        seen = len(places)
        open_ones = page + open_ones
        is_all = len(places) < limit
        while open_ones:
            name = open_ones[-1].session_id
            start = next(
                (n + 1 for n in range(len(open_ones) - 1, -1, -1) if open_ones[n].session_id != name), 0
            )
            if start == 0 and not is_all:
                break
            yield name, open_ones[start:]
            open_ones = open_ones[:start]
        if is_all:
            return
        limit *= 4
