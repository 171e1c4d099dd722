"""Commands with which people decide what is remembered, and how. Each decision is an event."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import faults, show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.ids import category_of, is_uid
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.events import GameEvent

Target = Annotated[
    str, typer.Argument(metavar="ID", help="An event or a memory, by its id: `memories` and `log` show them.")
]
ForViewer = Annotated[
    str | None,
    typer.Option("--viewer", metavar="WHO", help="Only for that one; else for all who perceived it."),
]
Undo = Annotated[bool, typer.Option("--undo", help="Take it back.")]

_FACT: Final = re.compile(r"([^=\s]+)=(.*)", re.DOTALL)
_IDS: Final = "`dndbots memories --viewer WHO --summary` and `dndbots log --viewer WHO` show the ids"


def add_to(app: typer.Typer) -> None:
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
    """Keeps an event or a memory in every context of those who perceived it."""
    with opened(campaign, branch) as table, _known(target, viewer):
        made = table.pin(target, on=not undo, viewer=viewer)
    _say_decided(made, as_json=as_json)


def lock(
    target: Target,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Keeps a memory as it is: neither pruned, nor summarised further, nor corrected, nor forgotten."""
    with opened(campaign, branch) as table, _known(target, viewer):
        made = table.lock(target, on=not undo, viewer=viewer)
    _say_decided(made, as_json=as_json)


def forget(
    target: Target,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Leaves an event or a memory out of every context. The log keeps it."""
    with opened(campaign, branch) as table, _known(target, viewer):
        made = table.forget(target, on=not undo, viewer=viewer)
    _say_decided(made, as_json=as_json)


def correct(
    target: Annotated[
        str,
        typer.Argument(metavar="ID", help="An event or a memory by its id, or somebody by a uid."),
    ],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The words that should stand there; of a uid, KEY=VALUE."),
    ] = None,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: ForViewer = None,
    undo: Undo = False,
    as_json: AsJson = False,
) -> None:
    """Puts an event or a memory into other words, or says what is so after all. The log keeps both.

    `correct npc_elena_001 mood=merry` corrects a fact: whoever held the old value holds the new one.
    Numbers, true and false are read as such.
    """
    if undo == (text is not None):
        problem = (
            "goes without TEXT: it brings the old words back"
            if undo
            else "is missing: say the words that should stand there"
        )
        raise typer.BadParameter(problem, param_hint="--undo" if undo else "TEXT")
    if _is_entity(target):
        _correct_fact(target, text, viewer, campaign, branch, as_json=as_json)
        return
    with opened(campaign, branch) as table, _known(target, viewer):
        made = table.correct(target, text, viewer=viewer)
    _say_decided(made, as_json=as_json)


def _is_entity(target: str) -> bool:
    """Somebody's or something's uid. Those of events are spelled alike, but nothing is said of them."""
    return is_uid(target) and category_of(target) not in (None, "EVT")


def _correct_fact(
    subject: str, text: str | None, viewer: str | None, campaign: str, branch: str, *, as_json: bool
) -> None:
    if viewer is not None:
        raise typer.BadParameter("is for events and memories; a fact holds for all", param_hint="--viewer")
    said = _FACT.fullmatch(text or "")
    if said is None:
        words = f"a fact of {subject} is said as KEY=VALUE, such as mood=merry; so is what it was before"
        raise faults.Refusal(words)
    key, value = said[1], _typed(said[2])
    with opened(campaign, branch) as table, _known_entity():
        made = table.correct_fact(subject, key, value)
    if as_json:
        show.say_json({"event_id": made.event_id, "subject": subject, "key": key, "value": value})
    else:
        show.say(show.inert(f"{subject}: {key} is {said[2]} from now on: {made.event_id}"))


def _typed(value: str) -> str | float | bool:
    """A number or a truth value as JSON has them; whatever else it is, it is text."""
    try:
        read = json.loads(value)
        return read if isinstance(read, int | float) and isfinite(read) else value
    except (ValueError, OverflowError, RecursionError):
        return value


@contextmanager
def _known(target: str, viewer: str | None) -> Iterator[None]:
    from dndbots.errors import InvalidSetting, UnknownEvent

    try:
        yield
    except InvalidSetting as exc:
        if exc.name != "target":
            raise
        raise faults.Refusal(f"{target!r} {exc.reason}: `dndbots lock ID --undo`") from exc
    except UnknownEvent as exc:
        perceived = "" if viewer is None else f" that {viewer} perceived"
        raise faults.Refusal(f"there is no event or memory {target!r}{perceived}; {_IDS}") from exc


@contextmanager
def _known_entity() -> Iterator[None]:
    from dndbots.errors import UnknownEntity

    try:
        yield
    except UnknownEntity as exc:
        raise faults.Refusal(f"{exc}; `dndbots entity --viewer dm` lists all uids") from exc


def _say_decided(made: "GameEvent", *, as_json: bool) -> None:
    gate = made.known.gate
    if gate is None:
        raise TypeError(f"{made.event_id} decides nothing")
    if as_json:
        show.say_json({"event_id": made.event_id, **gate.model_dump(mode="json")})
        return
    state = f"is {gate.what}" if gate.on else f"is no longer {gate.what}"
    for_one = "" if gate.holder is None else f" for {gate.holder}"
    show.say(show.inert(f"{gate.target} {state}{for_one}: {made.event_id}"))
