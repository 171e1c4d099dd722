"""Leads: what the party could do next for a quest, found by working back from the quest's endings.

A condition that does not hold yet leads to the thing, person, foes or place that would make it hold; a place
that cannot be reached leads to what is in the way. A lead can always be followed at once.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.game.acts import Verb
from dndbots.game.adventures.conditions import Asks, Both, Condition, Either, Not, holds, parse_condition
from dndbots.game.adventures.module import Exit, Foes, ModuleQuest, Place, Thing
from dndbots.game.state.options import NEWS
from dndbots.game.state.pieces import unharmed_beat
from dndbots.game.world.world_state import World, beat

_DEEPEST: Final = 8
_PATIENCE: Final = 10  # rounds


class Lead(NamedTuple):
    """A deed at a place, by keys of the module. `what` is a thing, way or topic, `whom` a person or foes."""

    place: str
    verb: Verb
    what: str = ""
    whom: str = ""

    @property
    def beat(self) -> str:
        """The beat that records that the party was told of it."""
        return beat("lead", self.verb.value, self.place, self.what or self.whom)


class LeadFinder:
    """Finds leads for characters who stand at one place.

    `world` answers conditions as these characters know it; `truth` as it is.
    """

    def __init__(self, world: World, start: str, *, truth: World | None = None) -> None:
        self._world, self._module, self._start = world, world.module, start
        self._truth = truth or world
        self._seen: set[str] = set()

    def for_quest(self, quest: ModuleQuest) -> Lead | None:
        """Return the next deed toward the nearest ending of a quest; None if nothing is left to do."""
        state = self._world.quest(quest.key)
        if state in (None, "offered", "refused") and quest.giver is not None:
            return self._to_person(quest.giver, Verb.ASK, NEWS)
        found: list[tuple[int, int, Lead]] = []
        for number, ending in enumerate(quest.endings.values()):
            condition = parse_condition(ending.when)
            if self._is_barred(condition):
                continue
            self._seen = set()
            lead = self._for(condition, 0) or self._to_stage(ending.by, ending.at)
            if lead is not None:
                found.append((self._missing(condition), number, lead))
        return min(found)[2] if found else None

    def _to_stage(self, by: str | None, at: str | None) -> Lead | None:
        """Return the way to where an ending is told, once its condition holds."""
        if by is not None:
            return self._to_person(by, Verb.ASK, NEWS)
        return None if at is None else self._reach(at, Lead(at, Verb.STAY))

    # Conditions.

    def _missing(self, condition: Condition) -> int:
        """Return how many parts of a condition do not hold yet."""
        match condition:
            case Both(of=parts):
                return sum(map(self._missing, parts))
            case Either(of=parts):
                return min(map(self._missing, parts))
            case _:
                return 0 if self._holds(condition) else 1

    def _holds(self, condition: Condition) -> bool:
        return holds(condition, self._world) and holds(condition, self._truth)

    def _is_barred(self, condition: Condition) -> bool:
        """Return whether a condition can never hold: something that must not have happened has."""
        match condition:
            case Both(of=parts):
                return any(map(self._is_barred, parts))
            case Either(of=parts):
                return all(map(self._is_barred, parts))
            case Not():
                return not self._holds(condition)
            case Asks(question="quest"):
                begun = condition.state in ("offered", "accepted")
                return not self._holds(condition) and (self._world.is_ended(condition.key) or not begun)
            case Asks(question="killed" | "spared"):
                gone = self._truth.has_fallen(condition.key) or self._truth.spared(condition.key)
                return gone and not self._holds(condition)
            case _:
                return False

    def _for(self, condition: Condition, depth: int) -> Lead | None:
        """Return a lead toward a condition that does not hold yet."""
        if depth > _DEEPEST or self._holds(condition):
            return None
        match condition:
            case Both(of=parts):
                found = (self._for(part, depth + 1) for part in sorted(parts, key=_comes_last))
                return next((lead for lead in found if lead is not None), None)
            case Either(of=parts):
                open_ones = [part for part in parts if not self._is_barred(part)]
                ranked = sorted(open_ones, key=self._missing)
                return next((lead for part in ranked if (lead := self._for(part, depth + 1))), None)
            case Asks():
                name = f"{condition.question} {condition.key}"
                if name in self._seen:
                    return None
                self._seen.add(name)
                return next((lead for lead in self._answers(condition, depth + 1) if lead is not None), None)
            case _:
                return None

    def _answers(self, asked: Asks, depth: int) -> Iterator[Lead | None]:
        """Yield leads to whatever would answer a question with yes."""
        key = asked.key
        match asked.question:
            case "found":
                yield self._to_thing(key, Verb.LOOK, depth)
            case "has":
                yield from self._to_item(key, depth)
            case "visited" | "at":
                yield self._reach(key, Lead(key, Verb.STAY), depth)
            case "killed" | "spared":
                yield self._to_foes(key, Verb.ATTACK if asked.question == "killed" else Verb.PARLEY, depth)
            case "met":
                yield self._to_person(key, Verb.ASK, NEWS, depth)
            case "heard":
                yield from self._to_topic(key, depth)
            case _:
                yield from self._to_progress(asked, depth)

    def _to_progress(self, asked: Asks, depth: int) -> Iterator[Lead | None]:
        """Yield leads to a quest, a step of one, or a happening."""
        key, quests = asked.key, self._module.quests
        if asked.question == "quest" and (giver := quests[key].giver) is not None:
            yield self._to_person(giver, Verb.ASK, NEWS, depth)
        elif asked.question == "step":
            quest = asked.quest or self._world.atlas.quest_of_step.get(key, "")
            yield self._for(parse_condition(quests[quest].steps[key].when), depth)
        for happening in self._module.happenings if asked.question == "happened" else ():
            if happening.key == key and happening.when is not None:
                yield self._for(parse_condition(happening.when), depth)
            if happening.key == key and happening.at is not None:
                yield self._reach(happening.at, Lead(happening.at, Verb.STAY), depth)

    # What answers them.

    def _to_thing(self, key: str, verb: Verb, depth: int) -> Lead | None:
        for place in self._module.places.values():
            thing = place.things.get(key)
            if thing is None:
                continue
            if not self._world.holds(thing.when):
                return self._for(parse_condition(str(thing.when)), depth)
            if thing.hidden and not self._world.found(key):
                return self._reach(place.key, Lead(place.key, Verb.SEARCH), depth)
            guard = self._world.guard(place, key)
            if guard is not None and verb is Verb.TAKE:
                return self._to_foes(guard.key, Verb.PARLEY, depth)
            return self._reach(place.key, Lead(place.key, verb, key), depth)
        return None

    def _to_item(self, key: str, depth: int) -> Iterator[Lead | None]:
        for place in self._module.places.values():
            for thing in place.things.values():
                if key in thing.items and not self._is_taken(thing):
                    yield self._to_thing(thing.key, Verb.TAKE, depth)
        for foes in self._module.foes.values():
            if key in foes.items:
                yield self._to_foes(foes.key, Verb.ATTACK, depth)
        grave = self._with_the_dead(self._module.items[key].name)
        if grave is not None:
            yield self._reach(grave, Lead(grave, Verb.STAY), depth)

    def _with_the_dead(self, item: str) -> str | None:
        """Return the place where a dead character lies who carried an item."""
        table = self._truth.table
        for who in table.facts:
            uid = table.place(who)
            if uid and who.startswith("pc_") and not table.alive(who) and self._truth.carries(who, item):
                return self._truth.atlas.key(uid)
        return None

    def _is_taken(self, thing: Thing) -> bool:
        """Return whether somebody has taken the contents of a thing, known here or not."""
        return thing.once and beat("taken", thing.key) in self._world.table.beats

    def _to_topic(self, topic: str, depth: int) -> Iterator[Lead | None]:
        for place in self._module.places.values():
            for thing in place.things.values():
                if topic in thing.topics and not self._world.has_beat("looked", thing.key):
                    yield self._to_thing(thing.key, Verb.LOOK, depth)
        for person in self._module.people.values():
            for saying in person.knows:
                told = self._world.has_beat("said", person.key, saying.key)
                if topic in saying.topics and not told and saying.needs <= self._world.trust(person):
                    if not self._world.holds(saying.when):
                        yield self._for(parse_condition(str(saying.when)), depth)
                    else:
                        yield self._to_person(person.key, Verb.ASK, saying.about[0], depth)

    def _to_person(self, key: str, verb: Verb, what: str, depth: int = 0) -> Lead | None:
        uid = self._world.where(key)
        place = None if uid is None else self._world.atlas.key(uid)
        if place is None or self._world.killed(key):
            return None
        return self._reach(place, Lead(place, verb, what, key), depth)

    def _to_foes(self, key: str, verb: Verb, depth: int) -> Lead | None:
        """Return a lead to foes: talk at first, and then by turns blows and words."""
        place = self._module.foes_at.get(key)
        if place is None or self._truth.has_fallen(key) or self._truth.spared(key):
            return None
        if self._world.has_beat(*_parts(unharmed_beat(self._world.atlas.uid("mon", key)))):
            return None  # there is no point in it
        talk = Lead(place, Verb.PARLEY, whom=key)
        blows = self._world.rounds() // _PATIENCE % 2 == 0
        if verb is Verb.PARLEY and blows and self._world.has_beat(*_parts(talk.beat)):
            return self._reach(place, Lead(place, Verb.ATTACK, whom=key), depth)
        return self._reach(place, talk if verb is Verb.PARLEY else Lead(place, verb, whom=key), depth)

    # Ways.

    def _reach(self, goal: str, lead: Lead, depth: int = 0) -> Lead | None:
        """Return the lead if its place can be walked to; else the lead to what is in the way."""
        path = self._path(goal)
        if path is None or depth > _DEEPEST:
            return None
        known = True
        for place, way in path:
            blocked = self._blocked(place, way, depth)
            if blocked is not None:
                return blocked
            known = known and self._world.visited(way.to)
            if not known:
                return Lead(place.key, Verb.GO, way.label)
        return lead

    def _path(self, goal: str) -> list[tuple[Place, Exit]] | None:
        """Return the ways to a place, open or not, as few shut ones as possible."""
        start = self._module.places.get(self._start)
        if start is None or goal not in self._module.places:
            return None
        for is_open in (True, False):
            seen, queue = {start.key}, deque[tuple[str, list[tuple[Place, Exit]]]]([(start.key, [])])
            while queue:
                key, path = queue.popleft()
                if key == goal:
                    return path
                place = self._module.places[key]
                for way in self._module.ways.get(key, {}).values():
                    passable = self._is_open(place, way) or not is_open
                    if way.to not in seen and way.to in self._module.places and passable:
                        seen.add(way.to)
                        queue.append((way.to, [*path, (place, way)]))
        return None

    def _is_open(self, place: Place, way: Exit) -> bool:
        seen = way.label in self._world.ways(place)
        return seen and not self._world.is_shut(place, way) and self._world.guard(place, way.label) is None

    def _blocked(self, place: Place, way: Exit, depth: int) -> Lead | None:
        """Return what to do about a way that cannot be taken; None if it can."""
        if self._is_open(place, way):
            return None
        if not self._world.holds(way.when):
            return self._for(parse_condition(str(way.when)), depth + 1)
        if way.label not in self._world.ways(place):
            return Lead(place.key, Verb.SEARCH)
        guard: Foes | None = self._world.guard(place, way.label)
        if guard is not None:
            return self._to_foes(guard.key, Verb.PARLEY, depth + 1)
        if way.locked is not None and way.locked in self._module.items and not self._world.has(way.locked):
            for found in self._to_item(way.locked, depth + 1):
                if found is not None:
                    return found
        return Lead(place.key, Verb.OPEN, way.label)


def _parts(name: str) -> tuple[str, str]:
    what, _, of = name.partition(":")
    return what, of


def _comes_last(condition: Condition) -> bool:
    """Return whether a condition is best seen to last: where the party has to be at the end."""
    return isinstance(condition, Asks) and condition.question == "at"
