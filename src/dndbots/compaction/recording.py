"""Accepted updates become events: one for each turn and each whose word it is, for those who heard it.

What becomes of a turn is decided for each who heard it, by what that one knows. Those for whom it is the same
get one event together.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots._jsontext import as_json
from dndbots.canon.values import Fact
from dndbots.compaction.checking import Accepted, Mention, Rejected
from dndbots.compaction.grounds import is_like_a_name, untitled
from dndbots.compaction.readings import view_of
from dndbots.compaction.turns import perceivers
from dndbots.compaction.values import MANY, Update
from dndbots.compaction.who import Hearer, fitting_in
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, SYSTEM, category_of, folded, mint_heard
from dndbots.storage.reader import View

_LONGEST_KEY: Final = 64
_SURENESS: Final = {"rumor": 0, "belief": 1, "fact": 2}
_REPEATED: Final = "repeated"
_RECORDED: Final = "recorded"
_Outcome = str | Rejected


class Gathered(NamedTuple):
    """What is to be recorded, how much of what was accepted is known already, and what did not fit."""

    events: list[GameEvent]
    updates: int
    repeated: int
    rejected: list[Rejected]


class Gathering:
    """The events of what was accepted for each hearer, against what is true at this moment.

    `view` is the DM's, `events` are all that the run went over.
    """

    def __init__(self, view: View, events: Mapping[str, GameEvent]) -> None:
        self._view, self._events = view, events
        self._hearers: dict[str, Hearer] = {}
        self._order = {name: n for n, name in enumerate(events)}

    def hearer(self, who: str) -> Hearer:
        if who not in self._hearers:
            self._hearers[who] = Hearer(view_of(self._view, who), self._events)
        return self._hearers[who]

    def gather(self, accepted: Mapping[str, Sequence[Accepted]]) -> Gathered:
        """In the order of the turns, whatever order they were proposed in."""
        outcomes: dict[Update, list[_Outcome]] = {
            one.update: [] for several in accepted.values() for one in several
        }
        notes, minted = _Notes(), dict[str, _Minted]()
        for who in sorted(accepted.keys() - {DM}):
            hearing = _Hearing(who, self.hearer(who), self._events)
            for one in self._in_order(accepted[who]):
                outcomes[one.update].append(hearing.take(one))
            notes.add_all(hearing.events(), who)
            minted |= {one.uid: one for one in hearing.minted}
        hearing = _Hearing(DM, self.hearer(DM), self._events)
        for event in self._recognised(minted.values(), hearing):
            notes.add(event, DM)
        for one in self._in_order(accepted.get(DM, ())):
            # The DM perceives what the others get, so that only what nobody got is left.
            if _RECORDED in outcomes[one.update]:
                hearing.heed(one)
            else:
                outcomes[one.update].append(hearing.take(one))
        notes.add_all(hearing.events(), DM)
        for event, who in self._turned_out():
            notes.add(event, who)
        found = [*map(_outcome_of, outcomes.items())]
        return Gathered(
            notes.events(self._order),
            found.count(_RECORDED),
            found.count(_REPEATED),
            [one for one in found if isinstance(one, Rejected)],
        )

    def _in_order(self, accepted: Iterable[Accepted]) -> list[Accepted]:
        return sorted(accepted, key=lambda one: self._order[one.update.turn])

    def _recognised(self, minted: Iterable["_Minted"], hearing: "_Hearing") -> Iterator[GameEvent]:
        """Whom the others heard of for the first time, and the DM knows already."""
        for one in sorted(minted, key=lambda one: (self._order[one.turn], one.uid)):
            known = hearing.find(one.name, one.category)
            if known is None:
                hearing.learn(one)
            elif not isinstance(known, str) and known.uid not in (None, one.uid):
                yield _identity(self._events[one.turn], {one.uid: str(known.uid)})

    def _turned_out(self) -> Iterator[tuple[GameEvent, str]]:
        """Those who were only heard of until an event named whom they are."""
        for event in self._events.values():
            named = [
                (name, category)
                for uid, names in event.known.names.items()
                if (category := category_of(uid) if uid != DM else None)
                for name in ([names] if isinstance(names, str) else names)
                if len(self.hearer(DM).bearers(name)) > 1
            ]
            for who in (*sorted(perceivers(event)), DM) if named else ():
                same: dict[str, str] = {}
                for name, category in named:
                    same |= self.hearer(who).turned_out(name, fitting_in((category,)))
                if same:
                    yield _identity(event, same), who


def _outcome_of(found: tuple[Update, list[_Outcome]]) -> _Outcome:
    """What became of an update, for anybody: what one of them got was recorded."""
    update, outcomes = found
    for outcome in (_RECORDED, _REPEATED):
        if outcome in outcomes:
            return outcome
    refused = [one for one in outcomes if isinstance(one, Rejected)]
    return refused[0] if refused else Rejected(update, "nobody who heard it knows who is meant", "name")


class _Notes:
    """Events, each with all for whom it is the same."""

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
        """In an order that does not depend on who else gets them."""

        def place(event: GameEvent) -> tuple[bool, int, str]:
            known = event.known
            return bool(known.same_as), order[str(known.valid_from)], event.event_id

        return [
            one.model_copy(
                update={"metadata": {**one.metadata, "witnesses": sorted(self._heard[one.event_id])}}
            )
            for one in sorted(self._events.values(), key=place)
        ]


@dataclass(kw_only=True)
class _Group:
    """What one event will say: facts of one turn, on one word."""

    source: GameEvent
    said_by: str | None
    facts: dict[tuple[str, str, str], dict[str, JsonValue]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class _Newest(NamedTuple):
    """What this run said last of something."""

    value: JsonValue
    certainty: str
    ended: bool


class _Minted(NamedTuple):
    """Somebody or something that a turn names for the first time."""

    name: str
    category: str
    uid: str
    turn: str
    names: tuple[str, ...]


class _Hearing:
    """What one hearer gets. New entities get a uid here, and nowhere else."""

    def __init__(self, who: str, hearer: Hearer, events: Mapping[str, GameEvent]) -> None:
        self._who, self._hearer, self._view, self._events = who, hearer, hearer.view, events
        self._new: dict[str, _Minted] = {}
        self._groups: dict[tuple[str, str | None], _Group] = {}
        self._newest: dict[tuple[str, str], _Newest] = {}

    @property
    def minted(self) -> list[_Minted]:
        """Those who come to life with what is recorded."""
        shown = {uid for group in self._groups.values() for uid in group.names}
        return [new for new in dict.fromkeys(self._new.values()) if new.uid in shown]

    def events(self) -> list[GameEvent]:
        return [_event(group) for group in self._groups.values() if group.facts]

    def take(self, one: Accepted) -> _Outcome:
        """Takes an update into what is to be recorded, or says why not."""
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
        if self._is_stated(one, source, subject):
            return Rejected(one.update, "the turn states it already, by more than words", "structured")
        if one.update.ended and not (learns and self._was_so(one, subject, value)):
            return Rejected(one.update, "nobody who heard it held it to be so", "ended")
        if not one.update.ended and not (is_new if not learns else not self._is_held(one, subject, value)):
            return _REPEATED
        group = self._groups.setdefault((one.update.turn, said_by), _Group(source=source, said_by=said_by))
        return self._add(group, one, subject, value, uids)

    def heed(self, one: Accepted) -> None:
        """Takes note of what the hearer gets anyway."""
        uids = self._uids(one)
        if one.certainty == "fact" and not isinstance(uids, str):
            key = uids[one.subject], _with_key(one, uids).key
            self._newest[key] = _Newest(_value(one, uids), one.certainty, one.update.ended)

    def _uids(self, one: Accepted) -> dict[Mention, str] | str:
        """The uids of all whom an update names, or why one of them has none."""
        found: dict[Mention, str] = {}
        for mention in (one.subject, one.object, one.said_by):
            if mention is not None:
                known = self._placed(mention, self._events[one.update.turn])
                if isinstance(known, str):
                    return known
                found[mention] = str(known.uid)
        return found

    def find(self, name: str, category: str) -> Mention | str | None:
        """Somebody whom the hearer knows, or who was new in this run."""
        new = self._new.get(folded(name)) or self._new.get(folded(untitled(name)))
        if new is not None:
            return Mention(new.name, new.category, new.uid) if new.category == category else "something else"
        return self._hearer.find(name, fitting_in((category,)))

    def learn(self, new: _Minted) -> None:
        for name in new.names:
            self._new.setdefault(folded(name), new)

    def _add(
        self, group: _Group, one: Accepted, subject: str, value: JsonValue, uids: Mapping[Mention, str]
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
            return Rejected(
                one.update, f"the turn says two things of the {one.update.field} there", "two_values"
            )
        group.facts[slot] = fact
        self._newest[subject, one.key] = _Newest(value, one.certainty, one.update.ended)
        for mention, uid in uids.items():
            if mention.uid is None:
                group.names[uid] = next([*new.names] for new in self._new.values() if new.uid == uid)
        over = " no longer" if one.update.ended else ""
        who = self._spoken_name(group.source, one.subject, subject)
        group.lines.append(f"{who}: {one.update.field} is{over} {one.update.value}.")
        return _RECORDED

    def _placed(self, mention: Mention, source: GameEvent) -> Mention | _Minted | str:
        """Who is meant, by uid. Who is new gets one, the same for all turns that are read together."""
        if mention.uid is not None:
            return mention
        known = self._new.get(folded(mention.name)) or self._new.get(folded(untitled(mention.name)))
        if known is None:
            uid = mint_heard(mention.category, mention.name, source.event_id)
            known = _Minted(mention.name, mention.category, uid, source.event_id, self._names(mention))
            self.learn(known)
        return known if known.category == mention.category else f"{mention.name!r} is something else"

    def _names(self, new: Mention) -> tuple[str, ...]:
        """What somebody new is called: by the name that was heard, and for short if that is free."""
        short = _short_name(new.name) if new.category == "NPC" else None
        return (new.name,) if short is None or self._hearer.bearers(short) else (new.name, short)

    def _spoken_name(self, source: GameEvent, mention: Mention, uid: str) -> str:
        """What somebody is called in words that the hearer may read."""
        is_unknown = uid == source.source and not self._hearer.knows(uid, mention.name)
        return "Who speaks" if is_unknown else mention.name

    def _is_stated(self, one: Accepted, source: GameEvent, subject: str) -> bool:
        """Whether the turn says it of them by more than words, be it under another uid of theirs."""
        stated = [fact.subject for fact in source.known.facts if fact.key == one.key]
        return bool(stated) and not set(stated).isdisjoint(self._view.persons(subject))

    def _is_held(self, one: Accepted, subject: str, value: JsonValue) -> bool:
        """Whether the hearer holds it already, and no less surely."""
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
        """Whether what is over was so; else it would end something else."""
        newest = self._newest.get((subject, one.key))
        if newest is not None and not newest.ended and not _is_other(newest.value, value):
            return True
        return any(
            not fact.ended and not _is_other(fact.value, value) for fact in self._newest_of(one, subject)
        )

    def _newest_of(self, one: Accepted, subject: str) -> list[Fact]:
        return self._view.past_of(subject, one.key, limit=1)[-1:]


def _event(group: _Group) -> GameEvent:
    metadata: dict[str, JsonValue] = {"facts": [*group.facts.values()]}
    if group.names:
        metadata["names"] = {uid: [*names] for uid, names in group.names.items()}
    if group.said_by is not None:
        metadata["said_by"] = group.said_by
    return _note(group.source, "\n".join(group.lines), metadata)


def _identity(source: GameEvent, same_as: Mapping[str, str]) -> GameEvent:
    """That somebody of whom there was only talk is somebody known."""
    return _note(source, "", {"facts": [], "same_as": dict(sorted(same_as.items()))})


def _note(source: GameEvent, said: str, metadata: Mapping[str, JsonValue]) -> GameEvent:
    digest = hashlib.sha256("\x1f".join((source.event_id, said, as_json(metadata))).encode()).hexdigest()
    return GameEvent(
        event_id=f"extracted_{digest[:16]}",
        event_type=EventType.EXTRACTION,
        source=SYSTEM,
        content=said,
        session_id=source.session_id,
        metadata={**metadata, "valid_from": source.event_id, "sources": [source.event_id]},
        timestamp=source.timestamp,
    )


def _with_key(one: Accepted, uids: Mapping[Mention, str]) -> Accepted:
    """An update with the key of its own tie, where somebody may have several."""
    if one.object is None or one.update.field not in MANY:
        return one
    return one._replace(key=_key_of_one(one.update.field, uids[one.object]))


def _value(one: Accepted, uids: Mapping[Mention, str]) -> JsonValue:
    return [uids[one.object]] if one.object else " ".join(one.update.value.split())


def _key_of_one(field: str, uid: str) -> str:
    """The key of a tie of which somebody may have several: it says to whom."""
    key = f"{field}__{uid.partition('_')[2]}"
    return key if len(key) <= _LONGEST_KEY else f"{field}__{hashlib.sha256(uid.encode()).hexdigest()[:16]}"


def _is_in(value: JsonValue, other: JsonValue) -> bool:
    return folded(str(value)) in folded(str(other))


def _is_other(value: JsonValue, other: JsonValue) -> bool:
    """Whether neither of two values says the other in more words."""
    return not (_is_in(value, other) or _is_in(other, value))


def _short_name(name: str) -> str | None:
    """What somebody is called for short: without a title, and by the first of several names."""
    short = untitled(name).split()[0]
    return short if short != name and is_like_a_name(short) else None
