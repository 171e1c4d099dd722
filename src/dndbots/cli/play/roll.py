"""`roll`: roll dice and show each die."""

import secrets
from random import Random
from typing import Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import AsJson

_SEEDS: Final = 1_000_000

Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Same seed, same dice. Random if omitted.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("roll")(roll)


def roll(
    dice: Annotated[str, typer.Argument(metavar="DICE", help="Such as 2d6+3, 4d6kh3 or 2d20kh1.")],
    *,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Roll dice and show each of them."""
    from dndbots.rules import roll as roll_dice

    chosen = choose_seed(seed)
    rolled = roll_dice(dice, rng=Random(chosen))  # noqa: S311 - dice, which can be replayed
    if as_json:
        console.say_json({**rolled.as_data(), "seed": chosen})
    else:
        console.say(console.inert(rolled.text))


def choose_seed(seed: int | None) -> int:
    """Return the seed given on the command line, or a random one."""
    return secrets.randbelow(_SEEDS) if seed is None else seed
