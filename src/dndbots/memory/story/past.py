"""What is kept of the runs before the newest one. It stays as it is while that one lasts."""

import math
from collections.abc import Sequence
from typing import Final

from dndbots.memory.extract.candidates import Candidate
from dndbots.memory.extract.names import Spelling
from dndbots.memory.extract.retelling import is_retelling
from dndbots.memory.story.run import Closed, faded
from dndbots.memory.story.spoken import Spoken, spoken
from dndbots.memory.story.tally import Tally
from dndbots.memory.story.window import EARLY, OLDER, Part

_FADE: Final = 0.8  # of a retelling, with each run since
_BEFORE: Final = 0.5  # of what else was said in the run before
_DECAY: Final = 0.7  # of a name, with each run since
_RETOLD: Final = 60


class Opening:
    """The beginning of an older run: what the DM retold there, and the names."""

    def __init__(self, opening: Sequence[Spoken], count: int) -> None:
        self.retold = tuple(c for said in opening for c in said.sentences if c.retold)[:_RETOLD]
        self.spelling = Spelling(said.entry for said in opening)
        self.lines = tuple(opening) if count <= EARLY else None

    @classmethod
    def of(cls, part: Part, encoding: str) -> "Opening":
        """The same from the entries. Of a run that went on, only what was retold is prepared."""
        if part.count <= EARLY:
            return cls(spoken(part.opening, 0, encoding), part.count)
        retold = [
            said
            for number, entry in enumerate(part.opening)
            if is_retelling(entry)
            for said in spoken([entry], number, encoding)
        ]
        opening = cls(retold, part.count)
        opening.spelling = Spelling(part.opening)
        return opening


class Past:
    """The runs before the newest, the oldest first."""

    def __init__(
        self, older: Sequence[Opening] = (), before: Closed | None = None, *, lost: bool = False
    ) -> None:
        self.older = tuple(older)[-OLDER:]
        self.before = before
        self.lost = lost or len(older) > OLDER
        self.pool: list[Candidate] = []
        retold = Tally()
        for age, opening in zip(range(len(self.older) + 1, 1, -1), self.older, strict=True):
            self.pool += [faded(c, age, _FADE**age) for c in opening.retold]
        if before:
            self.pool += [faded(c, 1, _FADE if c.retold else _BEFORE) for c in before.sentences]
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
        self.heard = self._heard()
        # All that was ever said, if all of it is still known.
        self.lines = self._lines()
        self.cost = sum(said.cost for said in self.lines or ())

    def followed_by(self, newest: Closed) -> "Past":
        """The past, when the newest run is over."""
        older = list(self.older)
        if self.before:
            older.append(Opening(self.before.opening, self.before.count))
        return Past(older, newest, lost=self.lost)

    def _heard(self) -> dict[str, float]:
        """What each name is worth by how often it was written in each run, less for each run since."""
        found = [(1, self.before.tally.spelling)] if self.before else []
        found += [(age, opening.spelling) for age, opening in enumerate(reversed(self.older), 2)]
        heard: dict[str, float] = {}
        for age, spelling in found:
            for key, name in spelling.names().items():
                heard[key] = heard.get(key, 0.0) + _DECAY**age * math.log1p(name.times)
        return heard

    def _lines(self) -> tuple[Spoken, ...] | None:
        rows = [opening.lines for opening in self.older]
        rows += [self.before.lines] if self.before else []
        if self.lost or any(row is None for row in rows):
            return None
        return tuple(said for row in rows for said in row or ())
