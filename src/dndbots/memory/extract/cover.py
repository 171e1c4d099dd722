"""Which sentences to keep: a concave cover of names, words and pairs, greedy, under an exact budget.

The worth of a feature grows ever more slowly with each sentence that has it, so a lazy greedy pass over a
bounded pool is near the best there is. No chance, no clock, and no order but that of the candidates.
"""

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from dndbots.memory.entries import as_text
from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.lines import cut, lines_of
from dndbots.memory.extract.salience import Feature, Salience
from dndbots.memory.extract.weighing import CHANGE, is_denied
from dndbots.memory.extract.words import content
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

_POWER: Final = 0.6
_OVERHEAD: Final = 8  # so that a sentence of two words does not win by being short
_POOL: Final = 6000
_LOOKS: Final = 12
_RETOLD_WEIGHT: Final = 10.0
_BESIDE_THE_POINT: Final = 1e-4
_SAME: Final = 0.75
_TRIED: Final = 20
_FEWEST_WORDS: Final = 4
_UNSAID: Final = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What a summary should be like.

    `about` are content words to be named. `change` is how much more a sentence of consequence weighs.
    `outcomes` and `retold` are the shares of the budget that outcomes and retellings may take, as long as
    there is anything else. `most` is how many sentences it may have. `power` is how fast the worth of a
    feature grows with what says it: near nought, each is wanted once. `fragments` of a few words will do.
    """

    about: frozenset[str] = frozenset()
    change: float = CHANGE
    outcomes: float = 0.6
    retold: float = 0.4
    most: int | None = None
    power: float = _POWER
    fragments: bool = False

    def is_met(self, candidate: Candidate) -> bool:
        return not self.about or not self.about.isdisjoint((*candidate.words, *content(candidate.who)))

    def comes_first(self, candidate: Candidate) -> bool:
        return candidate.outcome and self.is_met(candidate)


DEFAULT_WISH: Final = Wish()


def choose(
    candidates: Sequence[Candidate],
    tokens: int,
    *,
    salience: Salience | None = None,
    wish: Wish = DEFAULT_WISH,
    encoding: str = DEFAULT_ENCODING,
) -> list[Candidate]:
    """The candidates whose lines say most in at most `tokens` tokens together; in the order of play."""
    if tokens <= 0:
        return []
    greedy = Greedy(candidates, salience or Salience.of(candidates), wish)
    greedy.take(int(wish.outcomes * tokens), outcomes=True, most=wish.most)
    retold = int(wish.retold * tokens)
    greedy.take(tokens - greedy.spent, retold=retold, most=wish.most)
    # Lines of one speaker join, so they cost less than their parts: what is left is spent, too.
    for most in (retold, retold, None, None):
        greedy.take(tokens - _count(greedy.chosen, encoding), retold=most, most=wish.most)
    while greedy.chosen and _count(greedy.chosen, encoding) > tokens:
        greedy.chosen.pop()
    return _in_order(greedy.chosen) or _cut(candidates, tokens, wish, encoding)


def best(
    candidates: Sequence[Candidate],
    keep: int,
    *,
    salience: Salience | None = None,
    wish: Wish = DEFAULT_WISH,
) -> list[Candidate]:
    """The best few candidates of a session that has ended: what later summaries choose from."""
    return _in_order(ranked(candidates, keep, salience=salience or Salience.of(candidates), wish=wish))


def ranked(
    candidates: Sequence[Candidate], keep: int, *, salience: Salience, wish: Wish = DEFAULT_WISH
) -> list[Candidate]:
    """The best few, the best first."""
    greedy = Greedy(candidates, salience, wish)
    greedy.take(sum(candidate.tokens for candidate in candidates), most=keep)
    return greedy.chosen


def unrepeated(candidates: Iterable[Candidate]) -> list[Candidate]:
    """All that says anything new, in the order given: for when all of it fits."""
    said, kept = Said(), []
    for candidate in candidates:
        if candidate not in said:
            said.add(candidate)
            kept.append(candidate)
    return kept


class Said:
    """What was said already, in these words or almost; and what was said `before` all of it."""

    def __init__(self, before: "Said | None" = None) -> None:
        self._before = before
        self._sentences: list[Candidate] = []
        self._with_word: dict[str, list[int]] = {}

    def add(self, candidate: Candidate) -> None:
        for word in candidate.words:
            self._with_word.setdefault(word, []).append(len(self._sentences))
        self._sentences.append(candidate)

    def __contains__(self, candidate: Candidate) -> bool:
        """Whether a sentence has most of these words, and denies no more and no less."""
        words = set(candidate.words)
        return any(
            len(words.intersection(said.words)) >= _SAME * max(len(words), len(said.words))
            and is_denied(said.text) == is_denied(candidate.text)
            for said in self._alike(candidate)
        ) or (self._before is not None and candidate in self._before)

    def _alike(self, candidate: Candidate) -> list[Candidate]:
        """Sentences that may have most of these words: they have one of the rarest of them.

        What has none of so many of the words has too few of the rest.
        """
        with_word = self._with_word
        places = [with_word.get(word, ()) for word in candidate.words]
        few = sorted(places, key=len)[: len(places) - math.ceil(_SAME * len(places)) + 1]
        return [self._sentences[place] for place in set(chain.from_iterable(few))]


class Greedy:
    """One greedy pass, which can be taken further. What was passed over for its cost may come later."""

    def __init__(
        self, candidates: Sequence[Candidate], salience: Salience, wish: Wish, *, before: Said | None = None
    ) -> None:
        """Of some candidates. What was said `before`, in another part of the text, is not said again."""
        self.chosen: list[Candidate] = []
        self.spent = 0
        self._wish = wish
        # How much was said of each feature, and what that is worth.
        self._covered: dict[Feature, tuple[float, float]] = {}
        self._said = Said(before)
        self._retold = 0
        self._candidates = candidates
        self._features: dict[int, list[tuple[Feature, float]]] = {}
        self._salience = salience
        said = [
            number
            for number, candidate in enumerate(candidates)
            if (wish.fragments and candidate.words) or _says_something(candidate)
        ]
        some = [candidates[number] for number in said]
        pairs = salience.repeated_in(some)
        self._pairs = dict(zip(said, pairs, strict=True))
        self._weights = dict(zip(said, map(self._weight, some), strict=True))
        # What each would add when last looked at, the best last; of equals, the first.
        self._ranked = sorted(
            [
                (worth * self._weights[number] ** wish.power / (candidate.tokens + _OVERHEAD), -number)
                for number, candidate, worth in zip(said, some, salience.worths(some, pairs), strict=True)
            ]
        )[-_POOL:]
        self._least = min([candidate.tokens for candidate in some], default=0)
        self._have_outcome = any(candidate.outcome for candidate in some)
        # Among sentences that are all alike, looking for the best again and again finds nothing better.
        self._looks = _LOOKS * len(self._ranked)

    def cover(self, candidate: Candidate) -> None:
        """Count what a sentence is about as told, though the sentence may be told once more."""
        self._cover(candidate.words, self._weight(candidate))

    def _cover(self, features: Iterable[Feature], weight: float) -> None:
        covered, power = self._covered, self._wish.power
        for feature in features:
            said = covered.get(feature, _UNSAID)[0] + weight
            covered[feature] = said, said**power

    def left(self, most: int) -> list[Candidate]:
        """The best of what was not chosen, by what it would have added when last looked at."""
        return [self._candidates[-number] for _, number in self._ranked[: -most - 1 : -1]]

    def take(
        self,
        tokens: int,
        *,
        outcomes: bool = False,
        retold: int | None = None,
        most: int | None = None,
    ) -> int:
        """Choose for at most so many tokens more, or only outcomes; how many sentences were chosen."""
        until, before, passed, ranked = self.spent + tokens, len(self.chosen), [], self._ranked
        if (outcomes and not self._have_outcome) or self._fits_none(tokens):
            return 0
        while ranked and len(self.chosen) != most and self.spent + self._least <= until:
            item = ranked.pop()
            number = -item[1]
            candidate = self._candidates[number]
            if (
                self.spent + candidate.tokens > until
                or (outcomes and not self._wish.comes_first(candidate))
                or (retold is not None and candidate.retold and self._retold + candidate.tokens > retold)
            ):
                passed.append(item)
                continue
            now = (self._gain(number), -number)
            if ranked and now < ranked[-1] and self._looks:
                self._looks -= 1
                insort(ranked, now)
            elif candidate not in self._said:
                self._choose(number)
        if passed:
            ranked += reversed(passed)
            ranked.sort()
        return len(self.chosen) - before

    def _fits_none(self, tokens: int) -> bool:
        """Whether what is left is too long, all of it, so that none of it need be looked at."""
        candidates = self._candidates
        return min([candidates[-number].tokens for _, number in self._ranked], default=0) > tokens

    def _weight(self, candidate: Candidate) -> float:
        wish = self._wish
        weight = candidate.weight * (wish.change if candidate.change else 1.0)
        if candidate.retold:
            weight *= _RETOLD_WEIGHT
        if wish.about and not wish.is_met(candidate):
            weight *= _BESIDE_THE_POINT
        return weight

    def _gain(self, number: int) -> float:
        covered, weight, power = self._covered.get, self._weights[number], self._wish.power
        features = self._features.get(number)
        if features is None:
            features = self._salience.features(self._candidates[number].words, self._pairs[number])
            self._features[number] = features
        new = weight**power
        gain = sum(
            [
                worth * ((said[0] + weight) ** power - said[1] if (said := covered(feature)) else new)
                for feature, worth in features
            ]
        )
        return float(gain / (self._candidates[number].tokens + _OVERHEAD))

    def _choose(self, number: int) -> None:
        candidate, weight = self._candidates[number], self._weights[number]
        self._cover([feature for feature, _ in self._features[number]], weight)
        self._said.add(candidate)
        self.chosen.append(candidate)
        self.spent += candidate.tokens
        self._retold += candidate.tokens if candidate.retold else 0


def _says_something(candidate: Candidate) -> bool:
    """A name or two by themselves say nothing, however often they came up."""
    short = candidate.text.isascii() and candidate.text.count(" ") + 1 < _FEWEST_WORDS
    return candidate.outcome or (len(candidate.words) > 1 and not (short and not candidate.change))


def _in_order(chosen: Iterable[Candidate]) -> list[Candidate]:
    return sorted(chosen, key=lambda candidate: (candidate.entry, candidate.place))


def _count(chosen: Iterable[Candidate], encoding: str) -> int:
    return count_tokens(as_text(lines_of(_in_order(chosen))), encoding)


def _cut(candidates: Sequence[Candidate], tokens: int, wish: Wish, encoding: str) -> list[Candidate]:
    """The weightiest sentence as far as it fits, where not one fits whole."""
    ordered = sorted(
        candidates,
        key=lambda candidate: (not wish.is_met(candidate), not candidate.words, -candidate.weight),
    )
    for candidate in ordered[:_TRIED]:
        short = cut(candidate, tokens, encoding)
        if short:
            return [short]
    return []
