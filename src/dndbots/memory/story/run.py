"""One run of a session as it is played: its newest entries, its best sentences, and what came up in it."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.memory.extract.candidates import Candidate, endings_raised
from dndbots.memory.extract.cover import best, ranked
from dndbots.memory.extract.names import Spelling
from dndbots.memory.story.spoken import Spoken
from dndbots.memory.story.tally import Tally
from dndbots.memory.story.window import CHUNK, CHUNKS, EARLY, coarse

_KEPT_OF_A_CHUNK: Final = 256
_POOL: Final = 560
_KEPT_OF_A_RUN: Final = 200


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is kept of `CHUNK` entries: the sentences that say most, the best first, and the counts."""

    sentences: tuple[Candidate, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class Closed:
    """What is kept of the run before the newest one."""

    count: int
    opening: tuple[Spoken, ...]
    lines: tuple[Spoken, ...] | None
    sentences: tuple[Candidate, ...]
    tally: Tally


class Run:
    """The newest run. `base` is what counts from before it."""

    def __init__(self, base: Tally) -> None:
        self.count = 0
        self.boundary = 0
        self.opening: list[Spoken] = []
        self.lines: list[Spoken] = []
        self.first = 0
        self.cost = 0
        self.tally = Tally()
        self.tally.add(base)
        self.names = base.spelling.names()
        self._base = base
        self._chunks: deque[Chunk] = deque()

    def skip(self, opening: Sequence[Spoken], first: int) -> None:
        """Begin at a later entry, which is the first of a chunk and after the opening."""
        self.opening = list(opening)
        self.count = self.boundary = self.first = first

    def append(self, said: Spoken) -> None:
        """The next entry. Counts follow at the boundaries, so that between them nothing moves."""
        self.lines.append(said)
        self.count += 1
        self.cost += said.cost
        if len(self.opening) < self.count <= EARLY:
            self.opening.append(said)
        if coarse(self.count) == self.count:
            self._count()
        if self.count % CHUNK == 0:
            self._freeze()

    def sentences(self, start: int, end: int) -> Iterator[Candidate]:
        """All sentences of the entries from one number to another, as far as they are in the window."""
        for said in self.lines[max(0, start - self.first) : max(0, end - self.first)]:
            yield from said.sentences

    def pool(self, end: int) -> list[Candidate]:
        """What a story of the entries before a number may be made of: of full chunks only the best."""
        each = _POOL // max(1, len(self._chunks))
        found = [
            sentence
            for chunk in self._chunks
            for sentence in sorted(chunk.sentences[:each], key=lambda sentence: sentence.order)
            if sentence.entry < end
        ]
        found += self.sentences(self.first + CHUNK * len(self._chunks), end)
        return found

    def closed(self) -> Closed:
        """The run, when another begins."""
        self._count()
        self.tally.add(self._base, -1)
        self._forget()
        salience = self.tally.salience(self.tally.spelling.names())
        kept = best(endings_raised(self.pool(self.count)), _KEPT_OF_A_RUN, salience=salience)
        whole = tuple(self.lines) if self.first == 0 else None
        return Closed(self.count, tuple(self.opening), whole, tuple(kept), self.tally)

    def _count(self) -> None:
        for said in self.lines[self.boundary - self.first :]:
            self.tally.count(said.entry, said.sentences)
        self.boundary = self.count
        self.names = self.tally.spelling.names()

    def _freeze(self) -> None:
        found = list(self.sentences(self.count - CHUNK, self.count))
        tally = Tally()
        for said in self._open():
            tally.count(said.entry, said.sentences)
        kept = ranked(found, _KEPT_OF_A_CHUNK, salience=tally.salience(tally.spelling.names()))
        self._chunks.append(Chunk(tuple(kept), tally))
        if len(self._chunks) > CHUNKS:
            self.tally.add(self._chunks.popleft().tally, -1)
            self.cost -= sum(said.cost for said in self.lines[:CHUNK])
            del self.lines[:CHUNK]
            self.first += CHUNK
            self._forget()
            self.names = self.tally.spelling.names()

    def _forget(self) -> None:
        """Where names were said, without what is gone."""
        said_in = self.tally.spelling.said_in
        said_in.clear()
        for tally in (self._base, *(chunk.tally for chunk in self._chunks)):
            said_in.update(tally.spelling.said_in)
        said_in.update(Spelling(said.entry for said in self._open()).said_in)

    def _open(self) -> list[Spoken]:
        """What came after the last full chunk."""
        return self.lines[CHUNK * len(self._chunks) :]


def faded(sentence: Candidate, age: int, weight: float) -> Candidate:
    """A sentence of an older run: it weighs less, and stands before all of the newer ones."""
    return sentence._replace(entry=sentence.entry - age * _RUN_SPAN, weight=sentence.weight * weight)


_RUN_SPAN: Final = 1 << 40
