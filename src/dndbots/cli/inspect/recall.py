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
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why each line was found, its score and its sources.")
    ] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find what a character perceived about a question: facts first, then lines, the best run of lines first.

    Lines are numbered; where a run of lines begins is told once. Says "No record." if nothing stands out
    from what chance would find. No model is asked.
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
        say_recall(result, explain=explain)


def say_recall(result: "Recall", *, explain: bool = False) -> None:
    """Print the lines of an answer, or that there is none; with `explain`, why each line is there."""
    if result.no_record:
        console.say("No record.")
        return
    lines = result.text.splitlines()
    if len(lines) > len(result.items):
        console.say(lines.pop(0))
    for item, line in zip(result.items, lines, strict=True):
        console.say_indented(line)
        if explain:
            parts = ", ".join(f"{name} {share:.2f}" for name, share in item.parts.items())
            score = f"score {item.score:.2f}{f' ({parts})' if parts else ''}, {item.confidence}"
            console.say_indented(f"{score}; {item.reason}; from {', '.join(item.sources)}", depth=6)
