"""`compact` and `compaction`: turn the raw log into campaign data, and show how that went."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import MOST, Address, AsJson, OnBranch, open_campaign
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.compaction.data.run_history import CompactionStatus, RefusedProposal, Run

_LAST: Final = 10
_SHARES: Final = {"turn": 1, "what": 2, "reason": 2}
_FIGURES: Final = ("turns", "tokens", "kept_tokens", "updates", "repeated", "held")


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("compact")(compact)
    app.command("compaction")(compaction)


def compact(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    review: Annotated[
        bool, typer.Option("--review", help="Hold all facts for review; `review list` shows them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read facts out of the turns played since the last run, and write the data files. No model is asked.

    An interrupted run can be repeated; no turn is read twice.
    """
    with open_campaign(campaign, branch) as opened:
        with console.progress("compacting") as report:
            runs = opened.compact(review=review, progress=report)
        waiting = opened.compaction(last=1).proposals_waiting
        where = _data_folder(opened)
    if as_json:
        console.say_json(runs)
        return
    console.say(_describe(_add_up(runs)) if runs else "nothing new")
    if where is not None:
        console.say(f"the files are in {console.inert(str(where))}")
    if waiting:
        console.say(_describe_waiting(waiting))


def _data_folder(campaign: "Campaign") -> Path | None:
    """Return the folder of a campaign's data files; a campaign on a server has none."""
    from dndbots.compaction.data.files import data_path

    return None if campaign.home is None else data_path(campaign.home, campaign.branch)


def _add_up(runs: Iterable["Run"]) -> Mapping[str, int]:
    figures: Counter[str] = Counter()
    for run in runs:
        figures.update({name: getattr(run, name) for name in _FIGURES})
        figures["rejected"] += sum(run.rejected.values())
    return figures


def _describe(figures: Mapping[str, int]) -> str:
    """Return a line with the turns read, the updates they gave, and the tokens of both."""
    parts = [
        console.counted(figures.get("updates", 0), "update"),
        f"{figures.get('repeated', 0)} already known",
        f"{figures.get('rejected', 0)} rejected",
    ]
    if figures.get("held"):
        parts.append(f"{figures['held']} held for review")
    tokens, kept = figures.get("tokens", 0), figures.get("kept_tokens", 0)
    sizes = f"{console.counted(tokens, 'token')} of play, {kept} of kept data"
    return f"{console.counted(figures.get('turns', 0), 'turn')} read: {', '.join(parts)}; {sizes}"


def _describe_waiting(proposals: int) -> str:
    wait = "waits" if proposals == 1 else "wait"
    return f"{console.counted(proposals, 'proposal')} {wait} for review; see `dndbots review list`"


def compaction(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, max=MOST, help="Show the newest N runs.")
    ] = _LAST,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="Show what those runs rejected, and why.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show how far compaction is, what its last runs did, and what waits for review.

    A run counts everything it rejects and keeps the first few with their reasons.
    """
    with open_campaign(campaign, branch) as opened:
        if rejected:
            _say_rejections(opened.rejections(last=last), as_json=as_json)
            return
        status = opened.compaction(last=last)
    if as_json:
        console.say_json(status)
    else:
        _say_status(status)


def _say_status(status: "CompactionStatus") -> None:
    progress = "nothing compacted yet" if status.cursor is None else f"compacted up to {status.cursor}"
    turns = console.counted(status.turns_waiting, "turn")
    console.say(console.inert(f"{progress}; {turns} to read"))
    if status.proposals_waiting:
        console.say(_describe_waiting(status.proposals_waiting))
    if not status.runs:
        return
    console.say(f"in {console.counted(status.totals.get('runs', 0), 'run')}, {_describe(status.totals)}")
    console.say("")
    console.say_table(
        ["up to", "turns", "updates", "rejected", "tokens", "kept", "%", "ms", "by"],
        map(_row, status.runs),
        numbers=["turns", "updates", "rejected", "tokens", "kept", "%", "ms"],
    )


def _row(run: "Run") -> list[object]:
    share = f"{100 * run.kept_tokens / run.tokens:.0f}" if run.tokens else ""
    refused = sum(run.rejected.values())
    figures = [run.turns, run.updates, refused, run.tokens, run.kept_tokens, share, run.milliseconds]
    return [console.inert(run.upto), *figures, console.inert(run.by)]


def _say_rejections(refused: list["RefusedProposal"], *, as_json: bool) -> None:
    if as_json:
        console.say_json(refused)
    elif not refused:
        console.say("nothing was rejected")
    else:
        rows = [
            [_cited(proposal.update), _describe_update(proposal.update), proposal.rule, proposal.reason]
            for proposal in refused
        ]
        console.say_table(["turn", "what", "rule", "reason"], rows, wide=_SHARES)


def _cited(update: Mapping[str, Any]) -> str:
    return console.inert(str(update.get("turn", "")))


def _describe_update(update: Mapping[str, Any]) -> str:
    """Return a proposed update in words. It may have any form, so show all its fields but the turn."""
    if {"name", "field", "value"} <= update.keys():
        return console.inert(f"{update['name']}: {update['field']} is {update['value']}")
    return console.inert(", ".join(f"{key}: {value}" for key, value in update.items() if key != "turn"))
