"""The word index of one viewer: which lines have a word, how rare it is, and which lines are near.

Every number is counted among the viewer's own lines. A seq only orders lines: unperceived lines between two
of them change nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.storage.ports import GroupSpan, HeardTotals, Hit, Lineage, LineHead, LogLine, Store

# The newest lines of a word are read; all its lines, if they stay within these limits.
_NEWEST: Final = 80
_MOST_LINES: Final = 2_500
_MOST_READ: Final = 2_500
# The limit on looks into lines with a rare word for the other words.
_MOST_LOOKS: Final = 1_000
# A word in more lines than this, and in a larger share of all lines than this, is too common to be looked for
# beside another word.
_MANY: Final = 10_000
_COMMON: Final = 0.02
_FIRST_LOOK: Final = 6
_WIDER: Final = 16


class WordHits(NamedTuple):
    """The lines with one of the forms of a word, how often each has it, and how many lines there are in all.

    `terms` are the forms that occur anywhere. If `whole` is false, there are more lines than these.
    """

    terms: tuple[str, ...]
    times: dict[int, int]
    lines: float
    whole: bool


class NearbyLines(NamedTuple):
    """The lines around some others: pairs that follow one another for the viewer, and all lines by seq."""

    pairs: set[tuple[int, int]]
    lines: dict[int, LogLine]


class WordIndex:
    """The word index of one viewer, up to one position of the log."""

    def __init__(self, store: Store, lineage: Lineage, viewer: str) -> None:
        self._store, self._lineage, self._viewer = store, lineage, viewer
        self.heard: HeardTotals = store.heard(lineage, viewer)
        self._groups: dict[int, int] = {}
        self._known_spans: list[GroupSpan] | None = None

    def find(self, words: Iterable[Collection[str]]) -> list[WordHits]:
        """Find the lines that have one of the forms of a word, for each word.

        The rarest words are read whole. For others, only the newest lines are read, and the lines shared with
        a rarer word, as long as that is cheap.
        """
        asked = [sorted(set(forms)) for forms in words]
        every = sorted({form for forms in asked for form in forms})
        hits = self._store.hits(self._lineage, every, self._viewer, limit=_NEWEST)
        oldest = [own[-1][0] for own in hits.values() if len(own) == _NEWEST]
        lines = self._projected(oldest, _NEWEST)
        found = [self._found(forms, hits, lines, _NEWEST) for forms in asked]
        order = sorted(range(len(found)), key=lambda n: (found[n].lines, n))
        self._read_on(found, order, hits)
        self._add_shared(found, order)
        return found

    def _found(
        self,
        forms: Iterable[str],
        hits: Mapping[str, list[Hit]],
        projected: Mapping[int, float],
        limit: int,
    ) -> WordHits:
        times: dict[int, int] = {}
        groups = self._groups
        lines = 0.0
        whole = True
        for form in forms:
            own = hits.get(form, [])
            for seq, number, group in own:
                times[seq] = times.get(seq, 0) + number
                groups[seq] = group
            if len(own) < limit:
                lines += len(own)
            else:
                whole = False
                lines += projected[own[-1][0]]
        terms = tuple(form for form in forms if form in hits)
        return WordHits(terms, times, min(max(lines, len(times)), self.heard.lines), whole)

    def _read_on(self, found: list[WordHits], order: list[int], hits: Mapping[str, list[Hit]]) -> None:
        """Read the older lines of words with too many, rarest first, up to the limits."""
        room = float(_MOST_READ)
        chosen: list[int] = []
        for n in order:
            if not found[n].whole and found[n].lines <= min(_MOST_LINES, room):
                chosen.append(n)
                room -= found[n].lines
        terms = sorted({term for n in chosen for term in found[n].terms if len(hits[term]) == _NEWEST})
        if terms:
            more = {**hits, **self._store.hits(self._lineage, terms, self._viewer, limit=_MOST_LINES)}
            oldest = [more[term][-1][0] for term in terms if len(more[term]) == _MOST_LINES]
            lines = self._projected(oldest, _MOST_LINES)
            for n in chosen:
                found[n] = self._found(found[n].terms, more, lines, _MOST_LINES)

    def _add_shared(self, found: list[WordHits], order: list[int]) -> None:
        """Look for the other words in lines with the rarest, however old, as long as that is cheap."""
        common = max(_COMMON * self.heard.lines, _MANY)
        others = [hits for hits in found if hits.terms and not hits.whole and hits.lines <= common]
        room = _MOST_LOOKS // max(sum(len(hits.terms) for hits in others), 1)
        rare = dict.fromkeys(seq for n in order if found[n].whole for seq in found[n].times)
        seqs = list(rare)[:room] if others else []
        lines = {seq: LogLine(self._groups[seq], 0) for seq in seqs}
        if not lines:
            return
        for hits, times in zip(others, self.times_at(others, lines), strict=True):
            for seq, number in times.items():
                hits.times.setdefault(seq, number)

    def _projected(self, seqs: Collection[int], number: int) -> dict[int, float]:
        """Estimate how many lines a common word has, if it has `number` since each of some lines."""
        every = self.heard.lines
        ranks = self.ranks(seqs) if seqs else {}
        return {seq: number * every / max(every - rank + 1, 1) for seq, rank in ranks.items()}

    def mentions(self, uids: Collection[str]) -> WordHits:
        """Find the newest lines about some entities, by the index of mentions and not by words."""
        seqs = self._store.newest_mentions(self._lineage, uids, self._viewer, limit=_NEWEST)
        whole = len(seqs) < _NEWEST
        lines = len(seqs) if whole else self._projected(seqs[-1:], len(seqs))[seqs[-1]]
        return WordHits((), dict.fromkeys(seqs, 1), lines, whole)

    def times_at(self, found: Sequence[WordHits], lines: Mapping[int, LogLine]) -> list[dict[int, int]]:
        """Count how often each word stands in some lines, including lines that `find` did not read."""
        partly = sorted({term for hits in found if not hits.whole for term in hits.terms})
        read = self._store.times_at(self._lineage, partly, lines) if partly else {}
        every = []
        for hits in found:
            if hits.whole:
                every.append({seq: number for seq, number in hits.times.items() if seq in lines})
                continue
            times: dict[int, int] = {}
            for term in hits.terms:
                for seq, number in read.get(term, {}).items():
                    times[seq] = times.get(seq, 0) + number
            every.append(times)
        return every

    def mentioned_at(self, uids: Collection[str], about: WordHits, lines: Mapping[int, LogLine]) -> set[int]:
        """Return those of some lines that mention one of these entities to the viewer."""
        if about.whole:
            return {seq for seq in about.times if seq in lines}
        # A line may introduce a name to some of its people only; who learns a name hears of its bearer.
        learned = self._store.names_of(self._lineage, sorted(uids), self._viewer)
        mentioned = self._store.mentioned_at(self._lineage, uids, lines)
        return mentioned | {row.seq for row in learned if row.seq in lines}

    def lines(self, seqs: Collection[int]) -> dict[int, LogLine]:
        """Return some lines of the viewer, fastest those that `find` found."""
        return self._store.lines_at(self._lineage, self._groups_of(seqs))

    def _spans(self) -> list[GroupSpan]:
        if self._known_spans is None:
            self._known_spans = self._store.group_spans(self._lineage, self._viewer)
        return self._known_spans

    def ranks(self, seqs: Collection[int]) -> dict[int, int]:
        """Return the number of each line among all lines of the viewer."""
        ranks: dict[int, int] = {}
        before = 0
        for branch, own in self._by_branch(seqs):
            spans = [span for span in self._spans() if span.branch == branch]
            if own:
                known = self._store.lines_upto(branch, [span.audience for span in spans], own)
                ranks |= {seq: before + lines for seq, lines in known.items()}
            before += sum(span.lines for span in spans)
        return ranks

    def ranks_in_crowds(self, seqs: Collection[int], apart: int) -> dict[int, int]:
        """Return the ranks of lines, without most of those that are `apart` or further from all others.

        A rank takes a look into every group. The largest alone tells that many lines are far apart.
        """
        largest = max(self._spans(), key=lambda span: span.lines)
        order = sorted(seqs)
        own = [seqs for branch, seqs in self._by_branch(order) if branch == largest.branch]
        known = self._store.lines_upto(largest.branch, [largest.audience], own[0]) if own else {}
        crowds: set[int] = set()
        for line, after in pairwise(order):
            if line not in known or after not in known or known[after] - known[line] < apart:
                crowds |= {line, after}
        return self.ranks(crowds)

    def _by_branch(self, seqs: Collection[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield the branches of the log, oldest first, and which of some lines are theirs."""
        before = -1
        for branch, upto in self._lineage:
            yield branch, [seq for seq in seqs if before < seq <= upto]
            before = upto

    def around(self, seqs: Collection[int], reach: int) -> NearbyLines:
        """Return the viewer's lines around some lines, up to `reach` in each direction.

        Reads a few seqs to either side first, and more only where the viewer perceived too few of them.
        """
        last = self._lineage[-1].upto if self._lineage else 0
        lines: dict[int, LogLine] = {}
        before, after = list(seqs), list(seqs)
        inner, outer = 0, _FIRST_LOOK
        while before or after:
            spans = [(max(seq - outer, 0), seq - inner) for seq in before]
            spans += [(seq + inner, min(seq + outer, last)) for seq in after]
            lines |= self._store.lines_between(self._lineage, self._viewer, join_spans(spans))
            order = sorted(lines)
            ranks = {seq: n for n, seq in enumerate(order)}
            before = [
                seq
                for seq in before
                if seq > outer and ((n := ranks[seq] - reach) < 0 or order[n] < seq - outer)
            ]
            after = [
                seq
                for seq in after
                if seq + outer < last and ((n := ranks[seq] + reach) >= len(order) or order[n] > seq + outer)
            ]
            inner, outer = outer, outer * _WIDER
        order = sorted(lines)
        ranks = {seq: n for n, seq in enumerate(order)}
        near = [order[max(ranks[seq] - reach, 0) : ranks[seq] + reach + 1] for seq in seqs]
        return NearbyLines({pair for run in near for pair in pairwise(run)}, lines)

    def _groups_of(self, seqs: Collection[int]) -> dict[int, int]:
        if unknown := [(seq, seq) for seq in seqs if seq not in self._groups]:
            found = self._store.lines_between(self._lineage, self._viewer, unknown)
            self._groups |= {seq: line.audience for seq, line in found.items()}
        return {seq: self._groups[seq] for seq in seqs if seq in self._groups}

    def heads(self, seqs: Collection[int]) -> dict[int, LineHead]:
        """Return the session and the source of some lines."""
        return self._store.heads_at(self._lineage, seqs)


def join_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, sorted, with those that touch or overlap joined."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined
