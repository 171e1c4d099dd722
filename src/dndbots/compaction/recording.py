"""Accepted updates become events: one for each turn and each whose word it is, for those who heard it."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.compaction.checking import Accepted, Mention, Rejected
from dndbots.compaction.grounds import is_like_a_name, untitled
from dndbots.compaction.turns import perceivers
from dndbots.compaction.who import Hearers
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, SYSTEM, folded
from dndbots.storage.reader import View

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


class Gathering:
    """The events of some accepted updates, against what is true at this moment.

    `view` is the DM's. New entities get a uid here, and nowhere else.
    """

    def __init__(self, view: View, events: Mapping[str, GameEvent], hearers: Hearers) -> None:
        self._view, self._events, self._hearers = view, events, hearers
        self._minted: dict[str, Mention] = {}
        self._groups: dict[tuple[str, str | None], _Group] = {}
        self._rejected: list[Rejected] = []
        self._repeated = 0

    def gather(self, accepted: Iterable[Accepted]) -> Gathered:
        for one in accepted:
            self._take(one)
        events = [_event(group) for group in self._groups.values() if group.facts]
        updates = sum(len(group.facts) for group in self._groups.values())
        return Gathered(events, updates, self._repeated, self._rejected)

    def _take(self, one: Accepted) -> None:
        source = self._events[one.update.turn]
        mentions = [mention for mention in (one.subject, one.object, one.said_by) if mention is not None]
        placed = {mention: self._placed(mention) for mention in mentions}
        for mention, known in placed.items():
            if known is None:
                self._reject(one, f"{mention.name!r} is something else", "name")
                return
        uids = {mention: str(known.uid) for mention, known in placed.items() if known is not None}
        subject = uids[one.subject]
        value: JsonValue = [uids[one.object]] if one.object else " ".join(one.update.value.split())
        if any((fact.subject, fact.key) == (subject, one.key) for fact in source.known.facts):
            self._reject(one, "the turn states it already, by more than words", "structured")
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
        earlier = group.facts.setdefault((subject, one.key, one.certainty), fact)
        if earlier != fact:
            if folded(str(value)) in folded(str(earlier["value"])):
                self._repeated += 1
            else:
                self._reject(one, f"the turn says two things of the {one.key} there", "two_values")
            return
        for mention, uid in uids.items():
            self._introduce(group, mention, uid)
        over = " no longer" if one.update.ended else ""
        group.lines.append(f"{one.subject.name}: {one.update.field} is{over} {one.update.value}.")

    def _placed(self, mention: Mention) -> Mention | None:
        """Who is meant, by uid. Who is new gets one, the same for all turns that are read together."""
        if mention.uid is not None:
            return mention
        known = self._minted.get(folded(mention.name)) or self._minted.get(folded(untitled(mention.name)))
        if known is None:
            taken = {str(other.uid) for other in self._minted.values()}
            uid = self._view.minted(mention.category, mention.name, taken=taken)
            known = Mention(mention.name, mention.category, uid)
            for name in self._names(known):
                self._minted.setdefault(folded(name), known)
        return known if known.category == mention.category else None

    def _names(self, new: Mention) -> list[str]:
        """What somebody new is called: by the name that was heard, and for short if that is free."""
        short = _short_name(new.name) if new.category == "NPC" else None
        return [new.name] if short is None or self._view.bearers(short) else [new.name, short]

    def _introduce(self, group: _Group, mention: Mention, uid: str) -> None:
        """Whoever heard the turn has heard the name."""
        if mention.uid is None:
            new = next(one for one in self._minted.values() if one.uid == uid)
            group.names[uid] = self._names(new)
        elif self._hearers.strangers_to(uid, mention.name, group.source.event_id):
            group.names[uid] = [mention.name]

    def _is_held(self, one: Accepted, source: GameEvent, subject: str, value: JsonValue) -> bool:
        """Whether all who would learn it hold it already, and no less surely."""
        if one.subject.uid is None:
            return False
        holders: Collection[str] = {*perceivers(source), DM}
        if one.certainty != "fact":
            holders = {*holders} - {DM, one.said_by.uid if one.said_by else None}
        return all(self._holds(who, one, subject, value) for who in sorted(holders))

    def _holds(self, who: str, one: Accepted, subject: str, value: JsonValue) -> bool:
        held = self._view.of(who).past_of(subject, one.key, limit=1)
        return any(
            fact.value == value and not fact.ended and _SURENESS[fact.certainty] >= _SURENESS[one.certainty]
            for fact in held[-1:]
        )

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


def _short_name(name: str) -> str | None:
    """What somebody is called for short: without a title, and by the first of several names."""
    short = untitled(name).split()[0]
    return short if short != name and is_like_a_name(short) else None
