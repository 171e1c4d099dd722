"""`usage`: show what the models of a campaign cost."""

from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.usage import ModelUsage

_MILLION: Final = 1_000_000
_HUNDRED: Final = 100
_CUTS: Final = {
    "echo": "repeated sentences cut",
    "engine": "sentences of engine talk cut",
    "person": "answers put into the first person",
    "others": "sentences about others' deeds cut",
    "markup": "marks of markup cut",
    "unfinished": "unfinished sentences cut",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("usage")(usage)


def usage(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Show the tokens that models used, as providers count them, and the cost where prices are known.

    Prices come from the settings file that was in use when the game was played.
    """
    with open_campaign(campaign, branch) as source:
        used = source.usage()
    if as_json:
        console.say_json(used)
    elif not used:
        console.say("No model was asked.")
    else:
        _say_usage(used)


def _say_usage(used: "list[ModelUsage]") -> None:
    """Print a table for each model, with a row for each role: the model's name would need a wide column."""
    columns = ("role", "answers", "input", "cached", "output", "seconds", "cost", "faults")
    models = sorted({entry.model for entry in used})
    for model in models:
        console.say(console.inert(model))
        rows = [_row(entry) for entry in used if entry.model == model]
        console.say_table(columns, rows, numbers=columns[1:])
        for entry in used:
            if entry.model == model and (entry.cuts or entry.fallbacks):
                console.say(f"  {entry.role}: {', '.join(_cuts(entry))}")
        if model != models[-1]:
            console.say("")


def _cuts(entry: "ModelUsage") -> list[str]:
    """Return what guards cut from the answers of a role, and how often the house spoke instead."""
    cuts = [f"{number} {_CUTS.get(kind, kind)}" for kind, number in entry.cuts.items()]
    return [*cuts, *([f"{entry.fallbacks} told by the house instead"] if entry.fallbacks else [])]


def _row(entry: "ModelUsage") -> tuple[str, ...]:
    numbers = (entry.answers, entry.input, entry.cached, entry.output, entry.milliseconds // 1000)
    return (entry.role, *map(_amount, numbers), _money(entry.cost), _amount(entry.faults))


def _amount(number: int) -> str:
    """Write a number in at most six characters, so that the table fits 80 columns."""
    if number < _MILLION:
        return str(number)
    millions, sign = (number / _MILLION, "M") if number < 1000 * _MILLION else (number / 1e9, "G")
    return f"{millions:.2f}"[:5].rstrip(".") + sign


def _money(cost: float | None) -> str:
    if cost is None:
        return "unknown"
    return f"{cost:.4f}" if cost < _HUNDRED else f"{cost:.2f}"
