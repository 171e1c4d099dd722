"""Turns accepted updates into events: one for each turn and each person whose word it is.

Every hearer of a turn gets updates by what that hearer knows. Hearers with the same result share one event.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots._jsontext import as_json
from dndbots.canon.entities import Fact
from dndbots.compaction.checks import Accepted, NameMention, Rejected
from dndbots.compaction.heard_turns import Hearer, fitting_categories, hearers_of, view_of
from dndbots.events import EventType, GameEvent
from dndbots.extraction.port import ALIAS, MANY, Update
from dndbots.extraction.turn_evidence import is_like_a_name, is_phrase, untitled
from dndbots.ids import DM, SYSTEM, category_of, fold_name, is_description, mint_heard, slug
from dndbots.storage.views.view import View
from dndbots.text.words import words_of

_LONGEST_KEY: Final = 64
_SURENESS: Final = {"rumor": 0, "belief": 1, "fact": 2}
_ROLE: Final = "role"
_ITEM: Final = "item"
_REPEATED: Final = "repeated"
_RECORDED: Final = "recorded"
_Outcome = str | Rejected


class UpdateEvents(NamedTuple):
    """The events to record, the number of updates in them and of repetitions, and late rejections."""

    events: list[GameEvent]
    updates: int
    repeated: int
    rejected: list[Rejected]


class UpdateRecorder:
    """Makes events of accepted updates, compared with what is true at this moment.

    `view` is the DM's; `events` are all events of the run.
    """

    def __init__(self, view: View, events: Mapping[str, GameEvent]) -> None:
        self._view, self._events = view, events
        self._hearers: dict[str, Hearer] = {}
        self._order = {name: n for n, name in enumerate(events)}

    def hearer(self, who: str) -> Hearer:
        """Return the name resolver of one hearer, made once."""
        if who not in self._hearers:
            self._hearers[who] = Hearer(view_of(self._view, who), self._events)
        return self._hearers[who]

    def make_events(self, accepted: Mapping[str, Sequence[Accepted]]) -> UpdateEvents:
        """Return the events of all hearers' updates, in the order of the turns."""
        outcomes: dict[Update, list[_Outcome]] = {
            one.update: [] for several in accepted.values() for one in several
        }
        notes, minted = _SharedEvents(), dict[str, _Minted]()
        for who in sorted(accepted.keys() - {DM}):
            hearing = _HearerUpdates(who, self.hearer(who), self._events)
            for one in self._in_order(accepted[who]):
                outcomes[one.update].append(hearing.take(one))
            notes.add_all(hearing.events(), who)
            minted |= {one.uid: one for one in hearing.minted}
        hearing = _HearerUpdates(DM, self.hearer(DM), self._events)
        for event in self._recognise(minted.values(), hearing):
            notes.add(event, DM)
        for one in self._in_order(accepted.get(DM, ())):
            # The DM perceives every event of the others, so only updates that nobody got are left.
            if _RECORDED in outcomes[one.update]:
                hearing.note_recorded(one)
            else:
                outcomes[one.update].append(hearing.take(one))
        notes.add_all(hearing.events(), DM)
        for event, who in self._identify():
            notes.add(event, who)
        found = [*map(_outcome_of, outcomes.items())]
        return UpdateEvents(
            notes.events(self._order),
            found.count(_RECORDED),
            found.count(_REPEATED),
            [one for one in found if isinstance(one, Rejected)],
        )

    def _in_order(self, accepted: Iterable[Accepted]) -> list[Accepted]:
        return sorted(accepted, key=lambda one: self._order[one.update.turn])

    def _recognise(self, minted: Iterable["_Minted"], hearing: "_HearerUpdates") -> Iterator[GameEvent]:
        """Yield events that merge entities new to the players with entities that the DM knows."""
        for new in sorted(minted, key=lambda new: (self._order[new.turn], new.uid)):
            known = hearing.find(new.name, new.category)
            if known is None:
                hearing.learn(new)
            elif not isinstance(known, str) and known.uid not in (None, new.uid):
                yield _merge_event(self._events[new.turn], {new.uid: str(known.uid)})

    def _identify(self) -> Iterator[tuple[GameEvent, str]]:
        """Yield events that merge people once only heard of with the people met under that name."""
        for event in self._events.values():
            named = [
                (name, category)
                for uid, names in event.known.names.items()
                if (category := category_of(uid) if uid != DM else None)
                for name in ([names] if isinstance(names, str) else names)
                if len(self.hearer(DM).bearers(name)) > 1
            ]
            for who in (*sorted(hearers_of(event)), DM) if named else ():
                same: dict[str, str] = {}
                for name, category in named:
                    same |= self.hearer(who).met_since(name, fitting_categories((category,)))
                if same:
                    yield _merge_event(event, same), who


