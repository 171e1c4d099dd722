"""Commands on branches: list them, fork one, take back a round of play."""

from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("branches")(branches)
    app.command("fork")(fork)
    app.command("undo")(undo)


def branches(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """List the branches of a campaign: where each was forked, and how many events it added."""
    with open_campaign(campaign, branch) as opened:
        listed = _list_branches(opened)
    if as_json:
        console.say_json(listed)
    else:
        rows = [[one["name"], one["parent"], one["forked_at"], one["events"]] for one in listed]
        console.say_table(["name", "forked from", "after event no.", "own events"], rows)


def fork(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new branch.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="EVENT", help="The last event both branches share. The newest if omitted."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a branch that shares the past up to an event and goes its own way from there."""
    with open_campaign(campaign, branch) as parent:
        parent.fork(name, at=at).close()
        created = next(one for one in _list_branches(parent) if one["name"] == name)
    if as_json:
        console.say_json(created)
    else:
        start = f"event {at}" if at is not None else "the newest event"
        console.say(console.inert(f"created the branch {name}, from {branch} at {start}"))


def undo(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Take back the last round of a game, memory included. The round is kept in a branch of its own."""
    from dndbots.game.undo import take_back

    with open_campaign(campaign, branch) as played:
        undone = take_back(played)
    if as_json:
        console.say_json({"round": undone.round, "kept_as": undone.kept_as})
    else:
        console.say(console.inert(f"took back round {undone.round}; the branch {undone.kept_as} keeps it"))


def _list_branches(campaign: "Campaign") -> list[dict[str, str | int | None]]:
    found = campaign.branches()
    names = {branch.id: branch.name for branch in found}
    return [
        {
            "name": branch.name,
            "parent": None if branch.parent is None else names[branch.parent],
            "forked_at": branch.forked_at,
            "head": branch.head,
            "events": branch.head - branch.forked_at,
        }
        for branch in found
    ]
