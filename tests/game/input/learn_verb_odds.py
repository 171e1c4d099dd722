"""Learn `verb_odds.json` from the lines that are for development, never from those kept back.

    python -m tests.game.input.learn_verb_odds [--cross]

Multinomial logistic regression by gradient descent in plain Python: the same lines give the same file. It
takes two minutes. `--cross` writes nothing. It learns five times from four fifths of the lines that no rule
was written for, and scores the fifth that was left out.
"""

import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.game.input.understanding_score import HERE, Score, print_score, read_lines, score_lines, table_of

from dndbots.game.input.grammar.clauses import ClauseReader
from dndbots.game.input.likely_deeds import MOST_WORDS
from dndbots.game.input.line_reader import read_by_rules
from dndbots.game.input.line_traits import list_traits
from dndbots.game.input.vocabulary import verb_odds
from dndbots.game.input.vocabulary.scene_names import SceneNames
from dndbots.game.input.vocabulary.typed_words import clean_line, read_words
from dndbots.game.input.vocabulary.verb_odds import (
    coarse_verb,
    pack_rarity,
    pack_weights,
    unpack_rarity,
    weigh_traits,
)

TARGET = Path(verb_odds.__file__).parent / "data" / "verb_odds.json"
ROUNDS, RATE, DECAY = 14, 0.5, 6
SHRINK = 0.0001  # of a weight for each line that is learned from
LEAST = 2  # lines in which a trait must stand
FAIR = 0.25  # the weight of a reading that is not the best
NOTHING = 0.002  # what an error must be at least, to change anything
FOLDS = 5
# What the rules make of these says little: they were written for them.
RULES_KNOW = ("understanding", "players", "voices", "chat", "strangers")

Blocks = list[list[str]]


class Case(NamedTuple):
    """A line as it is learned from: its traits, the share that each deed should have, and its weight."""

    traits: list[tuple[str, float]]
    aim: list[float]
    weight: float


class Line(NamedTuple):
    """A line, its traits, and whether the rules know it."""

    line: dict[str, Any]
    blocks: Blocks
    is_known: bool

    @property
    def verbs(self) -> list[str]:
        return [*dict.fromkeys(map(coarse_verb, self.line["verbs"]))]


def development_files() -> list[Path]:
    return sorted(HERE.glob("*_dev.jsonl"))


def blocks_of(line: dict[str, Any]) -> Blocks:
    """Return the traits of a line in its scene."""
    table, who = table_of(line["scene"])
    text = clean_line(line["line"])
    found = read_by_rules(table, who, text)
    scene = SceneNames(table, who)
    clause = ClauseReader(scene, text).read(read_words(text)[:MOST_WORDS])
    return list_traits(scene, clause, found)


def development_lines() -> list[Line]:
    found = []
    for path in development_files():
        is_known = path.stem.removesuffix("_dev") in RULES_KNOW
        for line in read_lines(path):
            blocks = blocks_of(line)
            found.append(Line(line, blocks[:-1] if is_known else blocks, is_known))
    return found


def cases_of(lines: Sequence[Line], rarity: dict[str, float], verbs: Sequence[str]) -> list[Case]:
    found = []
    for line in lines:
        shares = {verb: FAIR if number else 1.0 for number, verb in enumerate(line.verbs)}
        weight = sum(shares.values())
        aim = [shares.get(verb, 0.0) / weight for verb in verbs]
        found.append(Case([*weigh_traits(line.blocks, rarity)], aim, 1.0))
    return found


def descend(cases: Sequence[Case], weights: dict[str, list[float]], alone: list[float]) -> list[float]:
    """Change the weights of traits in place; return those of the deeds alone."""
    order, rng = [*cases], random.Random(1)
    last = dict.fromkeys(weights, 0)
    at = 0
    for turn in range(ROUNDS):
        rng.shuffle(order)
        rate = RATE / (1 + turn / DECAY)
        for traits, aim, weight in order:
            at += 1
            sums = alone
            for name, amount in traits:
                sums = [value + amount * own for value, own in zip(sums, weights[name], strict=True)]
            most = max(sums)
            shares = [math.exp(value - most) for value in sums]
            whole = sum(shares)
            errors = [wish - share / whole for wish, share in zip(aim, shares, strict=True)]
            steps = [
                (number, rate * weight * error) for number, error in enumerate(errors) if abs(error) > NOTHING
            ]
            alone = [*alone]
            for number, step in steps:
                alone[number] += step / 4
            for name, amount in traits:
                row = weights[name]
                kept = (1 - SHRINK * rate) ** (at - last[name])
                last[name] = at
                row = [value * kept for value in row]
                for number, step in steps:
                    row[number] += amount * step
                weights[name] = row
    for name, row in weights.items():
        kept = (1 - SHRINK * rate) ** (at - last[name])
        weights[name] = [value * kept for value in row]
    return alone


def rarity_in(lines: Iterable[Blocks]) -> dict[str, float]:
    """Return how rare each trait is that stands in enough lines, as exactly as the file has it."""
    lines = [*lines]
    seen = Counter(trait for blocks in lines for trait in {trait for block in blocks for trait in block})
    return {
        name: unpack_rarity(pack_rarity(math.log((1 + len(lines)) / (1 + count)) + 1))
        for name, count in sorted(seen.items())
        if count >= LEAST
    }


def learn(lines: Sequence[Line]) -> dict[str, Any]:
    rarity = rarity_in(line.blocks for line in lines)
    verbs = sorted({verb for line in lines for verb in line.verbs})
    weights = {name: [0.0] * len(verbs) for name in rarity}
    alone = descend(cases_of(lines, rarity, verbs), weights, [0.0] * len(verbs))
    packed = {name: pack_weights(row) for name, row in weights.items()}
    traits = {name: f"{pack_rarity(rarity[name])}{signs}" for name, signs in packed.items() if signs}
    return {"verbs": verbs, "alone": [round(value, 2) for value in alone], "traits": traits}


def cross_validate(lines: Sequence[Line]) -> Score:
    """Return the score of lines that no rule knows, each read with odds that were learned without it."""
    fresh = [line for line in lines if not line.is_known]
    random.Random(3).shuffle(fresh)
    whole = Score()
    for fold in range(FOLDS):
        out = fresh[fold::FOLDS]
        kept = {id(line) for line in out}
        data = learn([line for line in lines if id(line) not in kept])
        odds = verb_odds.VerbOdds(tuple(data["verbs"]), tuple(data["alone"]), data["traits"])
        verb_odds.verb_odds = lambda odds=odds: odds  # type: ignore[assignment, misc]
        score = score_lines(line.line for line in out)
        whole.lines += score.lines
        whole.right += score.right
        whole.swallowed += score.swallowed
        whole.two += score.two
        whole.two_kept += score.two_kept
        whole.seconds += score.seconds
        whole.kinds.update(score.kinds)
        whole.right_kinds.update(score.right_kinds)
        whole.wrong += score.wrong
    return whole


def main(arguments: Sequence[str]) -> None:
    lines = development_lines()
    if "--cross" in arguments:
        print_score(cross_validate(lines), show_wrong="--show-wrong" in arguments)
        return
    found = learn(lines)
    head = json.dumps({"verbs": found["verbs"], "alone": found["alone"]})[:-1]
    rows = (f"{json.dumps(name)}:{json.dumps(signs)}" for name, signs in found["traits"].items())
    TARGET.write_text(f'{head}, "traits": {{\n' + ",\n".join(rows) + "\n}}\n", "utf-8")
    sys.stdout.write(f"{len(found['traits'])} traits, {TARGET.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
