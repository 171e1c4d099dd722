"""The command that plays: at a table that was found or laid, round by round, told as it is played."""

import shlex
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Protocol

import typer

from dndbots.cli import faults, seating, show
from dndbots.cli.options import OnBranch
from dndbots.errors import DuplicateEvent
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.events import GameEvent
    from dndbots.game.playing import Game
    from dndbots.game.table import Table
    from dndbots.memory.context import Context

_MOST_ROUNDS: Final = 200
_MOST_SEATS: Final = 12
_STOP: Final = frozenset(("q", "quit"))


def add_to(app: typer.Typer) -> None:
    app.command("play")(play)


def play(
    *,
    campaign: Annotated[
        str | None,
        typer.Option(
            "--campaign",
            "-c",
            metavar="PATH",
            envvar="DNDBOTS_CAMPAIGN",
            help="Where the game is kept: a folder, or postgresql://…/database?campaign=name; "
            "else campaigns/ and the module's name.",
        ),
    ] = None,
    branch: OnBranch = MAIN,
    module: Annotated[
        str | None,
        typer.Option(
            "--module",
            metavar="NAME",
            help=f"The adventure: one of `dndbots modules`, a file, or endless; else {seating.MODULE}.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="The same seed is the same game; else any.")
    ] = None,
    seats: Annotated[
        int | None,
        typer.Option(
            "--seats",
            metavar="N",
            min=1,
            max=_MOST_SEATS,
            help=f"How many characters play; else {seating.SEATS}.",
        ),
    ] = None,
    character: Annotated[
        list[Path] | None,
        typer.Option(
            "--character",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="A character from `dndbots character new`; may be said again.",
        ),
    ] = None,
    auto: Annotated[
        int | None,
        typer.Option("--auto", metavar="N", min=1, max=1_000_000, help="Plays N rounds without asking."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="N",
            min=200,
            help=f"How many tokens a prompt may have; else {seating.BUDGET}.",
        ),
    ] = None,
    no_compact: Annotated[
        bool, typer.Option("--no-compact", help="Does not read in the background what was said.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the story: no dice, no status lines.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Each recorded event as a line of JSON, as `export log` writes them."),
    ] = False,
) -> None:
    """Plays: the house runs the world and every character, without a model and without keys.

    On a terminal, a round at a time: Enter goes on, q stops. With --auto, so many rounds. Otherwise to the
    end of the story, at most 200 rounds. A campaign with a game in it is gone on with.
    """
    wish = seating.Wish(
        module=None if module is None else seating.module_named(module),
        seed=seed,
        seats=seats,
        budget=budget,
        characters=tuple(map(seating.character_from, character or ())),
    )
    asks = auto is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    with seating.seated(campaign, branch, wish) as seat:
        game = seat.game
        teller = _Lines() if as_json else _on_stage(game, quiet=quiet)
        aside = as_json or quiet
        if not aside:
            _say_what_is_played(seat)
        host = _Host(game, teller, after=seat.begun_at, asks=asks)
        host.play(auto or (None if asks else _MOST_ROUNDS), compact=not no_compact)
        _take_leave(seat, aside=aside)


class _Teller(Protocol):
    """Somebody who tells a game while it is played."""

    def tell(self, events: "Iterable[GameEvent]") -> None: ...
    def end_round(self, prompts: "Mapping[str, Context]") -> None: ...
    def hold_nothing_back(self) -> None: ...


class _Lines:
    """Tells every event as a line of JSON."""

    def __init__(self) -> None:
        self._header = 0

    def tell(self, events: "Iterable[GameEvent]") -> None:
        from dndbots.interop.jsonl import to_lines

        show.say_json_lines(islice(to_lines(events), self._header, None))
        self._header = 1  # it was told

    def end_round(self, _: "Mapping[str, Context]") -> None: ...
    def hold_nothing_back(self) -> None: ...


class _News:
    """What was recorded since it was read last, by whomever: memory is kept in order beside the steps."""

    def __init__(self, campaign: "Campaign", at: int) -> None:
        self._campaign, self._at = campaign, at

    def read(self) -> "list[GameEvent]":
        with self._campaign.view("dm") as view:
            after, self._at = self._at, view.head
            return view.at(range(after + 1, view.head + 1))


def _on_stage(game: "Game", *, quiet: bool) -> _Teller:
    from dndbots.cli.screens import Stage

    return Stage(game.table, quiet=quiet)


class _Host:
    """Sees to it that a game is told while it is played, and that it stops when somebody wants it to."""

    def __init__(self, game: "Game", teller: _Teller, *, after: int, asks: bool) -> None:
        self._game, self._teller, self._asks = game, teller, asks
        self._news = _News(game.campaign, after)
        # A round that was left in the middle has not ended yet.
        self._ended = game.round if game.table.due() is None else game.round - 1
        self._asking = self._left = self._interrupted = False

    def play(self, rounds: int | None, *, compact: bool) -> None:
        """Plays so many rounds, or as many as there are. What was recorded is told, whatever happens."""
        before = signal.signal(signal.SIGINT, self._heard)
        try:
            self._tell()
            self._game.play(rounds, watch=self._watch, compact=compact)
            if (self._left or self._game.over) and not self._game.table.ended:
                self._game.end_session()
        except DuplicateEvent as exc:
            # Ids belong to steps: the same step cannot have been played twice.
            raise faults.Refusal("somebody else plays this game right now; go on once they stopped") from exc
        finally:
            signal.signal(signal.SIGINT, before)
            self._tell()
            self._teller.hold_nothing_back()
        if self._interrupted:
            raise KeyboardInterrupt

    def _heard(self, *_: object) -> None:
        """The first Ctrl-C lets the step under way be finished; the next one does not wait for it."""
        if self._interrupted or self._asking:
            raise KeyboardInterrupt
        self._interrupted = True
        self._game.pause()

    def _tell(self) -> None:
        self._teller.tell(self._news.read())

    def _watch(self, _: "list[GameEvent]") -> None:
        self._tell()
        table = self._game.table
        if table.round > self._ended and table.due() is None:
            self._ended = table.round
            self._teller.end_round(self._game.prompts)
            if self._asks and not (self._game.over or self._interrupted or self._goes_on()):
                self._left = True
                self._game.pause()
        if self._interrupted:
            self._game.pause()  # it may have been asked for before the first step

    def _goes_on(self) -> bool:
        """Asks whether there is to be another round. The end of the input is an answer, too."""
        self._asking = True
        typer.echo("Enter goes on, q stops: ", nl=False)
        answer = sys.stdin.readline()
        self._asking = False
        if not answer:
            typer.echo()
        return bool(answer) and answer.strip().lower() not in _STOP


def _say_what_is_played(seat: "seating.Seat") -> None:
    game = seat.game
    so_far = f", after {show.counted(game.round, 'round')}" if game.round else ""
    show.say(show.inert(f"{seat.shown}: a game with the seed {game.note.seed}{so_far}"))


def _take_leave(seat: "seating.Seat", *, aside: bool) -> None:
    """Where the game is kept, and what can be done with it; beside the answer, if that is for programs."""
    game, where = seat.game, seat.shown
    rounds = show.counted(game.round, "round")
    ending = "The story is over" if game.over else "The story goes on"
    if aside:
        show.note(f"{ending} after {rounds}; it is kept in {where}")
        return
    show.say("")
    show.say(show.inert(f"{ending} after {rounds}. It is kept in {where}."))
    for line in _worth_trying(seat):
        show.say(f"  {show.inert(line)}")


def _worth_trying(seat: "seating.Seat") -> Iterator[str]:
    options = f"--campaign {shlex.quote(seat.shown)}"
    if seat.game.campaign.branch != MAIN:
        options += f" --branch {shlex.quote(seat.game.campaign.branch)}"
    if not seat.game.over:
        yield f"dndbots play {options}"
    party = [_said(seat.game.table, uid) for uid in seat.game.table.seats]
    if party:
        yield f"dndbots recap --viewer {party[0]} {options}"
        yield f"dndbots context {party[0]} --xray {options}"
    if len(party) > 1:
        yield f"dndbots diff {party[0]} {party[-1]} {options}"


def _said(table: "Table", uid: str) -> str:
    """Somebody as a command takes it: by name, where nobody else has it and a shell takes it as it is."""
    name = table.name(uid)
    is_plain = all(word.isalnum() for word in name.split()) and [*table.names.values()].count(name) == 1
    return shlex.quote(name) if is_plain else uid
