"""The command that asks what somebody can know."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Reader, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.recalling import Recall

_BUDGET: Final = 500


def add_to(app: typer.Typer) -> None:
    app.command("recall")(recall)


def recall(
    viewer: Reader,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="How many tokens the answer may have; 200 or more.")
    ] = _BUDGET,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Finds what the viewer perceived on a question: facts, then lines in order of play. No model is asked.

    Each is cited by event, session and speaker. If nothing answers well enough, there is no record.
    """
    with opened(campaign, branch) as source:
        found = source.recall(viewer, question, budget, as_of=as_of)
    if as_json:
        show.say_json(found)
    else:
        say_recall(found)


def say_recall(found: "Recall") -> None:
    if found.no_record:
        show.say("No record.")
    for item in found.items:
        show.say_indented(item.text)
