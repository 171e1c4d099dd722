"""`recap`: retell a session to somebody."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console
from dndbots.cli.inspect.threads import thread_as_json
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.recaps import Recap


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("recap")(recap)


def recap(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="The session. The last one if omitted.")
    ] = None,
    length: Annotated[
        str, typer.Option("--length", metavar="LENGTH", help="short, medium or long.")
    ] = "medium",
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Previously on …: retell a session as a character lived it, with its open threads. No model is asked."""
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        told = source.recap(who, session, length, as_of=as_of)
    if as_json:
        console.say_json({**told.model_dump(mode="json"), "threads": [*map(thread_as_json, told.threads)]})
    else:
        say_recap(told)


def say_recap(recap: "Recap") -> None:
    """Print a recap with its pinned lines and what is still open."""
    if recap.session is None:
        console.say("Previously on …: nothing yet.")
        return
    console.say(console.inert(recap.heading))
    for paragraph in recap.paragraphs:
        console.say_indented(paragraph)
    say_list("To keep in mind:", recap.pinned)
    say_list("Still open:", recap.open_ends)


def say_list(title: str, items: Iterable[str]) -> None:
    """Print items under a title, or nothing if there are none."""
    listed = [*items]
    if listed:
        console.say(title)
    for item in listed:
        console.say_indented(f"- {item}")
