"""The command that tells what models took."""

from typing import TYPE_CHECKING

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.usage import ModelUsage


def add_to(app: typer.Typer) -> None:
    app.command("usage")(usage)


def usage(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Tells what models took: tokens as their providers count them, and money where prices are known.

    Prices come from the settings file that was used when the game was played.
    """
    with opened(campaign, branch) as source:
        taken = source.usage()
    if as_json:
        show.say_json(taken)
    elif not taken:
        show.say("No model was asked.")
    else:
        columns = ("role", "model", "answers", "input", "cached", "output", "seconds", "cost", "faults")
        show.say_table(columns, map(_row, taken), numbers=columns[2:])


def _row(one: "ModelUsage") -> tuple[str, ...]:
    cost = "unknown" if one.cost is None else f"{one.cost:.4f}"
    numbers = (one.answers, one.input, one.cached, one.output, one.milliseconds // 1000)
    return (one.role, show.inert(one.model), *map(str, numbers), cost, str(one.faults))
