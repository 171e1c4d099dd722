"""A generated campaign with known truth, told in varied prose, for the measures of compaction.

`told(seed, turns)` plays a table: a DM, four or five players, people whom they meet. Nine tenths of it are
dice, banter, weather and plans. In between somebody says what a careful note-taker would write down, and
each such thing is listed as a truth of its line. The prose is in `told_prose/`, written by hand; whoever
reads facts out of play must not be fitted to it.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROSE = Path(__file__).parent / "told_prose"

# How often each topic comes up, among the lines that say something.
TOPICS = {
    "role": 8, "intro": 6, "race": 4, "look": 5, "age": 3, "wants": 5, "fears": 3, "promise": 4, "attitude": 5,
    "status": 4, "death": 2, "place": 6, "home": 4, "faction": 3, "kin": 6, "serves": 3, "enemy": 2, "ally": 2,
    "ability": 3, "environment": 9, "quest": 5, "holder": 4, "handed": 3, "item": 5, "group": 5, "newrole": 3,
    "replaced": 2, "rumor": 5, "lie": 4,
}  # fmt: skip
# Whom these speak of is mostly somewhere else.
AWAY = frozenset({"status", "death", "place", "replaced", "handed", "rumor"})
# What is told of somebody or something only once; other things change, or add up.
ONCE = frozenset(
    {"role", "race", "description", "age", "home", "wants", "fears", "known_for", "part_of", "maker"}
)
# Of these only the newest is so. A holder also ends where a thing lay, and the other way round.
CHANGING = frozenset(
    {"role", "attitude", "status", "place", "home", "faction", "serves", "holder", "ruler", "leader"}
)
# How many of a hundred exchanges are followed by something said, and by something that only sounds like it.
SAID, SOUNDS_SAID = 36, 30
SCENES = {"town": 4, "road": 3, "dungeon": 4, "fight": 4, "camp": 2, "talk": 5}
KIN = {
    "m": ("brother", "father", "son", "husband", "uncle", "nephew", "cousin", "twin", "grandfather", "mentor",
          "apprentice", "friend", "rival", "lover"),
    "f": ("sister", "mother", "daughter", "wife", "aunt", "niece", "cousin", "twin", "grandmother", "mentor",
          "apprentice", "friend", "rival", "lover"),
}  # fmt: skip
NICKNAMES = {
    "m": ("Old", "Big", "Brother", "Little", "Uncle"),
    "f": ("Old", "Widow", "Granny", "Sister", "Mad"),
}
# Other words that say the same as a value.
SAME = {"dead": ("died", "killed", "slain", "buried"), "hostile": ("unfriendly",), "friendly": ("warm",)}
PRONOUNS = {
    "m": {"he": "he", "him": "him", "his": "his", "himself": "himself", "man": "man"},
    "f": {"he": "she", "him": "her", "his": "her", "himself": "herself", "man": "woman"},
}


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a line says of somebody or something. `until` is the turn from which on it is so no longer."""

    kind: str
    name: str
    field: str
    values: frozenset[str]
    line: str
    said_by: str | None
    sure: str
    ended: bool
    plain: bool
    since: int
    until: int | None = None


@dataclass(frozen=True, kw_only=True)
class Told:
    lines: list[dict[str, str]]
    truths: list[Truth]
    heroes: tuple[str, ...]


@dataclass(kw_only=True)
class Thing:
    """Somebody or something in the world, and which of its fields have been told."""

    kind: str
    name: str
    sex: str = "m"
    told: dict[str, str] = field(default_factory=dict)


class Mark(NamedTuple):
    subject: str | None
    field: str
    slot: str | None
    speaker: str | None
    rumor: bool
    ended: bool
    plain: bool


class Saying(NamedTuple):
    who: str
    marks: tuple[Mark, ...]
    text: str


_MARK = re.compile(r"(~?)(?:(\w)\.)?(\w+?)(?:=(\w+))?(?:@(\w))?(\??)(!?)$")


