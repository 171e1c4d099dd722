"""`recall`: find what somebody perceived about a question."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.recall.search import Recall

_BUDGET: Final = 500


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    # Extra arguments: words of a question without quotes, or the older spelling `recall NAME QUESTION`.
    app.command("recall", context_settings={"allow_extra_args": True})(recall)


def recall(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in your own words.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="Tokens the answer may have; 200 or more.")
    ] = _BUDGET,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find what a character perceived about a question: facts first, then lines in order of play.

    Each line is cited by event, session and speaker. Says "No record." if nothing answers well enough.
    No model is asked.
    """
    if viewer is None and len(ctx.args) == 1:
        viewer, question = question, ctx.args[0]
    else:
        question = " ".join((question, *ctx.args))
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        result = source.recall(who, question, budget, as_of=as_of)
    if as_json:
        console.say_json(result)
    else:
        say_recall(result)


def say_recall(result: "Recall") -> None:
    """Print the lines of an answer, or that there is none."""
    if result.no_record:
        console.say("No record.")
    for item in result.items:
        console.say_indented(item.text)
