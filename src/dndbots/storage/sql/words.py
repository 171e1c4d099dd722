"""What recall reads of the index of words. Its cost depends on what is asked for, not on the log."""

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import Final

from dndbots.storage.ports import BLOCK, Heard, Hit, Lineage, PostingRow, Segment
from dndbots.storage.rowmaking import hits_of
from dndbots.storage.sql.database import Database
from dndbots.storage.sql.statements import Statements

# A term that has no more rows than this is read in one look; any other from its newest block back.
_AT_ONCE: Final = 24
_PAGE: Final = 4


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
    ) -> dict[int, int]:
        wanted = [
            {"branch": branch, "first": first, "last": min(last, upto)}
            for branch, upto in lineage
            for first, last in spans
            if first <= upto
        ]
        found = self._db.each(self._say.lines_between, wanted, viewer=viewer, campaign=self._campaign)
        return {int(seq): int(words) for rows in found for seq, words in rows}

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
                hits = _within(segment, map(PostingRow._make, some))
            else:
                hits = self._newest_hits(segment, term, viewer, limit)
            if hits:
                found.setdefault(term, []).extend(hits)
        return {term: sorted(hits, reverse=True)[:limit] for term, hits in found.items()}

    def _newest_hits(self, segment: Segment, term: str, viewer: str, limit: int) -> list[Hit]:
        """Reads the audience that may have the newest of what is left, until enough are settled."""
        audiences = self._db.all(self._say.audiences_of, viewer=viewer, campaign=self._campaign)
        newest = segment.upto // BLOCK
        left = {int(row[0]): newest for row in audiences}
        pages = dict.fromkeys(left, _PAGE)
        found: list[PostingRow] = []
        number = 0
        while left:
            audience, block = max(left.items(), key=lambda one: one[1])
            # What a look into the past must not count stands in the newest block.
            if number >= limit and sum(row.events for row in found if block < row.block < newest) >= limit:
                break
            rows = self._db.all(
                self._say.newest_postings,
                branch=segment.branch,
                term=term,
                audience=audience,
                block=block,
                limit=pages[audience],
            )
            new = list(map(PostingRow._make, rows))
            found += new
            number += sum(row.events for row in new)
            if len(rows) < pages[audience]:
                del left[audience]
            else:
                left[audience] = found[-1].block - 1
            pages[audience] *= 4
        return _within(segment, found) if number <= limit else _newest(segment, found, limit)


def _within(segment: Segment, rows: Iterable[PostingRow]) -> list[Hit]:
    upto = segment.upto
    return [hit for row in rows for hit in hits_of(row) if hit[0] <= upto]


def _newest(segment: Segment, rows: list[PostingRow], limit: int) -> list[Hit]:
    """The same, from the newest block back and no further than needed."""
    found: list[Hit] = []
    for _, block in groupby(sorted(rows, key=_block, reverse=True), _block):
        if len(found) >= limit:
            break
        found += _within(segment, block)
    return found


def _block(row: PostingRow) -> int:
    return row.block
