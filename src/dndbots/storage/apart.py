"""What one viewer perceived and another did not, by index. It is for the DM to know."""

from collections.abc import Collection
from typing import Final

from dndbots.ids import DM
from dndbots.storage.finding import joined
from dndbots.storage.ports import Lineage, Store
from dndbots.storage.rowmaking import parts_of

_WIDER: Final = 16
# Lines that are no further apart are looked up in one span.
_NEAR: Final = 64


class Apart:
    """The lines that one viewer perceived and another did not: how many, and where the newest are.

    Characters stand in groups together, and so do all others; for groups there are totals, whatever the
    length of the log. A character and somebody who is none are compared line by line: as many lines as the
    one who perceived less has.
    """

    def __init__(self, store: Store, lineage: Lineage, viewer: str, other: str) -> None:
        self._store, self._lineage, self._viewer, self._other = store, lineage, viewer, other
        self._grouped = len(parts_of(frozenset((viewer, other)))) == 1

    def lines(self) -> int:
        mine, others = (self._store.heard(self._lineage, who).lines for who in (self._viewer, self._other))
        if self._other == DM:
            return 0
        if self._viewer == DM:
            return mine - others
        if self._grouped:
            return mine - self._store.heard(self._lineage, self._viewer, beside=self._other).lines
        fewer, more = (self._viewer, self._other) if mine < others else (self._other, self._viewer)
        places = self._store.newest_perceived(self._lineage, fewer, limit=min(mine, others))
        return mine - len(self._heard_by(more, places))

    def newest(self, limit: int) -> list[int]:
        """Places in the log, newest first."""
        wanted = look = min(limit, self.lines())
        while wanted:
            places = self._store.newest_perceived(
                self._lineage, self._viewer, limit=look, without=self._other
            )
            heard = set() if self._grouped else self._heard_by(self._other, places)
            found = [seq for seq in places if seq not in heard]
            if len(found) >= wanted or len(places) < look:
                return found[:wanted]
            look *= _WIDER
        return []

    def _heard_by(self, who: str, places: Collection[int]) -> set[int]:
        spans = joined((max(seq - _NEAR, 0), seq) for seq in places)
        return self._store.lines_between(self._lineage, who, spans).keys() & set(places)
