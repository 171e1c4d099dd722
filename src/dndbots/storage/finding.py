"""The words of what one viewer perceived: where they stand, how rare they are, and what stands near.

Every number here is counted among the viewer's own lines. Places in the log only order them: what lies
between two of them, unperceived, changes nothing.
"""

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.storage.ports import Heard, Lineage, LineHead, Segment, Store

_FIRST_LOOK: Final = 8
_WIDER: Final = 16


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


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch, as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
