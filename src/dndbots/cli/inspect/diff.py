"""`diff`: compare what two characters know."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import MOST, Address, AsJson, AsOf, OnBranch
from dndbots.cli.viewers import open_for
from dndbots.ids import DM
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.differences import Difference, MetEntity, Side, WordedFact

_LAST: Final = 10


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("diff")(diff)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A name, a uid, or dm, who sees everything.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one, named in the same way.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=0, max=MOST, help="Show the newest N of each kind.")
    ] = _LAST,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show what A knows and B does not, what B knows and A does not, and where they disagree.

    For the DM: it reveals the secrets of both. With --json, only the events are cut to the newest.
    """
    with open_for(DM, campaign, branch, as_of=as_of) as (source, _):
        difference = source.diff(a, b, last=last, as_of=as_of)
    if as_json:
        console.say_json(difference)
    elif difference.is_empty:
        console.say(f"{_label(difference.a)} and {_label(difference.b)} know the same")
    else:
        _say_side(difference.a, difference.b, last)
        _say_side(difference.b, difference.a, last)
        _say_disagreements(difference, last)


def _label(side: "Side") -> str:
    return console.inert(side.name if side.viewer == DM else f"{side.name} ({side.viewer})")


def _say_side(side: "Side", other: "Side", last: int) -> None:
    console.say(f"{_label(side)} knows, and {_label(other)} does not:")
    if side.is_empty:
        console.say_indented("nothing")
    _say_list("met", [f"{entity.name} ({entity.uid})" for entity in side.met], last)
    _say_list("knows better", [_recognised(entity, other) for entity in side.recognised], last)
    _say_list("holds", map(_cited, side.facts), last)
    _say_list("threads", [f"{thread.kind}: {thread.text}" for thread in side.threads], last)
    lines = [f"[{line.event_id}, {line.session}] {line.teller}: {line.text}" for line in side.newest]
    _say_list("perceived", lines, last, total=side.lines)


def _recognised(known: "MetEntity", other: "Side") -> str:
    others = " and ".join(sorted(known.to_other))
    by = f", also called {', '.join(known.names)}" if known.names and known.names != (known.name,) else ""
    return f"{known.name} ({known.uid}){by}: to {other.name}, {others}"


def _cited(held: "WordedFact") -> str:
    return f"{held.text} [{held.fact.learned_from}]"


def _say_list(title: str, items: Iterable[str], last: int, *, total: int | None = None) -> None:
    """Print items under a title, which gives the total if not all of them are shown."""
    listed = [*items]
    shown = listed[max(len(listed) - last, 0) :]
    of_all = len(listed) if total is None else total
    if of_all:
        console.say_indented(title if len(shown) == of_all else f"{title}, {len(shown)} of {of_all}")
    for item in shown:
        console.say_indented(item, 4)


def _say_disagreements(difference: "Difference", last: int) -> None:
    pairs = difference.differing[max(len(difference.differing) - last, 0) :]
    if difference.differing:
        cut = (
            ""
            if len(pairs) == len(difference.differing)
            else f", {len(pairs)} of {len(difference.differing)}"
        )
        console.say(f"They disagree{cut}:")
    if pairs:
        rows = [("\n".join(map(_cited, pair.a)), "\n".join(map(_cited, pair.b))) for pair in pairs]
        console.say_table([_label(difference.a), _label(difference.b)], rows)
