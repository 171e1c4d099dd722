"""The human gate: what a person decides on a memory or an event becomes an event itself."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from pydantic import ValidationError

from dndbots.canon import claims
from dndbots.errors import InvalidSetting, UnknownEvent
from dndbots.events import EventType, GameEvent, Gating, StatedFact
from dndbots.ids import DM
from dndbots.memory.gates import gate_event, is_locked
from dndbots.memory.notes import Table, note_id
from dndbots.storage.knowledge import Asked
from dndbots.storage.reader import View
from dndbots.text.cleaning import drop_hidden


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
    if text is not None and not drop_hidden(text).strip():
        raise InvalidSetting("text", text, reason="says nothing; give the words that should stand there")
    text = None if text is None else drop_hidden(text)
    with table.view(holder or DM) as view:
        event = view.by_id([target]).get(target)
        if event is None or event.event_type is EventType.GATE:
            raise UnknownEvent(target)
        earlier = view.decided(claims.GATE).get(target, {})
        holder = None if holder is None else view.viewer
        if what in ("corrected", "forgotten") and on and is_locked(earlier, holder):
            raise InvalidSetting(
                "target", target, reason=f"is locked, so it cannot be {what}; unlock it first"
            )
        # Whoever sees this decision saw the one before it. A place in the log would tell of what is unseen.
        _, last = earlier.get(claims.gate_slot(what, holder), (None, 0))
        before = next((one.event_id for one in view.at([last])), None)
    name = note_id("gate", target, what, holder, before)
    try:
        decision = gate_event(event, what, on=on, text=text, holder=holder, event_id=name)
    except ValidationError as exc:
        reason = f"cannot be a correction: {exc.errors()[0]['msg']}"
        raise InvalidSetting("text", text, reason=reason) from exc
    return table.record(decision)


class _Known(NamedTuple):
    """How somebody knows of the one whom a fact is about: by which uid and name, and from which event.

    `session` is the newest that it knows of.
    """

    uid: str
    name: str
    learned_from: str | None
    session: str


def correct_fact(table: Table, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
    """Records what is so after all. Whoever held the old value holds the new one.

    Each is told of the one whom they know, under the name that they know: who that really is, or is
    called, may be the DM's secret. The event for those who know what the DM knows is given back.
    """
    with table.view(DM) as view:
        persons = view.find(subject)
        known = _as_known(view, persons[0], key)
    # Outside of the view, which would take a value that is none for damage to the store.
    _stated(known.uid, key, value)
    with table.view(DM) as view:
        holders = sorted({one.holder for one in view.who_knows(Asked(known.uid, (key,)))})
    told: dict[_Known, list[str]] = {known: []}
    for holder in holders:
        with table.view(holder) as own:
            for one in _known_to(own, persons, key):
                told.setdefault(one, []).append(holder)
    events = [
        GameEvent(
            event_id=note_id("corrected", one.uid, key, str(value), *one[1:]),
            event_type=EventType.SYSTEM,
            source=DM,
            content=f"{one.name}'s {key} is {value}.",
            session_id=one.session,
            metadata={
                "facts": [_stated(one.uid, key, value).model_dump(exclude_none=True, exclude_defaults=True)],
                "witnesses": [*people],
            },
        )
        for one, people in told.items()
    ]
    return table.record_many(events)[0]


def _known_to(view: View, persons: Collection[str], key: str) -> Iterable[_Known]:
    """Those of some uids of one person under which a viewer holds a fact, each as the viewer knows it."""
    for uid, entity in view.entities(persons).items():
        if any(fact.key == key and not fact.ended for fact in entity.facts):
            yield _as_known(view, uid, key)


def _as_known(view: View, uid: str, key: str) -> _Known:
    entity, newest = view.entities([uid])[uid], view.newest(1)
    said = [fact.learned_from for fact in entity.facts if fact.key == key and not fact.ended]
    session = newest[-1].session_id if newest else "prologue"
    return _Known(uid, entity.name, said[-1] if said else None, session)


def _stated(uid: str, key: str, value: str | float | bool) -> StatedFact:  # noqa: FBT001
    try:
        StatedFact(subject=uid, key=key, value=0)
    except ValidationError as exc:
        reason = "is no key of a fact; a key is a word such as mood"
        raise InvalidSetting("key", key, reason=reason) from exc
    try:
        return StatedFact(subject=uid, key=key, value=value)
    except ValidationError as exc:
        reason = "is no value of a fact; a value is some text, a number, or true or false"
        raise InvalidSetting("value", value, reason=reason) from exc
