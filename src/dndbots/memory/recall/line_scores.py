"""The scores of lines for a question: BM25 of each line, of the lines around it, and of its part of the log.

A line is seldom an answer by itself: the line before it has the name, the line after it the point. So each
line is scored by itself, by a window of lines around it, and by its section, a few hundred lines. All
of it is counted among the viewer's own lines.
"""

import heapq
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from dndbots.storage.ports import LogLine
from dndbots.storage.views.word_index import WordIndex

# The number of lines, the best by their own words, that are scored with their neighbours.
_MOST_CANDIDATES: Final = 450
# The number of lines, the best of these, whose neighbours are read; fewer if many words must be looked up.
_MOST_SEEDS: Final = 56
_LEAST_SEEDS: Final = 24
_MOST_LOOKUPS: Final = 600
REACH: Final = 3
_NEARNESS: Final = (1.0, 0.75, 0.5, 0.25)
# The number of lines in a section. The sections next to it count half.
_SECTION: Final = 200
_BESIDE: Final = 0.5
# Lines so far from all others share no section with them, nor the section beside theirs.
_APART: Final = 3 * _SECTION
_OWN, _WINDOW, _IN_SECTION = 1.3, 1.0, 0.6
_SPEAKER: Final = 1.15
_K1, _K_WINDOW, _K_SECTION, _B = 0.8, 1.6, 2.4, 0.4
# A line of a word or two says little, whatever stands around it.
_SHORT: Final = 0.6
_MOST = _K1 + 1
_ALL: Final = _MOST * (_OWN + _WINDOW + _IN_SECTION)


class Clue(NamedTuple):
    """A word or entity to look for: its number of occurrences by seq, and its weight."""

    times: Mapping[int, int]
    weight: float


class PlacedLine(NamedTuple):
    """A line of a viewer, and its number among all lines of that viewer."""

    audience: int
    words: int
    rank: int


class ScoredLine(NamedTuple):
    """A line with its score, and the parts of the score: its own words, its window, its section.

    `near` holds the numbers of the clues in its window. `spoken` tells that a speaker was asked for, and
    that this line is from that speaker. It raises the score, but not the `evidence`.
    """

    seq: int
    score: float
    evidence: float
    own: float
    window: float
    section: float
    spoken: bool
    near: tuple[int, ...]


def idf(lines: float, every: int) -> float:
    """Return the inverse document frequency of a word that stands in `lines` of `every` lines."""
    return math.log(1 + (max(every - lines, 0) + 0.5) / (lines + 0.5))


