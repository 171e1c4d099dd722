"""The choice of sentences: a greedy cover of names, words and word pairs, under an exact budget.

Each further sentence on the same feature adds less (the gain is concave), so a lazy greedy pass over a
bounded pool comes close to the optimum. No randomness and no clock; ties go to the earlier candidate.
"""

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from dndbots.memory.entries import join_lines
from dndbots.memory.selection.candidates import Candidate, cut_candidate, hangs, lines_of
from dndbots.memory.selection.salience import Feature, Salience
from dndbots.memory.selection.weights import CHANGE, is_denied
from dndbots.text.words import content_stems
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

_POWER: Final = 0.6
_OVERHEAD: Final = 5  # tokens added to each cost, so that two words do not win by being short
_POOL: Final = 6000
_LOOKS: Final = 12
_RETOLD_WEIGHT: Final = 10.0
_BESIDE_THE_POINT: Final = 1e-4
_SAME: Final = 0.75
_TRIED: Final = 20
_FEWEST_WORDS: Final = 4
_QUOTES: Final = ('"', "\u201c", "\u201d")
_UNSAID: Final = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverWish:
    """The settings of one summary.

    `about`: prefer sentences with these content words. `change`: factor on sentences in which something
    changes. `outcomes` and `retold`: the shares of the budget that outcomes and DM recaps may take while
    other sentences are left. `most`: the limit on sentences. `power`: how fast the worth of a feature grows
    with repetition; near 0, once is enough. `fragments`: also accept sentences of a few words. `whole`: only
    sentences that a reader understands without the one before them, and no quotations without a speaker.
    """

    about: frozenset[str] = frozenset()
    change: float = CHANGE
    outcomes: float = 0.6
    retold: float = 0.4
    most: int | None = None
    power: float = _POWER
    fragments: bool = False
    whole: bool = False

    def is_met(self, candidate: Candidate) -> bool:
        """Return whether a sentence or its speaker has one of the words of `about`."""
        return not self.about or not self.about.isdisjoint((*candidate.words, *content_stems(candidate.who)))

    def comes_first(self, candidate: Candidate) -> bool:
        """Return whether the share for outcomes may pay for a sentence."""
        return candidate.outcome and self.is_met(candidate)


DEFAULT_WISH: Final = CoverWish()


def choose_candidates(
    candidates: Sequence[Candidate],
    tokens: int,
    *,
    salience: Salience | None = None,
    wish: CoverWish = DEFAULT_WISH,
    encoding: str = DEFAULT_ENCODING,
) -> list[Candidate]:
    """Return the candidates that say most in at most `tokens` tokens, in the order of play.

    If not one sentence fits whole, return the weightiest one that can be cut to fit.
    """
    if tokens <= 0:
        return []
    greedy = Greedy(candidates, salience or Salience.of(candidates), wish)
    greedy.take(int(wish.outcomes * tokens), outcomes=True, most=wish.most)
    retold = int(wish.retold * tokens)
    greedy.take(tokens - greedy.spent, retold=retold, most=wish.most)
    # Sentences of one entry share a line and cost less than counted: spend what that saves.
    for most in (retold, retold, None, None):
        greedy.take(tokens - _count(greedy.chosen, encoding), retold=most, most=wish.most)
    while greedy.chosen and _count(greedy.chosen, encoding) > tokens:
        greedy.chosen.pop()
    return _in_order(greedy.chosen) or _cut(candidates, tokens, wish, encoding)


def best_candidates(
    candidates: Sequence[Candidate],
    keep: int,
    *,
    salience: Salience | None = None,
    wish: CoverWish = DEFAULT_WISH,
) -> list[Candidate]:
    """Return the `keep` best candidates in the order of play, such as the pool for later summaries."""
    salience = salience or Salience.of(candidates)
    return _in_order(rank_candidates(candidates, keep, salience=salience, wish=wish))


def rank_candidates(
    candidates: Sequence[Candidate], keep: int, *, salience: Salience, wish: CoverWish = DEFAULT_WISH
) -> list[Candidate]:
    """Return the `keep` best candidates, best first."""
    greedy = Greedy(candidates, salience, wish)
    greedy.take(sum(candidate.tokens for candidate in candidates), most=keep)
    return greedy.chosen


