"""Reads of lines: the newest ones, and those with some words.

Their cost depends on the question, not on the length of the log.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from sqlalchemy.sql import Executable

from dndbots.storage.ports import BLOCK, GroupSpan, HeardTotals, Hit, Lineage, LogLine, Segment
from dndbots.storage.row_maker import count_hits, read_hits, shared_offsets
from dndbots.storage.sql.database import Database, Row
from dndbots.storage.sql.statements import PAIRED, Statements

# A term with at most this many rows is read at once; any other from its newest blocks back.
_AT_ONCE: Final = 24
_FIRST_BLOCKS: Final = 4
_WIDER: Final = 4


class LineReads:
    """The part of the store that finds lines: the newest, and by their words."""

    _db: Database
    _say: Statements
    _campaign: int

    def heard(self, lineage: Lineage, viewer: str, *, beside: str | None = None) -> HeardTotals:
        segments = [segment._asdict() for segment in lineage]
        whose = {"viewer": viewer, "campaign": self._campaign}
        if beside is None:
            found = self._db.each(self._say.heard, segments, **whose)
        else:
            found = self._db.each(self._say.heard_together, segments, **whose, another=beside)
        totals = [(int(lines or 0), int(words or 0)) for rows in found for lines, words in rows]
        return HeardTotals(sum(lines for lines, _ in totals), sum(words for _, words in totals))

    def newest_perceived(
        self, lineage: Lineage, viewer: str, *, limit: int, without: str | None = None
    ) -> list[int]:
        audiences = self._say.audiences_newest if without is None else self._say.audiences_newest_without
        found: list[int] = []
        for segment in reversed(lineage):
            if len(found) < limit:
                found += self._newest(
                    audiences,
                    self._say.newest_lines,
                    limit - len(found),
                    branch=segment.branch,
                    upto=segment.upto,
                    viewer=viewer,
                    campaign=self._campaign,
                    another=without,
                )
        return found

    def newest_mentions(
        self, lineage: Lineage, uids: Collection[str], viewer: str, *, limit: int
    ) -> list[int]:
        found: set[int] = set()
        for segment in reversed(lineage):
            for uid in uids:
                found |= set(
                    self._newest(
                        self._say.mentions_newest,
                        self._say.newest_mentions,
                        limit,
                        branch=segment.branch,
                        upto=segment.upto,
                        viewer=viewer,
                        campaign=self._campaign,
                        uid=uid,
                    )
                )
        return sorted(found, reverse=True)[:limit]

    def _newest(
        self, by_audience: Executable, of_audience: Executable, limit: int, **values: Any
    ) -> list[int]:
        """Merge audiences, starting with the newest event, as long as another one may still add something."""
        newest = [(int(seq), group) for group, seq in self._db.all(by_audience, **values) if seq is not None]
        found: list[int] = []
        for seq, group in sorted(newest, reverse=True):
            if len(found) == limit and seq < found[-1]:
                break
            rows = self._db.all(of_audience, audience=group, limit=limit, **values)
            found = sorted({*found, *(int(row[0]) for row in rows)}, reverse=True)[:limit]
        return found

    def lines_between(
        self, lineage: Lineage, viewer: str, spans: Collection[tuple[int, int]]
    ) -> dict[int, LogLine]:
        wanted = [
            {"branch": branch, "first": first, "last": min(last, upto)}
            for branch, upto in lineage
            for first, last in spans
            if first <= upto
        ]
        found = self._db.each(self._say.lines_between, wanted, viewer=viewer, campaign=self._campaign)
        return {seq: LogLine(audience, words) for rows in found for seq, audience, words in rows}

    def lines_at(self, lineage: Lineage, groups: Mapping[int, int]) -> dict[int, LogLine]:
        wanted = []
        for branch, own in _by_segment(lineage, groups):
            by_group: dict[int, list[int]] = {}
            for seq in own:
                by_group.setdefault(groups[seq], []).append(seq)
            wanted += [
                {"branch": branch, "audience": group, "seqs": self._db.dialect.as_list(seqs)}
                for group, seqs in by_group.items()
            ]
        found = self._db.each(self._say.lines_at, wanted)
        return {seq: LogLine(audience, words) for rows in found for seq, audience, words in rows}

    def group_spans(self, lineage: Lineage, viewer: str) -> list[GroupSpan]:
        segments = [segment._asdict() for segment in lineage]
        found = self._db.each(self._say.group_spans, segments, viewer=viewer, campaign=self._campaign)
        return [
            GroupSpan(segment.branch, *row)
            for segment, rows in zip(lineage, found, strict=True)
            for row in rows
        ]

    def ordinals(self, span: GroupSpan, seqs: Collection[int]) -> dict[int, int]:
        rows = self._db.all(
            self._say.ordinals,
            branch=span.branch,
            audience=span.audience,
            seqs=self._db.dialect.as_list(seqs),
        )
        return {seq: ordinal or 0 for seq, ordinal in rows}

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
        """Read the newest blocks, then ever more before them, until there are enough hits."""
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
    ) -> list[Hit]:
        found: set[Hit] = set()
        for branch, upto in lineage:
            rows = self._db.all(
                self._say.postings_together,
                branch=branch,
                some=self._db.dialect.as_list(some),
                others=self._db.dialect.as_list(others),
                viewer=viewer,
                campaign=self._campaign,
            )
            for group, block, own, beside in rows:
                first = block * BLOCK
                found.update([(first + offset, 1, group) for offset in shared_offsets(own, beside)])
            found = {hit for hit in found if hit[0] <= upto}
        return sorted(found, reverse=True)

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, LogLine]
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
                    found.setdefault(term, {}).update(count_hits(hits, blocks[group, block]))
        return {term: times for term, times in found.items() if times}

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, LogLine]) -> set[int]:
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
    for group, block, hits in rows:
        if "*" in hits:
            found += read_hits(group, block, hits)
        else:
            # Most rows of most words have one line, or a few.
            first = block * BLOCK
            found += [(first + int(offset), 1, group) for offset in hits.split()]
    upto = segment.upto
    return [hit for hit in found if hit[0] <= upto]


def _by_segment(lineage: Lineage, seqs: Collection[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield seqs grouped by the branch that holds them."""
    after = -1
    for branch, upto in lineage:
        own = [seq for seq in seqs if after < seq <= upto]
        if own:
            yield branch, own
        after = upto
