"""The prose of a told campaign, as it is read from `told_prose/`: words, sayings with marks, exchanges."""

import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

PROSE = Path(__file__).parent / "told_prose"

# Every other saying of a topic: rules may be made with one half at hand, and are measured on the other.
HALVES = {"all": (0, 1), "seen": (0, 2), "unseen": (1, 2)}
Exchange = tuple[tuple[str, str], ...]


class Mark(NamedTuple):
    """What a saying says: see the top of `facts.txt`."""

    subject: str | None
    field: str
    slot: str | None
    speaker: str | None
    rumor: bool
    ended: bool
    plain: bool


class Saying(NamedTuple):
    """Something that the DM (D), the person spoken of (N) or a player (P) says, and what it tells."""

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
def words() -> Mapping[str, tuple[str, ...]]:
    """Words by kind; names of places, groups and things are put together of two halves."""
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
def sayings(name: str, phrasings: str = "all") -> Mapping[str, tuple[Saying, ...]]:
    """The sayings of a file, by topic: all of them, or one half, such as what nobody has looked at."""
    first, step = HALVES[phrasings]
    return {
        title: tuple(_saying(line) for line in [line for line in body if line][first::step])
        for title, body in _sections(name)
    }


def _saying(line: str) -> Saying:
    head, _, text = line.partition("| ")
    who, *marks = head.split()
    return Saying(who, tuple(_mark(mark) for mark in marks), text)


def _mark(text: str) -> Mark:
    match = _MARK.match(text)
    assert match, f"{text!r} is no mark"
    passing, subject, name, slot, speaker, rumor, ended = match.groups()
    return Mark(subject, name, slot, speaker, bool(rumor), bool(ended), not passing)


@cache
def exchanges() -> Mapping[str, tuple[Exchange, ...]]:
    """Exchanges by where they are had: who speaks, and what."""
    return {
        title: tuple(
            tuple((line[0], line[3:]) for line in exchange.split("\n"))
            for exchange in re.split(r"\n\n+", "\n".join(body))
        )
        for title, body in _sections("talk")
    }


@cache
def asides() -> Mapping[str, list[str]]:
    return {title: [line for line in body if line] for title, body in _sections("asides")}


def either(rng: random.Random, text: str) -> str:
    """One of each [choice|alternative], the innermost first."""
    while "[" in text:
        text = re.sub(r"\[([^\[\]]*)\]", lambda match: rng.choice(match[1].split("|")), text)
    return re.sub(r" +([.,]|$)", r"\1", text)


def with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def with_article(text: str) -> str:
    return f"{'an' if text[0].lower() in 'aeiou' else 'a'} {text}"


class Slots(dict[str, str]):
    """The words of one line. What is not given is drawn when it is asked for, and stays for the line."""

    POOLS: ClassVar = {
        "role": "roles", "post": "posts", "race": "races", "look": "looks", "want": "wants", "fear": "fears",
        "vow": "vows", "mood": "moods", "state": "states", "lstate": "place_states", "renown": "renown",
        "scenery": "scenery", "goal": "goals", "reward": "rewards", "talent": "talents", "power": "powers",
        "cause": "causes", "foe": "foes", "thing": "things", "feel": "feels", "weather": "weathers",
        "sound": "sounds", "food": "foods", "r": "regions", "wrong_race": "races", "deadline": "deadlines",
        "high": "high", "low": "low",
    }  # fmt: skip

    def __init__(self, rng: random.Random, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._rng = rng

    def __missing__(self, key: str) -> str:
        self[key] = made = self._made(key)
        return made

    def _made(self, key: str) -> str:
        if key.endswith("_cap"):
            return with_capital(self[key.removesuffix("_cap")])
        if key.startswith("a_"):
            return with_article(self[key.removeprefix("a_")])
        if key.startswith("A_"):
            return with_capital(with_article(self[key.removeprefix("A_")]))
        if key in ("He", "His"):
            return with_capital(self[key.lower()])
        if key == "age":
            return _in_words(self._rng.randint(20, 89))
        return self._rng.choice(words()[self.POOLS[key]])


def _in_words(age: int) -> str:
    tens = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty")
    ones = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
    return tens[age // 10 - 2] + ones[age % 10]
