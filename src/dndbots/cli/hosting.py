"""Who hosts a game on the terminal: it is told while it is played, and stops when somebody wants it to."""

import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import faults, show
from dndbots.cli.slash import Undo
from dndbots.errors import DuplicateEvent, NothingToUndo
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.cli.chairs import TerminalChair
    from dndbots.cli.thinking import Watch
    from dndbots.cli.watching import Front
    from dndbots.events import GameEvent
    from dndbots.game.playing import Game

_STOP: Final = frozenset(("q", "quit", "/quit"))
_UNDO: Final = "/undo"


class Host:
    """Sees to it that a game is told while it is played, and that it stops when somebody wants it to.

    `asks` is whether somebody is asked after a round if there is to be another. What the host says itself
    stands `aside` for programs that read the game. `watch` knows whether a model is asked.
    """

    def __init__(
        self,
        game: "Game",
        front: "Front",
        *,
        asks: bool,
        aside: bool = False,
        watch: "Watch | None" = None,
    ) -> None:
        self._game, self._front, self._asks, self._thinking = game, front, asks, watch
        self._aside = aside
        self._people: tuple[str, ...] = ()
        self._chair: TerminalChair | None = None
        # A round that was left in the middle has not ended yet.
        self._ended = self._last_ended()
        self._asking = self._left = self._interrupted = False

    def seat(self, people: Sequence[str], chair: "TerminalChair") -> None:
        """People sit down: on a chair, in some seats. Whoever has the DM's plays on, whoever dies."""
        self._people, self._chair = () if DM in people else tuple(people), chair

    def play(self, rounds: int | None, *, compact: bool) -> None:
        """Plays so many rounds, or as many as there are. What was recorded is told, whatever happens."""
        before = signal.signal(signal.SIGINT, self._heard)
        until = None if rounds is None else self._ended + rounds
        try:
            self._front.tell()
            while True:
                left = None if until is None else until - self._last_ended()
                self._game.play(left, watch=self._watch, compact=compact)
                if not self._takes_back():
                    break
            self._part()
        except DuplicateEvent as exc:
            # Ids belong to steps: the same step cannot have been played twice.
            raise faults.Refusal("somebody else plays this game right now; go on once they stopped") from exc
        finally:
            signal.signal(signal.SIGINT, before)
            self._front.tell()
            self._front.hold_nothing_back()
        if self._interrupted:
            raise KeyboardInterrupt

    def _last_ended(self) -> int:
        table = self._game.table
        return table.round if table.due() is None else max(table.round - 1, 0)

    def _takes_back(self) -> bool:
        """Whether a round was wanted back, so that there is more to play."""
        wish = self._chair.wish if self._chair is not None else None
        if not isinstance(wish, Undo) or self._chair is None:
            return False
        self._chair.wish, self._left = None, False
        try:
            taken = self._game.undo(wish.who, before=wish.before)
        except NothingToUndo as exc:
            self._say(f"{exc}.")
            return True
        self._front.begin_anew()
        self._ended = self._last_ended()
        self._say("", f"Round {taken.round} is taken back. What was played is kept in {taken.kept_as}.")
        return True

    def _say(self, *lines: str) -> None:
        for line in lines:
            if self._aside:
                show.note(line)
            else:
                show.say(show.inert(line))

    def _part(self) -> None:
        """Ends the session of those who leave, or whose story is over; not of those who are interrupted."""
        if self._chair is not None and self._chair.interrupted:
            self._interrupted = True
            return
        wish = self._chair.wish if self._chair is not None else None
        if (self._left or wish is not None or self._game.over) and not self._game.table.ended:
            self._game.end_session()

    def _heard(self, *_: object) -> None:
        """The first Ctrl-C lets the step under way be finished; the next one does not wait for it."""
        if self._interrupted or self._asking or (self._chair is not None and self._chair.asking):
            raise KeyboardInterrupt
        self._interrupted = True
        self._game.pause()
        if self._thinking is not None and self._thinking.waits:
            show.note("stops once the answer is there; Ctrl-C again does not wait for it")

    def _watch(self, _: "list[GameEvent]") -> None:
        self._front.tell()
        table = self._game.table
        if table.round > self._ended and table.due() is None:
            self._ended = table.round
            self._front.end_round(self._game.prompts)
            if not (self._game.over or self._interrupted or self._plays_on()):
                self._left = True
                self._game.pause()
        if self._interrupted or (self._chair is not None and self._chair.wish is not None):
            self._game.pause()  # it may have been asked for before the first step

    def _plays_on(self) -> bool:
        """Whether there is another round: people who were asked in this one are asked in the next, too."""
        if self._people and not {*self._people} & {*self._game.table.living()}:
            self._say("", "Your character is dead. The game goes on without it; another seat can be taken.")
            if self._asks:
                self._answer(f"Enter leaves, {_UNDO} takes back the last round in which you acted: ")
            return False
        was_asked = self._chair is not None and self._chair.was_asked
        if self._chair is not None:
            self._chair.was_asked = False
        return was_asked or not self._asks or self._goes_on()

    def _goes_on(self) -> bool:
        """Asks whether there is to be another round. The end of the input is an answer, too."""
        undo = f"{_UNDO} takes back the last one in which you acted, " if self._people else ""
        answer = self._answer(f"Enter goes on, {undo}q stops: ")
        return answer is not None and answer not in _STOP and answer != _UNDO

    def _answer(self, question: str) -> str | None:
        """What is typed; None at the end of the input. Whoever cannot act can take back what led to it."""
        self._asking = True
        typer.echo(question, nl=False)
        line = sys.stdin.readline()
        self._asking = False
        if not line:
            typer.echo()
            return None
        answer = line.strip().lower()
        if answer == _UNDO and self._people and self._chair is not None:
            self._chair.wish = Undo(self._people[0], self._game.round + 1)
        return answer
