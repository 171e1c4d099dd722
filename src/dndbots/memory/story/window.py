"""How much of a transcript a telling depends on, and no more.

A run is a row of entries with one session id. If the id comes back after another, that is a new run.
- Of the newest run and the one before it: the newest `CHUNKS` chunks that are full, and what came since.
  Chunks have `CHUNK` entries and are counted from the start of the run.
- Of these two, and of the `OLDER` runs before them: the first `EARLY` entries, where the DM retells.
- Of what came before all these: only that there was something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.memory.entries import Entry
from dndbots.memory.extract.retelling import EARLY

__all__ = ["CHUNK", "CHUNKS", "EARLY", "OLDER", "Part", "coarse", "window_start"]

CHUNK: Final = 256
CHUNKS: Final = 18
OLDER: Final = 30
_FINEST: Final = 16
_STEPS: Final = 4  # a run grows by a fourth to an eighth before its story is told anew


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What is needed of one run to tell it without having followed it.

    `count` is how many entries the run has, `opening` its first `EARLY`, and `window` those from
    `window_start(count)` on; only the two newest runs need a window.
    """

    count: int
    opening: Sequence[Entry]
    window: Sequence[Entry] = ()


def window_start(count: int) -> int:
    """The number of the first entry that a run of so many entries is told from."""
    return max(0, count // CHUNK - CHUNKS) * CHUNK


def coarse(count: int) -> int:
    """Up to where a run of so many entries is told as a whole: a boundary that moves in growing steps."""
    step = _FINEST
    while step < CHUNK and 2 * _STEPS * step <= count:
        step *= 2
    return count - count % step
