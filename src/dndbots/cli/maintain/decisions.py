"""`pin`, `lock`, `forget` and `correct`: decide what is remembered, and how. Each decision is an event."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, AsJson, OnBranch
from dndbots.cli.viewers import open_for
from dndbots.errors import AmbiguousName, InvalidSetting, UnknownEntity, UnknownEvent
from dndbots.ids import DM, category_of, is_uid
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.events import GameEvent

Target = Annotated[
    str, typer.Argument(metavar="ID", help="The id of an event or a memory; `memories` and `log` show them.")
]
ForViewer = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="NAME", help="Only for this character. For all who perceived it if omitted."
    ),
]
Undo = Annotated[bool, typer.Option("--undo", help="Undo the decision.")]

_FACT: Final = re.compile(r"([^=\s]+)=(.*)", re.DOTALL)
_IDS: Final = "`dndbots memories --as NAME --summary` and `dndbots log --as NAME` show the ids"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (pin, lock, forget, correct):
        app.command(command.__name__)(command)


def pin(
    target: Target,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Keep an event or a memory in every context of those who perceived it."""
    with _open_for_decision(target, viewer, campaign, branch) as opened:
        decision = opened.pin(target, on=not undo, viewer=viewer)
    _say_decision(decision, as_json=as_json)


def lock(
    target: Target,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Protect a memory from pruning, summaries, corrections and forgetting."""
    with _open_for_decision(target, viewer, campaign, branch) as opened:
        decision = opened.lock(target, on=not undo, viewer=viewer)
    _say_decision(decision, as_json=as_json)


def forget(
    target: Target,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Leave an event or a memory out of every context. The log keeps it."""
    with _open_for_decision(target, viewer, campaign, branch) as opened:
        decision = opened.forget(target, on=not undo, viewer=viewer)
    _say_decision(decision, as_json=as_json)


def correct(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="The id of an event or a memory; for a fact, a name or a uid."),
    ],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The corrected text; for a fact, KEY=VALUE."),
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Correct the words of an event or a memory, or the value of a fact. The log keeps both versions.

    `correct Elena mood=merry` corrects a fact: everybody who held the old value holds the new one.
    Numbers, true and false are read as such.
    """
    if undo == (text is not None):
        problem = (
            "takes no TEXT: it restores the old words" if undo else "is missing: give the corrected text"
        )
        raise typer.BadParameter(problem, param_hint="--undo" if undo else "TEXT")
    if _is_entity(target):
        with open_for(DM, campaign, branch) as (opened, _):
            _correct_fact(opened, target, text, viewer, as_json=as_json)
        return
    with _open_for_decision(target, viewer, campaign, branch) as opened:
        try:
            decision = opened.correct(target, text, viewer=viewer)
        except UnknownEvent:
            # Names and event ids can be spelled alike, so events come first.
            if not (_FACT.fullmatch(text or "") and _is_name(opened, target, viewer or DM)):
                raise
            _correct_fact(opened, target, text, viewer, as_json=as_json)
            return
    _say_decision(decision, as_json=as_json)


def _is_entity(target: str) -> bool:
    """Tell whether a target is the uid of an entity. Events have uids too, but no facts."""
    return is_uid(target) and category_of(target) not in (None, "EVT")


def _is_name(opened: "Campaign", target: str, viewer: str) -> bool:
    try:
        opened.entity(target, viewer=viewer)
    except UnknownEntity:
        return False
    except AmbiguousName:
        return True
    return True


def _correct_fact(
    opened: "Campaign", subject: str, text: str | None, viewer: str | None, *, as_json: bool
) -> None:
    if viewer is not None:
        raise typer.BadParameter("is for events and memories; a fact is the same for all", param_hint="--as")
    parts = _FACT.fullmatch(text or "")
    if parts is None:
        raise failures.Refusal(
            f"write a fact of {subject} as KEY=VALUE, such as mood=merry; to undo, write the old value"
        )
    key, value = parts[1], _parse_value(parts[2])
    correction = opened.correct_fact(subject, key, value)
    if as_json:
        console.say_json({"event_id": correction.event_id, "subject": subject, "key": key, "value": value})
    else:
        console.say(console.inert(f"{subject}: {key} is now {parts[2]}: {correction.event_id}"))


def _parse_value(value: str) -> str | float | bool:
    """Return a number or a boolean if the text is one in JSON, else the text itself."""
    try:
        parsed = json.loads(value)
        return parsed if isinstance(parsed, int | float) and isfinite(parsed) else value
    except (ValueError, OverflowError, RecursionError):
        return value


@contextmanager
def _open_for_decision(target: str, viewer: str | None, where: str, branch: str) -> "Iterator[Campaign]":
    """Open a campaign for a decision; explain a target that is not there or that is locked."""
    with open_for(viewer or DM, where, branch) as (opened, who):
        try:
            yield opened
        except InvalidSetting as exc:
            if exc.name != "target":
                raise
            raise failures.Refusal(f"{target!r} {exc.reason}: `dndbots lock ID --undo`") from exc
        except UnknownEvent as exc:
            perceived = "" if viewer is None else f" that {viewer} perceived"
            problem = f"there is no event or memory {target!r}{perceived}"
            if _is_name(opened, target, who):
                problem = f"{target!r} is a name, and this takes the id of an event or a memory"
            raise failures.Refusal(f"{problem}; {_IDS}") from exc


def _say_decision(decision: "GameEvent", *, as_json: bool) -> None:
    gate = decision.known.gate
    if gate is None:
        raise TypeError(f"{decision.event_id} decides nothing")
    if as_json:
        console.say_json({"event_id": decision.event_id, **gate.model_dump(mode="json")})
        return
    state = f"is {gate.what}" if gate.on else f"is no longer {gate.what}"
    for_one = "" if gate.holder is None else f" for {gate.holder}"
    console.say(console.inert(f"{gate.target} {state}{for_one}: {decision.event_id}"))
