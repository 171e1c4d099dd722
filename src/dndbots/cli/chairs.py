"""Where people sit: their turn is shown on the terminal, and what they type is read from it."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import typer

from dndbots.cli import show, slash
from dndbots.cli.slash import Outcome, Quit, Said
from dndbots.cli.watching import Gallery, Seats
from dndbots.ids import DM
from dndbots.storage.disk import make_file, make_folder, plain_errors

if TYPE_CHECKING:
    from pathlib import Path

    from prompt_toolkit import PromptSession

    from dndbots.cli.seating import Seat
    from dndbots.game.agents import Screen, Turn
    from dndbots.game.playing import Game
    from dndbots.game.steps import Step
    from dndbots.game.table import Table

_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"


class Reader(Protocol):
    """Reads what somebody types; None at the end of the input."""

    def read(self, prompt: str, *, seat: str, words: Iterable[str]) -> str | None: ...


class PlainReader:
    """Lines as they come. Those from a pipe or a file are shown, so that answers can be understood."""

    def read(self, prompt: str, *, seat: str, words: Iterable[str]) -> str | None:  # noqa: ARG002 - no keys
        is_typed = sys.stdin.isatty()  # and the output goes through something: what is typed shows anyway
        if is_typed:
            typer.echo(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            return None
        line = line.rstrip("\r\n")
        if not is_typed:
            show.say(show.inert(f"{prompt}{line}"))
        return line


class KeyReader:
    """Keys of a terminal: a line can be edited, completed with Tab, and brought back with the arrows.

    Each seat has its own history, since it has its whispers in it. `folder` is where it is kept. What is
    typed while nobody has the screen is kept nowhere.
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


def reader_for(folder: "Path | None") -> Reader:
    """Who reads: keys on a terminal, else lines."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return KeyReader(None if folder is None else folder / "typed")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # what is no text is no reason to leave a game
    return PlainReader()


class TerminalChair:
    """The seats of people at a terminal. Implements `dndbots.game.people.Chair` for all of them.

    `wish` is what somebody wants of the table since they were asked last: to leave, or to take back.
    `interrupted` is whether they left by Ctrl-C. `aside` is for programs that read the game meanwhile: then
    people are spoken to beside it.
    """

    def __init__(
        self,
        game: "Game",
        reader: Reader,
        front: "Gallery | Seats",
        *,
        where: str,
        quiet: bool = False,
        aside: bool = False,
    ) -> None:
        self._game, self._reader, self._where = game, reader, where
        self._seats = front if isinstance(front, Seats) else None
        self._gallery = front if isinstance(front, Gallery) else None
        self._quiet, self._aside = quiet, aside
        self.wish: Outcome = None
        self.asking = self.was_asked = self.interrupted = False
        self._told_in: Step | None = None
        self._last: str | None = None

    def ask(self, turn: "Turn") -> str | None:
        self.was_asked, self.asking = True, True
        try:
            with self._beside():
                if not self._is_here(turn.who, turn.table.name(turn.who)):
                    self.wish = Quit()
                    return None
                self._show(turn)
                return self._line(turn, f"{show.inert(turn.table.name(turn.who))}> ")
        finally:
            self.asking = False

    def _beside(self) -> AbstractContextManager[object]:
        return redirect_stdout(sys.stderr) if self._aside else nullcontext()

    def _line(self, turn: "Turn", prompt: str, *, ends: bool = False) -> str | None:
        """What is typed for the game; None if it is to wait, or where an empty line `ends` it."""
        while True:
            line = self._reader.read(prompt, seat=turn.who, words=_completions(turn))
            if line is None:
                self.wish = Quit()
                return None
            if not line.strip() and ends:
                return None
            if not line.strip():
                continue
            command = slash.asked_in(line, turn.who)
            if command is None:
                return line
            outcome = slash.run(self._game, turn, command, where=self._where)
            if isinstance(outcome, Said):
                return outcome.words
            if outcome is not None:
                self.wish = outcome
                return None

    def narrate(self, screen: "Screen", place: str, *, refused: str, told: str) -> str | None:
        """A line of the DM for a scene. What it is about is shown before it is recorded."""
        from dndbots.game.agents import Turn

        if self.wish is not None:
            return None
        self.was_asked, self.asking = True, True
        try:
            if self._gallery is not None:
                self._gallery.foretell(screen.step.events)
            with self._beside():
                if refused:
                    show.say_indented(f"That cannot be: {refused}.")
                if told:
                    show.say_indented(told)
                prompt = f"DM, {show.inert(screen.table.name(place))}> "
                turn = Turn(
                    who=DM, table=screen.table, prompt=screen.prompt, rng=screen.rng, seed=screen.seed
                )
                line = self._line(turn, prompt, ends=True)
        except KeyboardInterrupt:
            if self._told_in is not screen.step:
                raise
            # What was told already is no draft to the one who told it: it is recorded before the game ends.
            self.interrupted, self.wish, line = True, Quit(), None
        finally:
            self.asking = False
        self._told_in = self._told_in if line is None else screen.step
        return line

    def _is_here(self, who: str, name: str) -> bool:
        """Hands the screen over, if it was somebody else's: nobody reads what is not theirs."""
        seats = self._seats
        if seats is None:
            return True
        if seats.front not in (None, who) or (seats.front is None and self._last != who):
            if isinstance(self._reader, KeyReader):
                if seats.front is not None and not self._has_read(seats, seats.front):
                    return False
                typer.echo(_CLEAR, nl=False)
                question = f"{show.inert(name)} has the turn. Enter, once nobody else looks: "
                if self._reader.read(question, seat="", words=()) is None:
                    return False
            else:
                show.say(show.inert(f"--- {name} ---"))
        self._last = who
        seats.turn_to(who)
        return True

    def _has_read(self, seats: Seats, who: str) -> bool:
        """Waits for whoever has the screen: what came after their turn is not told again."""
        name = show.inert(seats.view_of(who).table.name(who))
        show.say("")
        question = f"{name}, Enter clears the screen, once you have read it: "
        return self._reader.read(question, seat="", words=()) is not None

    def _show(self, turn: "Turn") -> None:
        from dndbots.cli.screens import status
        from dndbots.cli.sheets import say_options
        from dndbots.game.people import reason_of

        if turn.refused:
            show.say_indented(f"That cannot be: {reason_of(turn)}.")
            return
        if self._quiet:
            return
        output = show.output()
        for line in status(turn.table, {turn.who: turn.prompt}, output, output.width):
            output.print(line, soft_wrap=True)
        say_options(turn)


