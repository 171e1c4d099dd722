"""The odds of each deed for the words of a line, learned from lines that people typed and what they meant.

They know words, not the scene: they say which deed a line in unusual words may be. Its slots are read like
those of any other line. `python -m tests.game.input.learn_verb_odds` writes `data/verb_odds.json`.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"[a-z0-9]+|[?!*\"]")
_QUOTES: Final = str.maketrans({"\u2018": None, "\u2019": None, "'": None, "\u201c": '"', "\u201d": '"'})
_SHORT_ROOT, _LONG_ROOT = 4, 5
_MOST_TOKENS: Final = 60
# Finer deeds, by the coarse ones that the odds know: what is tried, and what uses something carried.
_COARSE: Final = {
    **dict.fromkeys(("hide", "protect", "shove", "threaten", "sneak", "climb"), "try"),
    **dict.fromkeys(("eat", "drink", "light", "wear", "draw"), "use"),
}


class VerbOdds(NamedTuple):
    """Weights of features for deeds: how rare each feature is, its weights, and those of a deed alone."""

    verbs: tuple[str, ...]
    rarity: dict[str, float]
    weights: dict[str, tuple[float, ...]]
    alone: tuple[float, ...]


def coarse_verb(verb: str) -> str:
    """Return the deed that the odds know for a finer one."""
    return _COARSE.get(verb, verb)


def features_of(line: str) -> tuple[list[str], list[str]]:
    """Return what is weighed in a line: words, pairs and how it opens; and the beginnings of its words."""
    tokens = _TOKEN.findall(line.casefold().translate(_QUOTES))[:_MOST_TOKENS]
    framed = ["<", *tokens, ">"]
    pairs = [f"{first} {second}" for first, second in pairwise(framed)]
    opening = [f"1 {framed[1]}", f"2 {' '.join(framed[1:3])}"]
    letters = [token for token in tokens if token[0].isalpha()]
    roots = [root for token in letters for root in (f"{token[:_SHORT_ROOT]}-", f"{token[:_LONG_ROOT]}~")]
    return [*framed, *pairs, *opening], roots


def weigh_features(line: str, rarity: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the known features of a line with their weight. Words and beginnings count alike in sum."""
    for block in features_of(line):
        counts: dict[str, int] = {}
        for feature in block:
            if feature in rarity:
                counts[feature] = counts.get(feature, 0) + 1
        weighed = {name: (1 + math.log(count)) * rarity[name] for name, count in counts.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values()))
        for name, weight in weighed.items():
            yield name, weight / length


@cache
def verb_odds() -> VerbOdds:
    """Return what was learned."""
    data = json.loads(resources.files(__package__).joinpath("data", "verb_odds.json").read_text("utf-8"))
    verbs = tuple(data["verbs"])
    rarity, weights = {}, {}
    for name, (rare, *packed) in data["features"].items():
        rarity[name] = rare
        row = [0.0] * len(verbs)
        for at, weight in zip(packed[::2], packed[1::2], strict=True):
            row[at] = weight / 10
        weights[name] = tuple(row)
    return VerbOdds(verbs, rarity, weights, tuple(data["alone"]))


def rank_verbs(line: str) -> dict[str, float]:
    """Return how likely each deed is for the words of a line, the likeliest first."""
    odds = verb_odds()
    sums = [*odds.alone]
    for name, weight in weigh_features(line, odds.rarity):
        for at, value in enumerate(odds.weights[name]):
            sums[at] += weight * value
    most = max(sums)
    shares = [math.exp(value - most) for value in sums]
    total = sum(shares)
    ranked = sorted(zip(odds.verbs, shares, strict=True), key=lambda pair: -pair[1])
    return {verb: share / total for verb, share in ranked}
