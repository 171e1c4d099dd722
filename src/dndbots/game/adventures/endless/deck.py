"""Decks of words and names: no card comes back before half of its table is used.

A chapter takes a few cards of a table; at the end the table starts again in another order. The cards of a
chapter depend only on the seed and its number, not on earlier chapters.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from itertools import product
from random import Random
from typing import Any, Final

from dndbots.ids import slug

_SHORTEST_NAME: Final = 5
_LARGE: Final = 500
# The most names for people and for items that a chapter needs.
PEOPLE: Final = 8
ITEMS: Final = 4

_SENTENCE = re.compile(r"(?:^|[.!?] )[a-z]")


@cache
def _file(name: str) -> Mapping[str, Any]:
    text = resources.files("dndbots.game.adventures").joinpath("tables", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def read_table(name: str) -> tuple[str, ...]:
    """Return a table by name, such as `places.town.site`; name tables are combined from syllables."""
    file, part, *field = name.split(".")
    found = _file(file)[part]
    if file != "names" or part in ("adjective", "faction", "foes", "noun"):
        words = found[field[0] if field else "words"]
        if isinstance(words, list):
            return tuple(words)
        return _shuffled(name, list(map(" ".join, product(*words.values()))))
    put_together = map("".join, product(*found.values()))
    return _shuffled(name, [word for word in put_together if len(word) >= _SHORTEST_NAME])


def _shuffled(name: str, words: list[str]) -> tuple[str, ...]:
    """Return words without doubles, shuffled so that equal syllables are apart."""
    unique = list(dict.fromkeys(words))
    Random(name).shuffle(unique)  # noqa: S311 - a story, no secret
    return tuple(unique)


@lru_cache(maxsize=4_096)
def _order(seed: int, name: str, size: int, lap: int) -> tuple[int, ...]:
    """Return the order of a lap. Halves stay apart: the end of a lap never begins the next."""
    everything = list(range(size))
    Random(f"{seed}:{name}").shuffle(everything)  # noqa: S311 - a story, no secret
    rng = Random(f"{seed}:{name}:{lap}")  # noqa: S311 - a story, no secret
    first, last = everything[: size // 2], everything[size // 2 :]
    return (*rng.sample(first, len(first)), *rng.sample(last, len(last)))


@lru_cache(maxsize=1_024)
def _stride(seed: int, name: str, size: int) -> tuple[int, int]:
    """Return a start in a large table and a step that visits every card once."""
    rng = Random(f"{seed}:{name}")  # noqa: S311 - a story, no secret
    step = next(step for step in iter(lambda: rng.randrange(size), None) if math.gcd(step, size) == 1)
    return rng.randrange(size), step


def deal(seed: int, name: str, position: int, cards: tuple[str, ...]) -> str:
    """Return the card at a position. Large tables are already shuffled and stepped through quickly."""
    if len(cards) >= _LARGE:
        start, step = _stride(seed, name, len(cards))
        return cards[(start + step * position) % len(cards)]
    lap, card = divmod(position, len(cards))
    return cards[_order(seed, name, len(cards), lap)[card]]


def settlement_name(seed: int, number: int) -> str:
    """Return the town name of a chapter; neighbouring chapters mention it too."""
    return deal(seed, "settlement", number, read_table("names.settlement"))


class Deck:
    """The cards and the random numbers of one chapter."""

    def __init__(self, seed: int, number: int) -> None:
        self.seed, self.number = seed, number
        self.rng = Random(f"{seed}:{number}")  # noqa: S311 - a story, no secret
        self._dealt: Counter[str] = Counter()

    def draw(self, name: str, *, of: int = 1) -> str:
        """Return the next card of a table. `of` is how many a chapter draws, so the next one gets others."""
        return self._next(name, read_table(name), of)

    def person(self) -> tuple[str, str]:
        """Return a given and a family name."""
        return self.draw("names.given", of=PEOPLE), self.draw("names.family", of=PEOPLE)

    def place(self, kind: str, *, of: int = 1) -> str:
        return self._next(f"place:{kind}", _pairs("names.adjective", f"names.noun.{kind}"), of)

    def faction(self) -> str:
        return self._next("faction", _pairs("names.adjective", "names.faction"), 2)

    def item(self) -> str:
        return self._next("item", _items(), ITEMS)

    def _next(self, name: str, cards: tuple[str, ...], of: int) -> str:
        position = self.number * of + self._dealt[name]
        self._dealt[name] += 1
        return deal(self.seed, name, position, cards)


@cache
def _pairs(first: str, second: str) -> tuple[str, ...]:
    pairs = product(read_table(first), read_table(second))
    return _shuffled(second, [f"the {one} {other}" for one, other in pairs])


@cache
def _items() -> tuple[str, ...]:
    words = _file("names")["item"]
    pairs = product(words["adjective"], words["noun"])
    return _shuffled("item", [f"the {one} {other}" for one, other in pairs])


def fill_blanks(template: str, words: Mapping[str, str]) -> str:
    """Return a sentence with its blanks filled and sentences capitalized."""
    return _SENTENCE.sub(lambda found: found[0].upper(), template.format_map(words))


def key_from_name(name: str) -> str:
    """Return a key for a name: `the Drowned Mill` becomes `drowned_mill`."""
    return slug(name.removeprefix("the "))
