"""Game events as DCML: an event's own lines, the uids it mentions, and the rollup of old events.

Pure functions of the given events. They do not filter by perspective: `audience` did that before.
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
from dndbots.text.clean import one_line

LONGEST_SUMMARY: Final = 80
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_NOBODY = frozenset({DM, SYSTEM})
Key = tuple[object, ...]
_SUREST_FIRST = (Certainty.FACT, Certainty.BELIEF, Certainty.RUMOR)


def certainty_named(name: str | None, default: Certainty = Certainty.FACT) -> Certainty:
    """Return the certainty with a name; the default without one."""
    return Certainty[name.upper()] if name else default


def properties_of(values: Mapping[str, Any]) -> tuple[Property, ...]:
    """Return properties made from Python values, without empty ones."""
    return tuple(prop for key, value in values.items() if (prop := make_property(key, value)))


def summary_of(content: str) -> str:
    """Return the first 80 characters on one line, with `...` if there is more."""
    line = _NEW_LINE.sub(" ", content)
    return line if len(line) <= LONGEST_SUMMARY else line[:LONGEST_SUMMARY] + "..."


def event_tree(event: GameEvent) -> Event:
    """Return an event as DCML: its location, participants, enemies and summary."""
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
    """Return the participants, a player character that acts first; the DM does not count as one."""
    first = [event.source] if event.source.startswith("pc_") else []
    return [who for who in dict.fromkeys(first + known.participants) if who not in _NOBODY]


def _enemies(known: KnownMetadata) -> list[tuple[str, int]]:
    """Return each enemy once, with its count; a stated count belongs to the first."""
    counts = Counter(known.enemies)
    enemies = list(counts.items())
    if enemies and known.enemy_count is not None:
        enemies[0] = (enemies[0][0], max(known.enemy_count, 1))
    return enemies


def mentions(event: GameEvent) -> list[str]:
    """Return every uid that an event makes known to its audience, in order."""
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
    """A rollup of events that are too old to tell one by one.

    It keeps deaths, quests, discoveries, reputation and facts. A newer line replaces an older one unless it
    is less certain: a rumor does not undo what was seen. News that the reader was only told is a belief.
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
        """Return the lines; those changed last stand at the end."""
        return list(self._lines.values())

    def sourced(self) -> list[tuple[Statement, tuple[str, ...]]]:
        """Return the lines, each with the ids of its source events."""
        return [(line, tuple(self._sources[key])) for key, line in self._lines.items()]

    def add(self, event: GameEvent) -> None:
        """Add the next event, in the order of play."""
        known, self._event = event.known, event.event_id
        certainty = Certainty.BELIEF if self._was_told(event, known) else Certainty.FACT
        if known.enemies and known.enemy_count is not None:
            self._left[known.enemies[0]] = known.enemy_count
        for victim, fallen in Counter(known.killed).items():
            self._add_death(event, known, victim, fallen, certainty)
        if known.quest_id and known.quest_state:
            self._add_quest(known.quest_id, known.quest_state)
        for uid in known.discovered:
            finder = _only_pc(event, known) or self._party
            self._put_once(("discovered", uid), _deed((finder,), "DISCOVERED", Ref(uid), certainty))
        for whose, change in known.reputation.items():
            key: Key = ("reputation", whose, certainty)
            self._reputation[key] += change
            self._put(key, _property(Ref(whose), "rep", self._reputation[key], certainty))
        for fact in known.facts:
            self._add_fact(fact, certainty)

    def _put(self, key: Key, line: Statement) -> None:
        self._lines.pop(key, None)
        self._lines[key] = line
        self._sources.setdefault(key, {})[self._event] = None

    def _put_once(self, key: Key, line: Statement) -> None:
        """Put a line on something that happens only once: only a more certain line replaces it."""
        before = self._lines.get(key)
        if before is None or _SUREST_FIRST.index(line.certainty) < _SUREST_FIRST.index(before.certainty):
            self._put(key, line)

    def _add_death(
        self, event: GameEvent, known: KnownMetadata, victim: str, fallen: int, certainty: Certainty
    ) -> None:
        killers = self._killers(event, known, victim)
        if category_of(victim) == "MON":
            # A monster's uid stands for a group: some fall, and others live.
            key: Key = ("killed", killers, victim, certainty)
            self._kills[key] += fallen
            left = self._left[victim] = self._left.get(victim, fallen) - fallen
            if killers or left <= 0:
                self._put(key, _death(killers, Ref(victim, count=self._kills[key]), certainty))
            self._put_number(victim, left, certainty, unstated=not killers)
        else:
            self._put_once(("killed", victim), _death(killers, Ref(victim), certainty))

    def _put_number(self, group: str, left: int, certainty: Certainty, *, unstated: bool) -> None:
        """Put the number left of a group, if it replaces an older number or is otherwise `unstated`."""
        key: Key = ("fact", group, NUMBER, certainty)
        is_stated = self._lines.pop(key, None) is not None
        if left > 0 and (is_stated or unstated):
            self._put(key, _property(Ref(group), NUMBER, left, certainty))

    def _killers(self, event: GameEvent, known: KnownMetadata, victim: str) -> tuple[str, ...]:
        """Return the named killers; else the only player character there; else the party.

        Bystanders are never credited. Without a named killer, nobody kills themselves and no party kills its
        own: a dead character was killed by the creature that acted, or by nobody.
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

    def _add_fact(self, fact: StatedFact, least_certain: Certainty) -> None:
        certainty = max(certainty_named(fact.certainty), least_certain, key=_SUREST_FIRST.index)
        if fact.op is not None and fact.object is not None:
            # An entity is at one place only; most other relations can have several objects.
            slot: Key = (fact.subject, fact.op, None if fact.op == "@" else fact.object)
            line: Statement = Relation(
                subjects=(Ref(fact.subject),),
                op=DCMLOp(fact.op),
                object=Ref(fact.object),
                certainty=certainty,
            )
        else:
            if fact.key == NUMBER and isinstance(fact.value, int):
                self._left[fact.subject] = fact.value
            slot = (fact.subject, fact.key)
            line = _property(Ref(fact.subject), fact.key or "", fact.value, certainty)
        for weaker in _SUREST_FIRST[_SUREST_FIRST.index(certainty) :]:
            self._lines.pop(("fact", *slot, weaker), None)
        self._put(("fact", *slot, certainty), line)

    def _was_told(self, event: GameEvent, known: KnownMetadata) -> bool:
        """Return whether the reader was only told of an event, and not by the DM."""
        there = (*known.participants, *(known.witnesses or ()), event.source)
        return self._reader in known.told_to and self._reader not in there and event.source not in _NOBODY


def _only_pc(event: GameEvent, known: KnownMetadata) -> str | None:
    pcs = {who for who in _participants(event, known) if category_of(who) == "PC"}
    return pcs.pop() if len(pcs) == 1 else None


def _death(killers: tuple[str, ...], victim: Ref, certainty: Certainty) -> Statement:
    if not killers:
        return _property(victim, "status", "dead", certainty)
    return _deed(killers, "KILLED", victim, certainty)


# The same deeds are rendered turn after turn.
@lru_cache(maxsize=1 << 10)
def _deed(who: tuple[str, ...], verb: str, whom: Ref, certainty: Certainty) -> Deed:
    return Deed(subjects=tuple(map(Ref, who)), verb=verb, object=whom, certainty=certainty)


@lru_cache(maxsize=1 << 10)
def _state_of(quest: str, state: str, certainty: Certainty) -> Properties:
    return _property(Ref(quest, DCMLCategory.QST), "state", state, certainty)


def _property(subject: Ref, key: str, value: Any, certainty: Certainty) -> Properties:
    value = one_line(value) if isinstance(value, str) else value
    return Properties(subjects=(subject,), properties=properties_of({key: value}), certainty=certainty)


def roll_up(events: Iterable[GameEvent], reader: str, *, party: str | None = None) -> list[Statement]:
    """Return the rollup of some events for a reader, as statements."""
    rollup = Rollup(reader, party=party)
    for event in events:
        rollup.add(event)
    return rollup.statements()
