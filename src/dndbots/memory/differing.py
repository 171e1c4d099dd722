"""What one character knows and another does not: whom they met, what they hold true, what they saw.

It compares two views and reads nothing else, so that each half owes only to what those two perceived.
It tells secrets of both: the answer is for the DM, never for one of the two.
"""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict

from dndbots._jsontext import as_json
from dndbots.canon import claims
from dndbots.canon.values import Entity, Fact, Moment
from dndbots.errors import InvalidSetting
from dndbots.ids import DM, folded, name_from_uid
from dndbots.memory.known_facts import Sentences
from dndbots.memory.threads import Thread, stated_threads
from dndbots.storage.reader import View


class Known(BaseModel):
    """Somebody or something, in the names that one of the two knows.

    `names` are those that the other does not know, and `to_other` is what the other calls it: nothing
    if they never met, several names where the other takes one for several.
    """

    model_config = ConfigDict(frozen=True)

    uid: str
    name: str
    category: str | None
    names: tuple[str, ...] = ()
    to_other: tuple[str, ...] = ()


class HeldFact(BaseModel):
    """A fact, and as a sentence in the names that its holder knows. `fact.learned_from` is the event."""

    model_config = ConfigDict(frozen=True)

    text: str
    fact: Fact


class Disagreement(BaseModel):
    """What both hold of the same thing, with another value or another certainty."""

    model_config = ConfigDict(frozen=True)

    a: tuple[HeldFact, ...]
    b: tuple[HeldFact, ...]


