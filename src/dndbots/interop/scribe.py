"""The scribe: records what people say, what the DM tells and what is noted, by names instead of uids.

It fills in what an event needs: the uids of people and places, who perceives it, the session and the id.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import count
from typing import Final, NamedTuple

from pydantic import JsonValue, ValidationError

from dndbots._jsontext import as_json
from dndbots.errors import InvalidSetting, SequenceConflict, UnknownEntity
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, category_of, check_name, fold_name, is_uid
from dndbots.interop.transcript_cast import TranscriptCast
from dndbots.storage.campaign_log import BranchLog
from dndbots.storage.ports import Lineage
from dndbots.storage.views.view import View

PARTY: Final = "party"
FIRST_SESSION: Final = "s01"
Names = str | Iterable[str]
# Facts by the name of their subject: {"Elena": {"role": "smith"}}.
NamedFacts = Mapping[str, Mapping[str, JsonValue]]
_ROLES: Final = ("pc", "npc")


class _Draft(NamedTuple):
    """An event with names where the log has uids. `hearers` None means everybody near."""

    kind: EventType
    text: str
    hearers: tuple[str, ...] | None
    session: str | None
    facts: NamedFacts
    metadata: Mapping[str, JsonValue]
    event_id: str | None
    time: datetime | None
    speaker: str = DM
    role: str = DM
    to: tuple[str, ...] = ()
    place: str | None = None


class _Roll(NamedTuple):
    """The people of an event by uid, and its place."""

    speaker: str
    to: list[str]
    witnesses: list[str]
    place: str | None


class Scribe:
    """Records lines of play in one branch, and creates the people and places they name."""

    def __init__(self, log: BranchLog) -> None:
        self._log = log

    def say(
        self,
        speaker: str,
        text: str,
        *,
        to: Names = (),
        at: str | None = None,
        heard_by: Names | None = None,
        role: str = "pc",
        session: str | None = None,
        facts: NamedFacts | None = None,
        event_id: str | None = None,
        time: datetime | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> GameEvent:
        """Record a line of speech and return the event as stored.

        With `to`, only these people hear it. Otherwise everybody near does: all at the same place, or
        the whole party if no place is known. `heard_by` lists the hearers instead. `at` is the place
        where this happens; the speaker stays there until another line says otherwise. `facts` is what
        the words state, by subject: `{"Elena": {"role": "smith"}}`.

        Names that the campaign does not know become characters, or NPCs with `role="npc"`. A new subject
        of a fact becomes an NPC, or what its name says: `the silver key` is a thing, `the old mill` a place.
        """
        listeners = _listed("to", to)
        nobody_else: Names | None = () if listeners else None
        return self._record(
            _Draft(
                kind=EventType.WHISPER if listeners and not heard_by else EventType.DIALOGUE,
                speaker=speaker,
                role=DM if isinstance(speaker, str) and fold_name(speaker) == DM else role,
                text=text,
                to=listeners,
                hearers=_listed_or_none("heard_by", nobody_else if heard_by is None else heard_by),
                place=at,
                session=session,
                facts=facts or {},
                metadata=metadata or {},
                event_id=event_id,
                time=time,
            )
        )

    def narrate(
        self,
        text: str,
        *,
        to: Names | None = None,
        at: str | None = None,
        session: str | None = None,
        facts: NamedFacts | None = None,
        event_id: str | None = None,
        time: datetime | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> GameEvent:
        """Record what the DM tells, and return the event as stored.

        `to` are the people who perceive it. Without it, that is the party; with `at`, everybody there,
        and the party goes there if none of it was there before. What the DM tells is true, `facts`
        included.
        """
        return self._record(
            _Draft(
                kind=EventType.DM_NARRATION,
                text=text,
                hearers=_listed_or_none("to", to),
                place=at,
                session=session,
                facts=facts or {},
                metadata=metadata or {},
                event_id=event_id,
                time=time,
            )
        )

    def note(
        self,
        text: str,
        *,
        known_to: Names = (),
        session: str | None = None,
        facts: NamedFacts | None = None,
        event_id: str | None = None,
        time: datetime | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> GameEvent:
        """Record something that is so, without a scene, and return the event as stored.

        Nobody but the DM knows it, unless `known_to` names people, or the `"party"`.
        """
        return self._record(
            _Draft(
                kind=EventType.DISCOVERY,
                text=text,
                hearers=_listed("known_to", known_to),
                session=session,
                facts=facts or {},
                metadata=metadata or {},
                event_id=event_id,
                time=time,
            )
        )

    def _record(self, draft: _Draft) -> GameEvent:
        """Append a draft. If another writer comes first, look all names up again at the new head."""
        _check(draft)
        while True:
            head, lineage = self._log.past()
            with self._log.snapshot(DM) as view:
                event = self._event(draft, view, head, lineage)
            try:
                return self._log.record(event, expected=head)
            except SequenceConflict:
                continue

    def _event(self, draft: _Draft, view: View, head: int, lineage: Lineage) -> GameEvent:
        cast = TranscriptCast(self._log.store)
        roll = self._roll(draft, cast, view, lineage)
        subjects = {name: self._subject(name, cast, view, lineage) for name in draft.facts}
        perceivers = frozenset((roll.speaker, *roll.to, *roll.witnesses, DM))
        shown = [roll.speaker, *roll.to, *subjects.values(), *((roll.place,) if roll.place else ())]
        # A silent listener is introduced only to the DM and to themselves.
        learners = {who: frozenset((who, DM)) for who in roll.witnesses} | dict.fromkeys(shown, perceivers)
        introduced = cast.introductions(learners, lineage)
        metadata: dict[str, JsonValue] = {"witnesses": [*roll.witnesses]}
        if roll.to:
            metadata["participants"] = [*roll.to]
        if roll.place:
            metadata["location"] = roll.place
        if introduced:
            metadata["names"] = {uid: name for uid, (name, _) in introduced.items()}
        partly: dict[str, JsonValue] = {
            uid: [*sorted(viewers)] for uid, (_, viewers) in introduced.items() if viewers != perceivers
        }
        if partly:
            metadata["introduced_to"] = partly
        if draft.facts:
            metadata["facts"] = [
                {"subject": subjects[name], "key": key, "value": value}
                for name, values in draft.facts.items()
                for key, value in values.items()
            ]
        is_speech = draft.kind is not EventType.DISCOVERY
        newest = view.newest(1)
        session = draft.session or (newest[-1].session_id if newest else FIRST_SESSION)
        try:
            return GameEvent(
                event_id=draft.event_id or self._new_id(draft, session, head, lineage),
                event_type=EventType.DM_NARRATION if roll.speaker == DM and is_speech else draft.kind,
                source=roll.speaker,
                content=draft.text,
                session_id=session,
                metadata={**metadata, **draft.metadata},
                timestamp=draft.time,
            )
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(map(str, first["loc"])) or "metadata"
            raise InvalidSetting(where, first["input"], reason=f"is not valid: {first['msg']}") from exc

    def _roll(self, draft: _Draft, cast: TranscriptCast, view: View, lineage: Lineage) -> _Roll:
        def find(names: Iterable[str]) -> list[str]:
            found: dict[str, None] = {}
            for name in names:
                known = view.party() if fold_name(name) == PARTY else [cast.person(name, None, lineage)]
                found.update(dict.fromkeys(known))
            return list(found)

        cast.hear(draft.speaker, draft.role)
        for name in (draft.speaker, *draft.to, *(draft.hearers or ())):
            cast.check(name, None if name != draft.speaker else draft.role, lineage)
        # The speaker is who the campaign knows by that name; the role counts for new names.
        speaker = cast.person(draft.speaker, DM if draft.role == DM else None, lineage)
        to = [uid for uid in find(draft.to) if uid != speaker]
        place = None if draft.place is None else cast.place(draft.place, lineage)
        if draft.hearers is not None:
            heard = [uid for uid in find(draft.hearers) if uid != DM]
            if draft.kind is EventType.DM_NARRATION:
                return _Roll(speaker, heard, [], place)  # they take part, so they are at the place
            return _Roll(speaker, to, [uid for uid in heard if uid not in (speaker, *to)], place)
        if draft.kind is EventType.DM_NARRATION:
            return self._audience_of_telling(place, view)
        if place is None and speaker != DM:
            place = _place_of(view, speaker) or _place_of_party(view)
            if place is not None:
                cast.place(view.called([place])[place].name, lineage)  # so that hearers learn its name
        near = view.party() if place is None else _people_at(view, place)
        return _Roll(speaker, to, [uid for uid in near if uid not in (speaker, *to)], place)

    @staticmethod
    def _audience_of_telling(place: str | None, view: View) -> _Roll:
        party = view.party()
        if place is None:
            return _Roll(DM, [], party, None)
        there = _people_at(view, place)
        if any(uid in there for uid in party):
            return _Roll(DM, [], there, place)
        return _Roll(DM, party, there, place)

    def _subject(self, name: str, cast: TranscriptCast, view: View, lineage: Lineage) -> str:
        """Return the uid of whom or what a fact is about. A new name is an NPC, unless it says what it is."""
        try:
            return view.find(name)[0]
        except UnknownEntity:
            # Its word tables load with the first new name: most answers about a campaign record nothing.
            from dndbots.interop.formats.categories import OTHER_LORE, guess_category
            from dndbots.interop.formats.neutral import LoreEntry

            category = guess_category(LoreEntry(name, ""))
            if category in (OTHER_LORE, "NPC"):
                return cast.person(name, "npc", lineage)
            return cast.thing(name, category, lineage)

    def _new_id(self, draft: _Draft, session: str, head: int, lineage: Lineage) -> str:
        """Return a free id. It is a digest, so it does not tell a viewer how many events it missed."""
        for number in count():
            parts = [draft.kind, draft.speaker, draft.text, session, head, number]
            digest = hashlib.sha256(as_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
            event_id = f"{_KIND_NAMES[draft.kind]}_{digest}"
            if not self._log.store.seqs_of(lineage, [event_id]):
                return event_id
        raise AssertionError


_KIND_NAMES: Final = {
    EventType.DIALOGUE: "say",
    EventType.WHISPER: "say",
    EventType.DM_NARRATION: "tell",
    EventType.DISCOVERY: "note",
}


def _check(draft: _Draft) -> None:
    """Refuse what cannot be recorded, before anything is looked up."""
    if not isinstance(draft.text, str) or not draft.text.strip():
        raise InvalidSetting("text", draft.text, reason="is empty; give the words")
    if draft.role not in (*_ROLES, DM):
        raise InvalidSetting("role", draft.role, reason=f"must be one of {', '.join((*_ROLES, DM))}")
    if not isinstance(draft.facts, Mapping) or not all(isinstance(v, Mapping) for v in draft.facts.values()):
        reason = 'must name a subject, a key and a value, as {"Elena": {"role": "smith"}}'
        raise InvalidSetting("facts", draft.facts, reason=reason)
    names = [draft.speaker, *draft.to, *(draft.hearers or ()), *draft.facts]
    for name in (*names, *((draft.place,) if draft.place is not None else ())):
        if not isinstance(name, str):
            raise InvalidSetting("name", name, reason="must be a text")
        check_name(name)
    for name in (*draft.to, *(draft.hearers or ())):
        if is_uid(name) and category_of(name) == "LOC":
            raise InvalidSetting("name", name, reason="is a place; give the place as `at`")


def _listed(setting: str, names: Names) -> tuple[str, ...]:
    """Return names as a tuple. A single name may stand alone."""
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError as exc:
        raise InvalidSetting(setting, names, reason="must be a name or a list of names") from exc


def _listed_or_none(setting: str, names: Names | None) -> tuple[str, ...] | None:
    return None if names is None else _listed(setting, names)


def _place_of(view: View, uid: str) -> str | None:
    entity = view.entities([uid]).get(uid)
    return None if entity is None else entity.location


def _place_of_party(view: View) -> str | None:
    """Return the place of the party if it is together: a speaker who was never placed is there."""
    places = {entity.location for entity in view.entities(view.party()).values()}
    return places.pop() if len(places) == 1 else None


def _people_at(view: View, place: str) -> list[str]:
    """Return the living at a place, as the DM knows."""
    return [entity.uid for entity in view.known_people() if entity.location == place and entity.alive]
