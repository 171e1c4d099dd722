"""Commands that answer for somebody: the log, the timeline, entities, and who knows what."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import show
from dndbots.cli.names import Names
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer, opened
from dndbots.ids import CATEGORIES, is_uid
from dndbots.storage.ports import MAIN
from dndbots.text.labels import write_name

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.canon.values import Entity, Fact, Moment
    from dndbots.events import GameEvent

_OPERATORS: Final = (">", "<", "@", "in", "->", "<-", "~")
_LAST: Final = 20
_MOST: Final = 1_000_000  # more than anybody reads, and a number that every database takes


def add_to(app: typer.Typer) -> None:
    app.command("log")(log)
    app.command("timeline")(timeline)
    app.command("entity")(entity)
    # Operators such as -> look like options, and are none.
    app.command("who-knows", context_settings={"ignore_unknown_options": True})(who_knows)


def log(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, max=_MOST, help="Only the newest N events.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Shows the events that the viewer perceived, as they are stored; in JSON, an event a line."""
    with opened(campaign, branch) as source:
        for event in source.events(viewer=viewer, last=last):
            if as_json:
                show.say_json(event)
            else:
                _say_event(event)


def _say_event(event: "GameEvent") -> None:
    """The head of an event stands at the edge, and nothing of its text does: text cannot pass for a head."""
    session = show.inert_id(event.session_id)
    head = [show.inert_id(event.event_id), str(event.event_type), f"by {event.source}", f"in {session}"]
    if event.turn is not None:
        head.append(f"turn {event.turn}")
    if event.timestamp is not None:
        head.append(event.timestamp.isoformat())
    show.say(show.inert("  ".join(head)))
    for line in show.inert_lines(event.content).split("\n"):
        show.say(f"    {line}")
    if event.metadata:
        show.say(f"    {show.inert(json.dumps(event.metadata, ensure_ascii=False))}")


def timeline(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=_MOST, help="How many events.")
    ] = _LAST,
    about: Annotated[
        str | None, typer.Option("--about", metavar="WHO", help="Only what concerned somebody.")
    ] = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows the newest of what the viewer perceived, in the names that the viewer knows."""
    with opened(campaign, branch) as source:
        moments = source.timeline(viewer=viewer, last=last, about=about, as_of=as_of)
    if as_json:
        show.say_json(moments)
    for session, told in () if as_json else groupby(moments, _session):
        show.say(f"{show.inert_id(session)}:")
        show.say_table(
            ["who", "text", "place"], [(one.who, one.text, one.where) for one in told], wide="text"
        )


def _session(moment: "Moment") -> str:
    return moment.session


def entity(
    who: Annotated[
        str | None, typer.Argument(metavar="WHO", help="A uid or a name; without it, all are listed.")
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="CATEGORY", help=f"List only these: {' '.join(CATEGORIES)}."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also what was held true earlier, and what ended it.")
    ] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows somebody or something as the viewer knows it, or lists all that the viewer knows of."""
    if category is not None and (who is not None or category.upper() not in CATEGORIES):
        problem = "is for the list, without WHO" if who is not None else f"is one of {' '.join(CATEGORIES)}"
        raise typer.BadParameter(f"{problem}, not {category!r}", param_hint="--category")
    if history and who is None:
        raise typer.BadParameter("needs WHO: whose history it is", param_hint="--history")
    with opened(campaign, branch) as source:
        if who is None:
            wanted = category.upper() if category is not None else None
            _say_entities(source.entities(viewer=viewer, category=wanted, as_of=as_of), as_json=as_json)
            return
        found = source.entity(who, viewer=viewer, as_of=as_of)
        past = source.history(who, viewer=viewer, as_of=as_of) if history else None
        names = Names(source, viewer, as_of)
        if as_json:
            shown = found.model_dump(mode="json")
            show.say_json(shown if past is None else {**shown, "history": past})
        else:
            _say_entity(found)
            _say_facts(found.facts if past is None else past, names, is_history=past is not None)


def _say_entities(found: list["Entity"], *, as_json: bool) -> None:
    if as_json:
        show.say_json(found)
    elif not found:
        show.say("nobody and nothing is known")
    else:
        rows = [(one.uid, one.name, "" if one.alive else "dead", one.location) for one in found]
        show.say_table(["uid", "name", "", "place"], rows)


def _say_entity(found: "Entity") -> None:
    show.say(show.inert(f"{write_name(found.name)} ({found.uid})"))
    told = {
        "category": found.category,
        "also called": ", ".join(found.aliases),
        "the same as": ", ".join(found.merged),
        "state": "" if found.alive else "dead",
        "place": found.location,
        "conditions": ", ".join(found.conditions),
        "carries": ", ".join(f"{name} x{number}" for name, number in found.inventory.items()),
        "objectives": ", ".join(f"{name}: {state}" for name, state in found.objectives.items()),
    }
    for what, words in told.items():
        if words:
            show.say(f"  {what}: {show.inert(words)}")


def _say_facts(facts: Iterable["Fact"], names: Names, *, is_history: bool) -> None:
    from dndbots.canon.claims import plain_key

    rows = []
    for fact in facts:
        what, value = (
            (fact.op, names.of(fact.object))
            if fact.op
            else (plain_key(fact.key or ""), _worded(fact.value, names))
        )
        row = [what, "no longer" if fact.ended and not value else value, fact.certainty, fact.valid_from]
        rows.append([*row, fact.superseded_by] if is_history else row)
    if rows:
        columns = ["what", "is", "certainty", "since"]
        show.say_table([*columns, "until"] if is_history else columns, rows)


def _worded(value: object, names: Names) -> str:
    if isinstance(value, list) and all(isinstance(one, str) and is_uid(one) for one in value):
        return "\n".join(map(names.of, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def who_knows(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Of whom or what: a uid or a name.")],
    slot: Annotated[
        str,
        typer.Argument(
            metavar="KEY_OR_OP", help=f"A key such as mood, or an operator: `{' '.join(_OPERATORS)}`."
        ),
    ],
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE", help="What it is: text, a number, or whom the operator points to; else anything."
        ),
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows who holds a fact, how surely, and where from. It answers for the DM, and tells secrets."""
    with opened(campaign, branch) as source:
        asked = _asked(source, subject, slot, value)
        found = source.who_knows(asked, as_of=as_of)
        names = Names(source, "dm", as_of)
        if as_json:
            show.say_json(found)
        elif not found:
            show.say("nobody but the DM, if anybody")
        else:
            rows = []
            for one in found:
                held = names.of(one.fact.object) if one.fact.op else _worded(one.fact.value, names)
                said_by = f", from {names.of(one.fact.said_by)}" if one.fact.said_by else ""
                how = f"{one.fact.how}{said_by}"
                rows.append((names.of(one.holder), held, one.fact.certainty, how, one.fact.learned_from))
            show.say_table(["who", "holds", "certainty", "how", "learned from"], rows)


def _asked(source: "Campaign", subject: str, slot: str, value: str | None) -> dict[str, object]:
    if slot not in _OPERATORS:
        return {"subject": subject, "key": slot, "value": _typed(value)}
    if value is not None and not is_uid(value):
        value = source.entity(value, viewer="dm").uid
    return {"subject": subject, "op": slot, "object": value}


def _typed(value: str | None) -> object:
    """A number, a truth value or a list as JSON has them; whatever else it is, it is text."""
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return value
