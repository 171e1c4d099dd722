"""The state of the world: a module and what the events on the table made of it. Read only.

Beats on the table record progress; `beat` builds their names.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from dndbots.canon import claims
from dndbots.canon.states import REFUSED, is_over
from dndbots.game.adventures.conditions import holds
from dndbots.game.adventures.module import Exit, Foes, ModuleQuest, Person, Place, Thing
from dndbots.game.state.game_notes import Sights
from dndbots.game.state.scene_tags import BELOW, OUTDOORS, SEASONS, SKIES
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas

MOOD: Final = "mood"
AGREED: Final = "agreed"  # the beat of a reward that was bargained for
CHEAPER: Final = "cheaper"  # the beat of a seller who came down
SHAKEN: Final = "shaken"  # the mood of a person whom the party attacked
_LONGEST_BEAT: Final = 200
_LONGEST_LIGHT: Final = 24  # rounds; outside fights a round is a turn
STATE: Final = "state"
LOOKS: Final = "looks"


def beat(what: str, *of: str) -> str:
    """Return the name of a beat: `found:hearthstone`, `opened:mill/trapdoor`."""
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
        """Return the world as it will be after these beats."""
        return World(self.atlas, self.table, round_=self.round, also=self._also.union(beats))

    def has_beat(self, what: str, *of: str) -> bool:
        """Return whether the beat is recorded."""
        named = beat(what, *of)
        return named in self.table.beats or named in self._also

    def holds(self, when: str | None) -> bool:
        """Return whether a condition holds; no condition always does."""
        return when is None or holds(when, self)

    # Questions that conditions ask.

    def found(self, key: str) -> bool:
        return self.has_beat("found", key)

    def has(self, key: str) -> bool:
        item = self.module.items.get(key)
        return item is not None and any(self.carries(who, item.name) for who in self.table.living())

    def visited(self, key: str) -> bool:
        return self.has_beat("told", key) or self.atlas.uid("loc", key) in self.table.visits

    def at(self, key: str) -> bool:
        place = self.atlas.uid("loc", key)
        return any(self.table.place(who) == place for who in self.table.living())

    def killed(self, key: str) -> bool:
        if self.has_fallen(key):
            return True
        return key in self.module.people and not self.table.alive(self.atlas.uid("npc", key))

    def has_fallen(self, key: str) -> bool:
        """Return whether a person or a group of foes is recorded as killed."""
        return any(self.has_beat("killed", self.atlas.slug(kind, key)) for kind in ("mon", "npc"))

    def spared(self, key: str) -> bool:
        return self.has_beat("spared", self.atlas.slug("mon", key)) and not self.has_fallen(key)

    def met(self, key: str) -> bool:
        return self.has_beat("met", key)

    def heard(self, topic: str) -> bool:
        return topic in self.table.topics or self.has_beat("heard", topic)

    def quest(self, key: str) -> str | None:
        state = self.table.fact(self.atlas.uid("qst", key), STATE)
        return None if state is None else str(state)

    def is_ended(self, quest: str) -> bool:
        """Return whether a quest has ended. A refused quest may still be accepted."""
        state = self.quest(quest)
        return state != REFUSED and is_over(state)

    def promised(self, quest: ModuleQuest) -> int:
        """Return the gold that the giver of a quest pays in the end, bargains included."""
        start = beat(AGREED, quest.key, "")
        agreed = (int(done.removeprefix(start)) for done in self.table.beats if done.startswith(start))
        return max((*agreed, quest.reward.gold))

    def step(self, quest: str | None, key: str) -> bool:
        owner = quest or self.atlas.quest_of_step.get(key, "")
        return self.table.fact(self.atlas.uid("qst", owner), f"{claims.OBJECTIVE} {key}") is not None

    def rounds(self) -> int:
        return self.round - self.table.since

    def happened(self, key: str) -> bool:
        return self.has_beat("happened", key)

    # Positions.

    def carries(self, who: str, item: str) -> bool:
        return int(self.table.fact(who, f"{claims.ITEM} {item}", 0)) > 0

    def place(self, uid: str | None) -> Place | None:
        key = None if uid is None else self.atlas.key(uid)
        if uid is None or key is None:
            return None
        return self.module.places.get(key) or self._laid_out(uid, key)

    def _laid_out(self, uid: str, key: str) -> Place | None:
        """Return a place that the DM added during play and no file has."""
        if not uid.startswith("loc_") or uid not in self.table.laid:
            return None
        looks = self.table.fact(uid, LOOKS)
        return Place(key=key, name=self.table.name(uid), looks=(str(looks),) if looks else ())

    def where(self, person: str) -> str | None:
        """Return the place of a person: their last known one, or the one in the module."""
        last = self.table.place(self.atlas.uid("npc", person))
        if last is not None:
            return last
        first = self.module.person_at.get(person)
        return None if first is None else self.atlas.uid("loc", first)

    def people(self, place: str) -> list[Person]:
        """Return the living people at a place. Leaders count while their foes are there or at peace."""
        return [
            person
            for key, person in self.module.people.items()
            if self.where(key) == place and not self.killed(key) and self._has_come(key)
        ]

    def _has_come(self, person: str) -> bool:
        led = self.atlas.leads.get(person)
        return not led or any(self.holds(self.module.foes[key].when) for key in led)

    def person(self, uid: str | None) -> Person | None:
        key = None if uid is None else self.atlas.key(uid)
        return self.module.people.get(key) if key is not None and (uid or "").startswith("npc_") else None

    def foes(self, place: Place) -> Iterator[Foes]:
        """Yield the foes at a place who are neither killed nor at peace."""
        later = self.atlas.later_foes.get(place.key, ())
        for foes in (*place.foes.values(), *(foes for came, foes in later if self.happened(came))):
            if not (self.has_fallen(foes.key) or self.spared(foes.key)) and self.holds(foes.when):
                yield foes

    def befriended(self, place: Place) -> Iterator[Foes]:
        """Yield the foes at a place who took to the party without a blow and are still around."""
        for foes in place.foes.values():
            friendly = self.has_beat("friendly", foes.key) and not self.has_beat("turned", foes.key)
            if friendly and not self.has_fallen(foes.key) and self.holds(foes.when):
                yield foes

    def guard(self, place: Place, what: str) -> Foes | None:
        """Return the foes who block a thing or a way."""
        return next((foes for foes in self.foes(place) if what in foes.guards), None)

    # Things and ways.

    def things(self, place: Place) -> dict[str, Thing]:
        """Return the things in sight: present, found if they were hidden, and not used up."""
        return {
            key: thing
            for key, thing in place.things.items()
            if (not thing.hidden or self.found(key)) and self.holds(thing.when) and not self.is_used_up(thing)
        }

    def is_used_up(self, thing: Thing) -> bool:
        return thing.once and self.has_beat("taken", thing.key)

    def hidden_things(self, place: Place) -> list[Thing]:
        return [
            thing
            for key, thing in place.things.items()
            if thing.hidden and not self.found(key) and self.holds(thing.when)
        ]

    def ways(self, place: Place) -> dict[str, Exit]:
        """Return the ways in sight by their labels."""
        written = {
            label: way
            for label, way in self.module.ways.get(place.key, {}).items()
            if self.holds(way.when) and (not way.hidden or self._way_known(place, way))
        }
        laid = self.table.laid.get(self.atlas.uid("loc", place.key), {})
        led = {label: Exit(label=label, to=to) for label, uid in laid.items() if (to := self.atlas.key(uid))}
        return led | written

    def hidden_ways(self, place: Place) -> list[Exit]:
        return [
            way
            for way in self.module.ways.get(place.key, {}).values()
            if way.hidden and self.holds(way.when) and not self._way_known(place, way)
        ]

    def _way_known(self, place: Place, way: Exit) -> bool:
        return self.has_beat("found", place.key, way.label) or self._came_through(place, way)

    def _came_through(self, place: Place, way: Exit) -> bool:
        """Return whether somebody came here through the way from its other side."""
        gone = self.table.ways.get(self.atlas.uid("loc", way.to), {})
        return self.atlas.uid("loc", place.key) in gone.values()

    def is_shut(self, place: Place, way: Exit) -> bool:
        if not (way.locked or way.stuck) or self.has_beat("opened", place.key, way.label):
            return False
        return not self._came_through(place, way)

    def destination(self, place: str, label: str) -> str | None:
        """Return where a way leads if it can be taken: in sight, open and unguarded."""
        here = self.place(place)
        way = None if here is None else self.ways(here).get(label)
        if here is None or way is None or self.is_shut(here, way) or self.guard(here, label):
            return None
        return self.atlas.uid("loc", way.to)

    # Sights.

    def sights(self, place: Place) -> Sights:
        """Return all that can be seen at a place."""
        uid = self.atlas.uid("loc", place.key)
        waiting = [self.atlas.uid("mon", foes.key) for foes in self.foes(place) if self.is_seen(foes)]
        waiting += [self.atlas.uid("mon", foes.key) for foes in self.befriended(place)]
        people = [self.atlas.uid("npc", person.key) for person in self.people(uid)]
        return Sights(
            ways=tuple(self.ways(place)),
            things={key: thing.looks for key, thing in self.things(place).items()},
            people=(*people, *waiting),
            safe=place.safe,
            dark=place.dark and not self.is_lit(uid),
            setting=self.setting(place),
        )

    def setting(self, place: Place) -> tuple[str, ...]:
        """Return the tags of a place's setting: roof or sky, town or wild, season and weather."""
        roof = place.setting or (BELOW if place.dark else OUTDOORS)
        seasons = (self.module.season,) if self.module.season else SEASONS[:3]
        skies = self.module.weather or SKIES[1:]
        return roof, "town" if place.safe else "wild", *seasons, *skies

    def is_seen(self, foes: Foes) -> bool:
        """Return whether the foes stand in the open without fighting."""
        return self.has_beat("wary", foes.key)

    def is_lit(self, place: str) -> bool:
        """Return whether somebody at the place carries a light that still burns."""
        return any(self.has_light(who) for who in self.table.together(place))

    def has_light(self, who: str) -> bool:
        """Return whether a character's light still burns."""
        ends = range(self.round, self.round + _LONGEST_LIGHT + 1)
        return any(self.has_beat("lit", who, str(end)) for end in ends)

    def trust(self, person: Person) -> int:
        """Return how much a person trusts the party."""
        return person.trust + int(self.table.fact(self.atlas.uid("npc", person.key), "reputation", 0))
