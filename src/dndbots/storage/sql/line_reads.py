"""Reads of lines: the newest ones, and those with some words.

Their cost depends on the question, not on the length of the log.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final

from sqlalchemy.sql import Executable

from dndbots.storage.ports import BLOCK, GroupSpan, HeardTotals, Hit, Lineage, LogLine, Segment
from dndbots.storage.row_maker import count_hits, read_hits
from dndbots.storage.sql.database import Database
from dndbots.storage.sql.statements import PAIRED, Statements

# The number of blocks that are read first: at least so many, or as if each had so many hits.
_FIRST_BLOCKS: Final = 8
_HITS_A_BLOCK: Final = 10
_BLOCK: Final = itemgetter(2)
# So many times more are read in each next round.
_WIDER: Final = 4
# After so many blocks, terms that were not found are looked up in all that are left.
_ROUNDS_OF_ALL: Final = 32
_ALL_BLOCKS: Final = 1 << 40
# The hits of a term are not spread evenly.
_MORE: Final = 1.15


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

    def lines_upto(self, branch: int, groups: Collection[int], seqs: Collection[int]) -> dict[int, int]:
        as_list = self._db.dialect.as_list
        rows = self._db.all(self._say.lines_upto, branch=branch, groups=as_list(groups), seqs=as_list(seqs))
        return {seq: int(lines or 0) for seq, lines in rows}

    def hits(
        self, lineage: Lineage, terms: Collection[str], viewer: str, *, limit: int
    ) -> dict[str, list[Hit]]:
        found: dict[str, list[Hit]] = {}
        # Most forms of a word were never said by anybody; not to look for them costs least.
        listed = self._db.dialect.as_list(list(terms))
        for segment in lineage:
            rows = self._db.all(self._say.said_terms, branch=segment.branch, terms=listed)
            said = [term for (term,) in rows]
            for term, hits in self._newest_hits(segment, said, viewer, limit).items():
                found.setdefault(term, []).extend(hits)
        return {term: sorted(hits, reverse=True)[:limit] for term, hits in found.items()}

    def _newest_hits(
        self, segment: Segment, terms: Collection[str], viewer: str, limit: int
    ) -> dict[str, list[Hit]]:
        """Read the newest blocks of all terms at once, then before them as many as each term seems to need.

        A term that the first rounds do not find at all is so rare that the rest is read at once.
        """
        found: dict[str, list[Hit]] = {}
        last = segment.upto // BLOCK
        needs = dict.fromkeys(terms, max(limit // _HITS_A_BLOCK, _FIRST_BLOCKS))
        unread = dict.fromkeys(terms, last)  # the newest block that was not read yet
        while needs:
            together: dict[range, list[str]] = {}
            for term, blocks in needs.items():
                span = range(max(unread[term] - blocks + 1, 0), unread[term] + 1)
                together.setdefault(span, []).append(term)
                unread[term] -= blocks
            for span, own in together.items():
                self._read_blocks(segment, own, viewer, span, found, limit)
            needs = {
                term: _more_blocks(last - unread[term], len(found.get(term, ())), limit)
                for term in needs
                if unread[term] >= 0 and len(found.get(term, ())) < limit
            }
        return found

    def _read_blocks(
        self,
        segment: Segment,
        terms: Collection[str],
        viewer: str,
        blocks: range,
        found: dict[str, list[Hit]],
        limit: int,
    ) -> None:
        """Add the hits of some blocks; of older blocks than a term needs to reach the limit, none."""
        if not terms:
            return
        rows = self._db.all(
            self._say.postings_between,
            branch=segment.branch,
            terms=self._db.dialect.as_list(terms),
            viewer=viewer,
            campaign=self._campaign,
            first=blocks.start,
            last=blocks[-1],
        )
        upto = segment.upto
        enough: dict[str, int] = {}
        is_cut = blocks.stop * BLOCK > upto
        for term, group, block, hits in sorted(rows, key=_BLOCK, reverse=True):
            if enough and block < enough.get(term, 0):
                continue
            own = read_hits(group, block, hits)
            if is_cut and own[-1][0] > upto:
                own = [hit for hit in own if hit[0] <= upto]
            if term in found:
                found[term] += own
            elif own:
                found[term] = own
            if len(found.get(term, own)) >= limit:
                enough.setdefault(term, block)

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, LogLine]
    ) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        listed = self._db.dialect.as_list(list(terms))
        for branch, own in _by_segment(lineage, lines):
            blocks: dict[tuple[int, int], list[int]] = {}
            for seq in own:
                blocks.setdefault((lines[seq].audience, seq // BLOCK), []).append(seq)
            pairs = self._db.dialect.as_list([group * PAIRED + block for group, block in blocks])
            rows = self._db.all(self._say.postings_at, branch=branch, terms=listed, pairs=pairs)
            for term, group, block, hits in rows:
                if counts := count_hits(block, hits, blocks[group, block]):
                    found.setdefault(term, {}).update(counts)
        return found

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, LogLine]) -> set[int]:
        found: set[int] = set()
        for branch, own in _by_segment(lineage, lines):
            pairs = self._db.dialect.as_list([lines[seq].audience * PAIRED + seq for seq in own])
            each = self._db.each(
                self._say.mentions_at, [{"uid": uid} for uid in uids], branch=branch, pairs=pairs
            )
            found |= {seq for rows in each for (seq,) in rows}
        return found


def _more_blocks(read: int, hits: int, limit: int) -> int:
    """Return how many more blocks to read for a term with so many hits in those that were read.

    It is a power of two, so that terms are read together.
    """
    if not hits:
        return read * _WIDER if read < _ROUNDS_OF_ALL else _ALL_BLOCKS
    return 1 << math.ceil(math.log2(max(read * (limit - hits) / hits * _MORE, _FIRST_BLOCKS)))


def _by_segment(lineage: Lineage, seqs: Collection[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield seqs grouped by the branch that holds them."""
    after = -1
    for branch, upto in lineage:
        own = [seq for seq in seqs if after < seq <= upto]
        if own:
            yield branch, own
        after = upto
