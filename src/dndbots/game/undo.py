"""Undo of a round: find where it began in the log, and continue from before it. Nothing is deleted."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dndbots.campaign import Campaign
from dndbots.errors import NothingToUndo
from dndbots.events import EventType, GameEvent
from dndbots.game.state.game_notes import DM_STEP, PlayNote, played_of
from dndbots.ids import DM
from dndbots.storage.views.view import View

_PAGE: Final = 256
# Memories are made as a round begins, before anybody acts in it.
_MADE_FIRST: Final = frozenset((EventType.SUMMARY, EventType.MEMORY))


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A round that was taken back with all that came after it. `kept_as` is the branch that keeps it."""

    round: int
    kept_as: str


def take_back(campaign: Campaign, who: str | None = None, *, before: int | None = None) -> TakenBack:
    """Take back the last round, or the last one in which `who` acted, memories included.

    Rounds from `before` on do not count: somebody is in the middle of them. The campaign keeps its name and
    is as it was before the round.
    """
    with campaign.view(DM) as view:
        number = _last_round(view, who, before)
        if number is None:
            reason = "no round was played yet" if who is None else f"{_called(view, who)} has not acted yet"
            raise NothingToUndo(campaign.address or "this campaign", reason=reason)
        last = _before(view, number)
    kept = campaign.undo(to=last.event_id)
    keep_usage(campaign, kept, after=last)
    return TakenBack(round=number, kept_as=kept)


def keep_usage(campaign: Campaign, kept: str, *, after: GameEvent) -> None:
    """Record the usage of what was taken back once more: it was paid for all the same."""
    with campaign.another_branch(kept) as undone, undone.view(DM) as view:
        seqs = range((after.seq or 0) + 1, view.head + 1)
        paid = [event for event in view.at(seqs) if event.event_type is EventType.USAGE]
    copies = [event.model_copy(update={"event_id": _copy_id(event, kept), "seq": None}) for event in paid]
    if copies:
        campaign.record_many(copies)


def _copy_id(event: GameEvent, kept: str) -> str:
    """Return another id for a usage note: the turn that is played again has notes with the same ids."""
    return f"use_{hashlib.sha256(f'{kept}/{event.event_id}'.encode()).hexdigest()[:16]}"


def before_step(view: View, round_: int, step: str) -> GameEvent:
    """Return the last event before a step of a round; usage notes do not count."""
    began = False
    for event in read_backwards(view):
        note = played_of(event)
        if note is not None and event.turn == round_ and note.step == step:
            began = True
        elif began and event.event_type is not EventType.USAGE:
            return event
    raise NothingToUndo("this campaign", reason="nothing came before this turn")


def _called(view: View, who: str) -> str:
    return "the DM" if who == DM else view.called([who])[who].name


def _last_round(view: View, who: str | None, before: int | None) -> int | None:
    for event in read_backwards(view):
        note = played_of(event)
        if note is None or not event.turn or (before is not None and event.turn >= before):
            continue
        if who is None or _acts(event, note, who):
            return event.turn
    return None


def _acts(event: GameEvent, note: PlayNote, who: str) -> bool:
    return note.step == DM_STEP if who == DM else event.source == who and note.act is not None


def _before(view: View, number: int) -> GameEvent:
    """Return the last event before a round and before the memories that were made as it began."""
    kept: GameEvent | None = None
    for event in read_backwards(view):
        note = played_of(event)
        if note is not None and (event.turn or 0) < number:
            return kept or event
        if note is not None:
            kept = None  # the round goes back further
        elif kept is None and event.event_type not in _MADE_FIRST:
            kept = event
    raise NothingToUndo("this campaign", reason="nothing came before the round")


def read_backwards(view: View) -> Iterator[GameEvent]:
    """Yield the events of a view, the newest first."""
    for last in range(view.head, 0, -_PAGE):
        yield from reversed(view.at(range(max(last - _PAGE, 0) + 1, last + 1)))
