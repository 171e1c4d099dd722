"""The region of an endless chapter: its places, things, people and foes.

The data has the shape of a module file. No description names a person.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from dndbots.game.adventures.endless.deck import Deck, fill_blanks, key_from_name, settlement_name
from dndbots.rules.fights.monsters import monster

# Chapters a party needs for a level; the level stops rising at the highest.
_CHAPTERS_TO_A_LEVEL: Final = 4
_HIGHEST_LEVEL: Final = 6

_RAIDERS: Final = (
    *("Kobold", "Goblin", "Bandit", "Orc", "Hobgoblin", "Gnoll", "Lizard Folk", "Acolyte of Ash", "Bugbear"),
    *("Harpy", "Ogre", "Werewolf", "Minotaur", "Troll", "Hill Giant", "Young Dragon"),
)
_BURIED: Final = (
    *("Giant Rat", "Giant Centipede", "Skeleton", "Rust Beetle", "Zombie", "Ghoul", "Shadow", "Grey Ooze"),
    *("Living Statue", "Wight", "Jelly Cube", "Minotaur", "Troll"),
)
_WILD: Final = (
    *("Giant Rat", "Stirge", "Viper", "Wolf", "Giant Spider", "Strangler Vine", "Black Bear", "Giant Ant"),
    *("Harpy", "Werewolf", "Troll"),
)
# Kinds of places by light, sounds and weather.
_UNDER: Final = frozenset({"deep"})
_INDOORS: Final = frozenset({"inn"})
_SAFE: Final = frozenset({"town", "inn", "camp"})
_VOICES: Final = ("plain", "gruff", "sly", "kind", "grand", "frightened")


@dataclass(frozen=True, slots=True, kw_only=True)
class Someone:
    """A person of the region. `part` is the kind of place they are in."""

    key: str
    name: str
    given: str
    part: str

    @property
    def topic(self) -> str:
        return self.given.lower()


@dataclass(slots=True)
class Region:
    """A chapter in the making. `keys` and `names` hold its places by kind: town, road, lair."""

    deck: Deck
    parts: tuple[str, ...]
    keys: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    cast: list[Someone] = field(default_factory=list)
    places: dict[str, dict[str, Any]] = field(default_factory=dict)
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    quests: dict[str, dict[str, Any]] = field(default_factory=dict)
    happenings: list[dict[str, Any]] = field(default_factory=list)
    foes: dict[str, str] = field(default_factory=dict)
    foes_name: str = ""
    talk: dict[str, list[str]] = field(default_factory=dict)

    @property
    def level(self) -> int:
        """The level of the party in this chapter."""
        return min(_HIGHEST_LEVEL, 1 + self.deck.number // _CHAPTERS_TO_A_LEVEL)

    def at(self, part: str) -> dict[str, Any]:
        """Return the place of a kind."""
        return self.places[self.keys[part]]

    def key(self, word: str) -> str:
        """Return a key that no other chapter has."""
        return f"{word}_{self.deck.number}"

    def words(self, **more: str) -> dict[str, str]:
        """Return values for every blank that a sentence may have."""
        around = {
            "next": settlement_name(self.deck.seed, self.deck.number + 1),
            "last": settlement_name(self.deck.seed, self.deck.number - 1),
            "foes": self.foes_name,
        }
        return {**self.names, **around, **more}

    def elsewhere(self) -> str:
        """Return the name of a place worth a story."""
        return self.names[self.deck.rng.choice([part for part in self.parts if part not in _SAFE])]

    def talk_of(self, who: Someone, topic: str) -> None:
        """Add a topic that a person brings up when asked for news."""
        self.talk.setdefault(who.key, []).append(topic)

    def new_item(self, name: str, *, worth: int, use: str | None = None) -> str:
        """Add an item and return its key."""
        key = key_from_name(name)
        self.items[key] = {"name": name, "worth": worth, "use": use}
        return key


def make_region(deck: Deck, parts: tuple[str, ...]) -> Region:
    """Return a region with ways, foes and hidden things, but no people yet."""
    region = Region(deck, parts)
    for part in parts:
        _found_place(region, part)
    _ways(region)
    _foes(region)
    _hidden_things(region)
    return region


def _found_place(region: Region, part: str) -> None:
    """Add a place of a kind."""
    deck = region.deck
    kind = "wilds" if part == "far" else part
    several = 2 if kind == "wilds" else 1
    name = settlement_name(deck.seed, deck.number) if part == "town" else deck.place(kind, of=several)
    region.names[part], region.keys[part] = name, key_from_name(name)
    looks = [deck.draw(f"places.{kind}.{field}", of=several) for field in ("site", "detail")]
    if kind not in _UNDER | _INDOORS:
        looks.append(deck.draw("places.air", of=7))
    sounds = "under" if kind in _UNDER else "inside" if kind in _SAFE else "outside"
    region.places[key_from_name(name)] = {
        "name": name,
        "looks": [" ".join(looks)],
        "again": [deck.draw("places.again", of=9)],
        "safe": kind in _SAFE,
        "dark": kind in _UNDER,
        "exits": {},
        "things": {},
        "people": [],
        "foes": {},
        "sounds": [deck.draw(f"places.sounds.{sounds}", of=3)],
    }


def _ways(region: Region) -> None:
    """Connect the places."""
    ways = {"inn": "town", "road": "town", "wilds": "road", "ruin": "road", "lair": "wilds", "camp": "wilds"}
    for part in region.parts:
        start = {**ways, "far": "wilds", "deep": "ruin"}.get(part)
        if start is not None:
            label = region.deck.draw(f"places.label.{'wilds' if part == 'far' else part}")
            region.at(start)["exits"][label] = {"to": region.keys[part]}
            if part == "deep":
                region.at(start)["exits"][label] |= _closed(region)
    if "far" in region.parts:
        label = region.deck.draw("places.label.lair")
        region.at("far")["exits"][label] = {"to": region.keys["lair"], "hidden": True}


def _closed(region: Region) -> dict[str, Any]:
    """Return how the way down is closed: hidden, stuck, or locked with a hidden key."""
    how = region.deck.rng.choice(["hidden", "stuck", "locked"])
    if how != "locked":
        return {how: True}
    name = region.deck.place("key")
    key = region.new_item(name, worth=1, use="It has turned lately: there is oil on it.")
    thing = {"looks": region.deck.draw("places.hidden.looks", of=3), "hidden": True, "items": [key]}
    region.at("wilds")["things"][region.key("cache")] = thing
    return {"locked": key}


def pick_foes(region: Region, pool: tuple[str, ...]) -> tuple[str, str]:
    """Return a monster that suits the party's level, and its number as dice."""
    level, rng = region.level, region.deck.rng
    near = [name for name in pool if level - 4 <= monster(name).level <= level + 1]
    name = rng.choice(near or list(pool))
    several = 1 if monster(name).kind == "dragon" else 1.5 * level / max(0.5, monster(name).level)
    number = max(1, min(8, round(several)))
    return name, "1" if number == 1 else f"1d{number}+{number // 2}"


