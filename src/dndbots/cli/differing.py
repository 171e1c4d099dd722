"""The command that lays two characters' knowledge side by side."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.memory.differing import Difference, HeldFact, Known, Side

_LAST: Final = 10
_MOST: Final = 1_000_000


def add_to(app: typer.Typer) -> None:
    app.command("diff")(diff)


def diff(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A uid, a name that only one has, or dm, who sees everything.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Somebody else, said in the same way.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    last: Annotated[
        int,
        typer.Option(
            "--last", metavar="N", min=0, max=_MOST, help="How many of each kind are shown: the newest."
        ),
    ] = _LAST,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows what A knows and B does not, what B knows and A does not, and where they disagree.

    It answers for the DM, and tells secrets of both. In JSON, only the events are cut to the newest.
    """
    with opened(campaign, branch) as source:
        found = source.diff(a, b, last=last, as_of=as_of)
    if as_json:
        show.say_json(found)
    elif found.is_empty:
        show.say(f"{_who(found.a)} and {_who(found.b)} know the same")
    else:
        _say_side(found.a, found.b, last)
        _say_side(found.b, found.a, last)
        _say_differing(found, last)


def _who(side: "Side") -> str:
    return show.inert(side.name if side.viewer == "dm" else f"{side.name} ({side.viewer})")


def _say_side(side: "Side", other: "Side", last: int) -> None:
    show.say(f"{_who(side)} knows, and {_who(other)} does not:")
    if side.is_empty:
        show.say_indented("nothing")
    _say_list("met", [f"{one.name} ({one.uid})" for one in side.met], last)
    _say_list("knows better", [_recognised(one, other) for one in side.recognised], last)
    _say_list("holds", map(_cited, side.facts), last)
    _say_list("threads", [f"{one.kind}: {one.text}" for one in side.threads], last)
    lines = [f"[{one.event_id}, {one.session}] {one.who}: {one.text}" for one in side.newest]
    _say_list("perceived", lines, last, total=side.lines)


def _recognised(known: "Known", other: "Side") -> str:
    others = " and ".join(sorted(known.to_other))
    by = f", also called {', '.join(known.names)}" if known.names and known.names != (known.name,) else ""
    return f"{known.name} ({known.uid}){by}: to {other.name}, {others}"


def _cited(held: "HeldFact") -> str:
    return f"{held.text} [{held.fact.learned_from}]"


def _say_list(title: str, items: Iterable[str], last: int, *, total: int | None = None) -> None:
    """A list under its title, which says how many there are if not all are shown."""
    listed = [*items]
    shown = listed[max(len(listed) - last, 0) :]
    of_all = len(listed) if total is None else total
    if of_all:
        show.say_indented(title if len(shown) == of_all else f"{title}, {len(shown)} of {of_all}")
    for item in shown:
        show.say_indented(item, 4)


def _say_differing(found: "Difference", last: int) -> None:
    pairs = found.differing[max(len(found.differing) - last, 0) :]
    if found.differing:
        cut = "" if len(pairs) == len(found.differing) else f", {len(pairs)} of {len(found.differing)}"
        show.say(f"They disagree{cut}:")
    if pairs:
        rows = [("\n".join(map(_cited, pair.a)), "\n".join(map(_cited, pair.b))) for pair in pairs]
        show.say_table([_who(found.a), _who(found.b)], rows)
