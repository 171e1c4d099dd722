"""Learn `verb_odds.json` from the lines that are for development, never from those kept back.

    python -m tests.game.input.learn_verb_odds

Multinomial logistic regression by gradient descent in plain Python: the same lines give the same file. It
takes ten seconds or so.
"""

import json
import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tests.game.input.understanding_score import HERE, read_lines

from dndbots.game.input.vocabulary import verb_odds
from dndbots.game.input.vocabulary.verb_odds import coarse_verb, features_of, weigh_features

TARGET = Path(verb_odds.__file__).parent / "data" / "verb_odds.json"
ROUNDS, RATE = 15, 0.9
LEAST = 2  # lines in which a feature must stand
SMALLEST = 2  # in tenths: smaller weights are left out
FAIR = 0.5  # the weight of a reading that is not the best


class Case(NamedTuple):
    """A line as it is learned from: its features, the share that each deed should have, and its weight."""

    features: list[tuple[str, float]]
    aim: list[float]
    weight: float


def development_lines() -> list[dict[str, Any]]:
    paths = [path for path in sorted(HERE.glob("*.jsonl")) if not path.stem.endswith("held_out")]
    return [line for path in paths for line in read_lines(path)]


def cases_of(lines: Sequence[dict[str, Any]], rarity: dict[str, float], verbs: Sequence[str]) -> list[Case]:
    found = []
    for line in lines:
        accepted = dict.fromkeys(map(coarse_verb, line["verbs"]))
        shares = {verb: FAIR if number else 1.0 for number, verb in enumerate(accepted)}
        weight = sum(shares.values())
        aim = [shares.get(verb, 0.0) / weight for verb in verbs]
        found.append(Case([*weigh_features(line["line"], rarity)], aim, weight))
    return found


def descend(cases: Sequence[Case], weights: dict[str, list[float]], alone: list[float]) -> list[float]:
    """Change the weights of features in place; return those of the deeds alone."""
    order, rng = [*cases], random.Random(1)
    for turn in range(ROUNDS):
        rng.shuffle(order)
        rate = RATE / (1 + turn / 8)
        for features, aim, weight in order:
            sums = [*alone]
            for name, amount in features:
                sums = [value + amount * own for value, own in zip(sums, weights[name], strict=True)]
            shares = [math.exp(value - max(sums)) for value in sums]
            whole = sum(shares)
            steps = [rate * weight * (wish - share / whole) for wish, share in zip(aim, shares, strict=True)]
            alone = [value + step / 4 for value, step in zip(alone, steps, strict=True)]
            for name, amount in features:
                row = weights[name]
                weights[name] = [own + amount * step for own, step in zip(row, steps, strict=True)]
    return alone


def rarity_in(lines: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how rare each feature is that stands in enough lines."""
    seen = Counter(name for line in lines for name in {*chain(*features_of(line["line"]))})
    return {
        name: math.log((1 + len(lines)) / (1 + count)) + 1
        for name, count in sorted(seen.items())
        if count >= LEAST
    }


def learn(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rarity = rarity_in(lines)
    verbs = sorted({coarse_verb(verb) for line in lines for verb in line["verbs"]})
    weights = {name: [0.0] * len(verbs) for name in rarity}
    alone = descend(cases_of(lines, rarity, verbs), weights, [0.0] * len(verbs))
    features: dict[str, list[float]] = {}
    for name, row in weights.items():
        tenths = [(number, round(value * 10)) for number, value in enumerate(row)]
        packed = [part for pair in tenths if abs(pair[1]) >= SMALLEST for part in pair]
        if packed:
            features[name] = [round(rarity[name], 2), *packed]
    return {"verbs": verbs, "alone": [round(value, 2) for value in alone], "features": features}


def main() -> None:
    found = learn(development_lines())
    head = json.dumps({"verbs": found["verbs"], "alone": found["alone"]})[:-1]
    rows = (
        f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row in found["features"].items()
    )
    TARGET.write_text(f'{head}, "features": {{\n' + ",\n".join(rows) + "\n}}\n", "utf-8")
    sys.stdout.write(f"{len(found['features'])} features, {TARGET.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
