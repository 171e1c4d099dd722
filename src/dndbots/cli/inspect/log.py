"""`log`: show the stored events that somebody perceived."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console
from dndbots.cli.options import MOST, Address, AsJson, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.events import GameEvent


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("log")(log)


def log(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, max=MOST, help="Only the newest N events.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the events a character perceived, as they are stored. With --json, one event a line."""
    with open_for(viewer, campaign, branch) as (source, who):
        for event in source.events(viewer=who, last=last):
            if as_json:
                console.say_json(event)
            else:
                _say_event(event)


def _say_event(event: "GameEvent") -> None:
    """Print an event. Only its head starts at the left edge, so no text can pass for a head."""
    session = console.inert_id(event.session_id)
    head = [console.inert_id(event.event_id), str(event.event_type), f"by {event.source}", f"in {session}"]
    if event.turn is not None:
        head.append(f"turn {event.turn}")
    if event.timestamp is not None:
        head.append(event.timestamp.isoformat())
    console.say(console.inert("  ".join(head)))
    for line in console.inert_lines(event.content).split("\n"):
        console.say(f"    {line}")
    if event.metadata:
        console.say(f"    {console.inert(json.dumps(event.metadata, ensure_ascii=False))}")
