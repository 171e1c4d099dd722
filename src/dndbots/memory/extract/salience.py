"""What names, words and pairs of words are worth to a summary: by how often they came up in play."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.words import Pair, near

REACH: Final = 3
TALK: Final = 0.15  # what is said beside what is told
_GROWTH: Final = 0.55
_PAIR_GROWTH: Final = 0.5
_NAME: Final = 2.0
Feature = str | Pair
_Key = TypeVar("_Key")


@dataclass(frozen=True, kw_only=True)
class Salience:
    """Counts, which add up over sessions, and the worth that follows from them.

    `unit` is what a count of one is written as: whole numbers can be added and taken away exactly.
    `growth` is how fast the worth of a word grows with its count, `name` how much more a name is worth.
    `repeated` are the pairs that came up more than once, where somebody knows them.
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
        words: Counter[str] = Counter()
        pairs: Counter[Pair] = Counter()
        said: Counter[str] = Counter()
        said_together: Counter[Pair] = Counter()
        for candidate in candidates:
            (words if candidate.told else said).update(candidate.words)
            (pairs if candidate.told else said_together).update(near(candidate.words, REACH).pairs)
        return cls(
            words=_sum(words, said, TALK), pairs=_sum(pairs, said_together, TALK), names=frozenset(names)
        )

    def plus(self, older: "Salience", *, fade: float) -> "Salience":
        """Together with what was salient before, at a part of its weight."""
        return Salience(
            words=_sum(self.words, older.words, fade),
            pairs=_sum(self.pairs, older.pairs, fade),
            names=self.names | older.names,
        )

    def repeated_in(self, candidates: Sequence[Candidate]) -> list[list[Pair]]:
        """The pairs of each of some sentences that came up more than once, in the order of its text."""
        again = self._again
        if not again:
            return [[]] * len(candidates)
        return [near(candidate.words, REACH).among(again) for candidate in candidates]

    def worths(self, candidates: Sequence[Candidate], pairs: Sequence[Sequence[Pair]]) -> list[float]:
        """What each of some sentences is worth by itself: the sum of its features."""
        word, pair = self._word.__getitem__, self._pair.__getitem__
        return [
            float(sum(map(pair, together), sum(map(word, candidate.words))))
            for candidate, together in zip(candidates, pairs, strict=True)
        ]

    def features(self, words: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[Feature, float]]:
        """What a sentence of these would cover, and what each part of that is worth."""
        found: list[tuple[Feature, float]] = list(zip(words, map(self._word.__getitem__, words), strict=True))
        found += zip(pairs, map(self._pair.__getitem__, pairs), strict=True)
        return found

    @cached_property
    def _word(self) -> "_Worth[str]":
        times, names, unit, growth, name = self.words.get, self.names, self.unit, self.growth, self.name

        def worth(word: str) -> float:
            found = (times(word, 0.0) / unit) ** growth
            return float(name * found if word in names else found)

        return _Worth(worth)

    @cached_property
    def _pair(self) -> "_Worth[Pair]":
        pairs, unit = self.pairs, self.unit
        return _Worth(lambda pair: float((pairs[pair] / unit - 1.0) ** _PAIR_GROWTH))

    @cached_property
    def _again(self) -> AbstractSet[Pair]:
        """Pairs that came up more than once: others are no more than their words."""
        if self.repeated is not None:
            return self.repeated
        return {pair for pair, times in self.pairs.items() if times > self.unit}


class _Worth(dict[_Key, float]):
    """What things are worth, each worked out when it is first asked for."""

    def __init__(self, worth: Callable[[_Key], float]) -> None:
        super().__init__()
        self._of = worth

    def __missing__(self, key: _Key) -> float:
        found = self[key] = self._of(key)
        return found


def _sum(more: Mapping[_Key, float], less: Mapping[_Key, float], part: float) -> dict[_Key, float]:
    total = dict(more)
    for key, count in less.items():
        total[key] = total.get(key, 0.0) + part * count
    return total
