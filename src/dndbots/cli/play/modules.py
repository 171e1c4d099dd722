"""`modules`: list the adventures that come with dndbots, or check one of yours."""

from pathlib import Path
from typing import Annotated

import typer

from dndbots.cli import console
from dndbots.cli.options import AsJson


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("modules")(modules)


def modules(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="An adventure of yours to check.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the adventures that come with dndbots; with FILE, check an adventure and report every problem."""
    from dndbots.game import adventures

    if file is None:
        listed = {name: adventures.load_named(name) for name in adventures.list_shipped()}
    else:
        listed = {file: adventures.load(Path(file))}
    rows = [
        (name, module.title, module.levels, len(module.places), len(module.quests))
        for name, module in listed.items()
    ]
    columns = ("name", "title", "levels", "places", "quests")
    if as_json:
        console.say_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    console.say_table(columns, rows, numbers=["places", "quests"])
    if file is not None:
        console.say("no problems found")
