"""What recall reads of the index of words. Its cost depends on what is asked for, not on the log."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from dndbots.storage.ports import BLOCK, Heard, Hit, Line, Lineage, Segment
from dndbots.storage.rowmaking import hits_in, shared_by, times_among
from dndbots.storage.sql.database import Database, Row
from dndbots.storage.sql.statements import PAIRED, Statements

# A term that has no more rows than this is read in one look; any other from its newest blocks back.
_AT_ONCE: Final = 24
_FIRST_BLOCKS: Final = 4
_WIDER: Final = 4


class WordReads:
    """The part of the store that finds lines by their words."""

    _db: Database
    _say: Statements
    _campaign: int

    def heard(self, lineage: Lineage, viewer: str, *, beside: str | None = None) -> Heard:
        segments = [segment._asdict() for segment in lineage]
        whose = {"viewer": viewer, "campaign": self._campaign}
        if beside is None:
            found = self._db.each(self._say.heard, segments, **whose)
        else:
            found = self._db.each(self._say.heard_together, segments, **whose, another=beside)
        totals = [(int(lines or 0), int(words or 0)) for rows in found for lines, words in rows]
        return Heard(sum(lines for lines, _ in totals), sum(words for _, words in totals))

    def lines_between(
        self, lineage: Lineage, viewer: str, spans: Collection[tuple[int, int]]
    ) -> dict[int, Line]:
        wanted = [
            {"branch": branch, "first": first, "last": min(last, upto)}
            for branch, upto in lineage
            for first, last in spans
            if first <= upto
        ]
        found = self._db.each(self._say.lines_between, wanted, viewer=viewer, campaign=self._campaign)
        return {seq: Line(audience, words) for rows in found for seq, audience, words in rows}

    def hits(
        self, lineage: Lineage, terms: Collection[str], viewer: str, *, limit: int
    ) -> dict[str, list[Hit]]:
        wanted = [{"branch": segment.branch, "term": term} for segment in lineage for term in terms]
        rows = self._db.each(
            self._say.some_postings, wanted, viewer=viewer, campaign=self._campaign, limit=_AT_ONCE
        )
        found: dict[str, list[Hit]] = {}
        keys = [(segment, term) for segment in lineage for term in terms]
        for (segment, term), some in zip(keys, rows, strict=True):
            if not some:
                continue
            if len(some) < _AT_ONCE:
                hits = _within(segment, some)
            else:
                hits = self._newest_hits(segment, term, viewer, limit)
            if hits:
                found.setdefault(term, []).extend(hits)
        return {term: sorted(hits, reverse=True)[:limit] for term, hits in found.items()}

    def _newest_hits(self, segment: Segment, term: str, viewer: str, limit: int) -> list[Hit]:
        """Reads some blocks, and then ever more before them, until there are enough."""
        found: list[Hit] = []
        last, number = segment.upto // BLOCK, _FIRST_BLOCKS
        while last >= 0 and len(found) < limit:
            rows = self._db.all(
                self._say.newest_postings,
                branch=segment.branch,
                term=term,
                viewer=viewer,
                campaign=self._campaign,
                first=last - number + 1,
                last=last,
            )
            found += _within(segment, rows)
            last, number = last - number, number * _WIDER
        return found

    def together(
        self, lineage: Lineage, some: Collection[str], others: Collection[str], viewer: str
    ) -> list[int]:
        found: set[int] = set()
        for branch, upto in lineage:
            rows = self._db.all(
                self._say.postings_together,
                branch=branch,
                some=self._db.dialect.as_list(some),
                others=self._db.dialect.as_list(others),
                viewer=viewer,
                campaign=self._campaign,
            )
            for block, own, beside in rows:
                first = block * BLOCK
                found.update([first + place for place in shared_by(own, beside)])
            found = {seq for seq in found if seq <= upto}
        return sorted(found, reverse=True)

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, Line]
    ) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for branch, own in _by_segment(lineage, lines):
            blocks: dict[tuple[int, int], list[int]] = {}
            for seq in own:
                blocks.setdefault((lines[seq].audience, seq // BLOCK), []).append(seq)
            pairs = self._db.dialect.as_list([group * PAIRED + block for group, block in blocks])
            each = self._db.each(
                self._say.postings_at, [{"term": term} for term in terms], branch=branch, pairs=pairs
            )
            for term, rows in zip(terms, each, strict=True):
                for group, block, hits in rows:
                    found.setdefault(term, {}).update(times_among(hits, blocks[group, block]))
        return {term: times for term, times in found.items() if times}

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, Line]) -> set[int]:
        found: set[int] = set()
        for branch, own in _by_segment(lineage, lines):
            pairs = self._db.dialect.as_list([lines[seq].audience * PAIRED + seq for seq in own])
            each = self._db.each(
                self._say.mentions_at, [{"uid": uid} for uid in uids], branch=branch, pairs=pairs
            )
            found |= {seq for rows in each for (seq,) in rows}
        return found


def _within(segment: Segment, rows: Iterable[Row]) -> list[Hit]:
    found: list[Hit] = []
    for block, hits in rows:
        if "*" in hits:
            found += hits_in(block, hits)
        else:
            # Most rows of most words: one line, or a few.
            first = block * BLOCK
            found += [(first + int(place), 1) for place in hits.split()]
    upto = segment.upto
    return [hit for hit in found if hit[0] <= upto]


def _by_segment(lineage: Lineage, seqs: Collection[int]) -> Iterator[tuple[int, list[int]]]:
    """Places, each in the branch that it belongs to."""
    after = -1
    for branch, upto in lineage:
        own = [seq for seq in seqs if after < seq <= upto]
        if own:
            yield branch, own
        after = upto
