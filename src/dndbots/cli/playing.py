"""The command that plays: at a table that was found or laid, round by round, told as it is played."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Final

import typer

from dndbots.cli import chairs, faults, greeting, models, seating, show
from dndbots.cli.hosting import Host
from dndbots.cli.options import OnBranch
from dndbots.cli.thinking import Watch
from dndbots.cli.watching import Gallery, Lines, Seats
from dndbots.ids import DM
from dndbots.storage.ports import MAIN

_MOST_ROUNDS: Final = 200
_MOST_SEATS: Final = 12


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
            help="The adventure: one of `dndbots modules`, a file, endless, or open for one that the DM "
            f"makes up; else {seating.MODULE}.",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="TEXT", help="What the DM is told that the story is about."),
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
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            metavar="NAME",
            help="A seat that you take yourself: a character, or dm; may be said again.",
        ),
    ] = None,
    spectate: Annotated[
        bool, typer.Option("--spectate", help="Shows everything, also to people in seats.")
    ] = False,
    model: models.AllModels = None,
    dm: models.DmModel = None,
    players: models.PlayersModel = None,
    npcs: models.NpcsModel = None,
    summarizer: models.SummarizerModel = None,
    extractor: models.ExtractorModel = None,
    fallback: models.FallbackModel = None,
    base_url: models.BaseUrl = None,
    settings: models.SettingsFile = None,
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
    end of the story, at most 200 rounds. A campaign with a game in it is gone on with; one that
    was imported is left alone, and that is an error. Whoever takes a seat with --human is asked in its turn,
    and shown what its character perceives.
    """
    if human and as_json and not spectate:
        raise faults.Refusal("--json tells everything, and a seat does not see that; add --spectate")
    wish = seating.Wish(
        module=None if module is None else seating.module_named(module),
        seed=seed,
        seats=seats,
        budget=budget,
        characters=tuple(map(seating.character_from, character or ())),
        people=tuple(human or ()),
        models=models.models_from(
            settings,
            model=model,
            dm=dm,
            players=players,
            npcs=npcs,
            summarizer=summarizer,
            extractor=extractor,
            fallback=fallback,
            base_url=base_url,
        ),
        scenario=scenario or "",
        watch=Watch(sees_all=not human or spectate),
    )
    asks = auto is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    with seating.seated(campaign, branch, wish) as seat:
        sees_all = spectate or not seat.people or DM in seat.people
        farewell = greeting.Greeting(seat, sees_all=sees_all, aside=as_json or quiet)
        farewell.welcome()
        with show.unheard() if not sees_all else nullcontext(), farewell.if_interrupted():
            front: Gallery | Seats
            if sees_all:
                teller = Lines() if as_json else None
                front = Gallery(seat.game, after=seat.begun_at, quiet=quiet, teller=teller)
            else:
                front = Seats(seat.game, seat.people, quiet=quiet)
            host = Host(seat.game, front, asks=asks, aside=as_json, watch=wish.watch)
            if seat.people:
                host.seat(seat.people, chairs.seated(seat, front, quiet=quiet, aside=as_json))
            rounds = auto or (None if asks or seat.people else _MOST_ROUNDS)
            host.play(rounds, compact=not no_compact)
        farewell.take_leave()