def _sections(name: str) -> Iterator[tuple[str, list[str]]]:
    text = re.sub(r"(?m)^#.*\n", "", (PROSE / f"{name}.txt").read_text(encoding="utf-8"))
    for part in re.split(r"(?m)^\[(?=[a-z_]+\]$)", text)[1:]:
        title, _, body = part.partition("]\n")
        yield title, body.strip("\n").split("\n")


@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    found = {
        title: tuple(word.strip() for word in " ".join(body).split("|")) for title, body in _sections("words")
    }

    def pairs(pattern: str, name: str) -> tuple[str, ...]:
        return tuple(
            pattern.format(head, tail) for head in found[f"{name}_heads"] for tail in found[f"{name}_tails"]
        )

    return found | {
        "surnames": pairs("{}{}", "sur"),
        "towns": pairs("{}{}", "place"),
        "sites": pairs("the {} {}", "site"),
        "regions": pairs("the {} {}", "region"),
        "factions": pairs("the {} {}", "faction"),
        "items": pairs("{}{}", "item") + pairs("the {} of {}", "relic"),
    }


@cache
def _sayings(name: str) -> Mapping[str, tuple[Saying, ...]]:
    return {title: tuple(_saying(line) for line in body if line) for title, body in _sections(name)}


def _saying(line: str) -> Saying:
    head, _, text = line.partition(" | ") if " | " in line else line.partition("| ")
    who, *marks = head.split()
    return Saying(who, tuple(_mark(mark) for mark in marks), text)


def _mark(text: str) -> Mark:
    match = _MARK.match(text)
    assert match, f"{text!r} is no mark"
    passing, subject, name, slot, speaker, rumor, ended = match.groups()
    return Mark(subject, name, slot, speaker, bool(rumor), bool(ended), not passing)


@cache
def _talk() -> Mapping[str, tuple[tuple[tuple[str, str], ...], ...]]:
    """Exchanges by where they are had: who speaks, and what."""
    return {
        title: tuple(
            tuple((line[0], line[3:]) for line in exchange.split("\n"))
            for exchange in re.split(r"\n\n+", "\n".join(body))
        )
        for title, body in _sections("talk")
    }


@cache
def _asides() -> Mapping[str, list[str]]:
    return {title: [line for line in body if line] for title, body in _sections("asides")}


def either(rng: random.Random, text: str) -> str:
    """One of each [choice|alternative], the innermost first."""
    while "[" in text:
        text = re.sub(r"\[([^\[\]]*)\]", lambda match: rng.choice(match[1].split("|")), text)
    return re.sub(r" +([.,]|$)", r"\1", text)


def _with_article(words: str) -> str:
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


