"""The scores of lines for a question: BM25 of each line and its neighbourhood, among the viewer's own lines.

A line is seldom an answer by itself: the line before it has the name, the line after it the point. So each
line is scored by itself, by a window of lines around it in its session, and by its session.
"""

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final, NamedTuple

from dndbots.storage.ports import LogLine
from dndbots.storage.views.word_index import WordIndex

# The number of best lines that are scored with their neighbours.
_MOST_SEEDS: Final = 64
_MOST_OPEN: Final = 4_000
_REACH: Final = 4
_NEARNESS: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
# A word that stands a few lines away counts as well, but less.
_SAID_NEAR: Final = (1.0, 0.9, 0.85, 0.75, 0.65)
_AROUND: Final = tuple((_NEARNESS[abs(n)], _SAID_NEAR[abs(n)]) for n in range(-_REACH, _REACH + 1))
_OWN, _WINDOW, _SESSION, _SPEAKER = 0.5, 1.0, 0.4, 0.2
_K1, _B = 1.2, 0.5
_MOST = _K1 + 1


class Clue(NamedTuple):
    """A word or entity to look for: its number of occurrences by seq, and its weight."""

    times: Mapping[int, int]
    weight: float


class ScoredLine(NamedTuple):
    """A line with its score. `says` holds the nearness of each clue: 1 in the line, 0 if out of reach."""

    seq: int
    score: float
    says: tuple[float, ...]


def idf(lines: float, every: int) -> float:
    """Return the inverse document frequency of a word that stands in `lines` of `every` lines."""
    return math.log(1 + (max(every - lines, 0) + 0.5) / (lines + 0.5))


def find_seeds(clues: Iterable[Clue], left_out: Collection[int]) -> list[int]:
    """Return the seqs of the lines that score best by themselves.

    The rarest clues come first. After `_MOST_OPEN` lines, further clues only add to lines found already.
    """
    own: dict[int, float] = {}
    for clue in sorted(clues, key=lambda clue: -clue.weight):
        is_open = len(own) < _MOST_OPEN
        for seq, times in clue.times.items():
            if is_open or seq in own:
                own[seq] = own.get(seq, 0.0) + clue.weight * times * _MOST / (times + _K1)
    for seq in left_out:
        own.pop(seq, None)
    best = heapq.nlargest(_MOST_SEEDS, zip(own.values(), own, strict=True))
    return sorted(seq for _, seq in best)


class LineNeighbourhood:
    """Seed lines and the lines around them, ready to be scored."""

    def __init__(self, index: WordIndex, seeds: list[int], left_out: Collection[int]) -> None:
        self._average = max(index.heard.words / max(index.heard.lines, 1), 1.0)
        near = index.around(seeds, _REACH)
        around = {*seeds, *(seq for pair in near.pairs for seq in pair)}
        self._order = sorted(around.difference(left_out))
        self.lines: dict[int, LogLine] = {seq: near.lines[seq] for seq in self._order}
        self._heads = index.heads(self._order)
        self._seeds = seeds
        self._windows = list(self._each_window(near.pairs))

    def _each_window(self, pairs: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield for each line the bounds of its window, among lines that follow each other in a session."""
        order, first = self._order, 0
        for n in range(1, len(order) + 1):
            if (
                n == len(order)
                or (order[n - 1], order[n]) not in pairs
                or self._session(order[n - 1]) != self._session(order[n])
            ):
                for m in range(first, n):
                    yield max(m - _REACH, first), min(m + _REACH + 1, n)
                first = n

    def _session(self, seq: int) -> str:
        return self._heads[seq].session

    def scored(self, clues: list[Clue], speakers: Collection[str], most: int) -> list[ScoredLine]:
        """Return the best `most` lines of the neighbourhood that are near a clue, best first."""
        whole = sum(clue.weight for clue in clues) * _MOST * (_OWN + _WINDOW + _SESSION)
        sessions = self._by_session(clues)
        scores, says = self._of_lines(clues)
        totals = []
        for n, (seq, score) in enumerate(zip(self._order, scores, strict=True)):
            if score > 0:
                head = self._heads[seq]
                total = (score + _SESSION * sessions.get(head.session, 0.0)) / whole
                total += _SPEAKER if head.source in speakers else 0.0
                totals.append((round(total, 6), seq, n))
        best = heapq.nlargest(most, totals)
        return [ScoredLine(seq, score, tuple([near[n] for near in says])) for score, seq, n in best]

    def _by_session(self, clues: list[Clue]) -> dict[str, float]:
        """Return the score of each session: the clues that its seed lines have together."""
        counts: dict[str, list[int]] = {}
        for seq in self._seeds:
            count = counts.setdefault(self._session(seq), [0] * len(clues))
            for n, clue in enumerate(clues):
                count[n] += seq in clue.times
        return {
            session: sum(
                clue.weight * number * _MOST / (number + _K1)
                for clue, number in zip(clues, count, strict=True)
            )
            for session, count in counts.items()
        }

    def _of_lines(self, clues: list[Clue]) -> tuple[list[float], list[list[float]]]:
        """Return each line's score, by its own words and those around it, and its nearness to each clue."""
        places = {seq: n for n, seq in enumerate(self._order)}
        lengths = [line.words / self._average for line in self.lines.values()]
        sums = [0.0, *accumulate(lengths)]
        around = [
            _K1 * (1 - _B + _B * (sums[last] - sums[first]) / (last - first)) for first, last in self._windows
        ]
        scores = [0.0] * len(places)
        says = [[0.0] * len(places) for _ in clues]
        for (times_at, weight), said in zip(clues, says, strict=True):
            near = [0.0] * len(places)
            for seq, times in sorted(times_at.items()):
                m = places[seq]
                scores[m] += _OWN * weight * times * _MOST / (times + _K1 * (1 - _B + _B * lengths[m]))
                first, last = self._windows[m]
                start = first - m + _REACH
                for n, (nearness, as_said) in enumerate(_AROUND[start : start + last - first], first):
                    near[n] += nearness * times
                    if as_said > said[n]:  # noqa: PLR1730 - a call here would cost as much as all the rest
                        said[n] = as_said
            for n, times_near in enumerate(near):
                if times_near:
                    scores[n] += _WINDOW * weight * times_near * _MOST / (times_near + around[n])
        return scores, says
