"""`remember`: make the memories and summaries that are due."""

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.ids import DM
from dndbots.storage.ports import MAIN


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("remember")(remember)


def remember(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Make everybody's memories and summaries that are due. No model is asked.

    An interrupted run can be repeated; nothing is done twice.
    """
    with open_campaign(campaign, branch) as opened:
        before = opened.head
        with console.progress("remembering") as report:
            opened.remember(progress=report)
        made = opened.remembered(after=before)
    if as_json:
        console.say_json([agent._asdict() for agent in made])
    else:
        rows = [
            (agent.name, "" if agent.who == DM else agent.who, agent.summaries, agent.memories)
            for agent in made
        ]
        console.say_table(["who", "", "new summaries", "new memories"], rows)