def seated(seat: "Seat", front: "Gallery | Seats", *, quiet: bool, aside: bool) -> TerminalChair:
    """A chair for all who play at this terminal, in whose seats they are asked from now on."""
    from dndbots.game.narrating import PersonDM
    from dndbots.game.people import Person

    game = seat.game
    reader = reader_for(game.campaign.home)
    chair = TerminalChair(game, reader, front, where=seat.shown, quiet=quiet, aside=aside)
    people = {who: Person(chair) for who in seat.people if who != DM}
    dm = PersonDM(game.cast.dm, chair) if DM in seat.people else game.cast.dm
    game.cast = replace(game.cast, dm=dm, seats={**game.cast.seats, **people})
    return chair


def _completions(turn: "Turn") -> Iterator[str]:
    """What can be completed: what begins with a slash, and deeds as they are offered."""
    from dndbots.game.acts import Verb
    from dndbots.game.options import Place, options

    yield from (f"/{name}" for name in slash.commands_of(turn.who))
    if turn.who == DM:
        yield from _called_for(turn.table)
    for one in options(turn.table, turn.who):
        if one.verb is Verb.WHISPER and one.target is not None:
            yield f"/whisper {Place(turn.table, turn.who).called(one.target)} "
        elif one.verb not in (Verb.SAY, Verb.TELL):
            yield one.said
    yield from (f"/recap {length}" for length in slash.LENGTHS)


def _called_for(table: "Table") -> Iterator[str]:
    """What a DM may want to do with those whom the story is about, and with the ways that they have."""
    for who in table.living():
        yield f"/whisper {table.name(who)} "
        yield f"/check {table.name(who)} "
    for place in table.scenes():
        yield from (f"/move {way}" for way in (table.sights[place].ways if place in table.sights else ()))
