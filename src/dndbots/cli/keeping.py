"""Commands that keep campaigns: making, listing, forking, rebuilding and checking them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dndbots.cli import faults, show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.errors import CampaignMissing, DndbotsError
from dndbots.storage.ports import MAIN, Branch

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

_FOLDER = Path("campaigns")


def add_to(app: typer.Typer) -> None:
    for name, command in (
        ("new", new),
        ("list", list_campaigns),
        ("fork", fork),
        ("undo", undo),
        ("branches", branches),
        ("rebuild", rebuild),
        ("verify", verify),
    ):
        app.command(name)(command)


class _Listed(NamedTuple):
    """A campaign in a list; `problem` is why it cannot be opened."""

    path: Path
    events: int = 0
    branches: int = 0
    problem: str | None = None


def new(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A folder, or postgresql://…/database?campaign=name.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Makes a campaign. One that is there already is left alone, and that is an error."""
    shown = faults.without_password(path)
    try:
        opened(path, MAIN).close()
    except CampaignMissing:
        opened(path, MAIN, create=True).close()
    else:
        raise faults.Refusal(f"there is a campaign at {shown} already; choose another place")
    if as_json:
        show.say_json({"campaign": shown})
    else:
        show.say(f"made {show.inert(shown)}")


def list_campaigns(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", file_okay=False, help="Where the campaigns' folders are.")
    ] = _FOLDER,
    *,
    as_json: AsJson = False,
) -> None:
    """Lists the campaigns in a folder. One that cannot be opened is told on standard error."""
    from dndbots.storage.sql.sqlite import FILE

    found = [_listed(file.parent) for file in sorted(folder.glob(f"*/{FILE}"))]
    sound = [one for one in found if one.problem is None]
    if as_json:
        keys = ("name", "campaign", "events", "branches")
        rows = [(one.path.name, str(one.path), one.events, one.branches) for one in sound]
        show.say_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif sound:
        rows_shown = [(one.path.name, one.events, one.branches) for one in sound]
        show.say_table(["name", "events", "branches"], rows_shown)
    elif not found:
        inside = show.inert(str(folder))
        show.say(f"no campaigns in {inside}; `dndbots new {inside}/NAME` makes one")
    for one in found:
        if one.problem is not None:
            show.note(f"error: {one.problem}")
    if len(sound) < len(found):
        raise typer.Exit(faults.WRONG)


def _listed(path: Path) -> _Listed:
    try:
        with opened(str(path), MAIN) as campaign:
            found = campaign.branches()
            return _Listed(path, _events_in(found), len(found))
    except DndbotsError as exc:
        return _Listed(path, problem=str(exc))


def fork(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the new branch is called.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="EVENT", help="The last event of the shared past; else the newest."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Makes a branch that shares the past, and goes its own way from there."""
    with opened(campaign, branch) as parent:
        parent.fork(name, at=at).close()
        made = next(one for one in _branches_of(parent) if one["name"] == name)
    if as_json:
        show.say_json(made)
    else:
        place = f"event {at}" if at is not None else "the newest event"
        show.say(show.inert(f"made the branch {name}, from {branch} at {place}"))


def undo(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Takes the last round of a game back, memory included. What was played is kept in a branch."""
    from dndbots.game.undoing import take_back

    with opened(campaign, branch) as played:
        taken = take_back(played)
    if as_json:
        show.say_json({"round": taken.round, "kept_as": taken.kept_as})
    else:
        show.say(show.inert(f"round {taken.round} is taken back; what was played is kept in {taken.kept_as}"))


def branches(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Lists the branches of a campaign: where each was forked, and how many events it added."""
    with opened(campaign, branch) as opened_campaign:
        found = _branches_of(opened_campaign)
    if as_json:
        show.say_json(found)
    else:
        rows = [[one["name"], one["parent"], one["forked_at"], one["events"]] for one in found]
        show.say_table(["name", "forked from", "after event no.", "own events"], rows)


def _branches_of(campaign: "Campaign") -> list[dict[str, str | int | None]]:
    found = campaign.branches()
    names = {one.id: one.name for one in found}
    return [
        {
            "name": one.name,
            "parent": None if one.parent is None else names[one.parent],
            "forked_at": one.forked_at,
            "head": one.head,
            "events": one.head - one.forked_at,
        }
        for one in found
    ]


def _events_in(found: list[Branch]) -> int:
    return sum(one.head - one.forked_at for one in found)


def rebuild(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Drops every view of every branch, and makes it again from the log, which is taken as it is."""
    with opened(campaign, branch) as opened_campaign, show.progress("rebuilding") as report:
        events = opened_campaign.rebuild(report)
    if as_json:
        show.say_json({"events": events})
    else:
        show.say(f"rebuilt from {show.counted(events, 'event')}")


def verify(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Checks that log, views and files agree, in every branch. Exits with 1 if they do not."""
    with opened(campaign, branch) as opened_campaign:
        with show.progress("verifying") as report:
            problems = opened_campaign.verify(report)
        found = opened_campaign.branches()
    events = _events_in(found)
    if as_json:
        told = [problem._asdict() for problem in problems]
        show.say_json({"sound": not told, "events": events, "branches": len(found), "problems": told})
    elif problems:
        for problem in problems:
            show.say(show.inert(str(problem)))
    else:
        show.say(f"sound: {show.counted(events, 'event')}, {show.counted(len(found), 'branch', 'branches')}")
    if problems:
        raise typer.Exit(faults.WRONG)
