"""The land of a made chapter: its places, what lies in them, who lives there and who must be fought.

What is made here has the shape of a module's file. No text that the eye alone reads names a person.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from dndbots.game.adventures.deck import Deck, key_of, settlement, told
from dndbots.rules.monsters import monster

# A party gains a level in about so many chapters, and is at its best at the last of them.
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
# Whether light is needed, and which sounds and which weather there are.
_UNDER: Final = frozenset({"deep"})
_INDOORS: Final = frozenset({"inn"})
_SAFE: Final = frozenset({"town", "inn", "camp"})
_VOICES: Final = ("plain", "gruff", "sly", "kind", "grand", "frightened")


@dataclass(frozen=True, slots=True, kw_only=True)
class Someone:
    """One of the cast. `part` is the place where they are."""

    key: str
    name: str
    given: str
    part: str

    @property
    def topic(self) -> str:
        return self.given.lower()


@dataclass(slots=True)
class Region:
    """A chapter in the making. `keys` and `names` are of its places by their part in it: town, road, lair."""

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
        return min(_HIGHEST_LEVEL, 1 + self.deck.number // _CHAPTERS_TO_A_LEVEL)

    def at(self, part: str) -> dict[str, Any]:
        return self.places[self.keys[part]]

    def key(self, word: str) -> str:
        """A key that no other chapter has."""
        return f"{word}_{self.deck.number}"

    def words(self, **more: str) -> dict[str, str]:
        """What fills the blanks of a sentence, whatever they are."""
        around = {
            "next": settlement(self.deck.seed, self.deck.number + 1),
            "last": settlement(self.deck.seed, self.deck.number - 1),
            "foes": self.foes_name,
        }
        return {**self.names, **around, **more}

    def elsewhere(self) -> str:
        """The name of a place that is worth a story."""
        return self.names[self.deck.rng.choice([part for part in self.parts if part not in _SAFE])]

    def talk_of(self, who: Someone, topic: str) -> None:
        """What somebody brings up when asked for news."""
        self.talk.setdefault(who.key, []).append(topic)

    def new_item(self, name: str, *, worth: int, use: str | None = None) -> str:
        key = key_of(name)
        self.items[key] = {"name": name, "worth": worth, "use": use}
        return key


def settle(deck: Deck, parts: tuple[str, ...]) -> Region:
    """A land with its ways, foes and hidden things, and nobody in it yet."""
    region = Region(deck, parts)
    for part in parts:
        _found_place(region, part)
    _ways(region)
    _foes(region)
    _hidden_things(region)
    return region


def _found_place(region: Region, part: str) -> None:
    deck = region.deck
    kind = "wilds" if part == "far" else part
    several = 2 if kind == "wilds" else 1
    name = settlement(deck.seed, deck.number) if part == "town" else deck.place(kind, of=several)
    region.names[part], region.keys[part] = name, key_of(name)
    looks = [deck.draw(f"places.{kind}.{field}", of=several) for field in ("site", "detail")]
    if kind not in _UNDER | _INDOORS:
        looks.append(deck.draw("places.air", of=7))
    sounds = "under" if kind in _UNDER else "inside" if kind in _SAFE else "outside"
    region.places[key_of(name)] = {
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
    """How the way down is shut. A key lies somewhere above, well hidden."""
    how = region.deck.rng.choice(["hidden", "stuck", "locked"])
    if how != "locked":
        return {how: True}
    name = region.deck.place("key")
    key = region.new_item(name, worth=1, use="It has turned lately: there is oil on it.")
    thing = {"looks": region.deck.draw("places.hidden.looks", of=3), "hidden": True, "items": [key]}
    region.at("wilds")["things"][region.key("cache")] = thing
    return {"locked": key}


def fit(region: Region, pool: tuple[str, ...]) -> tuple[str, str]:
    """A monster of the pool for a party of this level, and how many of them, as dice."""
    level, rng = region.level, region.deck.rng
    near = [name for name in pool if level - 4 <= monster(name).level <= level + 1]
    name = rng.choice(near or list(pool))
    several = 1 if monster(name).kind == "dragon" else 1.5 * level / max(0.5, monster(name).level)
    number = max(1, min(8, round(several)))
    return name, "1" if number == 1 else f"1d{number}+{number // 2}"


def _foes(region: Region) -> None:
    for part, pool in (("lair", _RAIDERS), ("deep", _BURIED)):
        name, number = fit(region, pool)
        kind = monster(name)
        called = f"{region.deck.draw('names.foes', of=3)} {kind.plural.lower()}"
        key = region.key(key_of(called))
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
            name, number = fit(region, _WILD)
            region.at(part)["wandering"] = {
                "chance": region.deck.rng.choice(["1 in 6", "1 in 8"]),
                "foes": [{"monster": name, "number": number}],
            }


def _hidden_things(region: Region) -> None:
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


def newcomer(region: Region, part: str) -> Someone:
    """Somebody new, in a place of that part, with a voice and a greeting."""
    deck = region.deck
    given, family = deck.person()
    who = Someone(key=key_of(given), name=f"{given} {family}", given=given, part=part)
    role = deck.draw(f"people.role.{'town' if part in ('town', 'inn') else 'away'}", of=4)
    voice = deck.rng.choice(_VOICES)
    greeting = deck.draw(f"people.greets.{voice}", of=2)
    region.people[who.key] = {
        "name": who.name,
        "seen_as": f"{role} {deck.draw('people.role.trait', of=6)}",
        "greets": [told(greeting, {"name": who.name, "given": given})],
        "voice": voice,
        "trust": deck.rng.randint(3, 7),
        "knows": [],
        "reacts": [],
    }
    region.at(part)["people"].append(who.key)
    region.cast.append(who)
    return who
