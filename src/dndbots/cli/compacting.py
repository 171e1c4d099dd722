"""Commands that make campaign data out of raw logs, and say how that went."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import show
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.compaction.compacting import CompactionStatus, Refused
    from dndbots.compaction.running import Run

_LAST: Final = 10
_MOST: Final = 1_000_000
_SHARES: Final = {"turn": 1, "what": 2, "reason": 2}
_FIGURES: Final = ("turns", "tokens", "kept_tokens", "updates", "repeated", "held")


def add_to(app: typer.Typer) -> None:
    app.command("compact")(compact)
    app.command("compaction")(compaction)


def compact(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    review: Annotated[
        bool, typer.Option("--review", help="Keep nothing yet: what is found waits, see `review list`.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reads facts out of all that was said since the last time, and writes the files. No model is asked.

    What was interrupted is gone on with the next time; no turn is read twice.
    """
    with opened(campaign, branch) as table:
        with show.progress("compacting") as report:
            runs = table.compact(review=review, progress=report)
        waiting = table.compaction(last=1).proposals_waiting
        where = _data_folder(table)
    if as_json:
        show.say_json(runs)
        return
    show.say(_told(_summed(runs)) if runs else "nothing new")
    if where is not None:
        show.say(f"the files are in {show.inert(str(where))}")
    if waiting:
        show.say(_said_waiting(waiting))


def _data_folder(table: "Campaign") -> Path | None:
    """Where a campaign's files are; one on a server has none."""
    from dndbots.compaction.files import data_path

    return None if table.home is None else data_path(table.home, table.branch)


def _summed(runs: Iterable["Run"]) -> Mapping[str, int]:
    figures: Counter[str] = Counter()
    for run in runs:
        figures.update({name: getattr(run, name) for name in _FIGURES})
        figures["rejected"] += sum(run.rejected.values())
    return figures


def _told(figures: Mapping[str, int]) -> str:
    """What was read, what came of it, and what that is in tokens."""
    parts = [
        show.counted(figures.get("updates", 0), "update"),
        f"{figures.get('repeated', 0)} known already",
        f"{figures.get('rejected', 0)} rejected",
    ]
    if figures.get("held"):
        parts.append(f"{figures['held']} held for review")
    tokens, kept = figures.get("tokens", 0), figures.get("kept_tokens", 0)
    sizes = f"{show.counted(tokens, 'token')} of play, {kept} of what is kept"
    return f"{show.counted(figures.get('turns', 0), 'turn')} read: {', '.join(parts)}; {sizes}"


def _said_waiting(proposals: int) -> str:
    wait = "waits" if proposals == 1 else "wait"
    return f"{show.counted(proposals, 'proposal')} {wait} for a person: see `dndbots review list`"


def compaction(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=_MOST, help="How many runs: the newest.")
    ] = _LAST,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Instead: what those runs rejected, and why.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Shows how far compaction has come, what its last runs did, and what waits.

    Of what a run rejected, all is counted, and the first few are kept with their reasons.
    """
    with opened(campaign, branch) as table:
        if rejected:
            _say_rejections(table.rejections(last=last), as_json=as_json)
            return
        found = table.compaction(last=last)
    if as_json:
        show.say_json(found)
    else:
        _say_status(found)


def _say_status(found: "CompactionStatus") -> None:
    came = "nothing is compacted yet" if found.cursor is None else f"compacted up to {found.cursor}"
    turns = show.counted(found.turns_waiting, "turn")
    show.say(show.inert(f"{came}; {turns} not read yet"))
    if found.proposals_waiting:
        show.say(_said_waiting(found.proposals_waiting))
    if not found.runs:
        return
    show.say(f"in {show.counted(found.totals.get('runs', 0), 'run')}, {_told(found.totals)}")
    show.say("")
    show.say_table(
        ["up to", "turns", "updates", "rejected", "tokens", "kept", "%", "ms", "by"],
        map(_row, found.runs),
        numbers=["turns", "updates", "rejected", "tokens", "kept", "%", "ms"],
    )


def _row(run: "Run") -> list[object]:
    share = f"{100 * run.kept_tokens / run.tokens:.0f}" if run.tokens else ""
    refused = sum(run.rejected.values())
    figures = [run.turns, run.updates, refused, run.tokens, run.kept_tokens, share, run.milliseconds]
    return [show.inert(run.upto), *figures, show.inert(run.by)]


def _say_rejections(found: list["Refused"], *, as_json: bool) -> None:
    if as_json:
        show.say_json(found)
    elif not found:
        show.say("nothing was rejected")
    else:
        rows = [[_cited(one.update), _what(one.update), one.rule, one.reason] for one in found]
        show.say_table(["turn", "what", "rule", "reason"], rows, wide=_SHARES)


def _cited(update: Mapping[str, Any]) -> str:
    return show.inert(str(update.get("turn", "")))


def _what(update: Mapping[str, Any]) -> str:
    """What was proposed. It may have been anything, so all of it is shown that is no turn."""
    if {"name", "field", "value"} <= update.keys():
        return show.inert(f"{update['name']}: {update['field']} is {update['value']}")
    return show.inert(", ".join(f"{key}: {value}" for key, value in update.items() if key != "turn"))
