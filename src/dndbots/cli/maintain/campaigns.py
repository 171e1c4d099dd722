"""Commands on whole campaigns: create and list them, check and rebuild them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.errors import CampaignMissing, DndbotsError
from dndbots.storage.ports import MAIN, Branch

_FOLDER = Path("campaigns")


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("new")(new)
    app.command("list")(list_campaigns)
    app.command("verify")(verify)
    app.command("rebuild")(rebuild)


class ListedCampaign(NamedTuple):
    """A campaign in a list; `problem` says why it cannot be opened."""

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
    """Create a campaign. Fails if the campaign already exists."""
    shown = failures.without_password(path)
    try:
        open_campaign(path, MAIN).close()
    except CampaignMissing:
        open_campaign(path, MAIN, create=True).close()
    else:
        raise failures.Refusal(f"{shown} already has a campaign; choose another path")
    if as_json:
        console.say_json({"campaign": shown})
    else:
        console.say(f"created {console.inert(shown)}")


def list_campaigns(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", file_okay=False, help="The folder with the campaigns.")
    ] = _FOLDER,
    *,
    as_json: AsJson = False,
) -> None:
    """List the campaigns in a folder. Reports those that cannot be opened on standard error."""
    from dndbots.storage.sql.sqlite import FILE

    campaigns = [_read_summary(file.parent) for file in sorted(folder.glob(f"*/{FILE}"))]
    sound = [campaign for campaign in campaigns if campaign.problem is None]
    if as_json:
        keys = ("name", "campaign", "events", "branches")
        rows = [(one.path.name, str(one.path), one.events, one.branches) for one in sound]
        console.say_json([dict(zip(keys, row, strict=True)) for row in rows])
    elif sound:
        rows_shown = [(one.path.name, one.events, one.branches) for one in sound]
        console.say_table(["name", "events", "branches"], rows_shown)
    elif not campaigns:
        inside = console.inert(str(folder))
        console.say(f"no campaigns in {inside}; `dndbots new {inside}/NAME` creates one")
    for campaign in campaigns:
        if campaign.problem is not None:
            console.note(f"error: {campaign.problem}")
    if len(sound) < len(campaigns):
        raise typer.Exit(failures.WRONG)


def _read_summary(path: Path) -> ListedCampaign:
    try:
        with open_campaign(str(path), MAIN) as campaign:
            branches = campaign.branches()
            return ListedCampaign(path, _count_events(branches), len(branches))
    except DndbotsError as exc:
        return ListedCampaign(path, problem=str(exc))


def _count_events(branches: Iterable[Branch]) -> int:
    return sum(branch.head - branch.forked_at for branch in branches)


def verify(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Check that log, views and files of all branches agree. Exits with 1 if they do not."""
    with open_campaign(campaign, branch) as opened:
        with console.progress("verifying") as report:
            problems = opened.verify(report)
        branches = opened.branches()
    events = _count_events(branches)
    if as_json:
        listed = [problem._asdict() for problem in problems]
        console.say_json(
            {"sound": not listed, "events": events, "branches": len(branches), "problems": listed}
        )
    elif problems:
        for problem in problems:
            console.say(console.inert(str(problem)))
    else:
        counts = console.counted(events, "event"), console.counted(len(branches), "branch", "branches")
        console.say(f"sound: {', '.join(counts)}")
    if problems:
        raise typer.Exit(failures.WRONG)


def rebuild(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Delete all views of all branches and build them again from the log. The log does not change."""
    with open_campaign(campaign, branch) as opened, console.progress("rebuilding") as report:
        events = opened.rebuild(report)
    if as_json:
        console.say_json({"events": events})
    else:
        console.say(f"rebuilt from {console.counted(events, 'event')}")
