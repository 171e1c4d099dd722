"""Recaps ("Previously on …"): a session retold from what one viewer perceived, without a model."""

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from dndbots.errors import InvalidSetting
from dndbots.events import EventType, GameEvent
from dndbots.memory.agents.agent_memory import pinned_texts
from dndbots.memory.entries import Entry, SummaryTask
from dndbots.memory.human_gates import Gates, gates_of
from dndbots.memory.retold_events import retell_events
from dndbots.memory.selection import Extractive
from dndbots.memory.threads import Thread, find_threads
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line

Length = Literal["short", "medium", "long"]
# For each length: the tokens of the story, and the number of threads.
LENGTHS: Final[dict[str, tuple[int, int]]] = {"short": (120, 2), "medium": (400, 4), "long": (1000, 8)}
_PAGE: Final = 500
_THREAD_KINDS: Final = ("quest", "promise", "threat", "debt", "mystery")


class RecapLine(BaseModel):
    """A line of a recap, and the ids of its source events."""

    model_config = ConfigDict(frozen=True)

    text: str
    sources: tuple[str, ...] = ()


class Recap(BaseModel):
    """A session retold. `text` is the whole recap, ready to be read aloud."""

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


def write_recap(view: View, *, session: str | None, length: str) -> Recap:
    """Retell a session to the viewer; without `session`, the last one with anything to tell."""
    if length not in LENGTHS:
        raise InvalidSetting("length", length, reason=f"is no length; use one of {', '.join(LENGTHS)}")
    tokens, most = LENGTHS[length]
    gates = gates_of(view)
    chosen, entries = _entries(view, session, gates)
    task = SummaryTask(agent=view.viewer, entries=tuple(entries), tokens=tokens)
    lines = Extractive(shortened=False).summarize(task)
    pinned = tuple(pinned_texts(view, gates, tokens).values())
    threads = tuple(thread for thread in find_threads(view) if thread.kind in _THREAD_KINDS)[:most]
    recap_lines = tuple(RecapLine(text=line.text, sources=line.sources) for line in lines)
    return Recap(
        viewer=view.viewer,
        session=chosen,
        length=length,
        lines=recap_lines,
        pinned=pinned,
        threads=threads,
        text=_text(chosen, recap_lines, pinned, threads),
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


def _entries(view: View, session: str | None, gates: Gates) -> tuple[str | None, list[Entry]]:
    """Return the session to retell, and all entries that the viewer has of it."""
    known: dict[str, None] = {}
    wanted: list[GameEvent] = []
    for name, events in _sessions(view):
        if session is None:
            entries = retell_events(view, events, gates)
            # A session with nothing but its start is skipped: it is not what was played last.
            begun = {event.event_id for event in events if event.event_type is EventType.SESSION_START}
            if any(entry.event_id not in begun for entry in entries):
                return name, entries
        elif name == session:
            # A session may come in several parts: collect them all.
            wanted = events + wanted
        known[name] = None
    if session is None:
        return None, []
    if wanted:
        return session, retell_events(view, wanted, gates)
    listed = ", ".join(list(known)[:10]) or "none"
    raise InvalidSetting(
        "session", session, reason=f"is no session of {view.viewer}; {view.viewer} took part in: {listed}"
    )


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