class LineScores:
    """The lines that may answer a question, and their scores."""

    def __init__(self, index: WordIndex, left_out: Collection[int]) -> None:
        self._index, self._left_out = index, left_out
        self._average = max(index.heard.words / max(index.heard.lines, 1), 1.0)
        self._sections: dict[int, float] = {}
        self._ranks: dict[int, int] = {}
        self._places: dict[int, int] = {}

    def find_seeds(self, clues: list[Clue], looked_up: int) -> list[int]:
        """Return the lines that score best, with the clues found so far, and weigh the sections.

        `looked_up` is the number of words that must be looked up near each of them.
        """
        own: dict[int, float] = {}
        for times_at, weight in clues:
            for seq, times in times_at.items():
                own[seq] = own.get(seq, 0.0) + weight * times / (times + _K1)
        for seq in self._left_out:
            own.pop(seq, None)
        # Of equal lines, the newest. Two plain sorts take a third of the time of a heap.
        best = sorted(sorted(own, reverse=True), key=own.__getitem__, reverse=True)[:_MOST_CANDIDATES]
        self._place(best)
        self._weigh_sections(clues)
        scored = self._by_themselves(clues, self._index.lines(best))
        number = max(min(_MOST_LOOKUPS // max(looked_up, 1), _MOST_SEEDS), _LEAST_SEEDS)
        seeds = sorted(seq for _, seq in heapq.nlargest(number, scored))
        self._place_alone(seeds)
        return seeds

    def _place(self, seqs: list[int]) -> None:
        """Number the sections of some lines. Lines far from all others have made-up numbers, far apart.

        To find the rank of a line takes longest, and the section of a line that is alone holds only that
        line, wherever it is.
        """
        self._ranks = self._index.ranks_in_crowds(seqs, _APART)
        self._places = {seq: rank // _SECTION for seq, rank in self._ranks.items()}
        alone = (seq for seq in seqs if seq not in self._ranks)
        self._places |= {seq: -3 * n for n, seq in enumerate(alone, start=2)}

    def _place_alone(self, seeds: list[int]) -> None:
        """Give seeds with a made-up section their own, so that lines near them are in it, too."""
        ranks = self._index.ranks([seq for seq in seeds if seq not in self._ranks])
        for seq, rank in ranks.items():
            for beside in (-1, 0, 1):
                weight = self._sections.get(self._places[seq] + beside, 0.0)
                self._sections[rank // _SECTION + beside] = weight
        self._ranks |= ranks

    def _by_themselves(self, clues: Iterable[Clue], lines: Mapping[int, LogLine]) -> list[tuple[float, int]]:
        """Return the score of each line by its own words and by its section."""
        own = dict.fromkeys(lines, 0.0)
        norms = {seq: 1 - _B + _B * line.words / self._average for seq, line in lines.items()}
        for times_at, weight in clues:
            for seq in lines.keys() & times_at.keys():
                times = times_at[seq] / norms[seq]
                own[seq] += (_OWN + _WINDOW) * weight * times * _MOST / (times + _K1)
        weights, places = self._sections, self._places
        return [(score + _IN_SECTION * weights.get(places[seq], 0.0), seq) for seq, score in own.items()]

    def _section_of(self, seq: int) -> float:
        return self._sections.get(self._ranks[seq] // _SECTION, 0.0)

    def lines_near(self, seeds: list[int]) -> dict[int, PlacedLine]:
        """Return the seeds and the lines around them, in order, without those that are left out."""
        near = self._index.around(seeds, REACH)
        order = sorted({*seeds, *(seq for pair in near.pairs for seq in pair)})
        known = set(seeds)
        ranks: dict[int, int] = {}
        # From each seed on, and then back from it: its neighbours have the numbers before and after its own.
        for before, seq in zip([0, *order], order, strict=False):
            if seq in known:
                ranks[seq] = self._ranks[seq]
            elif before in ranks and (before, seq) in near.pairs:
                ranks[seq] = ranks[before] + 1
        for seq, after in zip(order[-2::-1], order[:0:-1], strict=True):
            if seq not in ranks:
                ranks[seq] = ranks[after] - 1
        self._ranks = ranks
        return {seq: PlacedLine(*near.lines[seq], ranks[seq]) for seq in order if seq not in self._left_out}

    def score_lines(
        self, clues: list[Clue], lines: Mapping[int, PlacedLine], speakers: Collection[str], most: int
    ) -> list[ScoredLine]:
        """Return the best `most` lines that are near a clue, best first."""
        order = list(lines)
        own, window, near = self._weigh(clues, [lines[seq] for seq in order], order)
        whole = sum(clue.weight for clue in clues) * _ALL or 1.0
        shares = [_fullness(lines[seq].words) / whole for seq in order]
        sums = [
            (round((own[n] + window[n] + _IN_SECTION * self._section_of(seq)) * shares[n], 6), seq, n)
            for n, seq in enumerate(order)
            if window[n] > 0
        ]
        best = heapq.nlargest(2 * most if speakers else most, sums)
        heads = self._index.heads([seq for _, seq, _ in best]) if speakers else {}
        scored = []
        for score, seq, n in best:
            spoken = seq in heads and heads[seq].source in speakers
            raised = round(score * _SPEAKER, 6) if spoken else score
            parts = own[n] * shares[n], window[n] * shares[n], score - (own[n] + window[n]) * shares[n]
            said = tuple(number for number, reached in enumerate(near) if n in reached)
            scored.append(ScoredLine(seq, raised, score, *parts, spoken, said))
        return heapq.nsmallest(most, scored, key=lambda line: (-line.score, -line.seq))

    def _weigh_sections(self, clues: Iterable[Clue]) -> None:
        """Weigh each section by the clues in its lines and, half, in the sections beside it."""
        places = self._places
        sections: dict[int, float] = {}
        for times_at, weight in clues:
            counts: dict[int, float] = {}
            for seq in places.keys() & times_at.keys():
                place = places[seq]
                counts[place] = counts.get(place, 0.0) + 1
                counts[place - 1] = counts.get(place - 1, 0.0) + _BESIDE
                counts[place + 1] = counts.get(place + 1, 0.0) + _BESIDE
            for section, count in counts.items():
                sections[section] = sections.get(section, 0.0) + weight * count * _MOST / (count + _K_SECTION)
        self._sections = sections

    def _weigh(
        self, clues: list[Clue], lines: list[PlacedLine], order: list[int]
    ) -> tuple[list[float], list[float], list[dict[int, float]]]:
        """Return the weight of each line by its own words, and by its window; and what each clue reaches."""
        numbers = {seq: n for n, seq in enumerate(order)}
        around = _neighbours(lines)
        norms = [1 - _B + _B * line.words / self._average for line in lines]
        own, window = [0.0] * len(order), [0.0] * len(order)
        near: list[dict[int, float]] = []
        for times_at, weight in clues:
            counts: dict[int, float] = {}
            # Sorted, because sums of floats depend on the order.
            for m in sorted([numbers[seq] for seq in numbers.keys() & times_at.keys()]):
                times = times_at[order[m]] / norms[m]
                own[m] += _OWN * weight * times * _MOST / (times + _K1)
                for n, nearness in around[m]:
                    counts[n] = counts.get(n, 0.0) + nearness * times
            for n, count in counts.items():
                window[n] += _WINDOW * weight * count * _MOST / (count + _K_WINDOW)
            near.append(counts)
        return own, window, near


def _fullness(words: int) -> float:
    """Return the share of a score that a line of so many words keeps."""
    return max(words, 1) / (max(words, 1) + _SHORT)


def _neighbours(lines: list[PlacedLine]) -> list[list[tuple[int, float]]]:
    """Return for each line the numbers of the lines in its window, itself among them, and their nearness."""
    around: list[list[tuple[int, float]]] = [[(n, 1.0)] for n in range(len(lines))]
    for n, line in enumerate(lines):
        for m in range(n + 1, min(n + 1 + REACH, len(lines))):
            distance = lines[m].rank - line.rank
            if distance > REACH:
                break
            around[n].append((m, _NEARNESS[distance]))
            around[m].append((n, _NEARNESS[distance]))
    return around
