"""Proposals that wait for a person: updates that a run held back, and edits of the data files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from dndbots._jsontext import is_storable
from dndbots.canon import claims
from dndbots.compaction.checks import Accepted, Rejected, check_update, refuse_unfit_text
from dndbots.compaction.data.edits import Edit
from dndbots.compaction.data.run_history import SHELF, cursor_of, open_scenes
from dndbots.compaction.heard_turns import Hearer, hearers_of, turns_of
from dndbots.compaction.update_events import UpdateRecorder
from dndbots.errors import InvalidSetting, UnknownProposal, UpdateRefused
from dndbots.events import GameEvent, StatedFact
from dndbots.extraction.port import FIELDS, Turn, Update
from dndbots.ids import DM
from dndbots.memory.decisions import correct_fact
from dndbots.memory.human_gates import Gates
from dndbots.memory.notes import make_note, note_id
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View

State = Literal["waiting", "accepted", "edited", "rejected"]
_PERSON = "a person"


class Correction(BaseModel):
    """A value that a person wrote into a data file, and the old value it replaces."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: str
    key: str
    value: JsonValue
    old: JsonValue = None
    file: str


class Proposal(BaseModel):
    """A proposal for a person to decide: an update that a turn supports, or a correction by hand."""

    model_config = ConfigDict(frozen=True)

    id: str
    state: State
    update: Update | None = None
    correction: Correction | None = None


def proposals_of(view: View, *, decided: bool = False) -> list[Proposal]:
    """Return the waiting proposals, oldest first; with `decided`, all of them."""
    found: list[tuple[int, Proposal]] = []
    for name, slots in view.decided(claims.PROPOSAL).items():
        if claims.PROPOSAL in slots:
            content, since = slots[claims.PROPOSAL]
            state, at = slots.get(claims.STATE, ("waiting", since))
            now = str(state) if at >= since else "waiting"
            found.append((since, _proposal(name, content, now)))
    wanted = [(since, proposal) for since, proposal in found if decided or proposal.state == "waiting"]
    seqs = view.seqs_of({proposal.update.turn for _, proposal in wanted if proposal.update is not None})
    # Proposals of the same run come in the order of their turns.
    wanted.sort(key=lambda held: (held[0], seqs.get(held[1].update.turn, 0) if held[1].update else 0))
    return [proposal for _, proposal in wanted]


def _proposal(name: str, content: JsonValue, state: str) -> Proposal:
    fields = content if isinstance(content, dict) else {}
    kind = "correction" if "file" in fields else "update"
    return Proposal.model_validate({"id": name, "state": state, kind: fields})


def waiting_proposal(view: View, name: str) -> Proposal:
    """Return the waiting proposal with this id; raise UnknownProposal if there is none."""
    waiting = proposals_of(view)
    for proposal in waiting:
        if proposal.id == name:
            return proposal
    raise UnknownProposal(name, waiting=[proposal.id for proposal in waiting])


# Decisions


def reject_proposal(campaign_log: CampaignLog, name: str) -> None:
    """Reject a waiting proposal."""
    _decide(campaign_log, name, "rejected", lambda _view, _proposal: [])


def accept_proposal(campaign_log: CampaignLog, name: str, *, value: str | None = None) -> None:
    """Accept a proposal, or accept it with another value; raise UpdateRefused if it no longer holds."""
    if value is not None:
        _refuse_unfit_value(value)

    def make_events(view: View, proposal: Proposal) -> list[GameEvent]:
        if proposal.correction is not None:
            return _correction_events(campaign_log, proposal.correction, value)
        return _update_events(view, proposal.update, value) if proposal.update is not None else []

    _decide(campaign_log, name, "accepted" if value is None else "edited", make_events)


def _decide(
    campaign_log: CampaignLog,
    name: str,
    state: State,
    make_events: Callable[[View, Proposal], list[GameEvent]],
) -> None:
    """Record a decision with its events, if the proposal still waits inside the log's transaction."""

    def decide(view: View) -> list[GameEvent]:
        proposal = waiting_proposal(view, name)
        return [_side_note(view, decided={name: state}), *make_events(view, proposal)]

    with campaign_log.view(DM) as view:
        waiting_proposal(view, name)
    _record(campaign_log, decide)


class _DraftLog:
    """A campaign log that only collects events, to be recorded later together with others."""

    def __init__(self, campaign_log: CampaignLog) -> None:
        self.view = campaign_log.view
        self.events: list[GameEvent] = []

    def record(self, event: GameEvent) -> GameEvent:
        return self.record_many([event])[0]

    def record_many(self, events: Iterable[GameEvent]) -> list[GameEvent]:
        collected = list(events)
        self.events += collected
        return collected


def _correction_events(
    campaign_log: CampaignLog, correction: Correction, value: str | None
) -> list[GameEvent]:
    new = correction.value if value is None else value
    if not isinstance(new, str | int | float | bool):
        raise InvalidSetting(
            "value", new, reason="is neither text nor a number; accept it with another value"
        )
    draft = _DraftLog(campaign_log)
    correct_fact(draft, correction.uid, correction.key, new)
    return draft.events


