"""Projects a branch of a campaign into Neo4j, from its own cursor on, in batches.

A batch and the move of the cursor are one transaction, which locks the cursor. So a crash of either side
leaves whole batches only, and two projectors of one branch take turns. Nothing here runs inside `record`:
only committed events are projected.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import GraphRefused, StoreDamaged, StoreTooNew
from dndbots.ids import category_of, is_uid
from dndbots.storage import codec
from dndbots.storage.neo4j import layout
from dndbots.storage.neo4j.graph_rows import Batch, BatchMaker, EdgeRows, group_by_ends, place_text
from dndbots.storage.neo4j.layout import NO_ENTITY, OTHER, node_key
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import BLOCK, Branch, ClaimKey, EventRow, Rows, Segment, Store
from dndbots.storage.upkeep import recorder_of

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

BATCH: Final = 8 * BLOCK
_DROPPED_AT_ONCE: Final = 20_000


class CatchUpResult(NamedTuple):
    """The result of catching up: events read, rows written, and the seq that the graph has reached."""

    events: int
    rows: int
    seq: int


class ProjectionCursor(NamedTuple):
    """The cursor of a branch in the graph; `last` is the id of its last event."""

    seq: int
    last: str | None
    fold: int
    layout: int
    dropping: bool


class _Nodes(NamedTuple):
    """The nodes that a batch needs: perceivers and entities by kind, and groups with their members."""

    who: dict[str, EdgeRows]
    groups: EdgeRows


class _Moved(Exception):
    """Raised if another projector has moved the cursor, or is dropping the branch."""


class _AsOf:
    """A store with the running totals at one seq of the log, and without truth, which is not needed."""

    def __init__(self, store: Store, branch: int, seq: int) -> None:
        self._store, self._branch, self.seq = store, branch, seq

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def claim_totals(self, _branch: int, keys: Collection[ClaimKey]) -> dict[ClaimKey, int]:
        here = (Segment(self._branch, self.seq),)
        return {key: self._store.total_before(here, key, self.seq + 1) for key in keys}

    def intern(self, groups: Collection[frozenset[str]]) -> dict[frozenset[str], int]:
        return self._store.groups(groups)

    def nothing(self, *_args: object) -> dict[Any, Any]:
        return {}

    def nobody(self, *_args: object) -> list[str]:
        return []

    line_totals = truth = nothing
    where_true = nobody


class Projector:
    """Writes one branch to the graph."""

    def __init__(self, server: Server, store: Store, campaign: str, branch: Branch) -> None:
        self._server, self._store, self._campaign, self._branch = server, store, campaign, branch
        self._key = node_key(campaign, branch.id)
        self._batch_maker = BatchMaker(campaign, branch.id)
        self._began = branch.forked_at
        self._uids: set[str] = set()
        self._groups: set[int] = set()

    def catch_up(self, upto: int, on_batch: Callable[[CatchUpResult], None]) -> CatchUpResult:
        """Bring the graph up to an event, if it is not further already; call `on_batch` after each batch."""
        while True:
            try:
                return self._caught_up(upto, on_batch)
            except _Moved:
                self._uids.clear()
                self._groups.clear()

    def _caught_up(self, upto: int, on_batch: Callable[[CatchUpResult], None]) -> CatchUpResult:
        cursor = self._cursor()
        self._began = cursor.seq
        done = CatchUpResult(0, 0, cursor.seq)
        # The next batch is folded while the server writes one; even on an error, that write is waited for.
        with ThreadPoolExecutor(1, thread_name_prefix="dndbots-graph") as executor:
            running: Future[CatchUpResult] | None = None
            for batch, rows in self._batches(cursor.seq, upto):
                nodes = self._nodes(batch)
                if running is not None:
                    done = running.result()
                    on_batch(done)
                running = executor.submit(self._written, done, batch, nodes, rows)
            if running is not None:
                done = running.result()
                on_batch(done)
        return done

    def _written(
        self, before: CatchUpResult, batch: Batch, nodes: _Nodes, events: list[EventRow]
    ) -> CatchUpResult:
        work = partial(self._write, batch=batch, nodes=nodes, events=events, expected=before.seq)
        written = self._server.write(work)
        return CatchUpResult(before.events + len(events), before.rows + written, events[-1].seq)

    def _cursor(self) -> ProjectionCursor:
        """Return the cursor to continue from. First drops a half-dropped graph, or one of another version."""
        cursor = self._server.write(self._begun)
        if cursor.fold > FOLD_VERSION or cursor.layout > layout.VERSION:
            raise StoreTooNew(self._server.where, reason="a newer dndbots projected it; upgrade dndbots")
        if cursor.dropping or (cursor.fold, cursor.layout) != (FOLD_VERSION, layout.VERSION):
            self.drop()
            return self._server.write(self._begun)
        segment = (Segment(self._branch.id, cursor.seq),)
        here = self._store.ids_at(segment, [cursor.seq]).get(cursor.seq)
        if cursor.seq > self._branch.head or (cursor.last is not None and here != cursor.last):
            raise StoreDamaged(
                self._server.where,
                reason=f"its copy of {self._campaign} is of another log; run `dndbots graph rebuild`",
            )
        return cursor

    def _begun(self, tx: "ManagedTransaction") -> ProjectionCursor:
        found = tx.run(
            layout.BEGIN,
            key=self._key,
            campaign=self._campaign,
            id=self._branch.id,
            name=self._branch.name,
            parent=self._branch.parent,
            forked_at=self._branch.forked_at,
            fold=FOLD_VERSION,
            layout=layout.VERSION,
        ).single(strict=True)
        return ProjectionCursor(**{**found, "dropping": bool(found["dropping"])})

    def _batches(self, after: int, upto: int) -> Iterator[tuple[Batch, list[EventRow]]]:
        read: deque[EventRow] = deque()
        then: Any = _AsOf(self._store, self._branch.id, after)
        rows, own = Rows(branch=self._branch.id, head=after, version=FOLD_VERSION), list[EventRow]()

        def events() -> Iterator[Any]:
            for row in self._events(after, upto):
                read.append(row)
                yield codec.from_row(row)

        for part in recorder_of(then, self._branch, at_hand=None).refold(events(), after, words=False):
            then.seq = part.head
            _add(rows, part)
            while read and read[0].seq <= part.head:
                own.append(read.popleft())
            if len(own) >= BATCH:
                yield self._batch_maker.batch(rows, own), own
                rows, own = Rows(branch=self._branch.id, head=after, version=FOLD_VERSION), []
        if own:
            yield self._batch_maker.batch(rows, own), own

    def _events(self, after: int, upto: int) -> Iterator[EventRow]:
        segment = (Segment(self._branch.id, upto),)
        while rows := self._store.events(segment, after=after, limit=BLOCK):
            yield from rows
            after = rows[-1].seq

    def _write(
        self,
        tx: "ManagedTransaction",
        *,
        batch: Batch,
        nodes: _Nodes,
        events: list[EventRow],
        expected: int,
    ) -> int:
        cursor = self._begun(tx)
        if cursor.dropping or cursor.seq != expected:
            raise _Moved
        for kind, own in nodes.who.items():
            tx.run(layout.WHO[kind], rows=own, campaign=self._campaign).consume()
        if nodes.groups:
            tx.run(layout.GROUPS, rows=nodes.groups, campaign=self._campaign).consume()
        tx.run(layout.LOG, rows=batch.log, campaign=self._campaign, branch=self._branch.id).consume()
        for kind in layout.EDGES:
            for statement, rows in self._statements(kind, batch.edges.get(kind, [])):
                counted = (
                    tx.run(statement, ends=group_by_ends(rows), branch=self._branch.id).consume().counters
                )
                if "MERGE" not in statement and counted.relationships_created != len(rows):
                    raise self._missing(f"an end of a {kind}")
        placed = [
            [self._of(group), self._of(uid), place_text(*last)] for (group, uid), last in batch.placed.items()
        ]
        if tx.run(
            layout.PLACED, rows=placed, branch=self._branch.id
        ).consume().counters.properties_set != len(placed):
            raise self._missing("a sighting")
        tx.run(
            layout.END, key=self._key, seq=events[-1].seq, last=events[-1].event_id, rows=batch.size
        ).consume()
        return batch.size

    def _missing(self, what: str) -> GraphRefused:
        reason = f"{what} is missing; run `dndbots graph rebuild`"
        return GraphRefused(self._server.where, reason=reason)

    def _statements(self, kind: str, rows: EdgeRows) -> Iterator[tuple[str, EdgeRows]]:
        """Yield the statements to write some edges, with their rows.

        A run from the start of the branch writes new edges only. Of sightings at places, only those in the
        block where the run began may already be there.
        """
        is_new = self._began == self._branch.forked_at
        if kind == layout.SEEN:
            first = self._began // BLOCK
            grown, new = [row for row in rows if row[3] == first], [row for row in rows if row[3] != first]
        else:
            grown, new = ([], rows) if is_new else (rows, [])
        for statements, own in ((layout.EDGES, grown), (layout.NEW_EDGES, new)):
            if own:
                yield statements[kind], own

    def _nodes(self, batch: Batch) -> _Nodes:
        """Return the nodes of a batch that no earlier batch had.

        If their transaction fails after this, the whole run fails, and the next one starts afresh.
        """
        members = self._store.members([group for group in batch.groups if group not in self._groups])
        groups = [
            [self._of(group), group, [self._of(who) for who in sorted(people)]]
            for group, people in members.items()
        ]
        needed = dict.fromkeys((*batch.uids, *(who for people in members.values() for who in sorted(people))))
        new = [uid for uid in needed if uid not in self._uids]
        who: dict[str, EdgeRows] = {}
        for uid in new:
            category = category_of(uid) if is_uid(uid) else None
            kind = category or (OTHER if is_uid(uid) else NO_ENTITY)
            who.setdefault(kind, []).append([self._of(uid), uid, category])
        self._uids.update(new)
        self._groups.update(batch.groups)
        return _Nodes(who, groups)

    def _of(self, part: object) -> str:
        return node_key(self._campaign, part)

    def drop(self) -> None:
        """Drop the edges and the log of this branch, and nothing else. Others may help, nobody adds to it.

        If it is interrupted, the next projector finishes it.
        """
        self._server.change(layout.DROPPING, key=self._key)
        while self._server.write(self._drop_some):
            pass
        self._uids.clear()
        self._groups.clear()

    def _drop_some(self, tx: "ManagedTransaction") -> bool:
        """Drop a piece; False if it was the last one, or if somebody else has finished the drop."""
        if not self._begun(tx).dropping:
            return False
        of: dict[str, Any] = {"campaign": self._campaign, "branch": self._branch.id}
        if tx.run(layout.DROP_EDGES, **of, limit=_DROPPED_AT_ONCE).single(strict=True)["dropped"]:
            return True
        tx.run(layout.DROP_LOG, **of).consume()
        tx.run(layout.DROP_LONELY, campaign=self._campaign).consume()
        tx.run(layout.DROPPED, key=self._key, fold=FOLD_VERSION, layout=layout.VERSION).consume()
        return False


def _add(rows: Rows, part: Rows) -> None:
    for field in fields(Rows):
        kept, new = getattr(rows, field.name), getattr(part, field.name)
        if isinstance(kept, list):
            kept += new
