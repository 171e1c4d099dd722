"""A game event as DCML: the event itself, who it mentions, and the facts that old events leave behind.

Pure functions of the events they are given. They never filter: that was done before, by `audience`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from dndbots.canon.claims import NUMBER
from dndbots.dcml import (
    Certainty,
    DCMLCategory,
    DCMLOp,
    Deed,
    Event,
    Properties,
    Property,
    Ref,
    Relation,
    Statement,
    Text,
    make_property,
)
from dndbots.events import GameEvent, KnownMetadata, StatedFact
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of, is_uid
from dndbots.text.cleaning import one_line

LONGEST_SUMMARY: Final = 80
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_NOBODY = frozenset({DM, SYSTEM})
Key = tuple[object, ...]
_SUREST_FIRST = (Certainty.FACT, Certainty.BELIEF, Certainty.RUMOR)


def certainty_named(name: str | None, default: Certainty = Certainty.FACT) -> Certainty:
    return Certainty[name.upper()] if name else default


def described(said: Mapping[str, Any]) -> tuple[Property, ...]:
    """Properties from Python values, without those that say nothing."""
    return tuple(prop for key, value in said.items() if (prop := make_property(key, value)))


def summary_of(content: str) -> str:
    """The first 80 characters on one line, with `...` where there was more."""
    line = _NEW_LINE.sub(" ", content)
    return line if len(line) <= LONGEST_SUMMARY else line[:LONGEST_SUMMARY] + "..."


def event_tree(event: GameEvent) -> Event:
    """Where it happened, who took part, against whom, and a summary."""
    known = event.known
    own = Ref(event.event_id, DCMLCategory.EVT)
    people = tuple(map(Ref, _participants(event, known)))
    foes = tuple(Ref(uid, count=count) for uid, count in _enemies(known))
    lines: list[Statement] = [
        Relation(subjects=who, op=DCMLOp.IN, object=own) for who in (people, foes) if who
    ]
    summary = Property("summary", (Text(summary_of(event.content)),))
    lines.append(Properties(subjects=(own,), properties=(summary,)))
    place = Ref(known.location) if known.location else None
    return Event(id=event.event_id, location=place, lines=tuple(lines))


def _participants(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Everyone who took part, a player character that acts first; the DM is no one in the story."""
    first = [event.source] if event.source.startswith("pc_") else []
    return [who for who in dict.fromkeys(first + known.participants) if who not in _NOBODY]


def _enemies(known: KnownMetadata) -> list[tuple[str, int]]:
    """Each enemy once, with how many there are; a stated number is that of the first."""
    counts = Counter(known.enemies)
    enemies = list(counts.items())
    if enemies and known.enemy_count is not None:
        enemies[0] = (enemies[0][0], max(known.enemy_count, 1))
    return enemies


def mentions(event: GameEvent) -> list[str]:
    """Every uid that an event lets its audience know of, in the order in which it does."""
    known = event.known
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
    named = [
        *_participants(event, known),
        *([known.location] if known.location else []),
        *known.enemies,
        *known.killed,
        *killers,
        *known.npcs_mentioned,
        *known.discovered,
        *known.reputation,
        *([known.quest_id] if known.quest_id else []),
    ]
    for fact in known.facts:
        values = fact.value if isinstance(fact.value, list) else [fact.value]
        named += [uid for uid in (fact.subject, fact.object, *values) if isinstance(uid, str)]
    return [uid for uid in named if is_uid(uid)]


