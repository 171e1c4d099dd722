"""Commands with which a person decides what becomes of proposals."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import show
from dndbots.cli.names import Names
from dndbots.cli.options import Address, AsJson, OnBranch, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.canon.values import Moment
    from dndbots.compaction.reviewing import Correction, Proposal
    from dndbots.compaction.values import Update

Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="The proposals, by their ids: `review list` shows them.")
]
# About what stands on three lines of a terminal; `log` has all of it.
_LONGEST_SHOWN: Final = 240


def add_to(app: typer.Typer) -> None:
    reviews = typer.Typer(no_args_is_help=True, help="Proposals that wait for a person.")
    reviews.command("list")(list_proposals)
    reviews.command("accept")(accept)
    reviews.command("reject")(reject)
    reviews.command("edit")(edit)
    app.add_typer(reviews, name="review")


def list_proposals(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Lists what waits: what turns say, with their words, and what was written into files by hand."""
    with opened(campaign, branch) as table:
        found = table.proposals()
        said = _turns(table, found)
        names = Names(table, "dm", None)
        if as_json:
            show.say_json([_plain(one, said) for one in found])
            return
        for one in found:
            show.say(show.inert(one.id))
            if one.update is not None:
                _say_update(one.update, said.get(one.update.turn))
            elif one.correction is not None:
                _say_correction(one.correction, names)
    if not found:
        show.say("nothing waits")


def _turns(table: "Campaign", found: Iterable["Proposal"]) -> Mapping[str, "Moment"]:
    """The turns that proposals cite."""
    cited = {one.update.turn for one in found if one.update is not None}
    with table.view("dm") as view:
        return {moment.event_id: moment for moment in view.moments(view.by_id(cited).values())}


def _plain(one: "Proposal", said: Mapping[str, "Moment"]) -> dict[str, Any]:
    turn = said.get(one.update.turn) if one.update is not None else None
    words = None if turn is None else {"who": turn.who, "text": turn.text}
    return {**one.model_dump(mode="json"), "said": words}


def _say_update(update: "Update", turn: "Moment | None") -> None:
    is_so = "is no longer" if update.ended else "is"
    marks = ["a rumor"] if update.sure == "rumor" else []
    marks += [f"on the word of {update.said_by}"] if update.said_by else []
    beside = f" ({', '.join(marks)})" if marks else ""
    show.say_indented(f"{update.kind} {update.name}: {update.field} {is_so} {update.value}{beside}")
    if turn is not None:
        show.say_indented(f"[{turn.event_id}] {turn.who}: {_words(turn.text, update)}", 4)


def _words(text: str, update: "Update") -> str:
    """The sentences of a turn that have the value, or its beginning."""
    from dndbots.ids import short
    from dndbots.memory.wording import sentences

    line = " ".join(text.split())
    telling = [one for one in sentences(line) if update.value.casefold() in one.casefold()]
    return short(" … ".join(telling) or line, _LONGEST_SHOWN)


def _say_correction(told: "Correction", names: Names) -> None:
    name, _ = names.known(told.uid)
    show.say_indented(f"{name} ({told.uid}): {told.key} is {_shown(told.value)}")
    before = "nothing" if told.old is None else _shown(told.old)
    show.say_indented(f"[{told.file}] written by hand, instead of {before}", 4)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def accept(ids: Ids, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Takes proposals over: what a turn says as the word of its speaker, what was written as a correction.

    One that cannot be so any more is an error; those before it are taken over.
    """
    _decide(campaign, branch, ids, lambda table, one: table.accept(one), "accepted", as_json=as_json)


def reject(ids: Ids, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Drops proposals. The log keeps that they were made."""
    _decide(campaign, branch, ids, lambda table, one: table.reject(one), "rejected", as_json=as_json)


def edit(
    proposal: Annotated[str, typer.Argument(metavar="ID", help="The proposal, by its id.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    value: Annotated[str, typer.Option("--value", metavar="TEXT", help="What should stand there.")],
    as_json: AsJson = False,
) -> None:
    """Takes a proposal over with another value. Where the value is somebody's name, it must be known."""

    def decide(table: "Campaign", one: str) -> None:
        table.accept(one, value=value)

    _decide(campaign, branch, [proposal], decide, "edited", as_json=as_json)


def _decide(
    campaign: str,
    branch: str,
    ids: list[str],
    decide: Callable[["Campaign", str], None],
    state: str,
    *,
    as_json: bool,
) -> None:
    """Decides on each, once all are known to wait, and brings the files up to date."""
    done: list[dict[str, str]] = []
    with opened(campaign, branch) as table:
        _refuse_unknown(table, ids)
        try:
            for one in dict.fromkeys(ids):
                decide(table, one)
                done.append({"id": one, "state": state})
                if not as_json:
                    show.say(f"{show.inert(one)} is {state}")
        finally:
            # What was decided before an error stays decided, so it is told and written.
            if as_json:
                show.say_json(done)
            if done:
                table.save_data()


def _refuse_unknown(table: "Campaign", ids: Iterable[str]) -> None:
    from dndbots.errors import UnknownProposal

    waiting = [one.id for one in table.proposals()]
    for one in ids:
        if one not in waiting:
            raise UnknownProposal(one, waiting=waiting)
