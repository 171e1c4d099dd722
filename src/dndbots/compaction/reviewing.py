"""Proposals that wait for a person: what a run held back, and what somebody wrote into a file by hand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from dndbots.canon import claims
from dndbots.compaction.checking import Accepted, Rejected, check, refuse_unfit_text
from dndbots.compaction.edits import Edit
from dndbots.compaction.recording import Gathering
from dndbots.compaction.running import SHELF, cursor_of, open_scenes
from dndbots.compaction.turns import perceivers, turns_of
from dndbots.compaction.values import FIELDS, Turn, Update
from dndbots.compaction.who import Hearer
from dndbots.errors import InvalidSetting, UnknownProposal, UpdateRefused
from dndbots.events import GameEvent, StatedFact, is_storable
from dndbots.ids import DM
from dndbots.memory.deciding import correct_fact
from dndbots.memory.gates import Gates
from dndbots.memory.notes import Table, make_note, note_id
from dndbots.storage.reader import View

State = Literal["waiting", "accepted", "edited", "rejected"]
_PERSON = "a person"


class Correction(BaseModel):
    """What somebody wrote into a file of campaign data, instead of what stood there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: str
    key: str
    value: JsonValue
    old: JsonValue = None
    file: str


class Proposal(BaseModel):
    """What waits for a person to decide: an update that a turn supports, or a correction by hand."""

    model_config = ConfigDict(frozen=True)

    id: str
    state: State
    update: Update | None = None
    correction: Correction | None = None


def proposals_of(view: View, *, decided: bool = False) -> list[Proposal]:
    """Those that wait, oldest first; or all of them."""
    found: list[tuple[int, Proposal]] = []
    for name, slots in view.decided(claims.PROPOSAL).items():
        if claims.PROPOSAL in slots:
            said, since = slots[claims.PROPOSAL]
            state, at = slots.get(claims.STATE, ("waiting", since))
            now = str(state) if at >= since else "waiting"
            found.append((since, _proposal(name, said, now)))
    wanted = [(since, one) for since, one in found if decided or one.state == "waiting"]
    places = view.seqs_of({one.update.turn for _, one in wanted if one.update is not None})
    # What a run found all together is told in the order in which it was said.
    wanted.sort(key=lambda held: (held[0], places.get(held[1].update.turn, 0) if held[1].update else 0))
    return [one for _, one in wanted]


def _proposal(name: str, said: JsonValue, state: str) -> Proposal:
    given = said if isinstance(said, dict) else {}
    kind = "correction" if "file" in given else "update"
    return Proposal.model_validate({"id": name, "state": state, kind: given})


def waiting_proposal(view: View, name: str) -> Proposal:
    waiting = proposals_of(view)
    for one in waiting:
        if one.id == name:
            return one
    raise UnknownProposal(name, waiting=[one.id for one in waiting])


# Deciding


def reject(table: Table, name: str) -> None:
    _decide(table, name, "rejected", lambda _view, _proposal: [])


def accept(table: Table, name: str, *, value: str | None = None) -> None:
    """Takes a proposal as it is, or with another value. What cannot be so any more is `UpdateRefused`."""
    if value is not None:
        _refuse_unfit_value(value)

    def made(view: View, proposal: Proposal) -> list[GameEvent]:
        if proposal.correction is not None:
            return _corrected(table, proposal.correction, value)
        return _made(view, proposal.update, value) if proposal.update is not None else []

    _decide(table, name, "accepted" if value is None else "edited", made)


def _decide(table: Table, name: str, state: State, made: Callable[[View, Proposal], list[GameEvent]]) -> None:
    """Notes a decision with what comes of it, if the proposal still waits when nobody else writes."""

    def noted(view: View) -> list[GameEvent]:
        proposal = waiting_proposal(view, name)
        return [_side_note(view, decided={name: state}), *made(view, proposal)]

    with table.view(DM) as view:
        waiting_proposal(view, name)
    _noted(table, noted)


class _Draft:
    """A table at which what would be recorded is only kept, to be recorded together with something else."""

    def __init__(self, table: Table) -> None:
        self.view = table.view
        self.events: list[GameEvent] = []

    def record(self, event: GameEvent) -> GameEvent:
        return self.record_many([event])[0]

    def record_many(self, events: Iterable[GameEvent]) -> list[GameEvent]:
        found = list(events)
        self.events += found
        return found


