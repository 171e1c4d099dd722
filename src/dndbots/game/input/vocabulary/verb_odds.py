"""The odds of each deed for the traits of a line, learned from lines that people typed and what they meant.

A trait is a word, how words stand together, what is around the character, or what the rules make of the line.
`python -m tests.game.input.learn_verb_odds` writes `data/verb_odds.json`.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final

# A number is one character in the file: what JSON would have to escape is left out.
SIGNS: Final = "".join(chr(code) for code in range(33, 127) if chr(code) not in '"\\')
ZERO: Final = len(SIGNS) // 2
_AT: Final = {sign: number for number, sign in enumerate(SIGNS)}
STEP: Final = 0.1  # between two weights
# Finer deeds, by the coarse ones that the odds know: what is tried, and what uses something carried.
_COARSE: Final = {
    **dict.fromkeys(("hide", "protect", "shove", "threaten", "sneak", "climb"), "try"),
    **dict.fromkeys(("eat", "drink", "light", "wear", "draw"), "use"),
}


@dataclass(frozen=True)
class VerbOdds:
    """The deeds, how likely each is by itself, and the weights of each trait, packed as in the file."""

    verbs: tuple[str, ...]
    alone: tuple[float, ...]
    packed: Mapping[str, str]
    read: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def rarity(self, trait: str) -> float:
        """Return how rare a trait is; 0 if it is unknown."""
        packed = self.packed.get(trait)
        return 0.0 if packed is None else unpack_rarity(packed[0])

    def weights(self, trait: str) -> list[tuple[int, float]]:
        """Return the deeds that a known trait speaks for or against, by number, and how much."""
        found = self.read.get(trait)
        if found is None:
            signs = self.packed[trait]
            found = [
                (_AT[verb], (_AT[weight] - ZERO) * STEP)
                for verb, weight in zip(signs[1::2], signs[2::2], strict=True)
            ]
            self.read[trait] = found
        return found


def pack_rarity(rarity: float) -> str:
    """Return a sign for how rare a trait is."""
    return SIGNS[min(max(round((rarity - 1) * 10), 0), len(SIGNS) - 1)]


def unpack_rarity(sign: str) -> float:
    return 1 + _AT[sign] / 10


def pack_weights(row: Sequence[float]) -> str:
    """Return signs for the weights of a trait that are not about nothing."""
    steps = ((number, min(max(round(value / STEP), -ZERO), ZERO - 1)) for number, value in enumerate(row))
    return "".join(f"{SIGNS[number]}{SIGNS[ZERO + step]}" for number, step in steps if step)


def coarse_verb(verb: str) -> str:
    """Return the deed that the odds know for a finer one."""
    return _COARSE.get(verb, verb)


def weigh_traits(blocks: Iterable[Sequence[str]], rarity: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the known traits of a line with their weight. Blocks of traits count alike in sum."""
    for block in blocks:
        counts: dict[str, int] = {}
        for trait in block:
            if trait in rarity:
                counts[trait] = counts.get(trait, 0) + 1
        weighed = {name: (1 + math.log(count)) * rarity[name] for name, count in counts.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values()))
        for name, weight in weighed.items():
            yield name, weight / length


@cache
def verb_odds() -> VerbOdds:
    """Return what was learned."""
    data = json.loads(resources.files(__package__).joinpath("data", "verb_odds.json").read_text("utf-8"))
    return VerbOdds(tuple(data["verbs"]), tuple(data["alone"]), data["traits"])


def rank_verbs(blocks: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return how likely each deed is for the traits of a line, the likeliest first."""
    odds = verb_odds()
    known = {trait: rare for block in blocks for trait in block if (rare := odds.rarity(trait))}
    sums = [*odds.alone]
    for trait, weight in weigh_traits(blocks, known):
        for at, value in odds.weights(trait):
            sums[at] += weight * value
    most = max(sums)
    shares = [math.exp(value - most) for value in sums]
    total = sum(shares)
    ranked = sorted(zip(odds.verbs, shares, strict=True), key=lambda pair: -pair[1])
    return {verb: share / total for verb, share in ranked}
