"""A game event as DCML: the event itself, who it mentions, and the facts that old events leave behind.

Pure functions of the events they are given. They never filter: that was done before, by `audience`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

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
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of, check_uid, is_uid

LONGEST_SUMMARY: Final = 80
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_NOBODY = frozenset({DM, SYSTEM})
_SUREST_FIRST = (Certainty.FACT, Certainty.BELIEF, Certainty.RUMOR)
_OPS = {op.value: op for op in DCMLOp}


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
    people = tuple(_ref(uid, event, "participants") for uid in _participants(event, known))
    foes = tuple(_ref(uid, event, "enemies", count) for uid, count in _enemies(known))
    lines: list[Statement] = [
        Relation(subjects=who, op=DCMLOp.IN, object=own) for who in (people, foes) if who
    ]
    summary = Property("summary", (Text(summary_of(event.content)),))
    lines.append(Properties(subjects=(own,), properties=(summary,)))
    place = _ref(known.location, event, "location") if known.location else None
    return Event(id=event.event_id, location=place, lines=tuple(lines))


def _ref(uid: str, event: GameEvent, field: str, count: int = 1) -> Ref:
    return Ref(check_uid(uid, where=f"{field} of event {event.event_id!r}"), count=count)


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
        named += [fact.subject, fact.object] if fact.object else [fact.subject]
    return [uid for uid in named if is_uid(uid)]


class Rollup:
    """What remains of events that are too old to tell one by one.

    Deaths, quests, discoveries, reputation, facts; what is newer takes the place of what it replaces.
    """

    def __init__(self, reader: str, *, party: str | None = None) -> None:
        self._reader, self._party = reader, party or PARTY_UID
        self._kills: Counter[tuple[object, ...]] = Counter()
        self._reputation: Counter[str] = Counter()
        self._lines: dict[tuple[object, ...], Statement] = {}

    def statements(self) -> list[Statement]:
        return list(self._lines.values())

    def add(self, event: GameEvent) -> None:
        known = event.known
        self._add_kills(event, known)
        if known.quest_id and known.quest_state:
            self._add_quest(event, known.quest_id, known.quest_state)
        for found in known.discovered:
            finder = self._finder(event, known)
            deed = Deed(subjects=(finder,), verb="DISCOVERED", object=_ref(found, event, "discovered"))
            self._lines.setdefault(("discovered", found), deed)
        for whose, change in known.reputation.items():
            self._reputation[whose] += change
            self._put(
                ("reputation", whose),
                Properties(
                    subjects=(_ref(whose, event, "reputation"),),
                    properties=(Property("rep", (self._reputation[whose],)),),
                ),
            )
        for fact in known.facts:
            self._add_fact(event, known, fact)

    def _put(self, key: tuple[object, ...], line: Statement) -> None:
        self._lines.pop(key, None)
        self._lines[key] = line

    def _add_kills(self, event: GameEvent, known: KnownMetadata) -> None:
        killers = tuple(self._killers(event, known))
        subjects = tuple(_ref(killer, event, "killed_by") for killer in killers)
        for victim, fallen in Counter(known.killed).items():
            target = _ref(victim, event, "killed")
            if category_of(victim) != "MON":
                # Nobody dies twice: the first telling stands.
                self._lines.setdefault(
                    ("killed", victim), Deed(subjects=subjects, verb="KILLED", object=target)
                )
                continue
            key = ("killed", killers, victim)
            self._kills[key] += fallen
            target = Ref(victim, count=self._kills[key])
            self._put(key, Deed(subjects=subjects, verb="KILLED", object=target))

    def _killers(self, event: GameEvent, known: KnownMetadata) -> Sequence[str]:
        """Those named; else the only player character there; else the party, never all who stood by."""
        named = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
        killers = [who for who in dict.fromkeys(named) if who not in _NOBODY]
        return killers or [self._only_pc(event, known) or self._party]

    @staticmethod
    def _only_pc(event: GameEvent, known: KnownMetadata) -> str | None:
        pcs = {who for who in _participants(event, known) if who.startswith("pc_")}
        return pcs.pop() if len(pcs) == 1 else None

    def _finder(self, event: GameEvent, known: KnownMetadata) -> Ref:
        return _ref(self._only_pc(event, known) or self._party, event, "participants")

    def _add_quest(self, event: GameEvent, quest: str, state: str) -> None:
        uid = check_uid(quest, where=f"quest_id of event {event.event_id!r}")
        self._put(
            ("quest", quest),
            Properties(
                subjects=(Ref(uid, DCMLCategory.QST),),
                properties=described({"state": state}),
                certainty=Certainty.FACT if self._reader == DM else Certainty.BELIEF,
            ),
        )

    def _add_fact(self, event: GameEvent, known: KnownMetadata, fact: StatedFact) -> None:
        certainty = certainty_named(fact.certainty)
        if certainty is Certainty.FACT and self._was_told(event, known):
            certainty = Certainty.BELIEF
        subjects = (_ref(fact.subject, event, "facts"),)
        if fact.op is not None and fact.object is not None:
            key: tuple[object, ...] = (fact.subject, fact.op, None if fact.op == "@" else fact.object)
            line: Statement = Relation(
                subjects=subjects,
                op=_OPS[fact.op],
                object=_ref(fact.object, event, "facts"),
                certainty=certainty,
            )
        else:
            key = (fact.subject, "::", fact.key)
            properties = described({fact.key or "": fact.value})
            line = Properties(subjects=subjects, properties=properties, certainty=certainty)
        # What is surer, or as sure, takes the place of what was; a rumor does not undo what was seen.
        for weaker in _SUREST_FIRST[_SUREST_FIRST.index(certainty) :]:
            self._lines.pop(("fact", *key, weaker), None)
        self._lines["fact", *key, certainty] = line

    def _was_told(self, event: GameEvent, known: KnownMetadata) -> bool:
        """Somebody said so: the reader did not see it, and it was not the DM who said it."""
        there = (*known.participants, *(known.witnesses or ()), event.source)
        return self._reader in known.told_to and self._reader not in there and event.source not in _NOBODY


def roll_up(events: Iterable[GameEvent], reader: str, *, party: str | None = None) -> list[Statement]:
    rollup = Rollup(reader, party=party)
    for event in events:
        rollup.add(event)
    return rollup.statements()
