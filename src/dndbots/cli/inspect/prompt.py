"""`prompt`: print exactly what a model in a seat would be sent now."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dndbots.cli import console, failures
from dndbots.cli.inspect.context import say_xray
from dndbots.cli.options import Address, AsJson, OnBranch
from dndbots.cli.viewers import open_for
from dndbots.errors import NoGame
from dndbots.storage.ports import MAIN
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

if TYPE_CHECKING:
    from dndbots.game.preview import SeatPreview
    from dndbots.llm.protocol import Question


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("prompt")(prompt)


def prompt(
    who: Annotated[
        str, typer.Argument(metavar="WHO", help="The seat: dm, a character, or somebody they met.")
    ],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    tools: Annotated[bool, typer.Option("--tools", help="Print the schemas of the tools, too.")] = False,
    xray: Annotated[
        bool, typer.Option("--xray", help="Explain each line of the memory instead: reason, cost, sources.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what a model in a seat would be sent now: system prompt, question, tools, and their tokens.

    Any seat can be looked at, also one that a person or the house plays. Nothing is recorded and no model is
    asked. The DM of a split party gets a question for each scene.
    """
    from dndbots.game.preview import preview_seat

    with open_for(who, campaign, branch) as (source, viewer):
        try:
            seat = preview_seat(source, viewer)
        except NoGame as exc:
            raise failures.Refusal(
                f"{exc}; prompts are made in a game. See a memory with: dndbots context --as {viewer}"
            ) from exc
    if as_json:
        console.say_json({"who": seat.who, "questions": [as_data(one) for one in seat.questions]})
    elif xray and seat.context is not None:
        say_xray(seat.context, short=False)
    else:
        _say(seat, tools=tools)


def as_data(question: "Question") -> dict[str, Any]:
    """Return a question as data: its texts, its tools, and the tokens of each."""
    from dndbots.llm.tool_schemas import as_function

    schemas = [as_function(tool) for tool in question.tools]
    tokens = {
        "system": count_tokens(question.system, DEFAULT_ENCODING),
        "question": count_tokens(question.text, DEFAULT_ENCODING),
        "tools": sum(count_tokens(json.dumps(one), DEFAULT_ENCODING) for one in schemas),
    }
    return {
        "role": question.role.value,
        "system": question.system,
        "question": question.text,
        "tools": schemas,
        "tokens": {**tokens, "total": sum(tokens.values())},
    }


def _say(seat: "SeatPreview", *, tools: bool) -> None:
    if not seat.questions:
        console.say("nobody would be asked now")
    for number, question in enumerate(seat.questions, 1):
        told = as_data(question)
        of = f" {number} of {len(seat.questions)}" if len(seat.questions) > 1 else ""
        console.say_text(f"===== system{of}")
        console.say_text(told["system"])
        console.say_text(f"===== question{of}")
        console.say_text(told["question"])
        names = ", ".join(tool.name for tool in question.tools) or "none"
        console.say_text(f"===== tools: {names}")
        for schema in told["tools"] if tools else ():
            console.say_text(json.dumps(schema, ensure_ascii=False))
        tokens = told["tokens"]
        console.say_text(
            f"===== {tokens['total']} tokens: system {tokens['system']}, question {tokens['question']}, "
            f"tools {tokens['tools']}"
        )
