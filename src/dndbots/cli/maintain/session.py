"""`session`: start a session of a campaign."""

from typing import Annotated

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.storage.ports import MAIN


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    sessions = typer.Typer(no_args_is_help=True, help="Start a session of a campaign.")
    sessions.callback()(lambda: None)  # without a callback, typer would drop the name of a single command
    sessions.command("start")(start_session)
    app.add_typer(sessions, name="session")


def start_session(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the session, such as s02.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="The topic of the session.")] = "",
    as_json: AsJson = False,
) -> None:
    """Start a session. Everybody keeps summaries, facts and threads, and starts with an empty buffer."""
    from dndbots.errors import DuplicateEvent

    with open_campaign(campaign, branch) as opened:
        try:
            started = opened.start_session(name, title=title)
        except DuplicateEvent as exc:
            raise failures.Refusal(f"the session {name!r} already exists; choose another name") from exc
    if as_json:
        console.say_json({"session": started.session_id, "event_id": started.event_id})
    else:
        console.say(console.inert(f"started the session {started.session_id}: {started.event_id}"))
