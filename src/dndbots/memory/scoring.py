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
from dndbots.storage.ports import LineHead

# At most so many lines for each word, the newest; so many of the best are looked at with what is around.
MOST_LINES: Final = 2_000
_MOST_SEEDS: Final = 64
_MOST_OPEN: Final = 4_000
# What the best have in common is only looked for among so many.
_MOST_COMPARED: Final = 60
_REACH: Final = 4
_NEARNESS: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
# A word counts as said although it stands a few lines away, but less.
_SAID_NEAR: Final = (1.0, 0.9, 0.85, 0.75, 0.65)
_OWN, _WINDOW, _SESSION, _SPEAKER, _SHARED = 0.5, 1.0, 0.4, 0.2, 0.05
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


class Neighbourhood:
    """The best lines by themselves, with the lines around them, ready to be scored."""

    def __init__(self, index: Index, clues: Collection[Clue], left_out: Collection[int]) -> None:
        self._average = max(index.heard.words / max(index.heard.lines, 1), 1.0)
        seeds = _seeds(clues, left_out)
        near = index.around(seeds, _REACH)
        self._words = near.words
        lines = sorted({*seeds, *(seq for pair in near.pairs for seq in pair)})
        self.heads: dict[int, LineHead] = index.heads(lines)
        self._left_out = frozenset(left_out)
        self._seeds = seeds
        self._runs = list(self._in_runs(lines, near.pairs))

    def _in_runs(self, lines: list[int], pairs: set[tuple[int, int]]) -> Iterator[list[int]]:
        """Lines that follow one another for the viewer, inside one session."""
        run: list[int] = []
        for seq in lines:
            if seq in self._left_out:
                continue
            if run and ((run[-1], seq) not in pairs or self._session(run[-1]) != self._session(seq)):
                yield run
                run = []
            run.append(seq)
        if run:
            yield run

    def _session(self, seq: int) -> str:
        return self.heads[seq].session

    def scored(self, clues: list[Clue], speakers: Collection[str]) -> list[Scored]:
        """Every line of the neighbourhood that is near to a clue, best first."""
        whole = sum(clue.weight for clue in clues) * _MOST * (_OWN + _WINDOW + _SESSION)
        sessions = self._by_session(clues)
        found = [
            Scored(seq, round(score / whole + self._spoken(seq, speakers), 6), says)
            for run in self._runs
            for seq, score, says in self._of_run(run, clues, sessions)
        ]
        return sorted(found, key=lambda one: (-one.score, -one.seq))

    def _spoken(self, seq: int, speakers: Collection[str]) -> float:
        return _SPEAKER if self.heads[seq].source in speakers else 0.0

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

    def _of_run(
        self, run: list[int], clues: list[Clue], sessions: Mapping[str, float]
    ) -> Iterator[tuple[int, float, tuple[float, ...]]]:
        of_session = _SESSION * sessions.get(self._session(run[0]), 0.0)
        lengths = [self._words[seq] / self._average for seq in run]
        sums = [0.0, *accumulate(lengths)]
        scores = [0.0] * len(run)
        says = [[0.0] * len(clues) for _ in run]
        for number, (times_at, weight) in enumerate(clues):
            said = [(m, times_at[seq]) for m, seq in enumerate(run) if seq in times_at]
            for m, times in said:
                scores[m] += _OWN * weight * _saturated(times, lengths[m])
            for n, (times_near, nearest) in _smeared(said, len(run)).items():
                first, last = max(n - _REACH, 0), min(n + _REACH + 1, len(run))
                length = (sums[last] - sums[first]) / (last - first)
                scores[n] += _WINDOW * weight * _saturated(times_near, length)
                says[n][number] = _SAID_NEAR[nearest]
        for seq, score, near in zip(run, scores, says, strict=True):
            if score > 0:
                yield seq, score + of_session, tuple(near)


def compared(scored: list[Scored], shared: Collection[Clue]) -> list[Scored]:
    """The best lines, with what they have in common counted as well."""
    whole = sum(clue.weight for clue in shared)
    if not whole:
        return scored
    found = [
        one._replace(
            score=round(
                one.score + _SHARED * sum(clue.weight for clue in shared if one.seq in clue.times) / whole, 6
            )
        )
        for one in scored[:_MOST_COMPARED]
    ]
    return sorted([*found, *scored[_MOST_COMPARED:]], key=lambda one: (-one.score, -one.seq))


def _smeared(said: list[tuple[int, int]], size: int) -> dict[int, tuple[float, int]]:
    """How often something is said around each line, less with distance; and how far the nearest is."""
    found: dict[int, tuple[float, int]] = {}
    for m, times in said:
        for n in range(max(m - _REACH, 0), min(m + _REACH + 1, size)):
            away = abs(n - m)
            before, nearest = found.get(n, (0.0, away))
            found[n] = before + _NEARNESS[away] * times, min(nearest, away)
    return found


def _saturated(times: float, length: float) -> float:
    return times * _MOST / (times + _K1 * (1 - _B + _B * length))


def _seeds(clues: Iterable[Clue], left_out: Collection[int]) -> list[int]:
    """The lines that are best by themselves; the rarest clues come first, and common ones open no more."""
    own: dict[int, float] = {}
    for clue in sorted(clues, key=lambda clue: -clue.weight):
        is_open = len(own) < _MOST_OPEN
        for seq, times in clue.times.items():
            if seq in own or is_open:
                own[seq] = own.get(seq, 0.0) + clue.weight * times * _MOST / (times + _K1)
    for seq in left_out:
        own.pop(seq, None)
    best = heapq.nlargest(_MOST_SEEDS, zip(own.values(), own, strict=True))
    return sorted(seq for _, seq in best)