class Rollup:
    """What remains of events that are too old to tell one by one.

    Deaths, quests, discoveries, reputation, facts; what is newer takes the place of what it replaces,
    unless it is less sure: a rumor does not undo what was seen. What the reader was merely told is a
    belief.
    """

    def __init__(self, reader: str, *, party: str | None = None) -> None:
        self._reader, self._party = reader, party or PARTY_UID
        self._kills: Counter[Key] = Counter()
        self._left: dict[str, int] = {}
        self._reputation: Counter[Key] = Counter()
        self._lines: dict[Key, Statement] = {}
        self._sources: dict[Key, dict[str, None]] = {}
        self._event = ""

    def statements(self) -> list[Statement]:
        """The lines, those that were touched last at the end."""
        return list(self._lines.values())

    def sourced(self) -> list[tuple[Statement, tuple[str, ...]]]:
        """The same, each with the events that it was made from."""
        return [(line, tuple(self._sources[key])) for key, line in self._lines.items()]

    def add(self, event: GameEvent) -> None:
        known, self._event = event.known, event.event_id
        told = Certainty.BELIEF if self._was_told(event, known) else Certainty.FACT
        if known.enemies and known.enemy_count is not None:
            self._left[known.enemies[0]] = known.enemy_count
        for victim, fallen in Counter(known.killed).items():
            self._add_death(event, known, victim, fallen, told)
        if known.quest_id and known.quest_state:
            self._add_quest(known.quest_id, known.quest_state)
        for found in known.discovered:
            finder = _only_pc(event, known) or self._party
            self._put_once(("discovered", found), _deed((finder,), "DISCOVERED", Ref(found), told))
        for whose, change in known.reputation.items():
            key: Key = ("reputation", whose, told)
            self._reputation[key] += change
            self._put(key, _property(Ref(whose), "rep", self._reputation[key], told))
        for fact in known.facts:
            self._add_fact(fact, told)

    def _put(self, key: Key, line: Statement) -> None:
        self._lines.pop(key, None)
        self._lines[key] = line
        self._sources.setdefault(key, {})[self._event] = None

    def _put_once(self, key: Key, line: Statement) -> None:
        """What happens once: the first telling stands, until it is seen."""
        before = self._lines.get(key)
        if before is None or _SUREST_FIRST.index(line.certainty) < _SUREST_FIRST.index(before.certainty):
            self._put(key, line)

    def _add_death(
        self, event: GameEvent, known: KnownMetadata, victim: str, fallen: int, told: Certainty
    ) -> None:
        killers = self._killers(event, known, victim)
        if category_of(victim) == "MON":
            # Of a kind of monster many fall, and others live.
            key: Key = ("killed", killers, victim, told)
            self._kills[key] += fallen
            left = self._left[victim] = self._left.get(victim, fallen) - fallen
            if killers or left <= 0:
                self._put(key, _death(killers, Ref(victim, count=self._kills[key]), told))
            self._put_number(victim, left, told, unstated=not killers)
        else:
            self._put_once(("killed", victim), _death(killers, Ref(victim), told))

    def _put_number(self, group: str, left: int, told: Certainty, *, unstated: bool) -> None:
        """How many are left of a group, in place of an older number, or where nothing else tells of it."""
        key: Key = ("fact", group, NUMBER, told)
        is_stated = self._lines.pop(key, None) is not None
        if left > 0 and (is_stated or unstated):
            self._put(key, _property(Ref(group), NUMBER, left, told))

    def _killers(self, event: GameEvent, known: KnownMetadata, victim: str) -> tuple[str, ...]:
        """Those named; else the only player character there; else the party, never all who stood by.

        Nobody kills themselves unless the event says so, and no party its own: where a character dies
        and no killer is named, it is the creature that acted, or nobody.
        """
        if known.killed_by is not None:
            named = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by
            return tuple(who for who in dict.fromkeys(named) if who not in _NOBODY)
        if category_of(victim) == "PC":
            acted = event.source if is_uid(event.source) else ""
            return (acted,) if acted and acted != victim and category_of(acted) != "PC" else ()
        return (_only_pc(event, known) or self._party,)

    def _add_quest(self, quest: str, state: str) -> None:
        certainty = Certainty.FACT if self._reader == DM else Certainty.BELIEF
        self._put(("quest", quest), _state_of(quest, state, certainty))

    def _add_fact(self, fact: StatedFact, told: Certainty) -> None:
        certainty = max(certainty_named(fact.certainty), told, key=_SUREST_FIRST.index)
        if fact.op is not None and fact.object is not None:
            # Somebody is in one place; of most other things there can be several.
            said: Key = (fact.subject, fact.op, None if fact.op == "@" else fact.object)
            line: Statement = Relation(
                subjects=(Ref(fact.subject),),
                op=DCMLOp(fact.op),
                object=Ref(fact.object),
                certainty=certainty,
            )
        else:
            if fact.key == NUMBER and isinstance(fact.value, int):
                self._left[fact.subject] = fact.value
            said = (fact.subject, fact.key)
            line = _property(Ref(fact.subject), fact.key or "", fact.value, certainty)
        for weaker in _SUREST_FIRST[_SUREST_FIRST.index(certainty) :]:
            self._lines.pop(("fact", *said, weaker), None)
        self._put(("fact", *said, certainty), line)

    def _was_told(self, event: GameEvent, known: KnownMetadata) -> bool:
        """Somebody said so: the reader did not see it, and it was not the DM who said it."""
        there = (*known.participants, *(known.witnesses or ()), event.source)
        return self._reader in known.told_to and self._reader not in there and event.source not in _NOBODY


def _only_pc(event: GameEvent, known: KnownMetadata) -> str | None:
    pcs = {who for who in _participants(event, known) if category_of(who) == "PC"}
    return pcs.pop() if len(pcs) == 1 else None


def _death(killers: tuple[str, ...], victim: Ref, certainty: Certainty) -> Statement:
    if not killers:
        return _property(victim, "status", "dead", certainty)
    return _deed(killers, "KILLED", victim, certainty)


# What came of it all is told turn after turn.
@lru_cache(maxsize=1 << 10)
def _deed(who: tuple[str, ...], verb: str, whom: Ref, certainty: Certainty) -> Deed:
    return Deed(subjects=tuple(map(Ref, who)), verb=verb, object=whom, certainty=certainty)


@lru_cache(maxsize=1 << 10)
def _state_of(quest: str, state: str, certainty: Certainty) -> Properties:
    return _property(Ref(quest, DCMLCategory.QST), "state", state, certainty)


def _property(subject: Ref, key: str, value: Any, certainty: Certainty) -> Properties:
    value = one_line(value) if isinstance(value, str) else value
    return Properties(subjects=(subject,), properties=described({key: value}), certainty=certainty)


def roll_up(events: Iterable[GameEvent], reader: str, *, party: str | None = None) -> list[Statement]:
    rollup = Rollup(reader, party=party)
    for event in events:
        rollup.add(event)
    return rollup.statements()
