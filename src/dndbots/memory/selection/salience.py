"""The worth of names, words and word pairs to a summary: it grows with how often they came up in play."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from dndbots.memory.selection.candidates import Candidate
from dndbots.text.words import Pair, pair_near_words

REACH: Final = 3
TALK: Final = 0.15  # the weight of talk beside narration
_GROWTH: Final = 0.55
_PAIR_GROWTH: Final = 0.5
_NAME: Final = 2.0
Feature = str | Pair
_Key = TypeVar("_Key")


@dataclass(frozen=True, kw_only=True)
class Salience:
    """Counts of words and pairs, which add up over sessions, and the worth that follows from them.

    `unit` is the number that stands for one occurrence, so that whole numbers can be added and subtracted
    exactly. `growth` is how fast the worth of a word grows with its count, `name` the factor for a name.
    `repeated` are the pairs that came up more than once; None means that they are found when needed.
    """

    words: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[Pair, float] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    unit: int = 1
    growth: float = _GROWTH
    name: float = _NAME
    repeated: AbstractSet[Pair] | None = None

    @classmethod
    def of(cls, candidates: Iterable[Candidate], names: Iterable[str] = ()) -> "Salience":
        """Count the words and pairs of some sentences: talk counts less than narration."""
        words: Counter[str] = Counter()
        pairs: Counter[Pair] = Counter()
        talk_words: Counter[str] = Counter()
        talk_pairs: Counter[Pair] = Counter()
        for candidate in candidates:
            (words if candidate.told else talk_words).update(candidate.words)
            (pairs if candidate.told else talk_pairs).update(pair_near_words(candidate.words, REACH).pairs)
        return cls(
            words=_sum(words, talk_words, TALK), pairs=_sum(pairs, talk_pairs, TALK), names=frozenset(names)
        )

    def plus(self, older: "Salience", *, fade: float) -> "Salience":
        """Return the sum with an older salience, whose counts are multiplied by `fade`."""
        return Salience(
            words=_sum(self.words, older.words, fade),
            pairs=_sum(self.pairs, older.pairs, fade),
            names=self.names | older.names,
        )

    def repeated_in(self, candidates: Sequence[Candidate]) -> list[list[Pair]]:
        """Return, for each sentence, its pairs that came up more than once, in the order of its text."""
        again = self._again
        if not again:
            return [[]] * len(candidates)
        return [pair_near_words(candidate.words, REACH).among(again) for candidate in candidates]

    def worths(self, candidates: Sequence[Candidate], pairs: Sequence[Sequence[Pair]]) -> list[float]:
        """Return the worth of each sentence by itself: the sum of its features."""
        word, pair = self._word.__getitem__, self._pair.__getitem__
        return [
            float(sum(map(pair, together), sum(map(word, candidate.words))))
            for candidate, together in zip(candidates, pairs, strict=True)
        ]

    def features(self, words: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[Feature, float]]:
        """Return the features of a sentence with these words and pairs, each with its worth."""
        worths: list[tuple[Feature, float]]
        worths = list(zip(words, map(self._word.__getitem__, words), strict=True))
        worths += zip(pairs, map(self._pair.__getitem__, pairs), strict=True)
        return worths

    @cached_property
    def _word(self) -> "_Worth[str]":
        times, names, unit, growth, name = self.words.get, self.names, self.unit, self.growth, self.name

        def worth(word: str) -> float:
            plain = (times(word, 0.0) / unit) ** growth
            return float(name * plain if word in names else plain)

        return _Worth(worth)

    @cached_property
    def _pair(self) -> "_Worth[Pair]":
        pairs, unit = self.pairs, self.unit
        return _Worth(lambda pair: float((pairs[pair] / unit - 1.0) ** _PAIR_GROWTH))

    @cached_property
    def _again(self) -> AbstractSet[Pair]:
        """Return the pairs that came up more than once; the others add nothing to their words."""
        if self.repeated is not None:
            return self.repeated
        return {pair for pair, times in self.pairs.items() if times > self.unit}


class _Worth(dict[_Key, float]):
    """A table of worths that computes each one on first use."""

    def __init__(self, worth: Callable[[_Key], float]) -> None:
        super().__init__()
        self._of = worth

    def __missing__(self, key: _Key) -> float:
        worth = self[key] = self._of(key)
        return worth


def _sum(more: Mapping[_Key, float], less: Mapping[_Key, float], part: float) -> dict[_Key, float]:
    total = dict(more)
    for key, count in less.items():
        total[key] = total.get(key, 0.0) + part * count
    return total
