"""What is said before and after a game: what is played, where it is kept, and what is worth trying."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dndbots.cli import faults, show
from dndbots.errors import ModelUnavailable
from dndbots.ids import DM
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.cli.seating import Seat
    from dndbots.game.table import Table


class Greeting:
    """Speaks to whoever sees everything, or to people in seats: these hear of nobody but themselves.

    `aside` is for programs that read the answer: then it stands beside it.
    """

    def __init__(self, seat: "Seat", *, sees_all: bool, aside: bool) -> None:
        self._seat, self._game, self._aside = seat, seat.game, aside
        self._sees_all = sees_all

    def welcome(self) -> None:
        if self._aside:
            return
        if self._sees_all:
            what = f"a game with the seed {self._game.note.seed}"
        else:
            what = f"you play {' and '.join(self._table(who).name(who) for who in self._seat.people)}"
        so_far = f", after {show.counted(self._round, 'round')}" if self._round else ""
        show.say(show.inert(f"{self._seat.shown}: {what}{so_far}"))

    @contextmanager
    def if_interrupted(self) -> Iterator[None]:
        """Says how to go on, where Ctrl-C ends it, or a model that gives no answer."""
        try:
            yield
        except KeyboardInterrupt:
            show.note(f"go on with: {self._again}")
            raise
        except ModelUnavailable as exc:
            house = f"{self._command('play', *self._taken)} --model house"
            hint = f"go on with: {self._again}; or without a model: {house}"
            raise faults.Refusal(f"{exc}; nothing is lost; {hint}") from exc

    def take_leave(self) -> None:
        """Where the game is kept, and what can be done with it."""
        rounds = show.counted(self._round, "round")
        ending = "The story is over" if self._game.over else "The story goes on"
        if self._aside:
            show.note(f"{ending} after {rounds}; it is kept in {self._seat.shown}")
            return
        show.say("")
        show.say(show.inert(f"{ending} after {rounds}. It is kept in {self._seat.shown}."))
        for line in self._worth_trying():
            show.say(f"  {show.inert(line)}")

    def _worth_trying(self) -> Iterator[str]:
        if not self._game.over:
            yield self._again
        seats = [*self._game.table.seats] if self._sees_all else [*self._seat.people]
        party = [_said(self._table(uid), uid) for uid in seats]
        if party:
            yield self._command("recap", "--viewer", party[0])
            yield self._command("context", party[0], "--xray")
        if len(party) > 1 and self._sees_all:
            yield self._command("diff", party[0], party[-1])

    def _command(self, name: str, *words: str) -> str:
        """A command on this game that runs as it stands."""
        said = ["dndbots", name, *words, f"--campaign {shlex.quote(self._seat.shown)}"]
        branch = self._game.campaign.branch
        if branch != MAIN:
            said.append(f"--branch {shlex.quote(branch)}")
        return " ".join(said)

    @property
    def _again(self) -> str:
        """How to go on, with the same models."""
        return " ".join((self._command("play", *self._taken), *self._seat.options))

    @property
    def _taken(self) -> list[str]:
        """The seats of people that are still there to be taken."""
        there = (DM, *self._game.table.living())
        people = [who for who in self._seat.people if who in there]
        seats = [f"--human {_said(self._table(who), who)}" for who in people]
        if people and self._sees_all and DM not in people:
            seats.append("--spectate")
        return seats

    @property
    def _round(self) -> int:
        """How many rounds there were, as far as those who are spoken to know."""
        if self._sees_all:
            return self._game.round
        return max(self._table(who).round for who in self._seat.people)

    def _table(self, who: str) -> "Table":
        """Somebody's own table; the dead have none any more."""
        from dndbots.game.table import Table

        tables = self._game.tables
        if self._sees_all or who not in self._seat.people:
            return self._game.table
        if who not in tables:
            own = Table(who)
            for event in self._game.campaign.events(viewer=who):
                own.heard(event)
            return own
        return tables[who]


def _said(table: "Table", uid: str) -> str:
    """Somebody as a command takes it: by name, where nobody else has it and a shell takes it as it is."""
    name = table.names.get(uid, uid)
    is_plain = all(word.isalnum() for word in name.split()) and [*table.names.values()].count(name) == 1
    return shlex.quote(name) if is_plain else uid
