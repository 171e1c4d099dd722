"""Neighbors: who the others are, where to find them, and who might know more, as a person tells it."""

from typing import TYPE_CHECKING, Final

from dndbots.game.adventures.module import Person
from dndbots.game.world.lore.question_words import all_stems
from dndbots.text.word_forms import as_path

if TYPE_CHECKING:
    from dndbots.game.world.narration import Narration

# Words of trade that name no ware.
_TRADING: Final = all_stems(
    "sell sold selling buy trade price prices cost costs wares goods charge serve offer"
)


class Neighbors:
    """The other people and the places of an adventure, as a person at a place speaks of them."""

    def __init__(self, narration: "Narration", person: Person, place: str) -> None:
        self._narration, self._person, self._place = narration, person, place
        self._world, self._atlas = narration.world, narration.atlas
        self._module, self._lore = narration.atlas.module, narration.atlas.lore

    def introduce(self, other: Person) -> str:
        """Return who a neighbor is and where to find them; "" if the person cannot know."""
        if other.role is None or self._person.role is None:
            return ""
        if self._world.killed(other.key):
            return self._narration.phrase("neighbor_dead", name=other.name, role=other.role)
        who = self._narration.phrase("neighbor_is", name=other.name, role=other.role)
        return f"{who} {self._whereabouts(other)}".strip()

    def _whereabouts(self, other: Person) -> str:
        """Return where to find a neighbor; a place that their role names already needs only the way."""
        place = self._module.places.get(self._module.person_at.get(other.key, ""))
        if self._world.where(other.key) == self._place:
            return self._narration.phrase("neighbor_here", name=other.name)
        if other.hidden or place is None:
            return self._narration.phrase("neighbor_missing", name=other.name)
        if place.name not in str(other.role):
            return self._narration.phrase("neighbor_at", name=other.name, place=place.name)
        way = self._path_to(place.key)
        return self._narration.phrase("neighbor_by", way=way) if way else ""

    def way_to(self, place: str) -> str:
        """Return the way to a place; "" if no open way leads there."""
        name = self._module.places[place].name
        if self._atlas.key(self._place) == place:
            return self._narration.phrase("place_here", place=name)
        way = self._path_to(place)
        return self._narration.phrase("place_way", place=name, way=way) if way else ""

    def _path_to(self, place: str) -> str:
        ways = self._lore.way_between(self._atlas.key(self._place) or "", place)
        return ", then ".join(map(as_path, ways))

    def seller_of(self, stems: frozenset[str]) -> str:
        """Return who sells what words speak of, if the person does not; else ""."""
        wanted = stems - _TRADING
        known = self._module.people.values()
        selling = [one for one in known if self._lore.sells(" ".join(one.wares), wanted)]
        if self._person in selling:
            return ""
        sells_something = self._person.wares or "sells" in self._person.life
        seller = selling[0] if selling else None if sells_something else self._lore.seller_of(wanted)
        return "" if seller is None or seller.key == self._person.key else self.introduce(seller)

    def refer(self, stems: frozenset[str]) -> tuple[str, str]:
        """Return who might know more about what words speak of, or who knows most, and their name."""
        other = self._who_knows(stems)
        if other is None:
            return "", ""
        place = self._module.places.get(self._module.person_at.get(other.key, ""))
        slots = {"name": other.name, "role": str(other.role)}
        near = place is None or place.name in slots["role"] or self._world.where(other.key) == self._place
        if place is None or near:
            return self._narration.phrase("ask_them_here", **slots), other.name
        return self._narration.phrase("ask_them", place=place.name, **slots), other.name

    def _who_knows(self, stems: frozenset[str]) -> Person | None:
        """Return the neighbor who says most, without being pressed, about what words speak of."""
        if self._person.role is None:
            return None
        topics, named = self._lore.topics_in(stems), self._lore.people_in(stems)
        known = {
            person.key: max(
                (
                    topics.get(topic, 0.0)
                    for saying in person.knows
                    if not saying.needs
                    for topic in saying.about
                ),
                default=0.0,
            )
            + named.get(person.key, 0.0)
            + len(person.knows) / 100
            for person in self._module.people.values()
            if person.role is not None
            and not person.hidden
            and person.key != self._person.key
            and not self._world.killed(person.key)
        }
        return self._module.people[max(known, key=lambda key: known[key])] if known else None