def _foes(region: Region) -> None:
    """Add the foes of the lair and the deep, and wandering monsters."""
    for part, pool in (("lair", _RAIDERS), ("deep", _BURIED)):
        name, number = pick_foes(region, pool)
        kind = monster(name)
        called = f"{region.deck.draw('names.foes', of=3)} {kind.plural.lower()}"
        key = region.key(key_from_name(called))
        region.foes[part] = key
        region.at(part)["foes"][key] = {
            "monster": name,
            "number": number,
            "name": called,
            "mood": "roll" if kind.parleys else "hostile",
            "says": [region.deck.draw("plots.shouts")] if kind.parleys else [],
            "gold": region.level * region.deck.rng.randint(2, 12),
        }
        region.foes_name = region.foes_name or f"the {called}"
    for part in ("wilds", "far"):
        if part in region.parts:
            name, number = pick_foes(region, _WILD)
            region.at(part)["wandering"] = {
                "chance": region.deck.rng.choice(["1 in 6", "1 in 8"]),
                "foes": [{"monster": name, "number": number}],
            }


def _hidden_things(region: Region) -> None:
    """Add hidden hoards, and a guarded chest in the deep."""
    deck = region.deck
    for number, part in enumerate(deck.rng.sample(["road", "wilds", "ruin", "lair"], 2)):
        region.at(part)["things"][region.key(f"hoard{number}")] = {
            "looks": deck.draw("places.hidden.looks", of=3),
            "hidden": True,
            "text": deck.draw("places.hidden.text", of=2),
            "gold": region.level * deck.rng.randint(3, 20),
        }
    chest = region.key("chest")
    region.at("deep")["things"][chest] = {
        "looks": deck.draw("places.chest.looks"),
        "text": deck.draw("places.chest.text"),
        "gold": region.level * deck.rng.randint(10, 40),
        "items": [region.new_item(deck.item(), worth=region.level * deck.rng.randint(10, 50))],
        "trap": {
            "looks": deck.draw("places.chest.trap"),
            "damage": f"{1 + region.level // 3}d6",
            "save": deck.rng.choice(["death", "breath", "paralysis"]),
        },
    }
    region.at("deep")["foes"][region.foes["deep"]]["guards"] = [chest]


def add_person(region: Region, part: str) -> Someone:
    """Add a person with a voice and a greeting to a place of this kind."""
    deck = region.deck
    given, family = deck.person()
    who = Someone(key=key_from_name(given), name=f"{given} {family}", given=given, part=part)
    role = deck.draw(f"people.role.{'town' if part in ('town', 'inn') else 'away'}", of=4)
    voice = deck.rng.choice(_VOICES)
    greeting = deck.draw(f"people.greets.{voice}", of=2)
    region.people[who.key] = {
        "name": who.name,
        "seen_as": f"{role} {deck.draw('people.role.trait', of=6)}",
        "greets": [fill_blanks(greeting, {"name": who.name, "given": given})],
        "voice": voice,
        "trust": deck.rng.randint(3, 7),
        "knows": [],
        "reacts": [],
    }
    region.at(part)["people"].append(who.key)
    region.cast.append(who)
    return who
