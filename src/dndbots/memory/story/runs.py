"""Runs of a transcript, and how much of each a story depends on.

A run is a row of entries with one session id. If the id comes back after another one, a new run begins.
A story depends on these entries, and on nothing else:

- of the newest run and the one before it: the newest `CHUNKS` full chunks, and all entries since. A chunk
  has `CHUNK` entries; chunks are counted from the start of the run.
- of these two and of the `OLDER` runs before them: the first `EARLY` entries, where the DM's recap stands.
- of all runs before these: only that there were any.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dndbots.memory.entries import Entry
from dndbots.memory.selection.candidates import Candidate, raise_endings
from dndbots.memory.selection.cover import best_candidates, rank_candidates
from dndbots.memory.selection.weights import EARLY, is_retelling
from dndbots.memory.story.lines import PreparedEntry, prepare_entries
from dndbots.memory.story.tally import Tally
from dndbots.text.names import Spelling

__all__ = ["CHUNK", "CHUNKS", "EARLY", "OLDER", "RunPart", "last_boundary", "window_start"]

CHUNK: Final = 256
CHUNKS: Final = 18
OLDER: Final = 30
_FINEST: Final = 16
_STEPS: Final = 4  # a run grows by an eighth to a fourth before its story is chosen again


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPart:
    """The entries that a story needs of one run, to start without having followed it.

    `count` is the number of entries in the run, `opening` holds its first `EARLY`, and `window` those from
    `window_start(count)` on; only the two newest runs need a window.
    """

    count: int
    opening: Sequence[Entry]
    window: Sequence[Entry] = ()


def window_start(count: int) -> int:
    """Return the number of the first entry in the window of a run with `count` entries."""
    return max(0, count // CHUNK - CHUNKS) * CHUNK


def last_boundary(count: int) -> int:
    """Return the newest boundary of a run with `count` entries.

    The story up to the boundary stays as it is until the boundary moves; it moves in growing steps.
    """
    step = _FINEST
    while step < CHUNK and 2 * _STEPS * step <= count:
        step *= 2
    return count - count % step


_KEPT_OF_A_CHUNK: Final = 256
_CHUNKS_KEPT: Final = 2 * CHUNKS  # of one long chat, or two
_POOL: Final = 560
_KEPT_OF_A_RUN: Final = 200
_RUN_SPAN: Final = 1 << 40  # more entries than any run has, to order runs by age


@dataclass(frozen=True, slots=True)
class Chunk:
    """The best sentences of `CHUNK` entries, best first, and their counts."""

    sentences: tuple[Candidate, ...]
    tally: Tally


class _ChunkKey:
    """The entries of a full chunk and the number of the first, as a cache key."""

    __slots__ = ("_key", "lines")

    def __init__(self, lines: Sequence[PreparedEntry], first: int) -> None:
        self.lines = lines
        # Everything else about a prepared entry follows from its entry, its number and its costs.
        costs = tuple(sum(sentence.tokens for sentence in prepared.sentences) for prepared in lines)
        entries = tuple(prepared.entry for prepared in lines)
        self._key = first, tuple(prepared.cost for prepared in lines), costs, entries

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ChunkKey) and self._key == other._key


# A chat that is edited near its end is read anew, and most of its chunks are as they were.
@lru_cache(maxsize=_CHUNKS_KEPT)
def _chunk_of(key: _ChunkKey) -> Chunk:
    tally = Tally()
    for prepared in key.lines:
        tally.count(prepared.entry, prepared.sentences)
    sentences = [sentence for prepared in key.lines for sentence in prepared.sentences]
    kept = rank_candidates(sentences, _KEPT_OF_A_CHUNK, salience=tally.salience(tally.spelling.names()))
    return Chunk(tuple(kept), tally)


@dataclass(frozen=True, slots=True)
class ClosedRun:
    """The run before the newest one, as far as the story still needs it."""

    count: int
    opening: tuple[PreparedEntry, ...]
    lines: tuple[PreparedEntry, ...] | None
    sentences: tuple[Candidate, ...]
    tally: Tally


class SessionRun:
    """The newest run as it is played: its newest entries, its best sentences and its counts.

    `base` holds the counts of earlier runs. `boundary` is the entry up to which the counts reach.
    """

    def __init__(self, base: Tally) -> None:
        self.count = 0
        self.boundary = 0
        self.opening: list[PreparedEntry] = []
        self.lines: list[PreparedEntry] = []
        self.first = 0
        self.cost = 0
        self.tally = Tally()
        self.tally.add(base)
        self.names = base.spelling.names()
        self._base = base
        self._chunks: deque[Chunk] = deque()

    def skip(self, opening: Sequence[PreparedEntry], first: int) -> None:
        """Begin at entry `first`, which starts a chunk and comes after the opening."""
        self.opening = list(opening)
        self.count = self.boundary = self.first = first

    def append(self, entry: PreparedEntry) -> None:
        """Append the next entry. Counts are only updated at boundaries, so the story stays stable between."""
        self.lines.append(entry)
        self.count += 1
        self.cost += entry.cost
        if len(self.opening) < self.count <= EARLY:
            self.opening.append(entry)
        if last_boundary(self.count) == self.count:
            self._count()
        if self.count % CHUNK == 0:
            self._freeze()

    def with_lines(self, lines: Sequence[PreparedEntry]) -> "SessionRun":
        """Return the run with other lines in its window; nothing can be appended to it."""
        other = copy(self)
        other.lines = [*lines]
        other.cost = sum(prepared.cost for prepared in lines)
        return other

    def sentences(self, start: int, end: int) -> Iterator[Candidate]:
        """Yield the sentences of the entries from `start` to `end` that are in the window."""
        for prepared in self.lines[max(0, start - self.first) : max(0, end - self.first)]:
            yield from prepared.sentences

    def pool(self, end: int) -> list[Candidate]:
        """Return the sentences that a story of the entries before `end` may use; of full chunks the best."""
        each = _POOL // max(1, len(self._chunks))
        pool = [
            sentence
            for chunk in self._chunks
            for sentence in sorted(chunk.sentences[:each], key=lambda sentence: sentence.order)
            if sentence.entry < end
        ]
        pool += self.sentences(self.first + CHUNK * len(self._chunks), end)
        return pool

    def closed(self) -> ClosedRun:
        """Close the run because another begins."""
        self._count()
        self.tally.add(self._base, -1)
        self._forget_sources()
        salience = self.tally.salience(self.tally.spelling.names())
        kept = best_candidates(raise_endings(self.pool(self.count)), _KEPT_OF_A_RUN, salience=salience)
        whole = tuple(self.lines) if self.first == 0 else None
        return ClosedRun(self.count, tuple(self.opening), whole, tuple(kept), self.tally)

    def _count(self) -> None:
        for prepared in self.lines[self.boundary - self.first :]:
            self.tally.count(prepared.entry, prepared.sentences)
        self.boundary = self.count
        self.names = self.tally.spelling.names()

    def _freeze(self) -> None:
        self._chunks.append(_chunk_of(_ChunkKey(self._open(), self.count - CHUNK)))
        if len(self._chunks) > CHUNKS:
            self.tally.add(self._chunks.popleft().tally, -1)
            self.cost -= sum(prepared.cost for prepared in self.lines[:CHUNK])
            del self.lines[:CHUNK]
            self.first += CHUNK
            self._forget_sources()
            self.names = self.tally.spelling.names()

    def _forget_sources(self) -> None:
        """Forget the sources of names that left the window."""
        said_in = self.tally.spelling.said_in
        said_in.clear()
        for tally in (self._base, *(chunk.tally for chunk in self._chunks)):
            said_in.update(tally.spelling.said_in)
        said_in.update(Spelling(prepared.entry for prepared in self._open()).said_in)

    def _open(self) -> list[PreparedEntry]:
        """Return the entries after the last full chunk."""
        return self.lines[CHUNK * len(self._chunks) :]


def fade(sentence: Candidate, age: int, weight: float) -> Candidate:
    """Return a sentence of an older run with less weight, ordered before all newer runs."""
    return sentence._replace(entry=sentence.entry - age * _RUN_SPAN, weight=sentence.weight * weight)


_FADE: Final = 0.8  # factor on a recap for each run since
_BEFORE: Final = 0.5  # factor on all other sentences of the run before
_DECAY: Final = 0.7  # factor on a name for each run since
_RETOLD: Final = 60


class RunOpening:
    """The beginning of an older run: the DM's recap and the names."""

    def __init__(self, opening: Sequence[PreparedEntry], count: int) -> None:
        self.retold = tuple(c for entry in opening for c in entry.sentences if c.retold)[:_RETOLD]
        self.spelling = Spelling(prepared.entry for prepared in opening)
        self.lines = tuple(opening) if count <= EARLY else None

    @classmethod
    def of(cls, part: RunPart, encoding: str) -> "RunOpening":
        """Make an opening from entries. Of a run longer than its opening, only recaps are prepared."""
        if part.count <= EARLY:
            return cls(prepare_entries(part.opening, 0, encoding), part.count)
        retold = [
            prepared
            for number, entry in enumerate(part.opening)
            if is_retelling(entry)
            for prepared in prepare_entries([entry], number, encoding)
        ]
        opening = cls(retold, part.count)
        opening.spelling = Spelling(part.opening)
        return opening


