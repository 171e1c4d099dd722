"""Messages before and after a game: what is played, where it is kept, and what to try next."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dndbots.cli import console, failures
from dndbots.errors import ModelUnavailable
from dndbots.ids import DM
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.cli.play.table_setup import OpenGame
    from dndbots.game.state.table import Table


class GameMessages:
    """Messages for a spectator of everything, or for players, who hear only of their own characters.

    With `aside` they go to standard error, for programs that read the game from standard output.
    """

    def __init__(self, opened: "OpenGame", *, sees_all: bool, aside: bool) -> None:
        self._opened, self._game, self._aside = opened, opened.game, aside
        self._sees_all = sees_all

    def welcome(self) -> None:
        """Print what is played, and how many rounds it has."""
        if self._aside:
            return
        if self._sees_all:
            what = f"a game with the seed {self._game.note.seed}"
        else:
            what = f"you play {' and '.join(self._table(who).name(who) for who in self._opened.people)}"
        so_far = f", after {console.counted(self._round, 'round')}" if self._round else ""
        console.say(console.inert(f"{self._opened.shown}: {what}{so_far}"))

    @contextmanager
    def if_interrupted(self) -> Iterator[None]:
        """Say how to continue when Ctrl-C or a model without an answer ends the game."""
        try:
            yield
        except KeyboardInterrupt:
            console.note(f"continue with: {self._again}")
            raise
        except ModelUnavailable as exc:
            house = f"{self._command('play', *self._taken)} --model house"
            hint = f"continue with: {self._again}; or without a model: {house}"
            reason = str(exc).rstrip(".")
            raise failures.Refusal(f"{reason}; everything is saved; {hint}") from exc

    def take_leave(self) -> None:
        """Print where the game is kept, and commands to try on it."""
        rounds = console.counted(self._round, "round")
        ending = "The story is over" if self._game.over else "The story goes on"
        if self._aside:
            console.note(f"{ending} after {rounds}; saved in {self._opened.shown}")
            return
        console.say("")
        console.say(console.inert(f"{ending} after {rounds}. Saved in {self._opened.shown}."))
        for line in self._worth_trying():
            console.say(f"  {console.inert(line)}")

    def _worth_trying(self) -> Iterator[str]:
        if not self._game.over:
            yield self._again
        seats = [*self._game.table.seats] if self._sees_all else [*self._opened.people]
        party = [_shell_name(self._table(uid), uid) for uid in seats]
        if party:
            yield self._command("recap", "--as", party[0])
            yield self._command("context", "--as", party[0], "--xray")
        if len(party) > 1 and self._sees_all:
            yield self._command("diff", party[0], party[-1])

    def _command(self, name: str, *words: str) -> str:
        """Return a command on this game, ready to run."""
        parts = ["dndbots", name, *words, f"--campaign {shlex.quote(self._opened.shown)}"]
        branch = self._game.campaign.branch
        if branch != MAIN:
            parts.append(f"--branch {shlex.quote(branch)}")
        return " ".join(parts)

    @property
    def _again(self) -> str:
        """The command that continues the game with the same models."""
        return " ".join((self._command("play", *self._taken), *self._opened.options))

    @property
    def _taken(self) -> list[str]:
        """The options for the people's seats that are still in the game."""
        there = (DM, *self._game.table.living())
        people = [who for who in self._opened.people if who in there]
        seats = [f"--human {_shell_name(self._table(who), who)}" for who in people]
        if people and self._sees_all and DM not in people:
            seats.append("--spectate")
        return seats

    @property
    def _round(self) -> int:
        """The number of rounds, as far as the reader knows."""
        if self._sees_all:
            return self._game.round
        return max(self._table(who).round for who in self._opened.people)

    def _table(self, who: str) -> "Table":
        """Return the table as a character knows it; rebuild it for a dead character."""
        from dndbots.game.state.table import Table

        tables = self._game.tables
        if self._sees_all or who not in self._opened.people:
            return self._game.table
        if who not in tables:
            own = Table(who)
            for event in self._game.campaign.events(viewer=who):
                own.heard(event)
            return own
        return tables[who]


def _shell_name(table: "Table", uid: str) -> str:
    """Return a character for the command line: a name that is unique and needs no escapes, else the uid."""
    name = table.names.get(uid, uid)
    is_plain = all(word.isalnum() for word in name.split()) and [*table.names.values()].count(name) == 1
    return shlex.quote(name) if is_plain else uid