def _outcome_of(item: tuple[Update, list[_Outcome]]) -> _Outcome:
    """Return the best outcome of an update among all hearers."""
    update, outcomes = item
    for outcome in (_RECORDED, _REPEATED):
        if outcome in outcomes:
            return outcome
    rejected = [outcome for outcome in outcomes if isinstance(outcome, Rejected)]
    return rejected[0] if rejected else Rejected(update, "no hearer knows whom the name means", "name")


class _SharedEvents:
    """Events, each with the hearers who share it."""

    def __init__(self) -> None:
        self._events: dict[str, GameEvent] = {}
        self._heard: dict[str, set[str]] = {}

    def add(self, event: GameEvent, who: str) -> None:
        self._events[event.event_id] = event
        self._heard.setdefault(event.event_id, set()).update({who} - {DM})

    def add_all(self, events: Iterable[GameEvent], who: str) -> None:
        for event in events:
            self.add(event, who)

    def events(self, order: Mapping[str, int]) -> list[GameEvent]:
        """Return the events in an order that does not depend on who else gets them."""

        def place(event: GameEvent) -> tuple[bool, int, str]:
            known = event.known
            return bool(known.same_as), order[str(known.valid_from)], event.event_id

        return [
            event.model_copy(
                update={"metadata": {**event.metadata, "witnesses": sorted(self._heard[event.event_id])}}
            )
            for event in sorted(self._events.values(), key=place)
        ]


