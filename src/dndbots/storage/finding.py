"""The words of what one viewer perceived: where they stand, how rare they are, and what stands near.

Every number here is counted among the viewer's own lines. Places in the log only order them: what lies
between two of them, unperceived, changes nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.storage.ports import Heard, Hit, Line, Lineage, LineHead, Segment, Store

# Of a word, the newest lines; all of them, if they are no more than so many, and not too many together.
_NEWEST: Final = 128
_MOST_LINES: Final = 1_000
_MOST_READ: Final = 2_000
# How many rows of postings lines that share two words may cost.
_MOST_LOOKS: Final = 3_000
_MOST_SHARED: Final = 500
# A word that stands in so many lines and in more of all than this tells too little to be sought beside
# another.
_MANY: Final = 10_000
_COMMON: Final = 0.02
_FIRST_LOOK: Final = 6
_WIDER: Final = 16


class Found(NamedTuple):
    """Lines that have one of some words, how often each; and how many there are in all.

    `terms` are those of the words that stand anywhere. If it is not `whole`, there are more lines.
    """

    terms: tuple[str, ...]
    times: dict[int, int]
    lines: float
    whole: bool


class Near(NamedTuple):
    """Which lines follow one another for a viewer, among some; and what there is to know of each."""

    pairs: set[tuple[int, int]]
    lines: dict[int, Line]


class Index:
    """The index of words, for one viewer, up to a place in the log."""

    def __init__(self, store: Store, lineage: Lineage, viewer: str) -> None:
        self._store, self._lineage, self._viewer = store, lineage, viewer
        self.heard: Heard = store.heard(lineage, viewer)

    def find(self, words: Iterable[Collection[str]]) -> list[Found]:
        """The lines that have one of the forms of a word, for each word.

        The rarest are read whole. Of others, there are the newest lines, and those that they share with a
        rarer one, as far as that costs little.
        """
        asked = [sorted(set(forms)) for forms in words]
        every = sorted({form for forms in asked for form in forms})
        hits = self._store.hits(self._lineage, every, self._viewer, limit=_NEWEST)
        found = [self._found(forms, hits) for forms in asked]
        order = sorted(range(len(found)), key=lambda n: (found[n].lines, n))
        room = float(_MOST_READ)
        for n in order:
            if not found[n].whole and found[n].lines <= min(_MOST_LINES, room):
                found[n] = self._read_on(found[n].terms, hits)
                room -= len(found[n].times)
        self._add_shared(found, order)
        return found

    def _found(self, forms: Iterable[str], hits: Mapping[str, list[Hit]], limit: int = _NEWEST) -> Found:
        times: dict[int, int] = {}
        lines = 0.0
        whole = True
        for form in forms:
            own = hits.get(form, [])
            for seq, number in own:
                times[seq] = times.get(seq, 0) + number
            if len(own) < limit:
                lines += len(own)
            else:
                whole = False
                lines += self._projected(own[-1][0], len(own))
        terms = tuple(form for form in forms if form in hits)
        return Found(terms, times, min(max(lines, len(times)), self.heard.lines), whole)

    def _read_on(self, terms: Collection[str], hits: Mapping[str, list[Hit]]) -> Found:
        """A word whose newest lines are known, with all before them, or as many as there may be."""
        more = dict(hits)
        for term in terms:
            if len(hits[term]) == _NEWEST:
                earlier = self._before(hits[term][-1][0])
                limit = _MOST_LINES - _NEWEST
                older = self._store.hits(earlier, [term], self._viewer, limit=limit)
                more[term] = hits[term] + older.get(term, [])
        return self._found(terms, more, _MOST_LINES)

    def _add_shared(self, found: list[Found], order: list[int]) -> None:
        """Lines that have two of the words, however old: to seek them, the rarer one is read whole."""
        room = float(_MOST_LOOKS)
        common = max(_COMMON * self.heard.lines, _MANY)
        for place, n in enumerate(order):
            for m in order[place + 1 :]:
                rarer, other = found[n], found[m]
                if other.whole or other.lines > common or not rarer.terms:
                    continue
                room -= rarer.lines
                if room < 0:
                    return
                shared = self._store.together(self._lineage, rarer.terms, other.terms, self._viewer)
                for seq in shared[:_MOST_SHARED]:
                    rarer.times.setdefault(seq, 1)
                    other.times.setdefault(seq, 1)

    def _projected(self, oldest: int, number: int) -> float:
        """How many lines a common word has: as many of the rest as of those since `oldest`."""
        since = self.heard.lines - self._store.heard(self._before(oldest), self._viewer).lines
        return number * self.heard.lines / max(since, 1)

    def _before(self, seq: int) -> Lineage:
        return tuple(Segment(branch, min(upto, seq - 1)) for branch, upto in self._lineage)

    def mentions(self, uids: Collection[str]) -> Found:
        """The newest lines that are about somebody, by the index of people and not by their words."""
        places = self._store.newest_mentions(self._lineage, uids, self._viewer, limit=_NEWEST)
        whole = len(places) < _NEWEST
        lines = len(places) if whole else self._projected(places[-1], len(places))
        return Found((), dict.fromkeys(places, 1), lines, whole)

    def times_at(self, found: Sequence[Found], lines: Mapping[int, Line]) -> list[dict[int, int]]:
        """How often each of some words stands in some lines, whatever was read of it before."""
        partly = sorted({term for one in found if not one.whole for term in one.terms})
        read = self._store.times_at(self._lineage, partly, lines) if partly else {}
        every = []
        for one in found:
            if one.whole:
                every.append({seq: number for seq, number in one.times.items() if seq in lines})
                continue
            times: dict[int, int] = {}
            for term in one.terms:
                for seq, number in read.get(term, {}).items():
                    times[seq] = times.get(seq, 0) + number
            every.append(times)
        return every

    def mentioned_at(self, uids: Collection[str], about: Found, lines: Mapping[int, Line]) -> set[int]:
        """Those of some lines that are about somebody."""
        if about.whole:
            return {seq for seq in about.times if seq in lines}
        return self._store.mentioned_at(self._lineage, uids, lines)

    def around(self, seqs: Collection[int], reach: int) -> Near:
        """The viewer's lines around each of some, up to `reach` each way.

        Looks a little to either side, and further only where the viewer perceived too little there.
        """
        last = self._lineage[-1].upto if self._lineage else 0
        lines: dict[int, Line] = {}
        before, after = list(seqs), list(seqs)
        inner, outer = 0, _FIRST_LOOK
        while before or after:
            spans = [(max(seq - outer, 0), seq - inner) for seq in before]
            spans += [(seq + inner, min(seq + outer, last)) for seq in after]
            lines |= self._store.lines_between(self._lineage, self._viewer, joined(spans))
            order = sorted(lines)
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
        order = sorted(lines)
        places = {seq: n for n, seq in enumerate(order)}
        near = [order[max(places[seq] - reach, 0) : places[seq] + reach + 1] for seq in seqs]
        return Near({pair for run in near for pair in pairwise(run)}, lines)

    def heads(self, seqs: Collection[int]) -> dict[int, LineHead]:
        return self._store.heads_at(self._lineage, seqs)


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch, as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
