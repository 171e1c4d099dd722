"""What a summarizer reads, and what it gives back: entries in, lines with their sources out.

Entries are made from one agent's own view. Nothing here, or after here, can see any other.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from dndbots.ids import DM
from dndbots.text.labels import ENGINE, write_label

_ATTRIBUTED: Final = re.compile(r"\[([^\[\]\n]{1,200})\]: (.*)", re.DOTALL)

SummaryKind = Literal["buffer", "location", "npc", "world"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing that an agent perceived.

    `who` spoke or acted, under the name that the agent knows; `narrated` says that it is the DM's
    telling. `outcomes` are sentences on what the rules decided there: a death, a find, a quest's state.
    """

    text: str
    who: str = ""
    event_id: str = ""
    session: str = ""
    narrated: bool = False
    outcomes: tuple[str, ...] = ()

    def __hash__(self) -> int:
        # Entries are looked up again and again; those of one event seldom differ.
        return hash((self.event_id, self.text))

    def __str__(self) -> str:
        return f"[{self.who}]: {self.text}" if self.who else self.text


def entry_of(item: object) -> Entry:
    """An entry from a line of a buffer, `[who]: text`, or from any other text."""
    if isinstance(item, Entry):
        return item
    if not isinstance(item, str):
        raise TypeError(f"an entry is a text or an Entry, not {type(item).__name__}")
    attributed = _ATTRIBUTED.fullmatch(item)
    if not attributed:
        return Entry(text=item)
    who, text = attributed.groups()
    # A buffer is a text already: the DM's own label is all that says whose the line is.
    is_engine = who.casefold() in ENGINE
    return Entry(text=text, who=who if is_engine else write_label(who), narrated=who.casefold() == DM)


class Line(NamedTuple):
    """A line of a summary, and the ids of the events that it was made from."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTask:
    """One summary to be made: for whom, of what, and how long it may be, by exact count.

    `about` is the uid or the kind of event that a scoped memory is about, `name` what it is called.
    `game_state` and `related` are what a summarizer of somebody else's may want to look at.
    """

    agent: str
    entries: tuple[Entry, ...]
    tokens: int
    kind: SummaryKind = "buffer"
    about: str = ""
    name: str = ""
    game_state: Any = None
    related: Mapping[str, Any] = field(default_factory=dict)


def as_text(lines: Iterable[Line]) -> str:
    return "\n".join(line.text for line in lines)