def drop_repeats(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates in the given order, without sentences that nearly repeat an earlier one."""
    covered, kept = CoveredText(), []
    for candidate in candidates:
        if candidate not in covered:
            covered.add(candidate)
            kept.append(candidate)
    return kept


class CoveredText:
    """The sentences chosen so far, to recognise near repeats; `before` holds those of earlier parts."""

    def __init__(self, before: "CoveredText | None" = None) -> None:
        self._before = before
        self._sentences: list[Candidate] = []
        self._with_word: dict[str, list[int]] = {}

    def add(self, candidate: Candidate) -> None:
        for word in candidate.words:
            self._with_word.setdefault(word, []).append(len(self._sentences))
        self._sentences.append(candidate)

    def __contains__(self, candidate: Candidate) -> bool:
        """Return whether an earlier sentence has nearly the same words and agrees on negation."""
        words = set(candidate.words)
        return any(
            len(words.intersection(earlier.words)) >= _SAME * max(len(words), len(earlier.words))
            and is_denied(earlier.text) == is_denied(candidate.text)
            for earlier in self._alike(candidate)
        ) or (self._before is not None and candidate in self._before)

    def _alike(self, candidate: Candidate) -> list[Candidate]:
        """Return the earlier sentences that share one of the candidate's rarest words.

        The rarest words are taken so many that a sentence without any of them cannot reach `_SAME`.
        """
        with_word = self._with_word
        places = [with_word.get(word, ()) for word in candidate.words]
        few = sorted(places, key=len)[: len(places) - math.ceil(_SAME * len(places)) + 1]
        return [self._sentences[place] for place in set(chain.from_iterable(few))]


class Greedy:
    """A greedy pass that can be continued: sentences skipped for their cost may be chosen later."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        salience: Salience,
        wish: CoverWish,
        *,
        before: CoveredText | None = None,
    ) -> None:
        """Rank the candidates. Sentences that repeat `before`, another part of the text, are not chosen."""
        self.chosen: list[Candidate] = []
        self.spent = 0
        self._wish = wish
        # For each feature: the weight of the sentences chosen on it, and that weight's worth.
        self._covered: dict[Feature, tuple[float, float]] = {}
        self._covered_text = CoveredText(before)
        self._retold = 0
        self._candidates = candidates
        self._features: dict[int, list[tuple[Feature, float]]] = {}
        self._salience = salience
        usable = [
            number
            for number, candidate in enumerate(candidates)
            if ((wish.fragments and candidate.words) or _says_something(candidate))
            and not (wish.whole and _is_torn_off(candidate))
        ]
        some = [candidates[number] for number in usable]
        pairs = salience.repeated_in(some)
        self._pairs = dict(zip(usable, pairs, strict=True))
        self._weights = dict(zip(usable, map(self._weight, some), strict=True))
        # The gain of each sentence when last computed, best last; of equals, the earlier one wins.
        self._ranked = sorted(
            [
                (worth * self._weights[number] ** wish.power / (candidate.tokens + _OVERHEAD), -number)
                for number, candidate, worth in zip(usable, some, salience.worths(some, pairs), strict=True)
            ]
        )[-_POOL:]
        self._least = min([candidate.tokens for candidate in some], default=0)
        self._have_outcome = any(candidate.outcome for candidate in some)
        # Recomputing gains is limited: among nearly equal sentences it would find nothing better.
        self._looks = _LOOKS * len(self._ranked)

    def cover(self, candidate: Candidate) -> None:
        """Count the words of a sentence as covered, without choosing it or excluding it."""
        self._cover(candidate.words, self._weight(candidate))

    def _cover(self, features: Iterable[Feature], weight: float) -> None:
        covered, power = self._covered, self._wish.power
        for feature in features:
            total = covered.get(feature, _UNSAID)[0] + weight
            covered[feature] = total, total**power

    def left(self, most: int) -> list[Candidate]:
        """Return at most `most` of the sentences not chosen, best first."""
        return [self._candidates[-number] for _, number in self._ranked[: -most - 1 : -1]]

    def take(
        self,
        tokens: int,
        *,
        outcomes: bool = False,
        retold: int | None = None,
        most: int | None = None,
    ) -> int:
        """Choose sentences for at most `tokens` more and return how many.

        `outcomes` takes only outcomes, `retold` limits the tokens of DM recaps, `most` all sentences.
        """
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
            elif candidate not in self._covered_text:
                self._choose(number)
        if passed:
            ranked += reversed(passed)
            ranked.sort()
        return len(self.chosen) - before

    def _fits_none(self, tokens: int) -> bool:
        """Return whether every sentence left is too long, so that none need be looked at."""
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
                worth * ((known[0] + weight) ** power - known[1] if (known := covered(feature)) else new)
                for feature, worth in features
            ]
        )
        return float(gain / (self._candidates[number].tokens + _OVERHEAD))

    def _choose(self, number: int) -> None:
        candidate, weight = self._candidates[number], self._weights[number]
        self._cover([feature for feature, _ in self._features[number]], weight)
        self._covered_text.add(candidate)
        self.chosen.append(candidate)
        self.spent += candidate.tokens
        self._retold += candidate.tokens if candidate.retold else 0


def _is_torn_off(candidate: Candidate) -> bool:
    """Return whether a sentence hangs on the one before it, or quotes somebody without a name."""
    nameless = not candidate.who and candidate.text.startswith(_QUOTES) and candidate.text.endswith(_QUOTES)
    return not candidate.outcome and (nameless or hangs(candidate))


def _says_something(candidate: Candidate) -> bool:
    """Return whether a sentence says more than a name or two."""
    short = candidate.text.isascii() and candidate.text.count(" ") + 1 < _FEWEST_WORDS
    return candidate.outcome or (len(candidate.words) > 1 and not (short and not candidate.change))


def _in_order(chosen: Iterable[Candidate]) -> list[Candidate]:
    return sorted(chosen, key=lambda candidate: (candidate.entry, candidate.place))


def _count(chosen: Iterable[Candidate], encoding: str) -> int:
    return count_tokens(join_lines(lines_of(_in_order(chosen))), encoding)


def _cut(candidates: Sequence[Candidate], tokens: int, wish: CoverWish, encoding: str) -> list[Candidate]:
    """Return the weightiest sentence that can be cut to fit, or nothing."""
    ordered = sorted(
        candidates,
        key=lambda candidate: (not wish.is_met(candidate), not candidate.words, -candidate.weight),
    )
    for candidate in ordered[:_TRIED]:
        short = cut_candidate(candidate, tokens, encoding)
        if short:
            return [short]
    return []
