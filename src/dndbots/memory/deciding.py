"""The human gate: what a person decides on a memory or an event becomes an event itself."""

from pydantic import ValidationError

from dndbots.canon import claims
from dndbots.errors import InvalidSetting, UnknownEvent
from dndbots.events import EventType, GameEvent, Gating, StatedFact
from dndbots.ids import DM
from dndbots.memory.gates import gate_event, gates_of
from dndbots.memory.notes import Table, note_id
from dndbots.storage.reader import Asked, View


def decide(
    table: Table,
    target: str,
    what: Gating,
    *,
    on: bool = True,
    text: str | None = None,
    holder: str | None = None,
) -> GameEvent:
    """Records a decision on an event or a memory, for all who perceived it or for one of them."""
    with table.view(holder or DM) as view:
        event = view.by_id([target]).get(target)
        if event is None or event.event_type is EventType.GATE:
            raise UnknownEvent(target)
        earlier = view.decided(claims.GATE).get(target, {})
        holder = None if holder is None else view.viewer
        if what in ("corrected", "forgotten") and on and _is_locked(view, target, holder):
            raise InvalidSetting(
                "target", target, reason=f"is locked, so it cannot be {what}; unlock it first"
            )
    last = max((place for _, place in earlier.values()), default=0)
    name = note_id("gate", target, what, holder, str(last))
    try:
        decision = gate_event(event, what, on=on, text=text, holder=holder, event_id=name)
    except ValidationError as exc:
        reason = f"cannot be a correction: {exc.errors()[0]['msg']}"
        raise InvalidSetting("text", text, reason=reason) from exc
    return table.record(decision)


def _is_locked(view: View, target: str, holder: str | None) -> bool:
    """Whether something is locked for a holder; or for anybody, if it is to be changed for all."""
    if target in gates_of(view).locked:
        return True
    decided = view.decided(claims.GATE).get(target, {})
    for_all = claims.gate_slot("locked", None)
    _, last = decided.get(for_all, (None, 0))
    own = [made for slot, made in decided.items() if slot.startswith(f"{for_all} ")]
    return holder is None and any(on and place > last for on, place in own)


def correct_fact(table: Table, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
    """Records what is so after all. Whoever held the old value holds the new one."""
    with table.view(DM) as view:
        uid = view.find(subject)[0]
        name = view.called([uid])[uid].name
        fact = StatedFact(subject=uid, key=key, value=value)
        holders = sorted({known.holder for known in view.who_knows(Asked(uid, (key,)))})
        newest = view.newest(1)
        last = newest[-1].event_id if newest else ""
    return table.record(
        GameEvent(
            event_id=note_id("corrected", uid, key, str(value), last),
            event_type=EventType.SYSTEM,
            source=DM,
            content=f"{name}'s {key} is {value}.",
            session_id=newest[-1].session_id if newest else "prologue",
            metadata={
                "facts": [fact.model_dump(exclude_none=True, exclude_defaults=True)],
                "witnesses": holders,
            },
        )
    )
