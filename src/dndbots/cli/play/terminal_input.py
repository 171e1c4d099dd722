"""Input of people at the terminal: shows them their turn and reads what they type."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import typer

from dndbots.cli import console
from dndbots.cli.play import slash_commands
from dndbots.cli.play.slash_commands import Outcome, Quit, SlashReply
from dndbots.cli.play.spectators import Gallery, SharedScreen
from dndbots.ids import DM
from dndbots.storage.files import make_file, make_folder, plain_errors

if TYPE_CHECKING:
    from pathlib import Path

    from prompt_toolkit import PromptSession

    from dndbots.cli.play.table_setup import OpenGame
    from dndbots.game.agents import SeatTurn
    from dndbots.game.game import Game
    from dndbots.game.state.step import Step
    from dndbots.game.state.table import Table
    from dndbots.game.world.narration import Screen

_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"


class LineReader(Protocol):
    """A reader of typed lines; returns None at the end of the input."""

    def read(self, prompt: str, *, seat: str, words: Iterable[str]) -> str | None: ...


class PlainReader:
    """A reader of plain lines. It shows lines from a pipe or a file, so that the answers make sense."""

    def read(self, prompt: str, *, seat: str, words: Iterable[str]) -> str | None:  # noqa: ARG002 - no keys
        is_typed = sys.stdin.isatty()  # then the terminal shows the line itself
        if is_typed:
            typer.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            return None
        line = line.rstrip("\r\n")
        if not is_typed:
            console.say(console.inert(f"{prompt}{line}"))
        return line


class KeyReader:
    """A reader of keys on a terminal: edit a line, complete it with Tab, recall older ones with the arrows.

    Each seat has its own history, kept in `folder`, because it contains whispers. Nothing is kept of what is
    typed while no seat has the screen.
    """

    def __init__(self, folder: "Path | None") -> None:
        self._folder = folder
        self._sessions: dict[str, PromptSession[str]] = {}

    def read(self, prompt: str, *, seat: str, words: Iterable[str]) -> str | None:
        from prompt_toolkit.completion import WordCompleter

        completer = WordCompleter([*words], ignore_case=True, sentence=True, match_middle=False)
        try:
            return self._session(seat).prompt(prompt, completer=completer, complete_while_typing=False)
        except EOFError:
            return None

    def _session(self, seat: str) -> "PromptSession[str]":
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import DummyHistory, FileHistory, History, InMemoryHistory

        if seat not in self._sessions:
            history: History = InMemoryHistory() if seat else DummyHistory()
            if self._folder is not None and seat:
                typed = self._folder / f"{seat}.txt"
                with plain_errors(self._folder):
                    make_folder(self._folder)
                    make_file(typed)
                history = FileHistory(str(typed))
            self._sessions[seat] = PromptSession(history=history)
        return self._sessions[seat]


def choose_reader(folder: "Path | None") -> LineReader:
    """Return a reader of keys on a terminal, else of plain lines."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return KeyReader(None if folder is None else folder / "typed")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # invalid text must not end the game
    return PlainReader()


