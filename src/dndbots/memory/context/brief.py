"""A briefing: what a game knows of a seat's prompt beside the log, such as the adventure's file for the DM.

A context tells it under its own headings, with a reason for each line. Nothing here is checked against a
viewer: the game gives the DM's briefing to the DM alone.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple


class BriefLine(NamedTuple):
    """A line of a briefing. Lines with a lower rank go in first."""

    text: str
    reason: str
    sources: tuple[str, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """The lines of a briefing.

    - `adventure`: the adventure in brief. `knowledge`: who has not heard what.
    - `has_sheets`: the prompt shows the character sheets, so a context need not.
    - `has_scene`: the question shows the reader where it is and who is there.
    - `lines`: how many of the newest lines should stand word for word, where they fit.
    """

    adventure: tuple[BriefLine, ...] = ()
    knowledge: tuple[BriefLine, ...] = ()
    has_sheets: bool = False
    has_scene: bool = False
    lines: int = 0


NO_BRIEFING: Final = Briefing()
