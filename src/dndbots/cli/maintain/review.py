"""`review`: decide which proposed facts become true."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import Address, AsJson, OnBranch, open_campaign
from dndbots.cli.viewers import ViewerNames
from dndbots.errors import UnknownProposal
from dndbots.ids import DM, short
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.canon.entities import Moment
    from dndbots.compaction.review import Correction, Proposal
    from dndbots.extraction.port import Update

Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="The ids of proposals; `review list` shows them.")
]
# About three lines of a terminal; `log` shows the whole turn.
_LONGEST_SHOWN: Final = 240


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    reviews = typer.Typer(no_args_is_help=True, help="Review proposed facts.")
    reviews.command("list")(list_proposals)
    reviews.command("accept")(accept)
    reviews.command("reject")(reject)
    reviews.command("edit")(edit)
    app.add_typer(reviews, name="review")


def list_proposals(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """List proposals: facts from turns, with their words, and edits made to the data files by hand."""
    with open_campaign(campaign, branch) as opened:
        proposals = opened.proposals()
        turns = _read_turns(opened, proposals)
        names = ViewerNames(opened, DM, None)
        if as_json:
            console.say_json([_proposal_as_json(proposal, turns) for proposal in proposals])
            return
        for proposal in proposals:
            console.say(console.inert(proposal.id))
            if proposal.update is not None:
                _say_update(proposal.update, turns.get(proposal.update.turn))
            elif proposal.correction is not None:
                _say_correction(proposal.correction, names)
    if not proposals:
        console.say("no proposals")


def _read_turns(campaign: "Campaign", proposals: Iterable["Proposal"]) -> Mapping[str, "Moment"]:
    """Return the turns that proposals cite, by id."""
    cited = {proposal.update.turn for proposal in proposals if proposal.update is not None}
    with campaign.view(DM) as view:
        return {moment.event_id: moment for moment in view.moments(view.by_id(cited).values())}


def _proposal_as_json(proposal: "Proposal", turns: Mapping[str, "Moment"]) -> dict[str, Any]:
    turn = turns.get(proposal.update.turn) if proposal.update is not None else None
    words = None if turn is None else {"who": turn.who, "text": turn.text}
    return {**proposal.model_dump(mode="json"), "said": words}


def _say_update(update: "Update", turn: "Moment | None") -> None:
    from dndbots.extraction.port import ALIAS

    verb = "is no longer" if update.ended else "is"
    marks = ["a rumor"] if update.sure == "rumor" else []
    marks += [f"on the word of {update.said_by}"] if update.said_by else []
    beside = f" ({', '.join(marks)})" if marks else ""
    is_name = update.field == ALIAS and update.value == update.name
    said = "introduced by name" if is_name else f"{update.field} {verb} {update.value}"
    console.say_indented(f"{update.kind} {update.name}: {said}{beside}")
    if turn is not None:
        console.say_indented(f"[{turn.event_id}] {turn.who}: {_words(turn.text, update)}", 4)


def _words(text: str, update: "Update") -> str:
    """Return the sentences of a turn that contain the value, or else its beginning."""
    from dndbots.text.sentences import split_sentences

    line = " ".join(text.split())
    telling = [one for one in split_sentences(line) if update.value.casefold() in one.casefold()]
    return short(" … ".join(telling) or line, _LONGEST_SHOWN)


def _say_correction(correction: "Correction", names: ViewerNames) -> None:
    name, _ = names.find(correction.uid)
    console.say_indented(f"{name} ({correction.uid}): {correction.key} is {_shown(correction.value)}")
    before = "nothing" if correction.old is None else _shown(correction.old)
    console.say_indented(f"[{correction.file}] edited by hand, was {before}", 4)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def accept(ids: Ids, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Accept proposals: a turn's fact on the word of its speaker, an edit as a correction.

    Stops with an error at a proposal that no longer fits; those before it stay accepted.
    """
    _decide(
        campaign, branch, ids, lambda opened, proposal: opened.accept(proposal), "accepted", as_json=as_json
    )


def reject(ids: Ids, *, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Reject proposals. The log keeps a record of them."""
    _decide(
        campaign, branch, ids, lambda opened, proposal: opened.reject(proposal), "rejected", as_json=as_json
    )


def edit(
    proposal: Annotated[str, typer.Argument(metavar="ID", help="The id of the proposal.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    value: Annotated[str, typer.Option("--value", metavar="TEXT", help="The new value.")],
    as_json: AsJson = False,
) -> None:
    """Accept a proposal with another value. A name in the value must be known to the campaign."""

    def accept_edited(opened: "Campaign", proposal: str) -> None:
        opened.accept(proposal, value=value)

    _decide(campaign, branch, [proposal], accept_edited, "edited", as_json=as_json)


def _decide(
    campaign: str,
    branch: str,
    ids: list[str],
    decide: Callable[["Campaign", str], None],
    state: str,
    *,
    as_json: bool,
) -> None:
    """Decide on each proposal, once all of them are known to exist, and update the data files."""
    done: list[dict[str, str]] = []
    with open_campaign(campaign, branch) as opened:
        _refuse_unknown(opened, ids)
        try:
            for proposal in dict.fromkeys(ids):
                decide(opened, proposal)
                done.append({"id": proposal, "state": state})
                if not as_json:
                    console.say(f"{console.inert(proposal)} is {state}")
        finally:
            # Decisions made before an error stay, so report them and write the files.
            if as_json:
                console.say_json(done)
            if done:
                opened.save_data()


def _refuse_unknown(campaign: "Campaign", ids: Iterable[str]) -> None:
    waiting = [proposal.id for proposal in campaign.proposals()]
    for proposal in ids:
        if proposal not in waiting:
            raise UnknownProposal(proposal, waiting=waiting)
