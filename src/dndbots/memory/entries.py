"""The input and output of a summarizer: entries in, lines with their sources out.

Entries come from one agent's own view, so a summary cannot know more than its agent.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from dndbots.ids import DM
from dndbots.memory.deeds import StoryDeed
from dndbots.text.labels import ENGINE, write_label

_ATTRIBUTED: Final = re.compile(r"\[([^\[\]\n]{1,200})\]: (.*)", re.DOTALL)

SummaryKind = Literal["buffer", "location", "npc", "world"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Something that an agent perceived.

    `who` spoke or acted, under the name that the agent knows; `narrated` marks the DM's narration.
    `deeds` are what the event decided: a death, a quest taken on, gold paid. `outcomes` are the sentences of
    those deeds that the text itself does not tell. `aside` marks words that matter little: weather, the way
    somewhere. `whispered` marks words for a few only. `played` marks what the DM tells of somebody in
    the third person. `scenery` marks the first look of a place. `shown` are the ways, things
    and people that the text only lists. `acted` marks what a player does beside talking.
    """

    text: str
    who: str = ""
    event_id: str = ""
    session: str = ""
    narrated: bool = False
    outcomes: tuple[str, ...] = ()
    deeds: tuple[StoryDeed, ...] = ()
    aside: bool = False
    whispered: bool = False
    played: bool = False
    scenery: bool = False
    shown: tuple[str, ...] = ()
    acted: bool = False

    def __hash__(self) -> int:
        # A cheap hash: entries are looked up often, and two of the same event seldom differ.
        return hash((self.event_id, self.text))

    def __str__(self) -> str:
        return f"[{self.who}]: {self.text}" if self.who else self.text


def entry_of(item: object) -> Entry:
    """Return an entry from a buffer line `[who]: text`, or from any other text."""
    if isinstance(item, Entry):
        return item
    if not isinstance(item, str):
        raise TypeError(f"an entry must be text or an Entry, not {type(item).__name__}")
    attributed = _ATTRIBUTED.fullmatch(item)
    if not attributed:
        return Entry(text=item)
    who, text = attributed.groups()
    # In a plain buffer only the label says whose line it is.
    is_engine = who.casefold() in ENGINE
    return Entry(text=text, who=who if is_engine else write_label(who), narrated=who.casefold() == DM)


class Line(NamedTuple):
    """A line of a summary, with the ids of the events it was made from."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTask:
    """A summary to make: for which agent, of which entries, within how many tokens by exact count.

    `about` is the uid or the event kind that a scoped memory is about, `name` its name. `game_state`
    and `related` are passed on to summarizers that users bring.
    """

    agent: str
    entries: tuple[Entry, ...]
    tokens: int
    kind: SummaryKind = "buffer"
    about: str = ""
    name: str = ""
    game_state: Any = None
    related: Mapping[str, Any] = field(default_factory=dict)


def join_lines(lines: Iterable[Line]) -> str:
    """Return the text of a summary, a line each."""
    return "\n".join(line.text for line in lines)
