"""Seals of the log: how far it went, and a running checksum of all events up to there.

A log that lost its tail does not reach its seal, and one that was changed does not match it. A seal is for
the events of one branch. It keeps no secret: whoever changes a log on purpose can seal it again.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Final, NamedTuple, Self

from dndbots.storage.ports import EventRow

# In ASCII, so that no row is so odd that it could not be sealed.
_written: Final = json.JSONEncoder(separators=(",", ":"), default=repr).encode
_NOTHING: Final = "0" * 64
REMEDY: Final = "restore a copy, with its journal (campaign.db-wal), or rebuild to go on with what is there"


def lost(sealed: int, head: int) -> str:
    """Says that a log does not reach its seal, or not as it was, and what to do."""
    what = (
        f"{sealed} events were recorded, and {head} are left: the newest are lost"
        if sealed > head
        else f"the first {sealed} events are not those that were recorded"
    )
    return f"{what}; {REMEDY}"


class Seal(NamedTuple):
    """The place of the last event that is sealed, and the checksum of that event and all before it."""

    seq: int
    digest: str = _NOTHING

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The seal that a text says; None if it says none."""
        seq, _, digest = text.partition(" ")
        if not (seq.isascii() and seq.isdigit() and len(digest) == len(_NOTHING)):
            return None
        return cls(int(seq), digest)

    def __str__(self) -> str:
        return f"{self.seq} {self.digest}"

    def extended(self, rows: Iterable[EventRow]) -> "Seal":
        """The seal of the log with these events at its end.

        The numbers of branch and audience are the database's own, and not part of what was recorded.
        """
        seq, digest = self
        for row in rows:
            recorded = _written([*row[1:9], *row[11:]])
            digest = hashlib.sha256(f"{digest}{recorded}".encode()).hexdigest()
            seq = row.seq
        return Seal(seq, digest)
