"""`understand`: show what the table would make of a typed line, without playing it."""

from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, AsJson, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.game.input.meanings import Understanding
    from dndbots.game.state.table import Table


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("understand")(understand)


def understand(
    line: Annotated[str, typer.Argument(metavar="LINE", help="What a player types in a turn.")],
    *,
    viewer: Viewer = None,
    campaign: Address,
    branch: OnBranch = MAIN,
    as_json: AsJson = False,
) -> None:
    """Show what the table would make of a line that a character's player types. Nothing is played."""
    from dndbots.game.input.line_reader import understand_line

    with open_for(viewer, campaign, branch) as (source, who):
        table = _table_of(source, who)
        found = understand_line(table, table.viewer, line)
    if as_json:
        console.say_json(found.to_json())
    else:
        _show(found)


def _table_of(source: "Campaign", who: str) -> "Table":
    """Return the table of the seat that a name or uid means."""
    from dndbots.game.state.campaign_tables import fold_tables

    with source.view(who) as view:
        uid = view.viewer
    tables = fold_tables(source)
    if uid not in tables or not uid.startswith("pc_"):
        raise failures.Refusal(f"{who} has no seat in a game of this campaign; lines are typed in a seat")
    return tables[uid]


def _show(found: "Understanding", indent: int = 0) -> None:
    data = found.to_json()
    shown = {name: data[name] for name in ("verb", "target", "what", "words", "reason") if data[name]}
    if found.check is not None:
        shown["check"] = f"{found.check.ability.upper()}, {found.check.level} ({found.check.approach})"
    for name, value in shown.items():
        console.say_indented(f"{name}: {value}", indent)
    for number, reading in enumerate(found.readings, start=1):
        console.say_indented(f"{number}. {reading.said}", indent + 2)
    if found.then is not None:
        console.say_indented("then:", indent)
        _show(found.then, indent + 2)
