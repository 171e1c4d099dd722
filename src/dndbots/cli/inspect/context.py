"""`context`: show the text a model is given to read, and its X-ray."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import open_for
from dndbots.storage.ports import MAIN
from dndbots.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from dndbots.memory.context.xray import Context, ContextItem

_BUDGET: Final = 2000
_LEFT_OUT: Final = "left out"
_MOST_SOURCES: Final = 4
_SHARES: Final = {"line": 5, "reason": 3, "sources": 3}
_METER: Final = 30


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    # An extra argument is the older spelling `context NAME`.
    app.command("context", context_settings={"allow_extra_args": True})(context)


def context(
    ctx: typer.Context,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="Tokens the context may have; 200 or more.")
    ] = _BUDGET,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="The topic of this turn, in your own words.")
    ] = None,
    as_of: AsOf = None,
    encoding: Annotated[
        str, typer.Option("--encoding", metavar="NAME", help="The tokenizer that counts the budget.")
    ] = DEFAULT_ENCODING,
    xray: Annotated[
        bool,
        typer.Option(
            "--xray", help="Show each line with its reason, cost and sources, and what is left out."
        ),
    ] = False,
    short: Annotated[
        bool, typer.Option("--short", help="Show the X-ray without the lines that were left out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what a character's model reads this turn: its memory, within an exact token budget.

    Prints the text alone, ready to pipe into a prompt. --xray explains each line; --json has everything.
    """
    with open_for(_choose_viewer(viewer, ctx.args), campaign, branch, as_of=as_of) as (source, who):
        built = source.context(who, budget=budget, query=query, as_of=as_of, encoding=encoding)
    if as_json:
        console.say_json({**built.model_dump(mode="json"), "meter": built.meter})
    elif xray or short:
        say_xray(built, short=short)
    else:
        console.say_text(built.text)


def _choose_viewer(viewer: str | None, extra: list[str]) -> str | None:
    if extra and (viewer is not None or len(extra) > 1):
        words = " ".join(extra)
        raise failures.Refusal(
            f"context takes no {words!r}; name the viewer once, as in: dndbots context --as Zara",
            code=failures.UNUSABLE,
        )
    return extra[0] if extra else viewer


def say_xray(context: "Context", *, short: bool) -> None:
    """Print each line of a context with its reason, cost and sources, then the use of the budget."""
    if not context.items and not context.dropped:
        console.say("nothing has happened yet")
        return
    console.say_table(
        ["section", "line", "tokens", "reason", "sources"],
        _rows(context.items),
        wide=_SHARES,
        numbers=["tokens"],
        dimmed=() if short else _rows(context.dropped, _LEFT_OUT),
    )
    console.say("")
    _say_meter(context)


def _rows(items: Iterable["ContextItem"], mark: str | None = None) -> Iterator[list[object]]:
    """Yield a row for each line. The first row of a section names it; `mark` says in words what is grey."""
    before = None
    for item in items:
        section = item.section if item.section != before else None
        before = item.section
        head = "\n".join(filter(None, (section, mark)))
        yield [head, item.text, item.tokens, item.reason, _sources(item.sources)]


def _sources(ids: tuple[str, ...]) -> str:
    more = len(ids) - _MOST_SOURCES
    shown = ids if more <= 0 else ids[:_MOST_SOURCES]
    return "\n".join([*map(console.inert, shown), *([f"and {more} more"] if more > 0 else [])])


def _say_meter(context: "Context") -> None:
    """Print the share of the budget each section takes, and the total."""
    spent = {str(section): tokens for section, tokens in context.meter.items()}
    spent["headings"] = context.tokens - sum(spent.values())
    spent["total"] = context.tokens
    rows = [_measured(name, tokens, context.budget) for name, tokens in spent.items() if tokens > 0]
    console.say_table(["section", "of the budget", "tokens", "%"], rows, numbers=["tokens", "%"])
    left = f", {console.counted(len(context.dropped), 'line')} left out" if context.dropped else ""
    console.say(f"{context.tokens} of {context.budget} tokens ({console.inert(context.encoding)}){left}")
    is_answered = any(item.section == "asked" for item in (*context.items, *context.dropped))
    if context.query is not None and not is_answered:
        console.say("no record answers the query")


def _measured(name: str, tokens: int, budget: int) -> list[object]:
    return [name, console.bar(tokens / budget, _METER), tokens, f"{100 * tokens / budget:.0f}"]
