"""Record the decisions of people on memories, events and facts: each becomes an event."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from pydantic import ValidationError

from dndbots.canon import claims
from dndbots.errors import InvalidSetting, UnknownEvent
from dndbots.events import EventType, GameEvent, Gating, StatedFact
from dndbots.ids import DM
from dndbots.memory.human_gates import is_locked, make_gate_event
from dndbots.memory.notes import note_id
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.knowledge import FactQuestion
from dndbots.storage.views.view import View
from dndbots.text.clean import drop_hidden

_CORRECTED: Final = "corrected"


def record_decision(
    campaign: CampaignLog,
    target: str,
    what: Gating,
    *,
    on: bool = True,
    text: str | None = None,
    holder: str | None = None,
) -> GameEvent:
    """Record a decision on an event or a memory, for all who perceived it or for one holder."""
    if text is not None and not drop_hidden(text).strip():
        raise InvalidSetting("text", text, reason="is empty; give the corrected text")
    text = None if text is None else drop_hidden(text)
    with campaign.view(holder or DM) as view:
        event = view.by_id([target]).get(target)
        if event is None or event.event_type is EventType.GATE:
            raise UnknownEvent(target)
        earlier = view.decided(claims.GATE).get(target, {})
        holder = None if holder is None else view.viewer
        if what in ("corrected", "forgotten") and on and is_locked(earlier, holder):
            raise InvalidSetting(
                "target", target, reason=f"is locked, so it cannot be {what}; unlock it first"
            )
        # The id must be new, but must not contain a seq: that would tell how much a viewer missed.
        _, last = earlier.get(claims.gate_slot(what, holder), (None, 0))
        before = next((last_event.event_id for last_event in view.at([last])), None)
    name = note_id("gate", target, what, holder, before)
    try:
        decision = make_gate_event(event, what, on=on, text=text, holder=holder, event_id=name)
    except ValidationError as exc:
        reason = f"is not a valid correction: {exc.errors()[0]['msg']}"
        raise InvalidSetting("text", text, reason=reason) from exc
    return campaign.record(decision)


class _KnownSubject(NamedTuple):
    """The subject of a fact as one holder knows it: uid, name, and the event the fact came from.

    `session` is the newest session that the holder knows of.
    """

    uid: str
    name: str
    learned_from: str | None
    session: str


def is_correction(event_id: str) -> bool:
    """Return whether an event is one with which a person corrected a fact."""
    return event_id.startswith(f"{_CORRECTED}_")


def correct_fact(campaign: CampaignLog, subject: str, key: str, value: str | float | bool) -> GameEvent:  # noqa: FBT001
    """Record the true value of a fact; everybody who held the old value now holds the new one.

    Each holder learns it under the uid and name that it knows: the real identity may be the DM's secret.
    Returns the event for the holders who know the subject as the DM does.
    """
    with campaign.view(DM) as view:
        persons = view.find(subject)
        known = _subject_as_known(view, persons[0], key)
    # Outside of the view, which would report an invalid value as damage to the store.
    _stated(known.uid, key, value)
    with campaign.view(DM) as view:
        holders = sorted({knowing.holder for knowing in view.who_knows(FactQuestion(known.uid, (key,)))})
    groups: dict[_KnownSubject, list[str]] = {known: []}
    for holder in holders:
        with campaign.view(holder) as own:
            for known_subject in _subjects_known_to(own, persons, key):
                groups.setdefault(known_subject, []).append(holder)
    events = [
        GameEvent(
            event_id=note_id(_CORRECTED, known_subject.uid, key, str(value), *known_subject[1:]),
            event_type=EventType.SYSTEM,
            source=DM,
            content=f"{known_subject.name}'s {key} is {value}.",
            session_id=known_subject.session,
            metadata={
                "facts": [
                    _stated(known_subject.uid, key, value).model_dump(
                        exclude_none=True, exclude_defaults=True
                    )
                ],
                "witnesses": [*people],
            },
        )
        for known_subject, people in groups.items()
    ]
    return campaign.record_many(events)[0]


def _subjects_known_to(view: View, persons: Collection[str], key: str) -> Iterable[_KnownSubject]:
    """Yield the uids of one person under which a viewer holds a fact, as the viewer knows them."""
    for uid, entity in view.entities(persons).items():
        if any(fact.key == key and not fact.ended for fact in entity.facts):
            yield _subject_as_known(view, uid, key)


def _subject_as_known(view: View, uid: str, key: str) -> _KnownSubject:
    entity, newest = view.entities([uid])[uid], view.newest(1)
    events = [fact.learned_from for fact in entity.facts if fact.key == key and not fact.ended]
    session = newest[-1].session_id if newest else "prologue"
    return _KnownSubject(uid, entity.name, events[-1] if events else None, session)


def _stated(uid: str, key: str, value: str | float | bool) -> StatedFact:  # noqa: FBT001
    try:
        StatedFact(subject=uid, key=key, value=0)
    except ValidationError as exc:
        reason = "is not a valid key for a fact; use a word such as mood"
        raise InvalidSetting("key", key, reason=reason) from exc
    try:
        return StatedFact(subject=uid, key=key, value=value)
    except ValidationError as exc:
        reason = "is not a valid value for a fact; use text, a number, true or false"
        raise InvalidSetting("value", value, reason=reason) from exc
