"""The host of a game on the terminal: plays rounds, tells them, and stops when asked to."""

import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.play.slash_commands import Retry, Rewrite, Swipe, Undo
from dndbots.errors import DuplicateEvent, NothingToRetell, NothingToUndo
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.cli.play.spectators import Spectator
    from dndbots.cli.play.terminal_input import TerminalInput
    from dndbots.cli.play.thinking_line import Watch
    from dndbots.events import GameEvent
    from dndbots.game.game import Game
    from dndbots.game.live_words import LiveHear

_STOP: Final = frozenset(("q", "quit", "/quit"))
_UNDO: Final = "/undo"


class Host:
    """Plays a game, tells it to a spectator, and stops it when somebody wants to.

    With `asks`, the host asks after each round whether to go on. With `aside`, its own messages go to
    standard error, for programs that read the game. `watch` knows whether a model is being asked.
    """

    def __init__(
        self,
        game: "Game",
        spectator: "Spectator",
        *,
        asks: bool,
        aside: bool = False,
        watch: "Watch | None" = None,
    ) -> None:
        self._game, self._spectator, self._asks, self._thinking = game, spectator, asks, watch
        self._aside = aside
        self._people: tuple[str, ...] = ()
        self._input: TerminalInput | None = None
        # A round that was left in the middle has not ended yet.
        self._ended = self._last_ended()
        self._asking = self._left = self._interrupted = False
        self._stopped = False  # an answer of this step
        self._restarts = False  # the next events replace what was told before

    def seat(self, people: Sequence[str], terminal: "TerminalInput") -> None:
        """Give seats to the people at the terminal. A person who is the DM plays on whoever dies."""
        self._people, self._input = () if DM in people else tuple(people), terminal

    def play(self, rounds: int | None, *, compact: bool, compact_every: int) -> None:
        """Play a number of rounds, or to the end. Always tells what was recorded, even after an error."""
        before = signal.signal(signal.SIGINT, self._handle_interrupt)
        until = None if rounds is None else self._ended + rounds
        try:
            self._spectator.tell()
            while True:
                left = None if until is None else until - self._last_ended()
                self._game.play(
                    left,
                    watch=self._after_step,
                    hear=self._hear,
                    compact=compact,
                    compact_every=compact_every,
                )
                if not (self._take_back() or self._retell()):
                    break
            self._end_session()
        except DuplicateEvent as exc:
            # Ids belong to steps, so somebody else has played the same step.
            raise failures.Refusal("somebody else is playing this game; continue after they stop") from exc
        finally:
            signal.signal(signal.SIGINT, before)
            self._spectator.tell()
            self._spectator.flush()
        if self._interrupted:
            raise KeyboardInterrupt

    def _last_ended(self) -> int:
        table = self._game.table
        return table.round if table.due() is None else max(table.round - 1, 0)

    def _take_back(self) -> bool:
        """Take back a round if somebody asked for it; return whether the game goes on after that."""
        wish = self._input.wish if self._input is not None else None
        if not isinstance(wish, Undo) or self._input is None:
            return False
        self._input.wish, self._left = None, False
        try:
            undone = self._game.undo(wish.who, before=wish.before)
        except NothingToUndo as exc:
            self._say(f"{exc}.")
            return True
        self._spectator.restart()
        self._ended = self._last_ended()
        self._say("", f"Took back round {undone.round}; the branch {undone.kept_as} keeps it.")
        return True

    def _retell(self) -> bool:
        """Have the last turn told otherwise if somebody asked for it; return whether the game goes on."""
        wish = self._input.wish if self._input is not None else None
        if not isinstance(wish, Retry | Swipe | Rewrite) or self._input is None:
            return False
        self._input.wish, self._left = None, False
        game = self._game
        try:
            if isinstance(wish, Retry):
                self._restarts = True
                game.retry(
                    wish.wish, who=wish.teller, seen_by=wish.who, watch=self._after_step, hear=self._hear
                )
            else:
                telling = (
                    game.swipe(wish.by, seen_by=wish.who)
                    if isinstance(wish, Swipe)
                    else game.edit(wish.text, seen_by=wish.who)
                )
                self._spectator.restart(after=min(event.seq or 1 for event in telling.events) - 1)
                self._spectator.tell()
        except NothingToRetell as exc:
            self._say(f"{exc}.")
        finally:
            self._restarts = False
            self._ended = self._last_ended()
        return True

    @property
    def _hear(self) -> "LiveHear | None":
        return None if self._thinking is None else self._thinking.hear

    def _say(self, *lines: str) -> None:
        for line in lines:
            if self._aside:
                console.note(line)
            else:
                console.say(console.inert(line))

    def _end_session(self) -> None:
        """End the session if people leave or the story is over; keep it open after an interruption."""
        if self._input is not None and self._input.interrupted:
            self._interrupted = True
            return
        wish = self._input.wish if self._input is not None else None
        if (self._left or wish is not None or self._game.over) and not self._game.table.ended:
            self._game.end_session()

    def _handle_interrupt(self, *_: object) -> None:
        """Stop the answer that is coming on the first Ctrl-C; where somebody is asked, the game goes on.

        Without an answer, or if nobody is asked anything, the game ends after this step. A second Ctrl-C
        stops at once.
        """
        if self._interrupted or self._asking or (self._input is not None and self._input.asking):
            raise KeyboardInterrupt
        is_coming = self._game.stop_answer()
        if is_coming and (self._asks or self._input is not None) and not self._stopped:
            self._stopped = True
            console.note("stopped this answer; press Ctrl-C again to leave the game")
            return
        self._interrupted = True
        self._game.pause()
        if self._input is not None:
            self._input.interrupt()
        if is_coming:
            console.note("stopping this answer and the game; press Ctrl-C again to stop now")

    def _after_step(self, events: "list[GameEvent]") -> None:
        self._stopped = False
        if self._restarts and events:
            self._restarts = False
            self._spectator.restart(after=(events[0].seq or 1) - 1)
        self._spectator.tell()
        table = self._game.table
        if table.round > self._ended and table.due() is None:
            self._ended = table.round
            self._spectator.end_round(self._game.prompts)
            if not (self._game.over or self._interrupted or self._plays_on()):
                self._left = True
                self._game.pause()
        if self._interrupted or (self._input is not None and self._input.wish is not None):
            self._game.pause()  # the wish may be older than the first step

    def _plays_on(self) -> bool:
        """Tell whether to play another round. People asked in this round are asked in the next one too."""
        if self._people and not {*self._people} & {*self._game.table.living()}:
            self._say("", "Your character is dead. The game goes on without it; you can take another seat.")
            if self._asks:
                self._read_answer(f"Enter leaves, {_UNDO} takes back the last round in which you acted: ")
            return False
        was_asked = self._input is not None and self._input.was_asked
        if self._input is not None:
            self._input.was_asked = False
        return was_asked or not self._asks or self._wants_more()

    def _wants_more(self) -> bool:
        """Ask whether to play another round. The end of the input means no."""
        undo = f"{_UNDO} takes back the last one in which you acted, " if self._people else ""
        answer = self._read_answer(f"Enter continues, {undo}q stops: ")
        return answer is not None and answer not in _STOP and answer != _UNDO

    def _read_answer(self, question: str) -> str | None:
        """Return the typed answer, or None at the end of the input. A dead player can still type /undo."""
        self._asking = True
        typer.echo(question, nl=False)
        line = sys.stdin.readline()
        self._asking = False
        if not line:
            typer.echo()
            return None
        answer = line.strip().lower()
        if answer == _UNDO and self._people and self._input is not None:
            self._input.wish = Undo(self._people[0], self._game.round + 1)
        return answer
