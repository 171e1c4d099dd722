"""A chair for tests, in which nobody sits."""

from collections.abc import Iterable, Iterator

from dndbots.game.agents import SeatTurn
from dndbots.game.input.person_player import reason_of


class Script:
    """A chair whose lines are known beforehand. At their end, it is left."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.refused: list[str] = []

    def ask(self, turn: SeatTurn) -> str | None:
        if turn.refused:
            self.refused.append(reason_of(turn))
        return next(self._lines, None)
