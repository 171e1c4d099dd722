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
    if text is not None and not text.strip():
        raise InvalidSetting("text", text, reason="says nothing; give the words that should stand there")
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
    last = max((place for _, place in earlier.values()), default=0)
    name = note_id("gate", target, what, holder, str(last))
    try:
        decision = gate_event(event, what, on=on, text=text, holder=holder, event_id=name)
    except ValidationError as exc:
        reason = f"cannot be a correction: {exc.errors()[0]['msg']}"
        raise InvalidSetting("text", text, reason=reason) from exc
    return table.record(decision)


class _Known(NamedTuple):
    """How somebody knows of the one whom a fact is about."""

    uid: str
    name: str


def correct_fact(table: Table, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
    """Records what is so after all. Whoever held the old value holds the new one.

    Each is told of the one whom they know, under the name that they know: who that really is, or is
    called, may be the DM's secret. The event for those who know what the DM knows is given back.
    """
    with table.view(DM) as view:
        persons = view.find(subject)
        known = _Known(persons[0], view.called(persons[:1])[persons[0]].name)
    # Outside of the view, which would take a value that is none for damage to the store.
    _stated(known.uid, key, value)
    with table.view(DM) as view:
        holders = sorted({one.holder for one in view.who_knows(Asked(known.uid, (key,)))})
        newest = view.newest(1)
    told: dict[_Known, list[str]] = {known: []}
    for holder in holders:
        with table.view(holder) as own:
            for one in _known_to(own, persons, key):
                told.setdefault(one, []).append(holder)
    before = newest[-1].event_id if newest else None
    events = [
        GameEvent(
            event_id=note_id("corrected", one.uid, key, str(value), before, *(one.name,)[one == known :]),
            event_type=EventType.SYSTEM,
            source=DM,
            content=f"{one.name}'s {key} is {value}.",
            session_id=newest[-1].session_id if newest else "prologue",
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
            yield _Known(uid, entity.name)


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
