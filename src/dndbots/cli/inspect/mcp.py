"""`mcp`: let an assistant ask what one seat knows."""

from typing import Annotated

import typer

from dndbots.cli import failures
from dndbots.cli.options import Address, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("mcp")(mcp)


def mcp(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    write: Annotated[
        bool, typer.Option("--write", help="Let the assistant record lines and decisions too.")
    ] = False,
) -> None:
    """Serve the memory of one seat to an assistant, by MCP on standard input and output.

    The assistant starts this command itself; docs/agents.md shows the settings. It can read what the seat
    knows and nothing else: no question can change the seat. Needs `pip install 'dndbots[mcp]'`.
    """
    with open_for(viewer, campaign, branch) as (source, who):
        try:
            from dndbots.server.mcp.seat_memory import SeatMemory
            from dndbots.server.mcp.seat_server import build_server
            from dndbots.server.tables.branch_follower import BranchFollower

            follower = BranchFollower(source)
            server = build_server(SeatMemory(lambda: follower.campaign, who), write=write)
        except ModuleNotFoundError as exc:
            message = "MCP is not installed; pip install 'dndbots[mcp]' adds it"
            raise failures.Refusal(message, code=failures.UNUSABLE) from exc
        server.run()
