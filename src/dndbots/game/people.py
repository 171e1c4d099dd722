"""People at the table: whoever types is asked for words, and what they mean is worked out here.

A person sits on a `Chair`, such as a terminal. What a chair shows comes from the turn that it is handed, and
so from what its character perceived.
"""

import re
from typing import Final, Protocol

from dndbots.game.acts import Act
from dndbots.game.agents import Turn
from dndbots.game.options import Place
from dndbots.game.spoken import spoken

_UID: Final = re.compile(r"\b(?:pc|npc|mon|loc|fac|item|qst)(?:_[a-z0-9]+)+\b")


class Chair(Protocol):
    """Where a person sits: a line at a time, for as long as it takes."""

    def ask(self, turn: Turn) -> str | None:
        """What the person says to do; None once they leave. `turn.refused` is why it is asked again."""
        ...


class Person:
    """A player who is asked until what it wants can be done. Implements `dndbots.game.agents.Player`."""

    attempts: Final = 1_000_000  # a person may try for as long as it likes

    def __init__(self, chair: Chair) -> None:
        self._chair = chair

    def act(self, turn: Turn) -> Act | None:
        line = self._chair.ask(turn)
        return None if line is None else spoken(turn.table, turn.who, line)


def reason_of(turn: Turn) -> str:
    """Why what was tried cannot be, in the names that the character knows."""
    place = Place(turn.table, turn.who)
    return _UID.sub(lambda found: place.called(found.group()), turn.refused)
