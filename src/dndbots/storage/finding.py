"""The words of what one viewer perceived: where they stand, how rare they are, and what stands near.

Every number here is counted among the viewer's own lines. Places in the log only order them: what lies
between two of them, unperceived, changes nothing.
"""

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.ids import DM
from dndbots.storage.ports import Heard, Lineage, LineHead, Segment, Store
from dndbots.storage.rowmaking import parts_of

_FIRST_LOOK: Final = 8
_WIDER: Final = 16
# Lines that are no further apart are looked up in one span.
_NEAR: Final = 64


class Found(NamedTuple):
    """The newest lines that have one of some words, how often each; and how many there are in all."""

    times: dict[int, int]
    lines: float


class Near(NamedTuple):
    """Which lines follow one another for a viewer, among some; and how many words are in each."""

    pairs: set[tuple[int, int]]
    words: dict[int, int]


class Index:
    """The index of words, for one viewer, up to a place in the log."""

    def __init__(self, store: Store, lineage: Lineage, viewer: str) -> None:
        self._store, self._lineage, self._viewer = store, lineage, viewer
        self.heard: Heard = store.heard(lineage, viewer)

    def find(self, words: Iterable[Collection[str]], *, limit: int) -> list[Found]:
        """The lines that have one of the forms of a word, for each word."""
        asked = [sorted(set(forms)) for forms in words]
        every = sorted({form for forms in asked for form in forms})
        hits = self._store.hits(self._lineage, every, self._viewer, limit=limit)
        found = []
        for forms in asked:
            times: dict[int, int] = {}
            lines = 0.0
            for form in forms:
                own = hits.get(form, [])
                for seq, number in own:
                    times[seq] = times.get(seq, 0) + number
                lines += len(own) if len(own) < limit else self._projected(own[-1][0], len(own))
            found.append(Found(times, min(max(lines, len(times)), self.heard.lines)))
        return found

    def _projected(self, oldest: int, number: int) -> float:
        """How many lines a common word has: as many of the rest as of those since `oldest`."""
        before = tuple(Segment(branch, min(upto, oldest - 1)) for branch, upto in self._lineage)
        since = self.heard.lines - self._store.heard(before, self._viewer).lines
        return number * self.heard.lines / max(since, 1)

    def mentions(self, uids: Collection[str], *, limit: int) -> Found:
        """The newest lines that are about somebody, by the index of people and not by their words."""
        places = self._store.newest_mentions(self._lineage, uids, self._viewer, limit=limit)
        lines = len(places) if len(places) < limit else self._projected(places[-1], len(places))
        return Found(dict.fromkeys(places, 1), lines)

    def around(self, seqs: Collection[int], reach: int) -> Near:
        """The viewer's lines around each of some, up to `reach` each way.

        Looks a little to either side, and further only where the viewer perceived too little there.
        """
        last = self._lineage[-1].upto if self._lineage else 0
        words: dict[int, int] = {}
        before, after = list(seqs), list(seqs)
        inner, outer = 0, _FIRST_LOOK
        while before or after:
            spans = [(max(seq - outer, 0), seq - inner) for seq in before]
            spans += [(seq + inner, min(seq + outer, last)) for seq in after]
            words |= self._store.lines_between(self._lineage, self._viewer, _joined(spans))
            order = sorted(words)
            places = {seq: n for n, seq in enumerate(order)}
            before = [
                seq
                for seq in before
                if seq > outer and ((n := places[seq] - reach) < 0 or order[n] < seq - outer)
            ]
            after = [
                seq
                for seq in after
                if seq + outer < last and ((n := places[seq] + reach) >= len(order) or order[n] > seq + outer)
            ]
            inner, outer = outer, outer * _WIDER
        order = sorted(words)
        places = {seq: n for n, seq in enumerate(order)}
        near = [order[max(places[seq] - reach, 0) : places[seq] + reach + 1] for seq in seqs]
        return Near({pair for lines in near for pair in pairwise(lines)}, words)

    def heads(self, seqs: Collection[int]) -> dict[int, LineHead]:
        return self._store.heads_at(self._lineage, seqs)


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
        spans = _joined((max(seq - _NEAR, 0), seq) for seq in places)
        return self._store.lines_between(self._lineage, who, spans).keys() & set(places)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch, as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
