"""Accepted updates become events: one for each turn and each whose word it is, for those who heard it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.values import Fact
from dndbots.compaction.checking import Accepted, Mention, Rejected
from dndbots.compaction.grounds import is_like_a_name, untitled
from dndbots.compaction.turns import perceivers
from dndbots.compaction.values import MANY
from dndbots.compaction.who import Hearers
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, SYSTEM, folded
from dndbots.storage.reader import View

_LONGEST_KEY: Final = 64
_SURENESS: Final = {"rumor": 0, "belief": 1, "fact": 2}


class Gathered(NamedTuple):
    """What is to be recorded, how much of what was accepted is known already, and what did not fit."""

    events: list[GameEvent]
    updates: int
    repeated: int
    rejected: list[Rejected]


@dataclass(kw_only=True)
class _Group:
    """What one event will say: facts of one turn, on one word."""

    source: GameEvent
    said_by: str | None
    facts: dict[tuple[str, str, str], dict[str, JsonValue]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class _Newest(NamedTuple):
    """What this run said last of something, and to whom."""

    value: JsonValue
    certainty: str
    ended: bool
    heard: frozenset[str]


class Gathering:
    """The events of some accepted updates, against what is true at this moment.

    `view` is the DM's. New entities get a uid here, and nowhere else.
    """

    def __init__(self, view: View, events: Mapping[str, GameEvent], hearers: Hearers) -> None:
        self._view, self._events, self._hearers = view, events, hearers
        self._minted: dict[str, Mention] = {}
        self._told: dict[str, set[str]] = {}
        self._groups: dict[tuple[str, str | None], _Group] = {}
        self._newest: dict[tuple[str, str], _Newest] = {}
        self._rejected: list[Rejected] = []
        self._repeated = 0

    def gather(self, accepted: Iterable[Accepted]) -> Gathered:
        """In the order of the turns, whatever order they were proposed in."""
        places = {name: n for n, name in enumerate(self._events)}
        for one in sorted(accepted, key=lambda one: places[one.update.turn]):
            self._take(one)
        events = [_event(group) for group in self._groups.values() if group.facts]
        updates = sum(len(group.facts) for group in self._groups.values())
        return Gathered(events, updates, self._repeated, self._rejected)

    def _take(self, one: Accepted) -> None:
        source = self._events[one.update.turn]
        mentions = [mention for mention in (one.subject, one.object, one.said_by) if mention is not None]
        uids: dict[Mention, str] = {}
        for mention in mentions:
            known = self._placed(mention, source)
            if isinstance(known, str):
                self._reject(one, known, "name")
                return
            uids[mention] = str(known.uid)
        subject = uids[one.subject]
        if one.object is not None and one.update.field in MANY:
            one = one._replace(key=_key_of_one(one.update.field, uids[one.object]))
        value: JsonValue = [uids[one.object]] if one.object else " ".join(one.update.value.split())
        if self._is_stated(one, source, subject):
            self._reject(one, "the turn states it already, by more than words", "structured")
        elif one.update.ended and not self._was_so(one, source, subject, value):
            self._reject(one, "nobody who heard it held it to be so", "ended")
        elif not one.update.ended and self._is_held(one, source, subject, value):
            self._repeated += 1
        else:
            said_by = uids[one.said_by] if one.said_by else None
            group = self._groups.setdefault(
                (one.update.turn, said_by), _Group(source=source, said_by=said_by)
            )
            self._add(group, one, subject, value, uids)

    def _add(
        self, group: _Group, one: Accepted, subject: str, value: JsonValue, uids: Mapping[Mention, str]
    ) -> None:
        fact: dict[str, JsonValue] = {"subject": subject, "key": one.key, "value": value}
        if one.certainty != "fact":
            fact["certainty"] = one.certainty
        if one.update.ended:
            fact["ended"] = True
        slot = subject, one.key, one.certainty
        earlier = group.facts.get(slot, fact)
        if earlier != fact and not (earlier.get("ended") and _is_other(earlier["value"], value)):
            if _is_in(value, earlier["value"]) or (one.update.ended and _is_other(earlier["value"], value)):
                self._repeated += 1
            else:
                self._reject(one, f"the turn says two things of the {one.update.field} there", "two_values")
            return
        group.facts[slot] = fact
        heard = frozenset(perceivers(group.source))
        self._newest[subject, one.key] = _Newest(value, one.certainty, one.update.ended, heard)
        for mention, uid in uids.items():
            self._introduce(group, mention, uid)
        over = " no longer" if one.update.ended else ""
        who = self._spoken_name(group, one.subject, subject)
        group.lines.append(f"{who}: {one.update.field} is{over} {one.update.value}.")

    def _placed(self, mention: Mention, source: GameEvent) -> Mention | str:
        """Who is meant, by uid. Who is new gets one, the same for all turns that are read together."""
        if mention.uid is not None:
            return mention
        heard = perceivers(source)
        known = self._minted.get(folded(mention.name)) or self._minted.get(folded(untitled(mention.name)))
        if known is None:
            taken = {str(other.uid) for other in self._minted.values()}
            uid = self._view.minted(mention.category, mention.name, taken=taken)
            known = Mention(mention.name, mention.category, uid)
            for name in self._names(known):
                self._minted.setdefault(folded(name), known)
        if known.category != mention.category:
            return f"{mention.name!r} is something else"
        told = self._told.setdefault(str(known.uid), set())
        if folded(known.name) in (folded(mention.name), folded(untitled(mention.name))):
            told |= heard
        return known if heard <= told else f"not everybody who heard it knows who {mention.name!r} is"

    def _names(self, new: Mention) -> list[str]:
        """What somebody new is called: by the name that was heard, and for short if that is free."""
        short = _short_name(new.name) if new.category == "NPC" else None
        return [new.name] if short is None or self._view.bearers(short) else [new.name, short]

    def _introduce(self, group: _Group, mention: Mention, uid: str) -> None:
        """Whoever heard the turn has heard the name; but who speaks, they need not know by name."""
        if mention.uid is None:
            new = next(one for one in self._minted.values() if one.uid == uid)
            group.names[uid] = self._names(new)
        elif uid != group.source.source and self._hearers.strangers_to(
            uid, mention.name, group.source.event_id
        ):
            group.names[uid] = [mention.name]

    def _spoken_name(self, group: _Group, mention: Mention, uid: str) -> str:
        """What somebody is called in words that all who heard the turn may read."""
        source = group.source
        is_unknown = uid == source.source and self._hearers.strangers_to(uid, mention.name, source.event_id)
        return "Who speaks" if is_unknown else mention.name

    def _is_stated(self, one: Accepted, source: GameEvent, subject: str) -> bool:
        """Whether the turn says it of them by more than words, be it under another uid of theirs."""
        stated = [fact.subject for fact in source.known.facts if fact.key == one.key]
        return bool(stated) and not set(stated).isdisjoint(self._view.persons(subject))

    def _is_held(self, one: Accepted, source: GameEvent, subject: str, value: JsonValue) -> bool:
        """Whether all who would learn it hold it already, and no less surely."""
        newest = self._newest.get((subject, one.key))
        if newest is not None:
            is_same = newest.value == value and not newest.ended and perceivers(source) <= newest.heard
            return is_same and _SURENESS[newest.certainty] >= _SURENESS[one.certainty]
        if one.subject.uid is None:
            return False
        return all(self._holds(who, one, subject, value) for who in self._holders(one, source))

    def _was_so(self, one: Accepted, source: GameEvent, subject: str, value: JsonValue) -> bool:
        """Whether what is over was so, for anybody who would learn that; else it would end something else."""
        newest = self._newest.get((subject, one.key))
        if newest is not None and not newest.ended and not _is_other(newest.value, value):
            return True
        held = (self._newest_of(who, one, subject) for who in self._holders(one, source))
        return any(not fact.ended and not _is_other(fact.value, value) for found in held for fact in found)

    def _holders(self, one: Accepted, source: GameEvent) -> list[str]:
        """Who would learn it: a fact the DM too, what somebody says all but who says it."""
        heard = perceivers(source)
        return sorted({*heard, DM} if one.certainty == "fact" else heard - {one.said_by and one.said_by.uid})

    def _holds(self, who: str, one: Accepted, subject: str, value: JsonValue) -> bool:
        return any(
            fact.value == value and not fact.ended and _SURENESS[fact.certainty] >= _SURENESS[one.certainty]
            for fact in self._newest_of(who, one, subject)
        )

    def _newest_of(self, who: str, one: Accepted, subject: str) -> list[Fact]:
        return self._view.of(who).past_of(subject, one.key, limit=1)[-1:]

    def _reject(self, one: Accepted, reason: str, rule: str) -> None:
        self._rejected.append(Rejected(one.update, reason, rule))


def _event(group: _Group) -> GameEvent:
    source, said = group.source, "\n".join(group.lines)
    digest = hashlib.sha256("\x1f".join((source.event_id, group.said_by or "", said)).encode()).hexdigest()
    metadata: dict[str, JsonValue] = {
        "facts": [*group.facts.values()],
        "valid_from": source.event_id,
        "sources": [source.event_id],
        "witnesses": [*sorted(perceivers(source))],
    }
    if group.names:
        metadata["names"] = {uid: [*names] for uid, names in group.names.items()}
    if group.said_by is not None:
        metadata["said_by"] = group.said_by
    return GameEvent(
        event_id=f"extracted_{digest[:16]}",
        event_type=EventType.EXTRACTION,
        source=SYSTEM,
        content=said,
        session_id=source.session_id,
        metadata=metadata,
        timestamp=source.timestamp,
    )


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
