"""What names, words and pairs of words are worth to a summary: by how often they came up in play."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.words import Pair, neighbours

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
    """

    words: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[Pair, float] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    unit: int = 1
    growth: float = _GROWTH
    name: float = _NAME

    @classmethod
    def of(cls, candidates: Iterable[Candidate], names: Iterable[str] = ()) -> "Salience":
        words: Counter[str] = Counter()
        pairs: Counter[Pair] = Counter()
        said: Counter[str] = Counter()
        said_together: Counter[Pair] = Counter()
        for candidate in candidates:
            (words if candidate.told else said).update(candidate.words)
            (pairs if candidate.told else said_together).update(neighbours(candidate.words, REACH))
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

    def features(self, candidate: Candidate) -> list[tuple[Feature, float]]:
        """What a sentence would cover, and what each part of that is worth."""
        found: list[tuple[Feature, float]] = []
        words, pairs, unit, growth = self.words, self.pairs, self.unit, self.growth
        for word in candidate.words:
            worth = (words.get(word, 0.0) / unit) ** growth
            found.append((word, self.name * worth if word in self.names else worth))
        for pair in neighbours(candidate.words, REACH):
            again = pairs.get(pair, 0.0) / unit - 1.0
            if again > 0:  # a pair that came up once is no more than its words
                found.append((pair, again**_PAIR_GROWTH))
        return found


def _sum(more: Mapping[_Key, float], less: Mapping[_Key, float], part: float) -> dict[_Key, float]:
    total = dict(more)
    for key, count in less.items():
        total[key] = total.get(key, 0.0) + part * count
    return total
