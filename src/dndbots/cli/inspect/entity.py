"""`entity`: show a character, place or thing as somebody knows it, or list all of them."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import ViewerNames, open_for
from dndbots.ids import CATEGORIES, is_uid
from dndbots.storage.ports import MAIN
from dndbots.text.labels import write_name

if TYPE_CHECKING:
    from dndbots.canon.entities import Entity, Fact


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("entity")(entity)


def entity(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A name or a uid. Lists everything if omitted.")
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="CATEGORY", help=f"List only one of {' '.join(CATEGORIES)}."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Include earlier facts and the event that ended each.")
    ] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show a person, place or thing as a character knows it; without NAME, list everything it knows."""
    if category is not None and (name is not None or category.upper() not in CATEGORIES):
        problem = (
            "filters the list, without NAME" if name is not None else f"is one of {' '.join(CATEGORIES)}"
        )
        raise typer.BadParameter(f"{problem}, not {category!r}", param_hint="--category")
    if history and name is None:
        raise typer.BadParameter("needs NAME: whose history to show", param_hint="--history")
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        if name is None:
            wanted = category.upper() if category is not None else None
            _say_entities(source.entities(viewer=who, category=wanted, as_of=as_of), as_json=as_json)
            return
        known = source.entity(name, viewer=who, as_of=as_of)
        past = source.history(name, viewer=who, as_of=as_of) if history else None
        names = ViewerNames(source, who, as_of)
        if as_json:
            shown = known.model_dump(mode="json")
            console.say_json(shown if past is None else {**shown, "history": past})
        else:
            _say_entity(known, names)
            _say_facts(known.facts if past is None else past, names, is_history=past is not None)


def _say_entities(entities: list["Entity"], *, as_json: bool) -> None:
    if as_json:
        console.say_json(entities)
    elif not entities:
        console.say("nothing is known yet")
    else:
        rows = [(known.uid, known.name, "" if known.alive else "dead", known.location) for known in entities]
        console.say_table(["uid", "name", "", "place"], rows)


def _say_entity(entity: "Entity", names: ViewerNames) -> None:
    console.say(console.inert(f"{write_name(entity.name)} ({entity.uid})"))
    properties = {
        "category": entity.category,
        "also called": ", ".join(entity.aliases),
        "the same as": ", ".join(entity.merged),
        "state": "" if entity.alive else "dead",
        "place": "" if entity.location is None else names.label(entity.location),
        "conditions": ", ".join(entity.conditions),
        "carries": ", ".join(f"{name} x{number}" for name, number in entity.inventory.items()),
        "objectives": ", ".join(f"{name}: {state}" for name, state in entity.objectives.items()),
    }
    for title, words in properties.items():
        if words:
            console.say(f"  {title}: {console.inert(words)}")


def _say_facts(facts: Iterable["Fact"], names: ViewerNames, *, is_history: bool) -> None:
    from dndbots.canon.claims import plain_key

    rows = []
    for fact in facts:
        if fact.op:
            title, value = fact.op, names.render_cell(fact.object)
        else:
            title, value = plain_key(fact.key or ""), render_value(fact.value, names)
        row = [title, "no longer" if fact.ended and not value else value, fact.certainty, fact.valid_from]
        rows.append([*row, fact.superseded_by] if is_history else row)
    if rows:
        columns = ["what", "is", "certainty", "since"]
        console.say_table([*columns, "until"] if is_history else columns, rows)


def render_value(value: object, names: ViewerNames) -> str:
    """Return the value of a fact for a table cell: uids by name, text as it is, anything else as JSON."""
    if isinstance(value, list) and all(isinstance(part, str) and is_uid(part) for part in value):
        return "\n".join(map(names.render_cell, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
