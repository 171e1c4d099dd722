"""Seals of the log: the seq of the last event, and a running checksum of all events up to it.

A log that lost its tail does not reach its seal; a changed log does not match it. A seal covers the events of
one branch. It is no protection against intent: somebody who changes a log can seal it again.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Final, NamedTuple, Self

from dndbots.storage.ports import EventRow

# In ASCII, so that every row can be sealed, however odd its text.
_written: Final = json.JSONEncoder(separators=(",", ":"), default=repr).encode
_NOTHING: Final = "0" * 64
REMEDY: Final = "restore a copy with its journal (campaign.db-wal), or rebuild to continue with what is left"


def describe_loss(sealed: int, head: int) -> str:
    """Return a message that the log does not match its seal, and the remedy."""
    what = (
        f"{sealed} events were recorded, but only {head} are left: the newest are lost"
        if sealed > head
        else f"the first {sealed} events are not the ones that were recorded"
    )
    return f"{what}; {REMEDY}"


class Seal(NamedTuple):
    """The seq of the last sealed event, and the checksum of all events up to it."""

    seq: int
    digest: str = _NOTHING

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a seal from its text; None if the text is not a seal."""
        seq, _, digest = text.partition(" ")
        if not (seq.isascii() and seq.isdigit() and len(digest) == len(_NOTHING)):
            return None
        return cls(int(seq), digest)

    def __str__(self) -> str:
        return f"{self.seq} {self.digest}"

    def extended(self, rows: Iterable[EventRow]) -> "Seal":
        """Return the seal of the log with these events appended.

        The numbers of branch and audience belong to the database, and are not part of the checksum.
        """
        seq, digest = self
        for row in rows:
            recorded = _written([*row[1:9], *row[11:]])
            digest = hashlib.sha256(f"{digest}{recorded}".encode()).hexdigest()
            seq = row.seq
        return Seal(seq, digest)
