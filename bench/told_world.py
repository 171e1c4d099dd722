"""The world of a told campaign: who and what there is, and what has been told of it so far."""

import random
from dataclasses import dataclass, field

from phrases import words

NICKNAMES = {
    "m": ("Old", "Big", "Brother", "Little", "Uncle"),
    "f": ("Old", "Widow", "Granny", "Sister", "Mad"),
}
# Those who were met last are met again; the others are forgotten.
RECENT = 40


@dataclass(kw_only=True)
class Thing:
    """Somebody or something in the world, and what has been told of it."""

    kind: str
    name: str
    sex: str = "m"
    told: dict[str, str] = field(default_factory=dict)


class World:
    """Who and what there is. A name is given once, but two people may share a first name."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        chosen = rng.sample(words()["heroes"], rng.choice((4, 5)))
        self.heroes = [Thing(kind="character", name=one.split()[0], sex=one.split()[1]) for one in chosen]
        self.people: list[Thing] = []
        self.shelves: dict[str, list[Thing]] = {"towns": [], "sites": [], "factions": [], "items": []}
        self._taken: set[str] = set()

    def new_person(self) -> Thing:
        sex = self.rng.choice("mf")
        namesakes = [one for one in self.people[-RECENT:] if one.sex == sex and one.name.count(" ") == 1]
        name = self._name(sex, None)
        while name in self._taken:
            name = self._name(sex, None)
        if namesakes and self.rng.random() < 0.08:
            other = self.rng.choice(namesakes).name.split()
            full = self._name(sex, other[-1] if other[0] in NICKNAMES[sex] else other[0])
            name = name if full in self._taken else full
        self._taken.add(name)
        self.people.append(Thing(kind="npc", name=name, sex=sex))
        return self.people[-1]

    def _name(self, sex: str, first: str | None) -> str:
        chance = self.rng.random()
        if first is None:
            first = self.rng.choice(words()["men" if sex == "m" else "women"])
            if chance < 0.45 and not {first, f"*{first}"} & self._taken:
                self._taken.add(f"*{first}")
                return first
            if chance < 0.55:
                return f"{self.rng.choice(NICKNAMES[sex])} {first}"
        self._taken.add(f"*{first}")
        return f"{first} {self.rng.choice(words()['surnames'])}"

    def person(self, *but: Thing) -> Thing:
        """Somebody known, of late rather than long ago; or somebody new."""
        known = [one for one in self.people[-RECENT:] if all(one is not other for other in but)]
        return self.rng.choice(known) if known and self.rng.random() < 0.6 else self.new_person()

    def person_of_whom(self, name: str, but: Thing) -> Thing | None:
        """Somebody of whom that has been told lately."""
        known = [one for one in self.people[-RECENT:] if name in one.told and one is not but]
        return self.rng.choice(known) if known else None

    def thing(self, shelf: str, *, new: float) -> Thing:
        known, rng = self.shelves[shelf], self.rng
        if known and rng.random() > new:
            return rng.choice(known[-RECENT:])
        names = [name for name in rng.sample(words()[shelf], 12) if name not in self._taken]
        if not names:
            return rng.choice(known)
        self._taken.add(names[0])
        kind = {"factions": "faction", "items": "item"}.get(shelf, "environment")
        known.append(Thing(kind=kind, name=names[0]))
        return known[-1]

    def bury(self, name: str) -> None:
        self.people = [person for person in self.people if person.name != name]
