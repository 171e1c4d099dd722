"""The in-memory twin of a store: rows in lists, and every read a scan. Slow, short, and plainly right."""

import copy
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Self

from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import BranchExists, SequenceConflict
from dndbots.storage.ports import (
    MAIN,
    VIEWS,
    Branch,
    ClaimKey,
    ClaimRow,
    Cursor,
    EventRow,
    GroupSpan,
    HeardTotals,
    Hit,
    IdentityRow,
    Lineage,
    LineHead,
    LinkRow,
    LogLine,
    MentionRow,
    NameRow,
    Rows,
    Sealed,
    Seed,
    TruthRow,
)
from dndbots.storage.row_maker import read_hits


@dataclass
class _Tables:
    """All rows of a campaign."""

    branches: dict[int, Branch] = field(default_factory=lambda: {1: Branch(1, MAIN, None, 0, 0)})
    cursors: dict[int, Cursor] = field(default_factory=dict)
    groups: list[frozenset[str]] = field(default_factory=list)
    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in ("events", *VIEWS)})

    def copy(self) -> "_Tables":
        rows = {name: list(kept) for name, kept in self.rows.items()}
        return _Tables(copy.copy(self.branches), copy.copy(self.cursors), list(self.groups), rows)


@dataclass
class _Shared:
    """The tables that several handles on one campaign share."""

    tables: _Tables = field(default_factory=_Tables)
    lock: RLock = field(default_factory=RLock)


