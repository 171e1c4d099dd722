"""Differences between two viewers: entities, facts, threads and events that only one of them knows.

Only the two views are read, so each side depends on nothing but what its viewer perceived. The answer tells
the secrets of both: it is for the DM, never for one of the two.
"""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict

from dndbots._jsontext import as_json
from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact, Moment
from dndbots.errors import InvalidSetting
from dndbots.ids import DM, fold_name, name_from_uid
from dndbots.memory.fact_sentences import FactSentences
from dndbots.memory.threads import Thread, find_stated_threads
from dndbots.storage.views.view import View


class MetEntity(BaseModel):
    """An entity, under the names that one viewer knows.

    `names` are those that the other viewer does not know. `to_other` holds the other viewer's names for it:
    none if they never met, several if the other takes it for several entities.
    """

    model_config = ConfigDict(frozen=True)

    uid: str
    name: str
    category: str | None
    names: tuple[str, ...] = ()
    to_other: tuple[str, ...] = ()


class WordedFact(BaseModel):
    """A fact with a sentence that uses the holder's names. `fact.learned_from` is its event."""

    model_config = ConfigDict(frozen=True)

    text: str
    fact: Fact


class Disagreement(BaseModel):
    """Facts of both viewers on the same slot that differ in value or certainty."""

    model_config = ConfigDict(frozen=True)

    a: tuple[WordedFact, ...]
    b: tuple[WordedFact, ...]


class Side(BaseModel):
    """The knowledge of one viewer that the other does not have.

    `met`: entities that only this viewer met. `recognised`: entities that both met, but that this viewer
    knows by more names or knows to be one. `threads`: open for this viewer only. `lines`: the number of
    events that only this viewer perceived; `newest`: the newest of them, oldest first.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    name: str
    met: tuple[MetEntity, ...] = ()
    recognised: tuple[MetEntity, ...] = ()
    facts: tuple[WordedFact, ...] = ()
    threads: tuple[Thread, ...] = ()
    lines: int = 0
    newest: tuple[Moment, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the other viewer knows all of this."""
        return not (self.met or self.recognised or self.facts or self.threads or self.lines)