class Slots(dict[str, str]):
    """The words of one line. What is not given is drawn when it is asked for, and stays for the line."""

    POOLS = {
        "role": "roles", "post": "posts", "race": "races", "look": "looks", "want": "wants", "fear": "fears",
        "vow": "vows", "mood": "moods", "state": "states", "lstate": "place_states", "renown": "renown",
        "scenery": "scenery", "goal": "goals", "reward": "rewards", "talent": "talents", "power": "powers",
        "cause": "causes", "foe": "foes", "thing": "things", "feel": "feels", "weather": "weathers",
        "sound": "sounds", "food": "foods", "r": "regions", "wrong_race": "races",
    }  # fmt: skip

    def __init__(self, rng: random.Random, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._rng = rng

    def __missing__(self, key: str) -> str:
        self[key] = made = self._made(key)
        return made

    def _made(self, key: str) -> str:
        if key.endswith("_cap"):
            return _capital(self[key.removesuffix("_cap")])
        if key.startswith("a_"):
            return _with_article(self[key.removeprefix("a_")])
        if key.startswith("A_"):
            return _capital(_with_article(self[key.removeprefix("A_")]))
        if key in ("He", "His", "Him"):
            return _capital(self[key.lower()])
        if key == "age":
            return _number(self._rng.randint(17, 89))
        return self._rng.choice(_words()[self.POOLS[key]])


def _number(value: int) -> str:
    tens = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty")
    teens = ("seventeen", "eighteen", "nineteen")
    if value < 20:
        return teens[value - 17]
    ones = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return tens[value // 10] + (f"-{ones[value % 10]}" if value % 10 else "")


class World:
    """Who and what there is. Names are given once, but two people may share a first name."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        heroes = rng.sample(_words()["heroes"], rng.choice((4, 5)))
        self.heroes = [_hero(text) for text in heroes]
        self.people: list[Thing] = []
        self.shelves: dict[str, list[Thing]] = {"towns": [], "sites": [], "factions": [], "items": []}
        self._taken: set[str] = set()

    def new_person(self) -> Thing:
        rng, sex = self.rng, self.rng.choice("mf")
        for _ in range(40):
            first = rng.choice(_words()["men" if sex == "m" else "women"])
            if self.people and rng.random() < 0.05:
                other = rng.choice(self.people)
                first, sex = other.name.split()[-1 if other.name.count(" ") == 0 else 0], other.sex
            name = self._full(first, sex)
            if name not in self._taken and not (
                " " not in name and name in {n.split()[0] for n in self._recent()}
            ):
                break
        self._taken.add(name)
        person = Thing(kind="npc", name=name, sex=sex)
        self.people.append(person)
        return person

    def _recent(self) -> list[str]:
        return [person.name for person in self.people[-60:]]

    def _full(self, first: str, sex: str) -> str:
        chance = self.rng.random()
        if chance < 0.45 and first not in self._taken:
            return first
        if chance < 0.55 and first[0] != first[0].lower():
            return f"{self.rng.choice(NICKNAMES[sex])} {first}"
        return f"{first} {self.rng.choice(_words()['surnames'])}"

    def person(self, *but: Thing) -> Thing:
        """Somebody known, of late rather than long ago; or somebody new."""
        known = [one for one in self.people[-40:] if all(one is not other for other in but)]
        return self.rng.choice(known) if known and self.rng.random() < 0.6 else self.new_person()

    def thing(self, shelf: str, *, new: float) -> Thing:
        known, rng = self.shelves[shelf], self.rng
        if known and rng.random() > new:
            return rng.choice(known[-25:])
        kind = {"factions": "faction", "items": "item"}.get(shelf, "environment")
        names = [name for name in rng.sample(_words()[shelf], 20) if name not in self._taken]
        if not names:
            return rng.choice(known)
        self._taken.add(names[0])
        known.append(Thing(kind=kind, name=names[0]))
        return known[-1]

    def bury(self, name: str) -> None:
        self.people = [person for person in self.people if person.name != name]


def _hero(text: str) -> Thing:
    name, sex = text.split()
    return Thing(kind="character", name=name, sex=sex)


class Teller:
    """Tells a campaign, line by line, and keeps the list of what it said."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.world = World(self.rng)
        self.lines: list[dict[str, str]] = []
        self.truths: list[Truth] = []
        self._standing: dict[tuple[str, str], list[int]] = {}
        self._session, self._session_ends = 1, 0
        self._shuffled: dict[str, list] = {}

    def scene(self) -> None:
        rng = self.rng
        kind = rng.choices([*SCENES], weights=[*SCENES.values()])[0]
        self.place = self.world.thing("towns" if kind in ("town", "road") else "sites", new=0.4)
        self.present = [self.world.person()]
        self._say("DM", "dm", self._filled(self._next("opening", _asides()["opening"])))
        if rng.random() < 0.7:
            self._something_said()
        for _ in range(rng.randint(2, 5)):
            where = rng.choices((kind, "talk", "table", "plan"), weights=(60, 15, 12, 13))[0]
            self._exchange(self._next(where, _talk()[where]))
            if rng.random() < SAID / 100:
                self._something_said()
            if rng.random() < SOUNDS_SAID / 100:
                self._trap()

    def _next(self, name: str, pool) -> object:
        """Each of a pool in turn, in an order that changes with every round."""
        left = self._shuffled.get(name)
        if not left:
            left = self._shuffled[name] = self.rng.sample(list(pool), len(pool))
        return left.pop()

    def _exchange(self, exchange: tuple[tuple[str, str], ...]) -> None:
        npc = self.present[0]
        slots = self._slots(npc)
        for who, text in exchange:
            if who == "D":
                speaker, role = "DM", "dm"
            elif who == "N":
                speaker, role = npc.name, "npc"
            else:
                speaker, role = slots[who], "pc"
            self._say(speaker, role, either(self.rng, text).format_map(slots))

    def _filled(self, text: str) -> str:
        return either(self.rng, text).format_map(self._slots(self.present[0]))

    def _slots(self, npc: Thing) -> Slots:
        first, second, third = self.rng.sample(self.world.heroes, 3)
        given = {"A": first.name, "B": second.name, "C": third.name, "N": npc.name}
        return Slots(self.rng, given | {"Ahis": PRONOUNS[first.sex]["his"]})

    def _say(self, speaker: str, role: str, text: str) -> str:
        if len(self.lines) >= self._session_ends:
            self._session_ends = len(self.lines) + self.rng.randint(120, 260)
            self._session += bool(self.lines)
        line = {
            "id": f"T{len(self.lines) + 1:06d}",
            "session": f"s{self._session:03d}",
            "speaker": speaker,
            "role": role,
            "text": text,
            "location": _capital(self.place.name),
        }
        self.lines.append(line)
        return line["id"]

    def _something_said(self) -> None:
        for _ in range(12):
            topic = self.rng.choices([*TOPICS], weights=[*TOPICS.values()])[0]
            if self._tell(self.rng.choice(_sayings("facts")[topic]), topic):
                return

    def _trap(self) -> None:
        self._tell(self._next("traps", _sayings("traps")["traps"]), "trap")

    def _tell(self, saying: Saying, topic: str) -> bool:
        cast = self._cast(saying, topic)
        if cast is None:
            return False
        slots = self._slots(self.present[0])
        for key, one in cast.items():
            slots[key] = one.name
            prefix = {"p": "", "q": "q"}.get(key)
            if prefix is not None:
                slots.update({prefix + word: form for word, form in PRONOUNS[one.sex].items()})
        slots["kin"] = self.rng.choice(KIN[cast["q"].sex])
        if topic == "replaced":
            slots["post"] = cast["p"].told["role"]
        text = either(self.rng, saying.text)
        if saying.who == "D":
            text = self._among_asides(text)
        speaker, role = {"D": ("DM", "dm"), "N": (cast["p"].name, "npc"), "P": (cast["s"].name, "pc")}[
            saying.who
        ]
        line = self._say(speaker, role, text.format_map(slots))
        own = None if saying.who == "D" else speaker
        for mark in saying.marks:
            self._note(mark, self._subject(mark, saying, cast), slots, line, own, world=topic)
        return True

    def _among_asides(self, text: str) -> str:
        chance = self.rng.random()
        if chance < 0.3:
            return f"{either(self.rng, self._next('before', _asides()['before']))} {text}"
        if chance < 0.5:
            return f"{text} {either(self.rng, self._next('after', _asides()['after']))}"
        return text

    def _cast(self, saying: Saying, topic: str) -> dict[str, Thing] | None:
        """Who and what a saying is about; None if that does not fit what has been told."""
        world, rng = self.world, self.rng
        away = topic in AWAY and saying.who != "N" and rng.random() < 0.8
        p = world.person(*self.present) if away else self.present[0]
        if topic == "replaced":
            holders = [one for one in world.people if one.told.get("role") in _words()["posts"]]
            if not holders:
                return None
            p = rng.choice(holders)
        cast = {"p": p, "s": rng.choice(world.heroes)}
        cast["q"] = world.new_person() if topic in ("kin", "replaced") else world.person(p)
        cast["l"] = world.thing(rng.choice(("towns", "towns", "sites")), new=0.5)
        if any(mark.field in ("home", "part_of", "ruler", "known_for") for mark in saying.marks):
            cast["l"] = world.thing("towns", new=0.5)
        cast["f"], cast["g"] = world.thing("factions", new=0.4), world.thing("factions", new=0.3)
        cast["i"] = world.thing("items", new=0.5)
        if topic == "handed":
            held = [one for one in world.shelves["items"] if "holder" in one.told]
            owners = {person.name: person for person in [*world.people, *world.heroes]}
            held = [one for one in held if one.told["holder"] in owners]
            if not held:
                return None
            cast["i"] = rng.choice(held)
            cast["p"] = owners[cast["i"].told["holder"]]
        return cast if self._fits(saying, topic, cast) else None

    def _fits(self, saying: Saying, topic: str, cast: dict[str, Thing]) -> bool:
        if cast["p"] is cast["q"] or cast["f"] is cast["g"]:
            return False
        if topic in ("rumor", "lie", "trap", "replaced"):
            return not (topic == "trap" and cast["p"].told.get("status") == "dead")
        told = [(self._subject(mark, saying, cast), mark.field) for mark in saying.marks]
        if any(name in one.told for one, name in told if name in ONCE):
            return False
        if any(
            name in ("holder", "place") and one.kind == "item" and "holder" in one.told for one, name in told
        ):
            return topic == "handed"
        return True

    def _subject(self, mark: Mark, saying: Saying, cast: dict[str, Thing]) -> Thing:
        if mark.subject == "k":
            return Thing(kind="quest", name="")
        if mark.subject is None and saying.who == "P" and "{p}" not in saying.text:
            return cast["s"]
        return cast[mark.subject or "p"]

    _SLOT = {
        "description": "look", "wants": "want", "fears": "fear", "promise": "vow", "attitude": "mood",
        "status": "state", "home": "l", "place": "l", "faction": "f", "ability": "talent",
    }  # fmt: skip

    def _note(
        self, mark: Mark, subject: Thing, slots: Slots, line: str, own: str | None, *, world: str
    ) -> None:
        name = slots["kin"] if mark.field == "kin" else mark.field
        slot = mark.slot or self._SLOT.get(mark.field, mark.field)
        value = slot if slot in SAME else slots[slot]
        said_by = slots[mark.speaker] if mark.speaker else own
        truth = Truth(
            kind="ability" if name == "ability" else subject.kind,
            name=subject.name or slots["goal"],
            field=name,
            values=frozenset({value, *SAME.get(value, ())}),
            line=line,
            said_by=said_by,
            sure="rumor" if mark.rumor else "fact",
            ended=mark.ended,
            plain=mark.plain,
            since=len(self.lines),
        )
        if said_by is None and not mark.rumor:
            self._supersede(truth, subject)
        self.truths.append(truth)
        if world in ("rumor", "lie", "trap"):
            return
        if not mark.ended:
            subject.told[name] = value
        if value == "dead":
            self.world.bury(subject.name)

    def _supersede(self, truth: Truth, subject: Thing) -> None:
        """What was so of this until now is so no longer."""
        fields = {truth.field} & CHANGING
        if subject.kind == "item" and truth.field in ("holder", "place"):
            fields = {"holder", "place"}
        for name in sorted(fields):
            for number in self._standing.pop((truth.name, name), []):
                self.truths[number] = replace(self.truths[number], until=truth.since)
        if not truth.ended:
            self._standing.setdefault((truth.name, truth.field), []).append(len(self.truths))


def told(seed: int, turns: int) -> Told:
    """The first turns of a campaign, and all that is true of them; the same for the same seed."""
    teller = Teller(seed)
    while len(teller.lines) < turns:
        teller.scene()
    lines = teller.lines[:turns]
    truths = [
        truth if truth.until is None or truth.until <= turns else replace(truth, until=None)
        for truth in teller.truths
        if truth.since <= turns
    ]
    return Told(lines=lines, truths=truths, heroes=tuple(hero.name for hero in teller.world.heroes))
