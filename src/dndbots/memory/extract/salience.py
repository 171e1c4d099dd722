"""What names, words and pairs of words are worth to a summary: by how often they came up in play."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

    def worths(self, candidates: Sequence[Candidate]) -> list[float]:
        """What each of some sentences is worth by itself: the sum of its features."""
        words: set[str] = set()
        for candidate in candidates:
            words.update(candidate.words)
        self._weigh(words)
        again, worth = self._again, self._worth.__getitem__
        found = []
        for candidate in candidates:
            own = list(map(worth, candidate.words))
            if again:
                own += map(self._worth_of_pair, near(candidate.words, REACH).among(again))
            found.append(sum(own))
        return found

    def features(self, candidate: Candidate) -> list[tuple[Feature, float]]:
        """What a sentence would cover, and what each part of that is worth."""
        self._weigh(candidate.words)
        worth, again = self._worth, self._again
        found: list[tuple[Feature, float]] = [(word, worth[word]) for word in candidate.words]
        pairs = near(candidate.words, REACH).among(again) if again else ()
        return [*found, *((pair, self._worth_of_pair(pair)) for pair in pairs)]

    def _weigh(self, words: Iterable[str]) -> None:
        """Works out what words are worth, once for each."""
        worth, times, unit, growth = self._worth, self.words.get, self.unit, self.growth
        new = [word for word in words if word not in worth]
        worth.update([(word, (times(word, 0.0) / unit) ** growth) for word in new])
        for word in self.names.intersection(new) if new else ():
            worth[word] *= self.name

    @cached_property
    def _worth(self) -> dict[str, float]:
        return {}

    def _worth_of_pair(self, pair: Pair) -> float:
        return float((self.pairs[pair] / self.unit - 1.0) ** _PAIR_GROWTH)

    @cached_property
    def _again(self) -> AbstractSet[Pair]:
        """Pairs that came up more than once: others are no more than their words."""
        if self.repeated is not None:
            return self.repeated
        return {pair for pair, times in self.pairs.items() if times > self.unit}


def _sum(more: Mapping[_Key, float], less: Mapping[_Key, float], part: float) -> dict[_Key, float]:
    total = dict(more)
    for key, count in less.items():
        total[key] = total.get(key, 0.0) + part * count
    return total
