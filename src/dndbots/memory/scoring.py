"""How well lines answer a question: BM25 of each line with its neighbourhood, among the viewer's own lines.

A line is seldom an answer by itself: the one before it has the name, the one after it the point. So a
line is scored by itself, by a window of lines around it inside its session, and by its session.
"""

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final, NamedTuple

from dndbots.storage.finding import Index
from dndbots.storage.ports import Line

# So many of the best lines are looked at with what is around them.
_MOST_SEEDS: Final = 64
_MOST_OPEN: Final = 4_000
_REACH: Final = 4
_NEARNESS: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
# A word counts as said although it stands a few lines away, but less.
_SAID_NEAR: Final = (1.0, 0.9, 0.85, 0.75, 0.65)
_AROUND: Final = tuple((_NEARNESS[abs(n)], _SAID_NEAR[abs(n)]) for n in range(-_REACH, _REACH + 1))
_OWN, _WINDOW, _SESSION, _SPEAKER = 0.5, 1.0, 0.4, 0.2
_K1, _B = 1.2, 0.5
_MOST = _K1 + 1


class Clue(NamedTuple):
    """Something to look for: where it stands, how often, and how much it tells."""

    times: Mapping[int, int]
    weight: float


class Scored(NamedTuple):
    """A line. `says` is for each clue how near to it the line is, from 0 to 1 where it has it itself."""

    seq: int
    score: float
    says: tuple[float, ...]


def idf(lines: float, every: int) -> float:
    return math.log(1 + (max(every - lines, 0) + 0.5) / (lines + 0.5))


def seeds_of(clues: Iterable[Clue], left_out: Collection[int]) -> list[int]:
    """The lines that are best by themselves; the rarest clues come first, and common ones open no more."""
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


class Neighbourhood:
    """Some lines of a viewer with those around them, ready to be scored."""

    def __init__(self, index: Index, seeds: list[int], left_out: Collection[int]) -> None:
        self._average = max(index.heard.words / max(index.heard.lines, 1), 1.0)
        near = index.around(seeds, _REACH)
        around = {*seeds, *(seq for pair in near.pairs for seq in pair)}
        self._order = sorted(around.difference(left_out))
        self.lines: dict[int, Line] = {seq: near.lines[seq] for seq in self._order}
        self._heads = index.heads(self._order)
        self._seeds = seeds
        self._windows = list(self._each_window(near.pairs))

    def _each_window(self, pairs: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """For each line, from where to where it is near: among lines that follow one another in a session."""
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

    def scored(self, clues: list[Clue], speakers: Collection[str], most: int) -> list[Scored]:
        """The best lines of the neighbourhood that are near to a clue."""
        whole = sum(clue.weight for clue in clues) * _MOST * (_OWN + _WINDOW + _SESSION)
        sessions = self._by_session(clues)
        scores, says = self._of_lines(clues)
        found = []
        for n, (seq, score) in enumerate(zip(self._order, scores, strict=True)):
            if score > 0:
                head = self._heads[seq]
                total = (score + _SESSION * sessions.get(head.session, 0.0)) / whole
                total += _SPEAKER if head.source in speakers else 0.0
                found.append((round(total, 6), seq, n))
        best = heapq.nlargest(most, found)
        return [Scored(seq, score, tuple([near[n] for near in says])) for score, seq, n in best]

    def _by_session(self, clues: list[Clue]) -> dict[str, float]:
        """How much the best lines of each session have of the clues, together."""
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
        """The score of each line for what it says and what is said around it; and how near each clue is."""
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
