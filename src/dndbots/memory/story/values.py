"""What a telling is made of: lines with their sources, and why each is there."""

from typing import Literal, NamedTuple

# The story up to a boundary, what came since in short, and the newest lines in full.
Where = Literal["names", "story", "lately", "recent"]


class Told(NamedTuple):
    """One line of a context. `reason` says, to a person, why it is there or why it was left out."""

    text: str
    sources: tuple[str, ...]
    part: Where
    reason: str


class Telling(NamedTuple):
    """The story, names beside it, the newest lines, in the order of play; and the best that did not fit."""

    kept: tuple[Told, ...]
    dropped: tuple[Told, ...]