def _refuse_unfit_value(value: str) -> None:
    if not value.strip():
        raise InvalidSetting("value", value, reason="is blank; give the value that should be recorded")
    try:
        refuse_unfit_text("value", value)
    except UpdateRefused as exc:
        raise InvalidSetting("value", value, reason=f"cannot be recorded: {exc.reason}") from exc


def hold_edits(campaign_log: CampaignLog, edits: Iterable[Edit]) -> list[Edit]:
    """Offer edits made by hand as corrections; return the edits that cannot be corrections."""
    edits = list(edits)
    if not edits:
        return []
    held: dict[str, JsonValue] = {}
    unfit: list[Edit] = []
    with campaign_log.view(DM) as view:
        known = set(view.everybody()) if cursor_of(view) else set()
    for edit in edits:
        correction = _correction(edit) if edit.uid in known else None
        if correction is None:
            unfit.append(edit)
        else:
            content = correction.model_dump_json()
            held[note_id("proposal", correction.uid, correction.key, content)] = correction.model_dump()
    if held:
        _record(campaign_log, lambda view: [_side_note(view, held=held)])
    return unfit


def _correction(edit: Edit) -> Correction | None:
    """Return an edit as a correction; None if it cannot be a fact, as a file may contain anything."""
    shelf, _, key = edit.field.partition(".")
    if shelf != "facts" or not isinstance(edit.new, str | int | float):
        return None
    try:
        StatedFact.model_validate({"subject": edit.uid, "key": key, "value": edit.new})
    except ValidationError:
        return None
    if isinstance(edit.new, str) and not is_storable(edit.new):
        return None
    return Correction(uid=str(edit.uid), key=key, value=edit.new, old=edit.old, file=edit.file)


def _record(campaign_log: CampaignLog, make_events: Callable[[View], list[GameEvent]]) -> None:
    """Append the events that `make_events` returns inside the log's transaction."""

    def events() -> Iterator[GameEvent]:
        with campaign_log.view(DM) as view:
            made = make_events(view)
        yield from made

    campaign_log.record_many(events())


def _side_note(view: View, **fields: Mapping[str, JsonValue]) -> GameEvent:
    """Return a note that is not a run: it keeps the cursor and the open scenes."""
    shelf = cursor_of(view)
    if shelf is None:
        raise InvalidSetting(
            "campaign", "", reason="was never compacted, so no proposal waits; run compact first"
        )
    scenes = {
        scene.scene_id: scene.model_dump(mode="json", exclude_defaults=True) for scene in open_scenes(view)
    }
    return make_note(
        DM,
        SHELF,
        shelf,
        lines=(),
        after=None,
        upto=view.by_id([shelf.cursor])[shelf.cursor],
        compaction={
            "by": _PERSON,
            "scenes": {**scenes},
            **{key: dict(value) for key, value in fields.items()},
        },
    )


def _update_events(view: View, update: Update, value: str | None) -> list[GameEvent]:
    """Return the events of an accepted update, for each hearer of its turn."""
    events = view.by_id([update.turn])
    recorder = UpdateRecorder(view, events)
    accepted: dict[str, list[Accepted]] = {}
    refused: list[Rejected] = []
    for who in (DM, *sorted({who for event in events.values() for who in hearers_of(event)})):
        hearer = recorder.hearer(who)
        # The run read the turn with the names that all hearers share, or with one hearer's own names.
        for turn in dict.fromkeys(_as_read(view, hearer.view, events)):
            checked = check_update(update, {turn.id: turn}, hearer)
            if isinstance(checked, Accepted):
                accepted[who] = [checked if value is None else _edited(checked, value, hearer, turn)]
                break
            refused.append(checked)
    if not accepted:
        raise UpdateRefused(rule=refused[0].rule, reason=refused[0].reason)
    made = recorder.make_events(accepted)
    for rejected in made.rejected:
        raise UpdateRefused(rule=rejected.rule, reason=rejected.reason)
    return made.events


def _as_read(view: View, own: View, events: Mapping[str, GameEvent]) -> list[Turn]:
    heard = list(events.values())
    common = [view.common_to(hearers_of(event)) for event in heard]
    return [turn for reader in (own, *common) for turn in turns_of(reader, heard, Gates())]


def _edited(accepted: Accepted, value: str, hearer: Hearer, turn: Turn) -> Accepted:
    """Return the update with a person's value. It need not be in the turn, but a link needs a known name."""
    try:
        update = Update.model_validate({**accepted.update.model_dump(), "value": value})
    except ValidationError as exc:
        raise InvalidSetting("value", value, reason=f"cannot be recorded: {exc.errors()[0]['msg']}") from exc
    linked = FIELDS[update.kind][update.field]
    target = hearer.resolve(value, linked, turn) if linked else None
    if isinstance(target, str) or (target is not None and target.uid is None):
        reason = target if isinstance(target, str) else f"no entity is called {value!r}"
        raise UpdateRefused(rule="name", reason=reason)
    return accepted._replace(update=update, object=target)
