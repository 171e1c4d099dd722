"""The command that shows what a model would be given to read, and its X-ray."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Reader, opened
from dndbots.storage.ports import MAIN
from dndbots.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from dndbots.memory.context.values import Context, ContextItem

_BUDGET: Final = 2000
_LEFT_OUT: Final = "left out"
_MOST_SOURCES: Final = 4
_SHARES: Final = {"line": 5, "reason": 3, "sources": 3}
_METER: Final = 30


def add_to(app: typer.Typer) -> None:
    app.command("context")(context)


def context(
    viewer: Reader,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="How many tokens it may have; 200 or more.")
    ] = _BUDGET,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What the turn is about, in any words.")
    ] = None,
    as_of: AsOf = None,
    encoding: Annotated[
        str, typer.Option("--encoding", metavar="NAME", help="In whose tokens the budget is counted.")
    ] = DEFAULT_ENCODING,
    xray: Annotated[
        bool,
        typer.Option("--xray", help="Instead of the text: each line, why it is there, what was left out."),
    ] = False,
    short: Annotated[
        bool, typer.Option("--short", help="The X-ray without the lines that were left out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prints what the viewer's model is to read this turn: its memory, inside an exact budget.

    The text alone, ready to be piped into a prompt; --xray says where each line comes from and what it
    costs, and --json says all of it.
    """
    with opened(campaign, branch) as source:
        found = source.context(viewer, budget=budget, query=query, as_of=as_of, encoding=encoding)
    if as_json:
        show.say_json({**found.model_dump(mode="json"), "meter": found.meter})
    elif xray or short:
        say_xray(found, short=short)
    else:
        show.say_text(found.text)


def say_xray(found: "Context", *, short: bool) -> None:
    if not found.items and not found.dropped:
        show.say("there is nothing to tell yet")
        return
    show.say_table(
        ["section", "line", "tokens", "reason", "sources"],
        _rows(found.items),
        wide=_SHARES,
        numbers=["tokens"],
        dimmed=() if short else _rows(found.dropped, _LEFT_OUT),
    )
    show.say("")
    _say_meter(found)


def _rows(items: Iterable["ContextItem"], mark: str | None = None) -> Iterator[list[object]]:
    """A row for each line; its section stands where it begins. Words mark what a colour might not show."""
    before = None
    for item in items:
        section = item.section if item.section != before else None
        before = item.section
        head = "\n".join(filter(None, (section, mark)))
        yield [head, item.text, item.tokens, item.reason, _sources(item.sources)]


def _sources(ids: tuple[str, ...]) -> str:
    more = len(ids) - _MOST_SOURCES
    shown = ids if more <= 0 else ids[:_MOST_SOURCES]
    return "\n".join([*map(show.inert, shown), *([f"and {more} more"] if more > 0 else [])])


def _say_meter(found: "Context") -> None:
    """What each section takes of the budget, and all of them together."""
    spent = {str(section): tokens for section, tokens in found.meter.items()}
    spent["headings"] = found.tokens - sum(spent.values())
    spent["total"] = found.tokens
    rows = [_measured(name, tokens, found.budget) for name, tokens in spent.items() if tokens > 0]
    show.say_table(["section", "of the budget", "tokens", "%"], rows, numbers=["tokens", "%"])
    left = f", {show.counted(len(found.dropped), 'line')} left out" if found.dropped else ""
    show.say(f"{found.tokens} of {found.budget} tokens ({show.inert(found.encoding)}){left}")
    if found.query is not None and all(item.section != "asked" for item in (*found.items, *found.dropped)):
        show.say("no record answers what was asked")


def _measured(name: str, tokens: int, budget: int) -> list[object]:
    return [name, show.bar(tokens / budget, _METER), tokens, f"{100 * tokens / budget:.0f}"]
