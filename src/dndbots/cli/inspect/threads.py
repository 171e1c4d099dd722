"""`threads`: show promises, mysteries and threats that may come back."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.threads import Thread


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("threads")(threads)


def threads(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    everything: Annotated[bool, typer.Option("--all", help="Include resolved threads.")] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show the threads a character knows of that may come back, the best callback first.

    A thread is dormant after twenty turns without a mention.
    """
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        known = source.threads(who, resolved=everything, as_of=as_of)
    if as_json:
        console.say_json([*map(thread_as_json, known)])
    elif not known:
        console.say("no threads")
    else:
        columns = ["kind", "text, and why", "state", "turns ago", "times", "score"]
        console.say_table(columns, map(_row, known), wide="text, and why")


def thread_as_json(thread: "Thread") -> dict[str, Any]:
    """Return a thread as JSON data, with the reason for its score."""
    return {**thread.model_dump(mode="json"), "reason": thread.reason}


def _row(thread: "Thread") -> list[object]:
    text = f"{console.inert(thread.text)}\n({thread.reason})"  # narrower than a column for each
    return [thread.kind, text, thread.state, thread.turns, thread.times, f"{thread.score:.2f}"]
