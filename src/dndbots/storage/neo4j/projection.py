"""A campaign's projection into Neo4j: catch up, rebuild, verify, follow, and ask.

It is a copy of canon with its own cursor. It never blocks play: while Neo4j is away, it waits and says so.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any, Final, NamedTuple, cast

from dndbots.errors import (
    GraphUnavailable,
    NotProjected,
    StoreBusy,
    StoreUnavailable,
    UnknownBranch,
    UnknownEvent,
)
from dndbots.ids import DM, check_name
from dndbots.storage.neo4j import layout
from dndbots.storage.neo4j.comparison import find_graph_problems
from dndbots.storage.neo4j.graph_reads import GraphReads
from dndbots.storage.neo4j.projector import CatchUpResult, Projector
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import Branch, Lineage, Segment, Store
from dndbots.storage.upkeep import Problem, Progress, lineage_of
from dndbots.storage.views.graph import Graph
from dndbots.storage.views.view import View

_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_PATIENCE: Final = 30.0
# Errors that may pass; compared by exact type, because those of the subclasses last.
_PASSING: Final = (GraphUnavailable, StoreUnavailable, StoreBusy)


class FollowStatus(NamedTuple):
    """The state of a projection that follows the log: its seq, how far behind, and what it waits for."""

    seq: int
    behind: int
    waiting_for: str | None


class _Stopped(Exception):
    """Raised to stop following, between two batches."""


class Projection:
    """The projection of a branch, with the past that it shares. A database may hold many projections."""

    def __init__(self, server: Server, store: Store, campaign: str, branch: str) -> None:
        self._server, self._store, self._branch = server, store, branch
        self.campaign = check_name(campaign)
        self.where = server.where
        self._is_ready = False

    def close(self) -> None:
        self._server.close()

    # Bring it up to date.

    def catch_up(self, progress: Progress | None = None) -> CatchUpResult:
        """Project new events, in batches. The cost depends only on what is new."""
        self._make_ready()
        here, done = self._branch_in(self._store), CatchUpResult(0, 0, 0)
        branches = {branch.id: branch for branch in self._store.branches()}
        names = [[layout.node_key(self.campaign, branch.id), branch.name] for branch in branches.values()]
        self._server.change(layout.NAMED, rows=names)
        lineage = lineage_of(branches.values(), here, here.head)
        if lineage[-1].branch != here.id:
            # A fork without events of its own has nothing to write, but can be asked.
            lineage = (*lineage, Segment(here.id, here.head))
        for branch, upto in lineage:

            def report(caught: CatchUpResult, before: CatchUpResult = done, upto: int = upto) -> None:
                if progress is not None:
                    left = upto - caught.seq
                    progress(before.events + caught.events, before.events + caught.events + left)

            projector = Projector(self._server, self._store, self.campaign, branches[branch])
            caught = projector.catch_up(upto, report)
            done = CatchUpResult(done.events + caught.events, done.rows + caught.rows, caught.seq)
        return done

    def rebuild(self, progress: Progress | None = None) -> CatchUpResult:
        """Drop what this branch added, and project it again. Other branches and campaigns stay."""
        self._make_ready()
        branch = self._branch_in(self._store)
        Projector(self._server, self._store, self.campaign, branch).drop()
        return self.catch_up(progress)

    def verify(self) -> list[Problem]:
        """Return all differences between the graph and canon for this branch; empty if they agree."""
        self._make_ready()
        with self._store.snapshot():
            branch = self._branch_in(self._store)
            return find_graph_problems(self._server, self._store, self.campaign, branch)

    def follow(
        self,
        stop: Event,
        tell: Callable[[FollowStatus], None],
        progress: Progress | None = None,
        *,
        pause: float = _PAUSE,
        longest_pause: float = _LONGEST_PAUSE,
    ) -> None:
        """Catch up again and again until `stop` is set; a running batch is finished first.

        While Neo4j or the campaign's own database is away, the pause grows each time.
        """
        wait, seq, head = pause, 0, 0

        def reported(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            if stop.is_set():
                raise _Stopped

        while not stop.is_set():
            try:
                head = self._branch_in(self._store).head
                seq = self.catch_up(reported).seq
                wait, problem = pause, None
            except _Stopped:
                return
            except StoreUnavailable as exc:
                if type(exc) not in _PASSING:
                    raise
                wait, problem = min(2 * wait, longest_pause), str(exc)
            tell(FollowStatus(seq, max(0, head - seq), problem))
            stop.wait(wait)

    def _make_ready(self) -> None:
        if not self._is_ready:
            for statement in layout.SCHEMA:
                self._server.change(statement)
            self._is_ready = True

    def _branch_in(self, store: Store) -> Branch:
        branches = store.branches()
        found = next((branch for branch in branches if branch.name == self._branch), None)
        if found is None:
            raise UnknownBranch(self._branch, known=[branch.name for branch in branches])
        return found

    # Ask it.

    @contextmanager
    def view(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """Open a view of the graph alone, for identities, facts and links, up to its last event."""
        reads = GraphReads(self._server, self.campaign)
        store = cast("Store", reads)  # it has the methods that such questions need
        lineage = self._projected(store)
        uid = View(store, lineage, DM).perceiver(viewer)
        if as_of is not None:
            seq = reads.seqs_of(lineage, [as_of]).get(as_of)
            if seq is None or uid not in reads.perceivers_at(lineage, seq):
                raise UnknownEvent(as_of)
            lineage = lineage_of(store.branches(), self._branch_in(store), seq)
        yield View(store, lineage, uid)

    def _projected(self, store: Store) -> Lineage:
        """Return the lineage of this branch in the graph; raise `NotProjected` if a part of it is missing."""
        heads = {branch.id: branch for branch in store.branches()}
        found = next((branch for branch in heads.values() if branch.name == self._branch), None)
        here = found
        while here is not None and here.parent is not None:
            parent = heads.get(here.parent)
            here = parent if parent is not None and parent.head >= here.forked_at else None
        if found is None or here is None:
            raise NotProjected(self.where, campaign=self.campaign, branch=self._branch)
        return lineage_of(heads.values(), found, found.head)

    def graph(self, *, viewer: str, as_of: str | None = None) -> Graph:
        """Return the graph questions of a viewer. `Campaign.graph` gives the same answers."""
        return Graph(lambda: self.view(viewer, as_of))

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, seconds: float = _PATIENCE
    ) -> Iterator[dict[str, Any]]:
        """Run the DM's own Cypher, read only; `$campaign` and `$branch` are set to this one."""
        branch = self._branch_in(self._store)
        given = {"campaign": self.campaign, "branch": branch.id, **(parameters or {})}
        return self._server.ask(cypher, given, seconds=seconds)