def _corrected(table: Table, told: Correction, value: str | None) -> list[GameEvent]:
    said = told.value if value is None else value
    if not isinstance(said, str | int | float | bool):
        raise InvalidSetting("value", said, reason="is no text or number; edit the proposal to one")
    draft = _Draft(table)
    correct_fact(draft, told.uid, told.key, said)
    return draft.events


def _refuse_unfit_value(value: str) -> None:
    if not value.strip():
        raise InvalidSetting("value", value, reason="says nothing; give the value that should stand there")
    try:
        refuse_unfit_text("value", value)
    except UpdateRefused as exc:
        raise InvalidSetting("value", value, reason=f"cannot be one: {exc.reason}") from exc


def hold_edits(table: Table, edits: Iterable[Edit]) -> list[Edit]:
    """Offers what was changed by hand as corrections; gives back what cannot be one."""
    found = list(edits)
    if not found:
        return []
    held: dict[str, JsonValue] = {}
    left: list[Edit] = []
    with table.view(DM) as view:
        known = set(view.everybody()) if cursor_of(view) else set()
    for edit in found:
        made = _correction(edit) if edit.uid in known else None
        if made is None:
            left.append(edit)
        else:
            held[note_id("proposal", made.uid, made.key, made.model_dump_json())] = made.model_dump()
    if held:
        _noted(table, lambda view: [_side_note(view, held=held)])
    return left


def _correction(edit: Edit) -> Correction | None:
    """What an edit says of somebody, if that can be a fact at all: a file may hold anything."""
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


def _noted(table: Table, made: Callable[[View], list[GameEvent]]) -> None:
    """Appends what is made of what is true when nobody else writes."""

    def events() -> Iterator[GameEvent]:
        with table.view(DM) as view:
            found = made(view)
        yield from found

    table.record_many(events())


def _side_note(view: View, **said: Mapping[str, JsonValue]) -> GameEvent:
    """A note beside the runs: the cursor stays where it is, and open scenes stay open."""
    shelf = cursor_of(view)
    if shelf is None:
        raise InvalidSetting("campaign", "", reason="was never compacted, so that nothing waits in it")
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
        compaction={"by": _PERSON, "scenes": {**scenes}, **{key: dict(one) for key, one in said.items()}},
    )


def _made(view: View, update: Update, value: str | None) -> list[GameEvent]:
    """What comes of an update, for each who heard its turn."""
    events = view.by_id([update.turn])
    gathering = Gathering(view, events)
    accepted: dict[str, list[Accepted]] = {}
    refused: list[Rejected] = []
    for who in (DM, *sorted({who for event in events.values() for who in perceivers(event)})):
        hearer = gathering.hearer(who)
        # It was read by the names that are common to all who heard it, or by those of one of them.
        for one in dict.fromkeys(_as_read(view, hearer.view, events)):
            found = check(update, {one.id: one}, hearer)
            if isinstance(found, Accepted):
                found = found if value is None else _edited(found, value, hearer, one)
                accepted[who] = [found]
                break
            refused.append(found)
    if not accepted:
        raise UpdateRefused(rule=refused[0].rule, reason=refused[0].reason)
    gathered = gathering.gather(accepted)
    for no in gathered.rejected:
        raise UpdateRefused(rule=no.rule, reason=no.reason)
    return gathered.events


def _as_read(view: View, own: View, events: Mapping[str, GameEvent]) -> list[Turn]:
    told = list(events.values())
    common = [view.common_to(perceivers(event)) for event in told]
    return [turn for one in (own, *common) for turn in turns_of(one, told, Gates())]


def _edited(found: Accepted, value: str, hearer: Hearer, turn: Turn) -> Accepted:
    """The same with a value of a person's, who need not find it in the turn; in a link it must be known."""
    try:
        update = Update.model_validate({**found.update.model_dump(), "value": value})
    except ValidationError as exc:
        raise InvalidSetting("value", value, reason=f"cannot be one: {exc.errors()[0]['msg']}") from exc
    linked = FIELDS[update.kind][update.field]
    target = hearer.resolve(value, linked, turn) if linked else None
    if isinstance(target, str) or (target is not None and target.uid is None):
        reason = target if isinstance(target, str) else "nobody is called that"
        raise UpdateRefused(rule="name", reason=reason)
    return found._replace(update=update, object=target)