class Difference(BaseModel):
    """The differences between viewers A and B, for the DM only: one-sided knowledge, and disagreements."""

    model_config = ConfigDict(frozen=True)

    a: Side
    b: Side
    differing: tuple[Disagreement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.a.is_empty and self.b.is_empty and not self.differing


def compare_views(a: View, b: View, *, last: int) -> Difference:
    """Compare two views that end at the same seq. `last` limits the newest events shown on each side."""
    if isinstance(last, bool) or not isinstance(last, int) or last < 0:
        raise InvalidSetting("last", last, reason="is no number of events; use a whole number from 0 up")
    mind_a, mind_b = _Mind(a), _Mind(b)
    things = _Things(mind_a.entities, mind_b.entities)
    compared = things.compared(mind_a.entities, mind_b.entities)
    differing = [(mine, theirs) for mine, theirs in compared if mine and theirs]
    differing.sort(key=lambda both: max(mind_a.newest(both[0]), mind_b.newest(both[1])))
    return Difference(
        a=_side(
            mind_a, mind_b, things, [fact for mine, theirs in compared if not theirs for fact in mine], last
        ),
        b=_side(
            mind_b, mind_a, things, [fact for mine, theirs in compared if not mine for fact in theirs], last
        ),
        differing=tuple(
            Disagreement(a=mind_a.told(mine), b=mind_b.told(theirs)) for mine, theirs in differing
        ),
    )


class _Mind:
    """A viewer to compare: its view, entities and threads, and its facts as sentences."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.entities = view.entities(view.everybody())
        self.threads = find_stated_threads(view, self.entities)
        self.name = "DM" if view.viewer == DM else view.called([view.viewer])[view.viewer].name
        self._sentences = FactSentences(view, {uid: entity.name for uid, entity in self.entities.items()})
        self._places = view.seqs_of(
            {fact.learned_from for entity in self.entities.values() for fact in entity.facts}
        )

    def told(self, facts: Iterable[Fact]) -> tuple[WordedFact, ...]:
        """Return facts as sentences, in the order in which they were learned."""
        learned = sorted(facts, key=lambda fact: self.newest([fact]))
        return tuple(WordedFact(text=self._sentences.sentence(fact), fact=fact) for fact in learned)

    def newest(self, facts: Iterable[Fact]) -> int:
        return max(self._places.get(fact.learned_from, 0) for fact in facts)


class _Things:
    """Groups of entities from two viewers that share a uid, each under the first of its uids.

    An entity that is one for A and two for B is compared as one thing.
    """

    def __init__(self, *minds: Mapping[str, Entity]) -> None:
        together: dict[str, set[str]] = {}
        for entity in (entity for mind in minds for entity in mind.values()):
            same = {entity.uid, *entity.merged}
            for uid in tuple(same):
                same |= together.get(uid, set())
            together.update(dict.fromkeys(same, same))
        self._first = {uid: min(same) for uid, same in together.items()}

    def of(self, uid: str) -> str:
        return self._first.get(uid, uid)

    def by_thing(self, entities: Mapping[str, Entity]) -> dict[str, list[Entity]]:
        """Return the entities by the thing that they belong to."""
        by_thing: dict[str, list[Entity]] = {}
        for uid in sorted(entities):
            by_thing.setdefault(self.of(uid), []).append(entities[uid])
        return by_thing

    def compared(
        self, mine: Mapping[str, Entity], theirs: Mapping[str, Entity]
    ) -> list[tuple[list[Fact], list[Fact]]]:
        """Return the facts of both viewers for each slot in which they differ.

        An ended fact counts only if the other viewer has a fact in that slot.
        """
        own, others = self._by_slot(mine), self._by_slot(theirs)
        differing = []
        for slot in sorted({*own, *others}):
            a, b = own.get(slot, []), others.get(slot, [])
            if not a or not b:
                a, b = ([fact for fact in held if not fact.ended] for held in (a, b))
            if {*map(self._said, a)} != {*map(self._said, b)}:
                differing.append((a, b))
        return differing

    def _by_slot(self, entities: Mapping[str, Entity]) -> dict[tuple[str, str], list[Fact]]:
        by_slot: dict[tuple[str, str], list[Fact]] = {}
        for uid in sorted(entities):
            for fact in entities[uid].facts:
                by_slot.setdefault((self.of(uid), self._slot(fact)), []).append(fact)
        return by_slot

    def _slot(self, fact: Fact) -> str:
        if fact.op is None:
            return f":{fact.key}"  # the colon keeps keys and operators apart
        return claims.relation_slot(fact.op, self.of(fact.object)) if fact.object else fact.op

    def _said(self, fact: Fact) -> tuple[str, bool, str]:
        value = fact.object if fact.op is not None else fact.value
        return as_json(self.of(value) if isinstance(value, str) else value), fact.ended, fact.certainty


def _side(mine: _Mind, theirs: _Mind, things: _Things, facts: list[Fact], last: int) -> Side:
    known, others = things.by_thing(mine.entities), things.by_thing(theirs.entities)
    apart = mine.view.unshared_with(theirs.view.viewer)
    open_to_other = {thread.id for thread in theirs.threads}
    shared = [
        _met_entity(entity, others[thing]) for thing in known if thing in others for entity in known[thing]
    ]
    return Side(
        viewer=mine.view.viewer,
        name=mine.name,
        met=tuple(
            _met_entity(entity, []) for thing in known if thing not in others for entity in known[thing]
        ),
        recognised=tuple(entity for entity in shared if entity.names or len(entity.to_other) > 1),
        facts=mine.told(facts),
        threads=tuple(thread for thread in mine.threads if thread.id not in open_to_other),
        lines=apart.lines(),
        newest=tuple(mine.view.moments(mine.view.at(apart.newest(last)))),
    )


def _met_entity(entity: Entity, others: list[Entity]) -> MetEntity:
    """Return an entity with the other viewer's names for it. To know a uid is to know the name in it."""
    own = {entity.uid, *entity.merged}
    met = [other for other in others if not own.isdisjoint((other.uid, *other.merged))]
    heard = {fold_name(name) for other in others for name in (other.name, *other.aliases)}
    heard |= {fold_name(name_from_uid(uid)) for other in others for uid in (other.uid, *other.merged)}
    return MetEntity(
        uid=entity.uid,
        name=entity.name,
        category=entity.category,
        names=tuple(name for name in (entity.name, *entity.aliases) if fold_name(name) not in heard)
        if others
        else (),
        to_other=tuple(other.name for other in met),
    )
