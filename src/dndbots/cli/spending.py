"""The command that tells what models took."""

from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.usage import ModelUsage

_MILLION: Final = 1_000_000
_HUNDRED: Final = 100


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
        _tell(taken)


def _tell(taken: "list[ModelUsage]") -> None:
    """A table for each model, of the roles that it was asked in: its name would leave no room beside them."""
    columns = ("role", "answers", "input", "cached", "output", "seconds", "cost", "faults")
    models = sorted({one.model for one in taken})
    for model in models:
        show.say(show.inert(model))
        show.say_table(columns, [_row(one) for one in taken if one.model == model], numbers=columns[1:])
        if model != models[-1]:
            show.say("")


def _row(one: "ModelUsage") -> tuple[str, ...]:
    numbers = (one.answers, one.input, one.cached, one.output, one.milliseconds // 1000)
    return (one.role, *map(_amount, numbers), _money(one.cost), _amount(one.faults))


def _amount(number: int) -> str:
    """A number in six characters at most: so a table fits a terminal of 80 columns, whatever was spent."""
    if number < _MILLION:
        return str(number)
    millions, sign = (number / _MILLION, "M") if number < 1000 * _MILLION else (number / 1e9, "G")
    return f"{millions:.2f}"[:5].rstrip(".") + sign


def _money(cost: float | None) -> str:
    if cost is None:
        return "unknown"
    return f"{cost:.4f}" if cost < _HUNDRED else f"{cost:.2f}"
