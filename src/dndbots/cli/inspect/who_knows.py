"""`who-knows`: show who holds a fact, and from where."""

import json
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.inspect.entity import render_value
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch
from dndbots.cli.viewers import ViewerNames, open_for
from dndbots.ids import DM, is_uid
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

_OPERATORS: Final = (">", "<", "@", "in", "->", "<-", "~")


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    # Operators such as -> look like options but are none.
    app.command("who-knows", context_settings={"ignore_unknown_options": True})(who_knows)


def who_knows(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whose fact it is: a name or a uid.")],
    slot: Annotated[
        str,
        typer.Argument(
            metavar="KEY_OR_OP", help=f"A key such as mood, or an operator: `{' '.join(_OPERATORS)}`."
        ),
    ],
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="Text, a number, or the operator's target by name. Any value if omitted."
        ),
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show who holds a fact, how sure they are, and how they learned it. For the DM: it reveals secrets."""
    with open_for(DM, campaign, branch, as_of=as_of) as (source, _):
        holders = source.who_knows(_query(source, subject, slot, value), as_of=as_of)
        names = ViewerNames(source, DM, as_of)
        if as_json:
            console.say_json(holders)
        elif not holders:
            console.say("no character knows this")
        else:
            rows = []
            for knowing in holders:
                fact = knowing.fact
                held = names.render_cell(fact.object) if fact.op else render_value(fact.value, names)
                said_by = f", from {names.render_cell(fact.said_by)}" if fact.said_by else ""
                holder = names.render_cell(knowing.holder)
                rows.append((holder, held, fact.certainty, f"{fact.how}{said_by}", fact.learned_from))
            console.say_table(["who", "holds", "certainty", "how", "learned from"], rows)


def _query(source: "Campaign", subject: str, slot: str, value: str | None) -> dict[str, object]:
    if slot not in _OPERATORS:
        return {"subject": subject, "key": slot, "value": _parse_value(value)}
    if value is not None and not is_uid(value):
        value = source.entity(value, viewer=DM).uid
    return {"subject": subject, "op": slot, "object": value}


def _parse_value(value: str | None) -> object:
    """Return a number, a boolean or a list if the text is one in JSON, else the text itself."""
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return value