class Side(BaseModel):
    """What one of the two knows and the other does not.

    `met` are those whom only this one met, `recognised` those whom both did, but whom this one knows
    by more names, or to be one. `threads` are open to this one and not to the other. `lines` is how many
    events only this one perceived, `newest` the newest of them, oldest first.
    """

    model_config = ConfigDict(frozen=True)

    viewer: str
    name: str
    met: tuple[Known, ...] = ()
    recognised: tuple[Known, ...] = ()
    facts: tuple[HeldFact, ...] = ()
    threads: tuple[Thread, ...] = ()
    lines: int = 0
    newest: tuple[Moment, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the other knows all that this one does, as far as both hold anything."""
        return not (self.met or self.recognised or self.facts or self.threads or self.lines)


class Difference(BaseModel):
    """What A knows and B does not, the other way round, and where they disagree: for the DM's eyes."""

    model_config = ConfigDict(frozen=True)

    a: Side
    b: Side
    differing: tuple[Disagreement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.a.is_empty and self.b.is_empty and not self.differing


def difference_of(a: View, b: View, *, last: int) -> Difference:
    """Compares two views that end at the same place of the log. `last` is how many lines are told of each."""
    if isinstance(last, bool) or not isinstance(last, int) or last < 0:
        raise InvalidSetting("last", last, reason="is not a number of events")
    one, other = _Mind(a), _Mind(b)
    things = _Things(one.entities, other.entities)
    compared = things.compared(one.entities, other.entities)
    differing = [(mine, theirs) for mine, theirs in compared if mine and theirs]
    differing.sort(key=lambda both: max(one.newest(both[0]), other.newest(both[1])))
    return Difference(
        a=_side(one, other, things, [fact for mine, theirs in compared if not theirs for fact in mine], last),
        b=_side(other, one, things, [fact for mine, theirs in compared if not mine for fact in theirs], last),
        differing=tuple(Disagreement(a=one.told(mine), b=other.told(theirs)) for mine, theirs in differing),
    )


class _Mind:
    """One of the two: its view, all whom it knows, its threads, and its facts in words."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.entities = view.entities(view.everybody())
        self.threads = stated_threads(view, self.entities)
        self.name = "DM" if view.viewer == DM else view.called([view.viewer])[view.viewer].name
        self._sentences = Sentences(view, {uid: one.name for uid, one in self.entities.items()})
        self._places = view.seqs_of(
            {fact.learned_from for one in self.entities.values() for fact in one.facts}
        )

    def told(self, facts: Iterable[Fact]) -> tuple[HeldFact, ...]:
        """Facts as sentences, in the order in which they were learned."""
        learned = sorted(facts, key=lambda fact: self.newest([fact]))
        return tuple(HeldFact(text=self._sentences.sentence(fact), fact=fact) for fact in learned)

    def newest(self, facts: Iterable[Fact]) -> int:
        return max(self._places.get(fact.learned_from, 0) for fact in facts)


class _Things:
    """What two people's entities are about: those that have a uid in common are about one thing.

    So what is one to A and two to B is compared as one thing, under the first of all its uids.
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

    def sorted_out(self, entities: Mapping[str, Entity]) -> dict[str, list[Entity]]:
        """Entities by the thing that they are about."""
        found: dict[str, list[Entity]] = {}
        for uid in sorted(entities):
            found.setdefault(self.of(uid), []).append(entities[uid])
        return found

    def compared(
        self, mine: Mapping[str, Entity], theirs: Mapping[str, Entity]
    ) -> list[tuple[list[Fact], list[Fact]]]:
        """What is not held alike, slot by slot, by either or by both.

        That something is no longer so is news only to those who hold that it is.
        """
        one, other = self._by_slot(mine), self._by_slot(theirs)
        found = []
        for slot in sorted({*one, *other}):
            a, b = one.get(slot, []), other.get(slot, [])
            if not a or not b:
                a, b = ([fact for fact in held if not fact.ended] for held in (a, b))
            if {*map(self._said, a)} != {*map(self._said, b)}:
                found.append((a, b))
        return found

    def _by_slot(self, entities: Mapping[str, Entity]) -> dict[tuple[str, str], list[Fact]]:
        found: dict[tuple[str, str], list[Fact]] = {}
        for uid in sorted(entities):
            for fact in entities[uid].facts:
                found.setdefault((self.of(uid), self._slot(fact)), []).append(fact)
        return found

    def _slot(self, fact: Fact) -> str:
        if fact.op is None:
            return f":{fact.key}"  # no key passes for an operator
        return claims.relation_slot(fact.op, self.of(fact.object)) if fact.object else fact.op

    def _said(self, fact: Fact) -> tuple[str, bool, str]:
        value = fact.object if fact.op is not None else fact.value
        return as_json(self.of(value) if isinstance(value, str) else value), fact.ended, fact.certainty


def _side(mine: _Mind, theirs: _Mind, things: _Things, facts: list[Fact], last: int) -> Side:
    known, others = things.sorted_out(mine.entities), things.sorted_out(theirs.entities)
    apart = mine.view.apart_from(theirs.view.viewer)
    open_to_other = {thread.id for thread in theirs.threads}
    shared = [_known(one, others[thing]) for thing in known if thing in others for one in known[thing]]
    return Side(
        viewer=mine.view.viewer,
        name=mine.name,
        met=tuple(_known(one, []) for thing in known if thing not in others for one in known[thing]),
        recognised=tuple(one for one in shared if one.names or len(one.to_other) > 1),
        facts=mine.told(facts),
        threads=tuple(thread for thread in mine.threads if thread.id not in open_to_other),
        lines=apart.lines(),
        newest=tuple(mine.view.moments(mine.view.at(apart.newest(last)))),
    )


def _known(entity: Entity, others: list[Entity]) -> Known:
    """Somebody beside whom the other knows instead. Whoever knows a uid knows the name that it says."""
    own = {entity.uid, *entity.merged}
    met = [one for one in others if not own.isdisjoint((one.uid, *one.merged))]
    heard = {folded(name) for one in others for name in (one.name, *one.aliases)}
    heard |= {folded(name_from_uid(uid)) for one in others for uid in (one.uid, *one.merged)}
    return Known(
        uid=entity.uid,
        name=entity.name,
        category=entity.category,
        names=tuple(name for name in (entity.name, *entity.aliases) if folded(name) not in heard)
        if others
        else (),
        to_other=tuple(one.name for one in met),
    )