class PastRuns:
    """The runs before the newest, oldest first. They stay as they are while the newest run lasts."""

    def __init__(
        self, older: Sequence[RunOpening] = (), before: ClosedRun | None = None, *, lost: bool = False
    ) -> None:
        self.older = tuple(older)[-OLDER:]
        self.before = before
        self.lost = lost or len(older) > OLDER
        self.pool: list[Candidate] = []
        retold = Tally()
        for age, opening in zip(range(len(self.older) + 1, 1, -1), self.older, strict=True):
            self.pool += [fade(c, age, _FADE**age) for c in opening.retold]
        if before:
            self.pool += [fade(c, 1, _FADE if c.retold else _BEFORE) for c in before.sentences]
        retold.count_sentences(c for c in self.pool if c.retold)
        self.base = Tally()
        for opening in self.older:
            self.base.spelling.add(opening.spelling)
        if before:
            self.base.spelling.add(before.tally.spelling)
            self.base.entries, self.base.narrated = before.tally.entries, before.tally.narrated
        self.base.add(retold)
        self.tally = Tally()
        if before:
            self.tally.add(before.tally)
        self.tally.add(retold)
        self.names = self.base.spelling.names()
        self.heard = self._name_worths()
        # All entries ever, or None if some are no longer kept.
        self.lines = self._lines()
        self.cost = sum(prepared.cost for prepared in self.lines or ())

    def followed_by(self, newest: ClosedRun) -> "PastRuns":
        """Return the past including the newest run, which is over."""
        older = list(self.older)
        if self.before:
            older.append(RunOpening(self.before.opening, self.before.count))
        return PastRuns(older, newest, lost=self.lost)

    def _name_worths(self) -> dict[str, float]:
        """Return the worth of each name: it grows with its count in a run, and fades with each run since."""
        spellings = [(1, self.before.tally.spelling)] if self.before else []
        spellings += [(age, opening.spelling) for age, opening in enumerate(reversed(self.older), 2)]
        heard: dict[str, float] = {}
        for age, spelling in spellings:
            for key, name in spelling.names().items():
                heard[key] = heard.get(key, 0.0) + _DECAY**age * math.log1p(name.times)
        return heard

    def _lines(self) -> tuple[PreparedEntry, ...] | None:
        rows = [opening.lines for opening in self.older]
        rows += [self.before.lines] if self.before else []
        if self.lost or any(row is None for row in rows):
            return None
        return tuple(prepared for row in rows for prepared in row or ())