class MemoryStore:
    """A campaign that lives as long as its process."""

    where = "memory"

    def __init__(self, shared: _Shared | None = None) -> None:
        self._shared = shared or _Shared()
        self._seen: _Tables | None = None  # the tables of an open snapshot

    def another(self) -> Self:
        return type(self)(self._shared)

    def close(self) -> None:
        """Nothing is held open."""

    # The log.

    def branches(self) -> list[Branch]:
        return list(self._tables.branches.values())

    def add_branch(
        self, name: str, *, parent: int, forked_at: int, seed: Seed, instead_of: int | None = None
    ) -> Branch:
        with self._shared.lock:
            if any(branch.name == name for branch in self.branches()):
                raise BranchExists(name)
            tables = self._tables
            branch = Branch(len(tables.branches) + 1, name, parent, forked_at, forked_at)
            tables.branches[branch.id] = branch
            self.write(seed(self, branch))
            if instead_of is not None:
                self.exchange_names(instead_of, branch.id, expected=tables.branches[instead_of].head)
            return tables.branches[branch.id]

    def exchange_names(self, one: int, other: int, *, expected: int) -> None:
        with self._shared.lock:
            branches = self._tables.branches
            first, second = branches[one], branches[other]
            if first.head != expected:
                raise SequenceConflict(expected=expected, actual=first.head)
            branches[one] = first._replace(name=second.name)
            branches[other] = second._replace(name=first.name)

    @contextmanager
    def appending(self, branch: int) -> Iterator[int]:
        with self._shared.lock:
            before = self._tables.copy()
            try:
                yield self._tables.branches[branch].head
            except BaseException:  # an interruption must leave nothing half-written either
                self._shared.tables = before
                raise

    def write(self, rows: Rows) -> None:
        tables = self._tables
        for name in ("events", *VIEWS):
            kept, new = tables.rows[name], getattr(rows, name)
            if name == "truth":
                replaced = {(row.subject, row.slot) for row in new}
                kept[:] = [
                    row
                    for row in kept
                    if row.branch != rows.branch or (row.subject, row.slot) not in replaced
                ]
            if name == "postings":
                new = _grown(kept, new)
            if name in ("slots", "sightings", "links"):
                known = {row[:-1] for row in kept}
                new = [row for row in new if row[:-1] not in known]
            kept.extend(VIEWS[name]._make(row) if name in VIEWS else row for row in new)
        tables.branches[rows.branch] = tables.branches[rows.branch]._replace(head=rows.head)
        tables.cursors[rows.branch] = Cursor(rows.head, rows.version)

    def intern(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        wanted = list(dict.fromkeys(groups))
        self._tables.groups += [group for group in wanted if group not in self._tables.groups]
        return self.groups(wanted)

    def groups(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        kept = self._tables.groups
        return {group: kept.index(group) + 1 for group in groups if group in kept}

    def members(self, groups: Collection[int]) -> dict[int, frozenset[str]]:
        return {number: self._tables.groups[number - 1] for number in groups}

    def events(self, lineage: Lineage, *, after: int, limit: int) -> list[EventRow]:
        rows: list[EventRow] = self._rows("events", lineage, lambda row: row.seq > after)
        return sorted(rows, key=lambda row: row.seq)[:limit]

    def events_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, EventRow]:
        return {row.seq: row for row in self._rows("events", lineage, lambda row: row.seq in seqs)}

    def seqs_of(self, lineage: Lineage, ids: Collection[str]) -> dict[str, int]:
        rows = self._rows("events", lineage, lambda row: row.event_id in ids)
        return {row.event_id: row.seq for row in rows}

    def ids_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, str]:
        return {seq: row.event_id for seq, row in self.events_at(lineage, seqs).items()}

    def newest_perceived(
        self, lineage: Lineage, viewer: str, *, limit: int, without: str | None = None
    ) -> list[int]:
        rows = self._rows("lines", lineage, lambda row: self._has(row.audience, viewer))
        rows = [row for row in rows if without is None or not self._has(row.audience, without)]
        return sorted((row.seq for row in rows), reverse=True)[:limit]

    def newest_mentions(
        self, lineage: Lineage, uids: Collection[str], viewer: str, *, limit: int
    ) -> list[int]:
        rows = self._rows(
            "mentions", lineage, lambda row: row.uid in uids and self._has(row.audience, viewer)
        )
        return sorted({row.seq for row in rows}, reverse=True)[:limit]

    def heard(self, lineage: Lineage, viewer: str, *, beside: str | None = None) -> HeardTotals:
        rows = self._rows("lines", lineage, lambda row: self._has(row.audience, viewer))
        rows = [row for row in rows if self._has(row.audience, beside)]
        return HeardTotals(len(rows), sum(row.words for row in rows))

    def hits(
        self, lineage: Lineage, terms: Collection[str], viewer: str, *, limit: int
    ) -> dict[str, list[Hit]]:
        upto, found = dict(lineage), dict[str, list[Hit]]()
        for row in self._tables.rows["postings"]:
            if row.term in terms and row.branch in upto and self._has(row.audience, viewer):
                every = read_hits(row.audience, row.block, row.hits)
                own = (hit for hit in every if hit[0] <= upto[row.branch])
                found.setdefault(row.term, []).extend(own)
        return {term: sorted(hits, reverse=True)[:limit] for term, hits in found.items() if hits}

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, LogLine]
    ) -> dict[str, dict[int, int]]:
        upto, found = dict(lineage), dict[str, dict[int, int]]()
        for row in self._tables.rows["postings"]:
            if row.term in terms and row.branch in upto:
                for seq, times, _ in read_hits(row.audience, row.block, row.hits):
                    if seq in lines and lines[seq].audience == row.audience and seq <= upto[row.branch]:
                        found.setdefault(row.term, {})[seq] = times
        return found

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, LogLine]) -> set[int]:
        rows = self._rows("mentions", lineage, lambda row: row.uid in uids and row.seq in lines)
        return {row.seq for row in rows if row.audience == lines[row.seq].audience}

    def lines_between(
        self, lineage: Lineage, viewer: str, spans: Collection[tuple[int, int]]
    ) -> dict[int, LogLine]:
        rows = self._rows("lines", lineage, lambda row: self._has(row.audience, viewer))
        return {
            row.seq: LogLine(row.audience, row.words)
            for row in rows
            if any(first <= row.seq <= last for first, last in spans)
        }

    def lines_at(self, lineage: Lineage, groups: Mapping[int, int]) -> dict[int, LogLine]:
        rows = self._rows("lines", lineage, lambda row: groups.get(row.seq) == row.audience)
        return {row.seq: LogLine(row.audience, row.words) for row in rows}

    def group_spans(self, lineage: Lineage, viewer: str) -> list[GroupSpan]:
        rows = self._rows("lines", lineage, lambda row: self._has(row.audience, viewer))
        counts = Counter((row.branch, row.audience) for row in rows)
        return [GroupSpan(*key, lines) for key, lines in counts.items()]

    def lines_upto(self, branch: int, groups: Collection[int], seqs: Collection[int]) -> dict[int, int]:
        rows = self._tables.rows["lines"]
        own = [row.seq for row in rows if row.branch == branch and row.audience in groups]
        return {seq: sum(line <= seq for line in own) for seq in seqs}

    def heads_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, LineHead]:
        rows = self.events_at(lineage, seqs)
        return {seq: LineHead(row.session_id, row.source) for seq, row in rows.items()}

    # Claims.

    def latest(
        self,
        lineage: Lineage,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        viewer: str | None = None,
    ) -> list[ClaimRow]:
        newest: dict[tuple[Any, ...], ClaimRow] = {}
        for row in self._claims(lineage, subjects, viewer):
            key = row[:5]
            if slots is not None and row.slot not in slots:
                continue
            if key not in newest or _when(row) > _when(newest[key]):
                newest[key] = row
        return list(newest.values())

    def latest_in(
        self, lineage: Lineage, keys: Collection[tuple[str, str]], viewer: str | None
    ) -> list[ClaimRow]:
        rows = self.latest(lineage, subjects={subject for subject, _ in keys}, viewer=viewer)
        return [row for row in rows if (row.subject, row.slot) in keys]

    def latest_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None = None
    ) -> list[MentionRow]:
        rows = sorted(self.all_places(lineage, uids, viewer), key=lambda row: row.seq)
        return list({row[:3]: row for row in rows}.values())

    def all_places(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[MentionRow]:
        return self._rows(
            "mentions",
            lineage,
            lambda row: row.uid in uids and row.place is not None and self._has(row.audience, viewer),
        )

    def all_claims(self, lineage: Lineage, subjects: Collection[str], viewer: str | None) -> list[ClaimRow]:
        return self._claims(lineage, subjects, viewer)

    def newest_claims(
        self, lineage: Lineage, subject: str, slot: str, viewer: str, *, limit: int
    ) -> list[ClaimRow]:
        return [
            row
            for segment in lineage
            for row in sorted(
                (row for row in self._claims((segment,), [subject], viewer) if row.slot == slot),
                key=_when,
                reverse=True,
            )[:limit]
        ]

    def links(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[LinkRow]:
        return self._rows(
            "links",
            lineage,
            lambda row: (row.subject in uids or row.object in uids) and self._has(row.holders, viewer),
        )

    def total_before(self, lineage: Lineage, key: ClaimKey, seq: int) -> int:
        rows = self._claims(lineage, [key.subject], None)
        return sum(int(row.value) for row in rows if row[1:5] == tuple(key) and row.seq < seq)

    def subjects(self, lineage: Lineage, prefix: str, viewer: str) -> list[str]:
        rows = self._claims(lineage, None, viewer)
        return sorted({row.subject for row in rows if row.subject.startswith(prefix)})

    def _claims(
        self, lineage: Lineage, subjects: Collection[str] | None, viewer: str | None
    ) -> list[ClaimRow]:
        return self._rows(
            "claims",
            lineage,
            lambda row: (subjects is None or row.subject in subjects) and self._has(row.holders, viewer),
        )

    # People and names.

    def sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None = None) -> set[str]:
        rows = self._rows(
            "sightings", lineage, lambda row: row.uid in uids and self._has(row.audience, viewer)
        )
        return {row.uid for row in rows}

    def all_sighted(self, lineage: Lineage, viewer: str) -> list[str]:
        rows = self._rows("sightings", lineage, lambda row: self._has(row.audience, viewer))
        return sorted({row.uid for row in rows if " " not in row.uid})

    def first_marked(self, lineage: Lineage, prefix: str, viewer: str) -> dict[str, int]:
        return self._first(lineage, lambda uid: uid.startswith(prefix), viewer)

    def first_sighted(self, lineage: Lineage, uids: Collection[str], viewer: str) -> dict[str, int]:
        return self._first(lineage, lambda uid: uid in uids, viewer)

    def _first(self, lineage: Lineage, wanted: Callable[[str], bool], viewer: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for row in self._rows(
            "sightings", lineage, lambda row: wanted(row.uid) and self._has(row.audience, viewer)
        ):
            found[row.uid] = min(row.seq, found.get(row.uid, row.seq))
        return found

    def uids_like(self, prefix: str) -> set[str]:
        return {row.uid for row in self._tables.rows["sightings"] if row.uid.startswith(prefix)}

    def names_of(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[NameRow]:
        return self._rows("names", lineage, lambda row: row.uid in uids and self._has(row.audience, viewer))

    def uids_with(self, lineage: Lineage, prefixes: Collection[str]) -> set[str]:
        rows = self._rows("sightings", lineage, lambda row: row.uid.startswith(tuple(prefixes)))
        return {row.uid for row in rows}

    def named(self, lineage: Lineage, folded: Collection[str], viewer: str | None) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for row in self._rows(
            "names", lineage, lambda row: row.folded in folded and self._has(row.audience, viewer)
        ):
            found.setdefault(row.folded, set()).add(row.uid)
        return found

    def identities(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[IdentityRow]:
        return self._rows(
            "identities",
            lineage,
            lambda row: (row.uid in uids or row.same_as in uids) and self._has(row.audience, viewer),
        )

    # Truth and running totals.

    def truth(self, branch: int, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], TruthRow]:
        rows = self._tables.rows["truth"]
        return {
            (row.subject, row.slot): row
            for row in rows
            if row.branch == branch and (row.subject, row.slot) in keys
        }

    def where_true(self, branch: int, slot: str, value: str) -> list[str]:
        rows = self._tables.rows["truth"]
        return [
            row.subject for row in rows if row.branch == branch and row.slot == slot and row.value == value
        ]

    def claim_totals(self, branch: int, keys: Collection[ClaimKey]) -> dict[ClaimKey, int]:
        rows = [row for row in self._tables.rows["claims"] if row.branch == branch]
        return {ClaimKey(*row[1:5]): row.total for row in rows if ClaimKey(*row[1:5]) in keys}

    def line_totals(self, branch: int, audiences: Collection[int]) -> dict[int, tuple[int, int]]:
        rows = [row for row in self._tables.rows["lines"] if row.branch == branch]
        return {row.audience: (row.ordinal, row.words_total) for row in rows if row.audience in audiences}

    # Upkeep.

    def keep_connection(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._shared.lock:
            self._seen = self._tables.copy()
        try:
            yield
        finally:
            self._seen = None

    def cursor(self, branch: int) -> Cursor:
        return self._tables.cursors.get(branch, Cursor(self._tables.branches[branch].forked_at, FOLD_VERSION))

    def clear_views(self, branch: int) -> None:
        for name in VIEWS:
            kept = self._tables.rows[name]
            kept[:] = [row for row in kept if row[0] != branch]

    def view_rows(self, view: str, branch: int) -> Iterator[Sequence[object]]:
        return (row for row in self._tables.rows[view] if row[0] == branch)

    def noted_seals(self) -> dict[int, Sealed]:
        return {}

    def seal(self, _branch: int) -> Sealed | None:
        return None

    def accept(self) -> None:
        """Do nothing: no other program can change a campaign in memory."""

    def group_faults(self) -> list[str]:
        return []

    def faults(self) -> list[str]:
        return []

    @property
    def _tables(self) -> _Tables:
        return self._seen or self._shared.tables

    def _has(self, group: int, viewer: str | None) -> bool:
        return viewer is None or viewer in self._tables.groups[group - 1]

    def _rows(self, name: str, lineage: Lineage, wanted: Callable[[Any], bool]) -> list[Any]:
        upto = dict(lineage)
        return [row for row in self._tables.rows[name] if row.seq <= upto.get(row.branch, -1) and wanted(row)]


def _grown(kept: list[Any], new: list[Any]) -> list[Any]:
    """Return new blocks of postings with the old hits before the new ones; drop the old blocks."""
    before = {row[:4]: row for row in kept}
    grown = [
        (*row[:4], old.events + row[4], old.hits + row[5]) if (old := before.get(row[:4])) else row
        for row in new
    ]
    replaced = {row[:4] for row in new}
    kept[:] = [row for row in kept if row[:4] not in replaced]
    return grown


def _when(row: ClaimRow) -> tuple[int, int, int]:
    return row.valid_from, row.seq, row.n
