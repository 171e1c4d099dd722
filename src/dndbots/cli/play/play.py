"""`play`: play a game round by round, and tell it on the terminal."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import OnBranch
from dndbots.cli.play import game_messages, models, table_setup, terminal_input
from dndbots.cli.play.host import Host
from dndbots.cli.play.spectators import Gallery, JsonLines, SharedScreen
from dndbots.ids import DM
from dndbots.storage.ports import MAIN

_MOST_ROUNDS: Final = 200
_MOST_SEATS: Final = 12
_COMPACT_EVERY: Final = 5


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
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
            help="Where to keep the game: a folder, or postgresql://…/database?campaign=name. "
            "campaigns/ and the adventure's name if omitted.",
        ),
    ] = None,
    branch: OnBranch = MAIN,
    module: Annotated[
        str | None,
        typer.Option(
            "--module",
            metavar="NAME",
            help="The adventure: one of `dndbots modules`, a file, endless, or open for one the DM makes up. "
            f"{table_setup.MODULE} if omitted.",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="TEXT", help="The story, for the DM to follow."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Same seed, same game. Random if omitted.")
    ] = None,
    seats: Annotated[
        int | None,
        typer.Option(
            "--seats",
            metavar="N",
            min=1,
            max=_MOST_SEATS,
            help=f"How many characters play. {table_setup.SEATS} if omitted.",
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
            help="A character from `dndbots character new`. Can be repeated.",
        ),
    ] = None,
    auto: Annotated[
        int | None,
        typer.Option("--auto", metavar="N", min=1, max=1_000_000, help="Play N rounds without asking."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="N",
            min=200,
            help=f"How many tokens a prompt may have. {table_setup.BUDGET} if omitted.",
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            metavar="NAME",
            help="A seat you play yourself: a character, or dm. Can be repeated.",
        ),
    ] = None,
    spectate: Annotated[
        bool, typer.Option("--spectate", help="Show everything, even to people in seats.")
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
    debug: Annotated[
        bool, typer.Option("--debug", help="Show on standard error what guards cut from models' answers.")
    ] = False,
    no_compact: Annotated[
        bool, typer.Option("--no-compact", help="Do not extract facts in the background.")
    ] = False,
    compact_every: Annotated[
        int,
        typer.Option(
            "--compact-every", min=1, metavar="N", help="Rounds between two extractions in the background."
        ),
    ] = _COMPACT_EVERY,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show only the story: no dice, no status lines.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print each recorded event as a line of JSON, like `export log`."),
    ] = False,
) -> None:
    """Play a game. By default dndbots itself runs the world and every character: no model, no key.

    On a terminal it plays one round at a time: Enter continues, q stops. With --auto it plays N rounds,
    otherwise to the end of the story or 200 rounds. Resumes the game if the campaign has one. A
    campaign that was imported is played on with a DM: --dm MODEL or --human dm. With --human you play a seat:
    you are asked each turn and see what your character perceives.
    """
    from dndbots.cli.play.thinking_line import Watch

    if human and as_json and not spectate:
        raise failures.Refusal(
            "--json shows everything, and a player in a seat must not see it; add --spectate"
        )
    if human and debug and not spectate:
        raise failures.Refusal("--debug shows what others were told; add --spectate")
    if debug:
        _show_cuts()
    wish = table_setup.GameWish(
        module=None if module is None else table_setup.check_module(module),
        seed=seed,
        seats=seats,
        budget=budget,
        characters=tuple(map(table_setup.read_character, character or ())),
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
    )
    asks = auto is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    chosen = (campaign, module, scenario, character, human, seats)
    if asks and not spectate and wish.models.dm not in (None, table_setup.HOUSE) and not any(chosen):
        wish = table_setup.guide(wish)
    with table_setup.open_game(campaign, branch, wish) as opened:
        game, people = opened.game, opened.people
        sees_all = spectate or not people or DM in people
        messages = game_messages.GameMessages(opened, sees_all=sees_all, aside=as_json or quiet)
        messages.welcome()
        with console.warnings_hidden() if not sees_all else nullcontext(), messages.if_interrupted():
            spectator: Gallery | SharedScreen
            if sees_all:
                teller = JsonLines() if as_json else None
                spectator = Gallery(game, after=opened.begun_at, quiet=quiet, teller=teller)
            else:
                spectator = SharedScreen(game, people, quiet=quiet)
            watch = Watch(game, viewers=frozenset() if sees_all else frozenset(people))
            host = Host(game, spectator, asks=asks, aside=as_json, watch=watch)
            if people:
                terminal = terminal_input.seat_people(opened, spectator, quiet=quiet, aside=as_json)
                host.seat(people, terminal)
            rounds = auto or (None if asks or people else _MOST_ROUNDS)
            host.play(rounds, compact=not no_compact, compact_every=compact_every)
        messages.take_leave()


def _show_cuts() -> None:
    """Print what guards cut from models' answers, as it happens."""
    import logging

    class Cuts(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            console.note(console.inert(record.getMessage()))

    log = logging.getLogger("dndbots.game.guards")
    log.setLevel(logging.DEBUG)
    log.addHandler(Cuts())
    log.propagate = False
