"""A person who plays a character: the person types a line, and the line becomes an act.

The lines come from a `PlayerInput`, such as a terminal. It may only show what is in the turn it is given, so
a person sees only what the character perceived.
"""

import re
from typing import Final, Protocol

from dndbots.game.acts import Act
from dndbots.game.agents import SeatTurn
from dndbots.game.input.line_parser import parse_line
from dndbots.game.state.options import Surroundings

_UID: Final = re.compile(r"\b(?:pc|npc|mon|loc|fac|item|qst)(?:_[a-z0-9]+)+\b")


class PlayerInput(Protocol):
    """The source of a person's lines, such as a terminal."""

    def ask(self, turn: SeatTurn) -> str | None:
        """Return the next line; None once the person leaves. `turn.refused` is why the last one failed."""
        ...


class PersonPlayer:
    """A player who is asked until an act is possible. Implements `dndbots.game.agents.Player`."""

    attempts: Final = 1_000_000  # a person may try as often as they like

    def __init__(self, lines: PlayerInput) -> None:
        self._lines = lines

    def act(self, turn: SeatTurn) -> Act | None:
        line = self._lines.ask(turn)
        return None if line is None else parse_line(turn.table, turn.who, line)


def reason_of(turn: SeatTurn) -> str:
    """Return why the last act was refused, with names that the character knows instead of uids."""
    here = Surroundings(turn.table, turn.who)
    return _UID.sub(lambda match: here.called(match.group()), turn.refused)