@dataclass(kw_only=True)
class _EventDraft:
    """An event in the making: the facts of one turn on one person's word."""

    source: GameEvent
    said_by: str | None
    facts: dict[tuple[str, str, str], dict[str, JsonValue]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class _LatestValue(NamedTuple):
    """The latest value of a fact in this run."""

    value: JsonValue
    certainty: str
    ended: bool


class _Minted(NamedTuple):
    """A new entity, with the turn that first names it."""

    name: str
    category: str
    uid: str
    turn: str
    names: tuple[str, ...]


class _HearerUpdates:
    """The updates of one hearer. New entities get their uid here, and nowhere else."""

    def __init__(self, who: str, hearer: Hearer, events: Mapping[str, GameEvent]) -> None:
        self._who, self._hearer, self._view, self._events = who, hearer, hearer.view, events
        self._new: dict[str, _Minted] = {}
        self._also: dict[str, NameMention] = {}  # names that this run gives to known entities
        self._groups: dict[tuple[str, str | None], _EventDraft] = {}
        self._newest: dict[tuple[str, str], _LatestValue] = {}

    @property
    def minted(self) -> list[_Minted]:
        """The new entities that the recorded events introduce."""
        shown = {uid for group in self._groups.values() for uid in group.names}
        return [new for new in dict.fromkeys(self._new.values()) if new.uid in shown]

    def events(self) -> list[GameEvent]:
        """Return the events with at least one fact or name."""
        return [_event(group) for group in self._groups.values() if group.facts or group.names]

    def take(self, one: Accepted) -> _Outcome:
        """Add an update to the events to record; return what became of it."""
        source = self._events[one.update.turn]
        uids = self._uids(one)
        if isinstance(uids, str):
            return Rejected(one.update, uids, "name")
        is_new = not {new.uid for new in self._new.values() if new.turn == source.event_id}.isdisjoint(
            uids.values()
        )
        subject = uids[one.subject]
        one, value = _with_key(one, uids), _value(one, uids)
        said_by = uids[one.said_by] if one.said_by else None
        learns = one.certainty == "fact" or self._who not in (DM, said_by)
        if one.update.field == ALIAS:
            return self._take_name(one, source, subject, said_by, uids, is_new=is_new)
        if self._is_stated(one, source, subject):
            return Rejected(one.update, "the turn states it already, as structured data", "structured")
        if one.update.ended and not (learns and self._was_so(one, subject, value)):
            return Rejected(one.update, "it ends a fact that no hearer knew", "ended")
        if not one.update.ended and not (is_new if not learns else not self._is_held(one, subject, value)):
            return _REPEATED
        group = self._groups.setdefault(
            (one.update.turn, said_by), _EventDraft(source=source, said_by=said_by)
        )
        return self._add(group, one, subject, value, uids)

    def _take_name(
        self,
        one: Accepted,
        source: GameEvent,
        subject: str,
        said_by: str | None,
        uids: Mapping[NameMention, str],
        *,
        is_new: bool,
    ) -> _Outcome:
        """Add another name of an entity, or introduce a new one; a name that somebody else has is refused."""
        value = " ".join(one.update.value.split())
        bearers = self._view.persons_of(self._hearer.bearers(value))
        new = self._new.get(fold_name(value))
        also = self._also.get(fold_name(value))
        others = {same[0] for same in bearers.values()}
        others |= {one.uid for one in (new, also) if one is not None and one.uid is not None}
        mine = set(self._view.persons(subject))
        if others - mine - {subject}:
            return Rejected(one.update, f"{value!r} is the name of somebody else", "name")
        if others and not is_new:
            return _REPEATED
        group = self._groups.setdefault(
            (one.update.turn, said_by), _EventDraft(source=source, said_by=said_by)
        )
        self._add_names(group, uids)
        names = group.names.setdefault(subject, self._known_names(subject))
        if fold_name(value) not in map(fold_name, names):
            plain = untitled(value)
            names += [value] if plain == value or self._is_taken(plain) else [value, plain]
            group.lines.append(f"{self._spoken_name(source, one.subject, subject)}: also called {value}.")
        if one.subject.uid is not None:
            self._also[fold_name(value)] = one.subject
        if new is None and subject in {minted.uid for minted in self._new.values()}:
            minted = next(minted for minted in self._new.values() if minted.uid == subject)
            self._new[fold_name(value)] = minted
        return _RECORDED

    def note_recorded(self, one: Accepted) -> None:
        """Note an update that the hearer gets through another hearer's event."""
        if one.update.field == ALIAS and one.subject.uid is not None:
            self._also[fold_name(one.update.value)] = one.subject
        uids = self._uids(one)
        if one.certainty == "fact" and not isinstance(uids, str):
            key = uids[one.subject], _with_key(one, uids).key
            self._newest[key] = _LatestValue(_value(one, uids), one.certainty, one.update.ended)

    def _uids(self, one: Accepted) -> dict[NameMention, str] | str:
        """Return the uid of every name in an update, or the reason why one has none."""
        found: dict[NameMention, str] = {}
        for mention in (one.subject, one.object, one.said_by):
            if mention is not None:
                known = self._placed(mention, self._events[one.update.turn])
                if isinstance(known, str):
                    return known
                found[mention] = str(known.uid)
        return found

    def find(self, name: str, category: str) -> NameMention | str | None:
        """Return an entity that the hearer knows, or that is new in this run."""
        new = self._new.get(fold_name(name)) or self._new.get(fold_name(untitled(name)))
        if new is not None:
            return (
                NameMention(new.name, new.category, new.uid)
                if new.category == category
                else "is not of this kind"
            )
        return self._hearer.find(name, fitting_categories((category,)))

    def learn(self, new: _Minted) -> None:
        """Remember a new entity by all its names."""
        for name in new.names:
            self._new.setdefault(fold_name(name), new)

    def _add(
        self,
        group: _EventDraft,
        one: Accepted,
        subject: str,
        value: JsonValue,
        uids: Mapping[NameMention, str],
    ) -> _Outcome:
        fact: dict[str, JsonValue] = {"subject": subject, "key": one.key, "value": value}
        if one.certainty != "fact":
            fact["certainty"] = one.certainty
        if one.update.ended:
            fact["ended"] = True
        slot = subject, one.key, one.certainty
        earlier = group.facts.get(slot, fact)
        if earlier != fact and not (earlier.get("ended") and _is_other(earlier["value"], value)):
            if _is_in(value, earlier["value"]) or (one.update.ended and _is_other(earlier["value"], value)):
                return _REPEATED
            return Rejected(one.update, f"the turn gives two values for {one.update.field!r}", "two_values")
        group.facts[slot] = fact
        self._newest[subject, one.key] = _LatestValue(value, one.certainty, one.update.ended)
        self._add_names(group, uids)
        if one.key == _ROLE and not one.update.ended:
            role = fold_name(str(value))
            for office in dict.fromkeys(
                (role, role.partition(" of ")[0])
            ):  # the reeve of Thornwick is the reeve
                self._add_office(group, subject, f"the {office}")
        over = " no longer" if one.update.ended else ""
        who = self._spoken_name(group.source, one.subject, subject)
        group.lines.append(f"{who}: {one.update.field} is{over} {one.update.value}.")
        return _RECORDED

    def _add_office(self, group: _EventDraft, uid: str, office: str) -> None:
        """Give somebody the name of their office if the turn calls them so: "the reeve"."""
        spoken = f" {' '.join(words_of(group.source.content))} "
        if is_phrase(office) and f" {' '.join(words_of(office))} " in spoken:
            names = group.names.get(uid) or self._known_names(uid)
            if office not in names and uid not in self._hearer.bearers(office):
                group.names[uid] = [*names, office]

    def _known_names(self, uid: str) -> list[str]:
        """Return the name that an entity keeps when it gets another; none if the hearer was told no name."""
        name = self._view.called([uid])[uid].name
        folded = fold_name(name)
        is_given = uid in self._view.given([folded]).get(folded, ())
        return [name] if is_given and not is_description(name) else []

    def _add_names(self, group: _EventDraft, uids: Mapping[NameMention, str]) -> None:
        """Give an event the names of the new entities in it."""
        minted = {new.uid: new for new in self._new.values()}
        for mention, uid in uids.items():
            if mention.uid is None and uid in minted and uid not in group.names:
                group.names[uid] = [*minted[uid].names]

    def _placed(self, mention: NameMention, source: GameEvent) -> NameMention | _Minted | str:
        """Return the entity with its uid. A new one gets a uid that all turns of this run share."""
        if mention.uid is not None:
            return mention
        also = self._also.get(fold_name(mention.name))
        if also is not None and also.category in fitting_categories((mention.category,)):
            return also
        known = self._new.get(fold_name(mention.name)) or self._new.get(fold_name(untitled(mention.name)))
        if known is None:
            uid = mint_heard(mention.category, mention.name, source.event_id)
            known = _Minted(mention.name, mention.category, uid, source.event_id, self._names(mention))
            self.learn(known)
        return (
            known
            if known.category == mention.category
            else f"{mention.name!r} is a {known.category}, not a {mention.category}"
        )

    def _names(self, new: NameMention) -> tuple[str, ...]:
        """Return the names of a new entity: the one that was heard, and shorter forms that no other has."""
        forms = _shorter_names(new.name) if new.category == "NPC" else ()
        return (new.name, *(form for form in forms if not self._is_taken(form)))

    def _is_taken(self, name: str) -> bool:
        return fold_name(name) in self._new or bool(self._hearer.bearers(name))

    def _spoken_name(self, source: GameEvent, mention: NameMention, uid: str) -> str:
        """Return the name of the subject that the hearer may read."""
        is_unknown = uid == source.source and not self._hearer.knows(uid, mention.name)
        return "Who speaks" if is_unknown else mention.name

    def _is_stated(self, one: Accepted, source: GameEvent, subject: str) -> bool:
        """Return whether the turn's metadata states this fact already, under any uid of the subject."""
        stated = [fact.subject for fact in source.known.facts if fact.key == one.key]
        return bool(stated) and not set(stated).isdisjoint(self._view.persons(subject))

    def _is_held(self, one: Accepted, subject: str, value: JsonValue) -> bool:
        """Return whether the hearer knows the fact already, at least as surely."""
        newest = self._newest.get((subject, one.key))
        if newest is not None:
            is_same = newest.value == value and not newest.ended
            return is_same and _SURENESS[newest.certainty] >= _SURENESS[one.certainty]
        if one.subject.uid is None:
            return False
        return any(
            fact.value == value and not fact.ended and _SURENESS[fact.certainty] >= _SURENESS[one.certainty]
            for fact in self._newest_of(one, subject)
        )

    def _was_so(self, one: Accepted, subject: str, value: JsonValue) -> bool:
        """Return whether the fact that ended was known; otherwise it would end another one."""
        newest = self._newest.get((subject, one.key))
        if newest is not None and not newest.ended and not _is_other(newest.value, value):
            return True
        return any(
            not fact.ended and not _is_other(fact.value, value) for fact in self._newest_of(one, subject)
        )

    def _newest_of(self, one: Accepted, subject: str) -> list[Fact]:
        return self._view.past_of(subject, one.key, limit=1)[-1:]


def _event(group: _EventDraft) -> GameEvent:
    metadata: dict[str, JsonValue] = {"facts": [*group.facts.values()]}
    if group.names:
        metadata["names"] = {uid: [*names] for uid, names in group.names.items()}
    if group.said_by is not None:
        metadata["said_by"] = group.said_by
    return _note(group.source, "\n".join(group.lines), metadata)


def _merge_event(source: GameEvent, same_as: Mapping[str, str]) -> GameEvent:
    """Return an event that says which entities are the same."""
    return _note(source, "", {"facts": [], "same_as": dict(sorted(same_as.items()))})


def _note(source: GameEvent, text: str, metadata: Mapping[str, JsonValue]) -> GameEvent:
    digest = hashlib.sha256("\x1f".join((source.event_id, text, as_json(metadata))).encode()).hexdigest()
    return GameEvent(
        event_id=f"extracted_{digest[:16]}",
        event_type=EventType.EXTRACTION,
        source=SYSTEM,
        content=text,
        session_id=source.session_id,
        metadata={**metadata, "valid_from": source.event_id, "sources": [source.event_id]},
        timestamp=source.timestamp,
    )


def _with_key(one: Accepted, uids: Mapping[NameMention, str]) -> Accepted:
    """Return the update with a key of its own for each tie or thing, where somebody may have several."""
    if one.update.field == _ITEM:
        return one._replace(key=f"{_ITEM}__{slug(one.update.value.rpartition(' ')[2])}")
    if one.object is None or one.update.field not in MANY:
        return one
    return one._replace(key=_tie_key(one.update.field, uids[one.object]))


def _value(one: Accepted, uids: Mapping[NameMention, str]) -> JsonValue:
    return [uids[one.object]] if one.object else " ".join(one.update.value.split())


def _tie_key(field: str, uid: str) -> str:
    """Return the key of one tie among several: the field and the other person."""
    key = f"{field}__{uid.partition('_')[2]}"
    return key if len(key) <= _LONGEST_KEY else f"{field}__{hashlib.sha256(uid.encode()).hexdigest()[:16]}"


def _is_in(value: JsonValue, other: JsonValue) -> bool:
    return fold_name(str(value)) in fold_name(str(other))


def _is_other(value: JsonValue, other: JsonValue) -> bool:
    """Return whether neither of two values contains the other."""
    return not (_is_in(value, other) or _is_in(other, value))


def _shorter_names(name: str) -> list[str]:
    """Return shorter forms of a name: without title, its first or last word, and its title and last word."""
    plain = untitled(name)
    words = plain.split()
    forms = [plain, words[0], words[-1]]
    if plain != name and len(words) > 1:
        forms.append(f"{name.removesuffix(plain).strip()} {words[-1]}")
    return [form for form in dict.fromkeys(forms) if form != name and is_like_a_name(form)]
