"""The world as it stands: a module, and what became of it by what is on the table. It only reads.

Beats on the table say what happened; `beat` makes and reads their names.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from dndbots.canon import claims
from dndbots.canon.states import REFUSED, is_over
from dndbots.game.adventures.values import Exit, Foes, Person, Place, Thing
from dndbots.game.adventures.when import holds
from dndbots.game.house.atlas import Atlas
from dndbots.game.played import Sights
from dndbots.game.table import Table

_LONGEST_BEAT: Final = 200
_LONGEST_LIGHT: Final = 24  # rounds, which are turns where nobody fights
STATE: Final = "state"
LOOKS: Final = "looks"


def beat(what: str, *of: str) -> str:
    """The name of something that the adventure came to: `found:hearthstone`, `opened:mill/trapdoor`."""
    return f"{what}:{'/'.join(of)}"[:_LONGEST_BEAT]


class World:
    """A chapter as it stands now. Answers the conditions of its module."""

    def __init__(
        self, atlas: Atlas, table: Table, *, round_: int | None = None, also: frozenset[str] = frozenset()
    ) -> None:
        self.atlas, self.module, self.table = atlas, atlas.module, table
        self.round = table.round if round_ is None else round_
        self._also = also

    def after(self, beats: Iterable[str]) -> "World":
        """The world once it has come to these as well."""
        return World(self.atlas, self.table, round_=self.round, also=self._also.union(beats))

    def came(self, what: str, *of: str) -> bool:
        """Whether the adventure came to that."""
        named = beat(what, *of)
        return named in self.table.beats or named in self._also

    def true(self, when: str | None) -> bool:
        return when is None or holds(when, self)

    # What conditions ask.

    def found(self, key: str) -> bool:
        return self.came("found", key)

    def has(self, key: str) -> bool:
        item = self.module.items.get(key)
        return item is not None and any(self.carries(who, item.name) for who in self.table.living())

    def visited(self, key: str) -> bool:
        return self.came("told", key) or self.atlas.uid("loc", key) in self.table.visits

    def at(self, key: str) -> bool:
        place = self.atlas.uid("loc", key)
        return any(self.table.place(who) == place for who in self.table.living())

    def killed(self, key: str) -> bool:
        if self.fell(key):
            return True
        return key in self.module.people and not self.table.alive(self.atlas.uid("npc", key))

    def fell(self, key: str) -> bool:
        """Whether the adventure came to the death of a person, or of a group of foes."""
        return any(self.came("killed", self.atlas.slug(kind, key)) for kind in ("mon", "npc"))

    def spared(self, key: str) -> bool:
        return self.came("spared", self.atlas.slug("mon", key))

    def met(self, key: str) -> bool:
        return self.came("met", key)

    def heard(self, topic: str) -> bool:
        return topic in self.table.topics or self.came("heard", topic)

    def quest(self, key: str) -> str | None:
        state = self.table.fact(self.atlas.uid("qst", key), STATE)
        return None if state is None else str(state)

    def is_ended(self, quest: str) -> bool:
        """Whether a quest has come to one of its endings. One that was refused may still be taken on."""
        state = self.quest(quest)
        return state != REFUSED and is_over(state)

    def step(self, quest: str | None, key: str) -> bool:
        owner = quest or self.atlas.quest_of_step.get(key, "")
        return self.table.fact(self.atlas.uid("qst", owner), f"{claims.OBJECTIVE} {key}") is not None

    def rounds(self) -> int:
        return self.round - self.table.since

    def happened(self, key: str) -> bool:
        return self.came("happened", key)

    # Who is where.

    def carries(self, who: str, item: str) -> bool:
        return int(self.table.fact(who, f"{claims.ITEM} {item}", 0)) > 0

    def place(self, uid: str | None) -> Place | None:
        key = None if uid is None else self.atlas.key(uid)
        if uid is None or key is None:
            return None
        return self.module.places.get(key) or self._laid_out(uid, key)

    def _laid_out(self, uid: str, key: str) -> Place | None:
        """A place that is in no file, but came into being in play."""
        if not uid.startswith("loc_") or uid not in self.table.laid:
            return None
        looks = self.table.fact(uid, LOOKS)
        return Place(key=key, name=self.table.name(uid), looks=(str(looks),) if looks else ())

    def where(self, person: str) -> str | None:
        """The place where somebody is: where they were last, or where the module puts them."""
        last = self.table.place(self.atlas.uid("npc", person))
        if last is not None:
            return last
        first = self.module.person_at.get(person)
        return None if first is None else self.atlas.uid("loc", first)

    def people(self, place: str) -> list[Person]:
        """The living people at a place. Who leads foes is there while they are, or once they are at peace."""
        return [
            person
            for key, person in self.module.people.items()
            if self.where(key) == place and not self.killed(key) and self._has_come(key)
        ]

    def _has_come(self, person: str) -> bool:
        led = self.atlas.leads.get(person)
        return not led or any(self.true(self.module.foes[key].when) for key in led)

    def person(self, uid: str | None) -> Person | None:
        key = None if uid is None else self.atlas.key(uid)
        return self.module.people.get(key) if key is not None and (uid or "").startswith("npc_") else None

    def foes(self, place: Place) -> Iterator[Foes]:
        """The foes who stand at a place: neither killed nor made peace with."""
        later = self.atlas.later_foes.get(place.key, ())
        for foes in (*place.foes.values(), *(foes for came, foes in later if self.happened(came))):
            if not (self.fell(foes.key) or self.spared(foes.key)) and self.true(foes.when):
                yield foes

    def guard(self, place: Place, what: str) -> Foes | None:
        """The foes who do not let one near a thing or a way."""
        return next((foes for foes in self.foes(place) if what in foes.guards), None)

    # Things and ways.

    def things(self, place: Place) -> dict[str, Thing]:
        """What one sees to look at: what is there, was not hidden or was found, and is not used up."""
        return {
            key: thing
            for key, thing in place.things.items()
            if (not thing.hidden or self.found(key)) and self.true(thing.when) and not self.used_up(thing)
        }

    def used_up(self, thing: Thing) -> bool:
        return thing.once and self.came("taken", thing.key)

    def hidden_things(self, place: Place) -> list[Thing]:
        return [
            thing
            for key, thing in place.things.items()
            if thing.hidden and not self.found(key) and self.true(thing.when)
        ]

    def ways(self, place: Place) -> dict[str, Exit]:
        """The ways that one sees."""
        written = {
            label: way
            for label, way in self.module.ways.get(place.key, {}).items()
            if self.true(way.when) and (not way.hidden or self._way_known(place, way))
        }
        laid = self.table.laid.get(self.atlas.uid("loc", place.key), {})
        led = {label: Exit(label=label, to=to) for label, uid in laid.items() if (to := self.atlas.key(uid))}
        return led | written

    def hidden_ways(self, place: Place) -> list[Exit]:
        return [
            way
            for way in self.module.ways.get(place.key, {}).values()
            if way.hidden and self.true(way.when) and not self._way_known(place, way)
        ]

    def _way_known(self, place: Place, way: Exit) -> bool:
        return self.came("found", place.key, way.label) or self._came_through(place, way)

    def _came_through(self, place: Place, way: Exit) -> bool:
        """Whether anybody came here by it from its other side."""
        gone = self.table.ways.get(self.atlas.uid("loc", way.to), {})
        return self.atlas.uid("loc", place.key) in gone.values()

    def shut(self, place: Place, way: Exit) -> bool:
        if not (way.locked or way.stuck) or self.came("opened", place.key, way.label):
            return False
        return not self._came_through(place, way)

    def leads(self, place: str, label: str) -> str | None:
        """Where a way leads, if it can be gone: it is there, known, open, and nobody stands before it."""
        here = self.place(place)
        way = None if here is None else self.ways(here).get(label)
        if here is None or way is None or self.shut(here, way) or self.guard(here, label):
            return None
        return self.atlas.uid("loc", way.to)

    # What one sees.

    def sights(self, place: Place) -> Sights:
        uid = self.atlas.uid("loc", place.key)
        waiting = [self.atlas.uid("mon", foes.key) for foes in self.foes(place) if self.is_seen(foes)]
        people = [self.atlas.uid("npc", person.key) for person in self.people(uid)]
        return Sights(
            ways=tuple(self.ways(place)),
            things={key: thing.looks for key, thing in self.things(place).items()},
            people=(*people, *waiting),
            safe=place.safe,
            dark=place.dark and not self.lit(uid),
        )

    def is_seen(self, foes: Foes) -> bool:
        """Whether foes stand there in the open, and do not fight."""
        return self.came("wary", foes.key)

    def lit(self, place: str) -> bool:
        """Whether anybody at a place carries a light that still burns."""
        return any(self.has_light(who) for who in self.table.together(place))

    def has_light(self, who: str) -> bool:
        ends = range(self.round, self.round + _LONGEST_LIGHT + 1)
        return any(self.came("lit", who, str(end)) for end in ends)

    def trust(self, person: Person) -> int:
        return person.trust + int(self.table.fact(self.atlas.uid("npc", person.key), "reputation", 0))
