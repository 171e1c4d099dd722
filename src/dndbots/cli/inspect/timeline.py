"""`timeline`: show the newest events under the names somebody knows."""

from itertools import groupby
from typing import Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import MOST, Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

_LAST: Final = 20


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("timeline")(timeline)


def timeline(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=MOST, help="How many events.")
    ] = _LAST,
    about: Annotated[
        str | None, typer.Option("--about", metavar="NAME", help="Only events that concern this entity.")
    ] = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest events a character perceived, under the names it knows."""
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        moments = source.timeline(viewer=who, last=last, about=about, as_of=as_of)
    if as_json:
        console.say_json(moments)
        return
    for session, events in groupby(moments, lambda moment: moment.session):
        console.say(f"{console.inert_id(session)}:")
        rows = [(moment.teller, moment.text, moment.where) for moment in events]
        console.say_table(["who", "text", "place"], rows, wide="text")