class TerminalInput:
    """The input of all people at a terminal. Implements `PlayerInput` and `DMInput` of `dndbots.game`.

    `wish` is what somebody wants of the game: to leave, or to take back a round. `interrupted` says that they
    left by Ctrl-C. With `aside`, people read from standard error, for programs that read the game.
    """

    def __init__(
        self,
        game: "Game",
        reader: LineReader,
        spectator: "Gallery | SharedScreen",
        *,
        where: str,
        quiet: bool = False,
        aside: bool = False,
    ) -> None:
        self._game, self._reader, self._where = game, reader, where
        self._screen = spectator if isinstance(spectator, SharedScreen) else None
        self._gallery = spectator if isinstance(spectator, Gallery) else None
        self._quiet, self._aside = quiet, aside
        self.wish: Outcome = None
        self.asking = self.was_asked = self.interrupted = False
        self._told_in: Step | None = None
        self._last: str | None = None

    def ask(self, turn: "SeatTurn") -> str | None:
        """Show a turn and return what its player types; None if the player leaves."""
        self.was_asked, self.asking = True, True
        try:
            with self._beside():
                if not self._is_here(turn.who, turn.table.name(turn.who)):
                    self.wish = Quit()
                    return None
                self._show(turn)
                prompt = f"{console.inert(turn.table.name(turn.who))}> "
                return self._line(turn, prompt, empty="" if turn.waiting else None)
        finally:
            self.asking = False

    def _beside(self) -> AbstractContextManager[object]:
        return redirect_stdout(sys.stderr) if self._aside else nullcontext()

    def _line(
        self, turn: "SeatTurn", prompt: str, *, ends: bool = False, empty: str | None = None
    ) -> str | None:
        """Return a line for the game; None if somebody has a wish first, or at an empty line if it `ends`.

        An empty line is returned as `empty`; without it, the line is read again.
        """
        while True:
            line = self._reader.read(prompt, seat=turn.who, words=_completions(turn))
            if line is None:
                self.wish = Quit()
                return None
            if not line.strip() and ends:
                return None
            if not line.strip() and empty is not None:
                return empty
            if not line.strip():
                continue
            command = slash_commands.command_in(line, turn.who)
            if command is None:
                return line
            outcome = slash_commands.run(self._game, turn, command, where=self._where)
            if isinstance(outcome, SlashReply):
                return outcome.words
            if outcome is not None:
                self.wish = outcome
                return None

    def narrate(self, screen: "Screen", place: str, *, refused: str, told: str) -> str | None:
        """Return a line of the DM for a scene. Shows the events of the scene before they are recorded."""
        from dndbots.game.agents import SeatTurn

        if self.interrupted and self._told_in is not screen.step:
            raise KeyboardInterrupt  # nothing is told yet, so the round is left to the DM
        if self.wish is not None:
            return None
        self.was_asked, self.asking = True, True
        try:
            if self._gallery is not None:
                self._gallery.tell_ahead(screen.step.events)
            with self._beside():
                if refused:
                    console.say_indented(f"Not possible: {refused}.")
                if told:
                    for part in told.splitlines():
                        console.say_indented(part)
                prompt = f"DM, {console.inert(screen.table.name(place))}> "
                turn = SeatTurn(
                    who=DM, table=screen.table, prompt=screen.prompt, rng=screen.rng, seed=screen.seed
                )
                line = self._line(turn, prompt, ends=True)
        except KeyboardInterrupt:
            if self._told_in is not screen.step:
                raise
            # The DM has already told a line, so record it before the game ends.
            self.interrupt()
            line = None
        finally:
            self.asking = False
        self._told_in = self._told_in if line is None else screen.step
        return line

    def interrupt(self) -> None:
        """Ask for no more lines: somebody pressed Ctrl-C."""
        self.interrupted, self.wish = True, Quit()

    def _is_here(self, who: str, name: str) -> bool:
        """Hand the screen to a seat, so that nobody reads another seat's text; return False if they leave."""
        screen = self._screen
        if screen is None:
            return True
        if screen.front not in (None, who) or (screen.front is None and self._last != who):
            if isinstance(self._reader, KeyReader):
                if screen.front is not None and not self._has_read(screen, screen.front):
                    return False
                typer.echo(_CLEAR, nl=False)
                question = f"{console.inert(name)} has the turn. Press Enter when nobody else is looking: "
                if self._reader.read(question, seat="", words=()) is None:
                    return False
            else:
                console.say(console.inert(f"--- {name} ---"))
        self._last = who
        screen.turn_to(who)
        return True

    def _has_read(self, screen: SharedScreen, who: str) -> bool:
        """Wait until the seat has read the screen: its text is not shown again."""
        name = console.inert(screen.view_of(who).table.name(who))
        console.say("")
        question = f"{name}, press Enter when you have read this; it clears the screen: "
        return self._reader.read(question, seat="", words=()) is not None

    def _show(self, turn: "SeatTurn") -> None:
        from dndbots.cli.play.screen import status
        from dndbots.cli.play.sheet import say_options
        from dndbots.game.input.person_player import reason_of

        if turn.answer and not turn.waiting:
            for answered in reason_of(turn).splitlines():
                console.say_indented(answered)
            return
        if turn.refused:
            console.say_indented(f"Not possible: {reason_of(turn)}.")
            return
        if not self._quiet:
            output = console.output()
            for line in status(turn.table, {turn.who: turn.prompt}, output, output.width):
                output.print(line, soft_wrap=True)
            say_options(turn)
        if turn.waiting:
            for answered in reason_of(turn).splitlines():
                console.say_indented(answered)
            console.say_indented("Press Enter to do it, or type something else.")


def seat_people(
    opened: "OpenGame", spectator: "Gallery | SharedScreen", *, quiet: bool, aside: bool
) -> TerminalInput:
    """Give the seats of people to this terminal, and return its input."""
    from dndbots.game.dm.person_dm import PersonDM
    from dndbots.game.input.person_player import PersonPlayer

    game = opened.game
    reader = choose_reader(game.campaign.home)
    terminal = TerminalInput(game, reader, spectator, where=opened.shown, quiet=quiet, aside=aside)
    people = {who: PersonPlayer(terminal) for who in opened.people if who != DM}
    dm = PersonDM(game.cast.dm, terminal) if DM in opened.people else game.cast.dm
    game.cast = replace(game.cast, dm=dm, seats={**game.cast.seats, **people})
    return terminal


def _completions(turn: "SeatTurn") -> Iterator[str]:
    """Yield completions: slash commands, and the deeds on offer."""
    from dndbots.game.acts import Verb
    from dndbots.game.state.options import Surroundings, list_options

    yield from (f"/{name}" for name in slash_commands.commands_of(turn.who))
    if turn.who == DM:
        yield from _dm_completions(turn.table)
    for one in list_options(turn.table, turn.who):
        if one.verb is Verb.WHISPER and one.target is not None:
            yield f"/whisper {Surroundings(turn.table, turn.who).called(one.target)} "
        elif one.verb not in (Verb.SAY, Verb.TELL):
            yield one.said
    yield from (f"/recap {length}" for length in slash_commands.LENGTHS)


def _dm_completions(table: "Table") -> Iterator[str]:
    """Yield commands of a DM for the characters and the ways open to them."""
    for who in table.living():
        yield f"/whisper {table.name(who)} "
        yield f"/check {table.name(who)} "
    for place in table.scenes():
        yield from (f"/move {way}" for way in (table.sights[place].ways if place in table.sights else ()))
