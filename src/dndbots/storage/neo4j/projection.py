"""A campaign's projection into Neo4j: catching up, rebuilding, checking, following, and asking it.

It is a copy of canon with its own cursor. It never blocks play: where Neo4j is away, it waits and says so.
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
from dndbots.storage.graph import Graph
from dndbots.storage.neo4j import layout
from dndbots.storage.neo4j.projecting import Caught, Projector
from dndbots.storage.neo4j.reading import GraphReads
from dndbots.storage.neo4j.server import Server
from dndbots.storage.neo4j.verifying import problems_in
from dndbots.storage.ports import Branch, Lineage, Segment, Store
from dndbots.storage.reader import View
from dndbots.storage.upkeep import Problem, Progress, lineage_of

_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_PATIENCE: Final = 30.0
# What may be over later; what the other subclasses say stays so.
_PASSING: Final = (GraphUnavailable, StoreUnavailable, StoreBusy)


class Following(NamedTuple):
    """How a projector that follows stands: how far it is, how far behind, and what it waits for."""

    seq: int
    behind: int
    waiting_for: str | None


class _Stopped(Exception):
    """Somebody who follows is to stop, between two batches."""


class Projection:
    """One branch of one campaign, and the past that it shares, in one database with any number of others."""

    def __init__(self, server: Server, store: Store, campaign: str, branch: str) -> None:
        self._server, self._store, self._branch = server, store, branch
        self.campaign = check_name(campaign)
        self.where = server.where
        self._is_ready = False

    def close(self) -> None:
        self._server.close()

    # Bringing it up to date.

    def catch_up(self, progress: Progress | None = None) -> Caught:
        """Projects what is new, in batches; costs nothing more than what is new."""
        self._make_ready()
        here, done = self._branch_in(self._store), Caught(0, 0, 0)
        branches = {one.id: one for one in self._store.branches()}
        names = [[layout.key_of(self.campaign, one.id), one.name] for one in branches.values()]
        self._server.change(layout.NAMED, rows=names)
        lineage = lineage_of(branches.values(), here, here.head)
        if lineage[-1].branch != here.id:
            # A fork that nobody has played yet has nothing to write, but is there to be asked.
            lineage = (*lineage, Segment(here.id, here.head))
        for branch, upto in lineage:

            def told(caught: Caught, before: Caught = done, upto: int = upto) -> None:
                if progress is not None:
                    left = upto - caught.seq
                    progress(before.events + caught.events, before.events + caught.events + left)

            projector = Projector(self._server, self._store, self.campaign, branches[branch])
            caught = projector.catch_up(upto, told)
            done = Caught(done.events + caught.events, done.rows + caught.rows, caught.seq)
        return done

    def rebuild(self, progress: Progress | None = None) -> Caught:
        """Drops what this branch added, and projects it again. Other branches and campaigns stay."""
        self._make_ready()
        branch = self._branch_in(self._store)
        Projector(self._server, self._store, self.campaign, branch).drop()
        return self.catch_up(progress)

    def verify(self) -> list[Problem]:
        """What the graph has of this branch that is not canon's, or has not; nothing, if they agree."""
        self._make_ready()
        with self._store.snapshot():
            branch = self._branch_in(self._store)
            return problems_in(self._server, self._store, self.campaign, branch)

    def follow(
        self,
        stop: Event,
        told: Callable[[Following], None],
        progress: Progress | None = None,
        *,
        pause: float = _PAUSE,
        longest_pause: float = _LONGEST_PAUSE,
    ) -> None:
        """Catches up again and again until it is told to stop, if need be after the batch under way.

        Where Neo4j or the campaign's own database is away, it waits longer each time.
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
            told(Following(seq, max(0, head - seq), problem))
            stop.wait(wait)

    def _make_ready(self) -> None:
        if not self._is_ready:
            for statement in layout.SCHEMA:
                self._server.change(statement)
            self._is_ready = True

    def _branch_in(self, store: Store) -> Branch:
        branches = store.branches()
        found = next((one for one in branches if one.name == self._branch), None)
        if found is None:
            raise UnknownBranch(self._branch, known=[one.name for one in branches])
        return found

    # Asking it.

    @contextmanager
    def view(self, viewer: str, as_of: str | None = None) -> Iterator[View]:
        """Who is who and what is true, as a viewer knows it, from the graph alone, as far as it has come."""
        reads = GraphReads(self._server, self.campaign)
        store = cast("Store", reads)  # the part of it that such questions need
        lineage = self._projected(store)
        uid = View(store, lineage, DM).perceiver(viewer)
        if as_of is not None:
            place = reads.places_of(lineage, [as_of]).get(as_of)
            if place is None or uid not in reads.perceivers_at(lineage, place):
                raise UnknownEvent(as_of)
            lineage = lineage_of(store.branches(), self._branch_in(store), place)
        yield View(store, lineage, uid)

    def _projected(self, store: Store) -> Lineage:
        """The past of this branch in the graph, if all of it is there, also of what a fork shares."""
        heads = {one.id: one for one in store.branches()}
        found = next((one for one in heads.values() if one.name == self._branch), None)
        here = found
        while here is not None and here.parent is not None:
            parent = heads.get(here.parent)
            here = parent if parent is not None and parent.head >= here.forked_at else None
        if found is None or here is None:
            raise NotProjected(self.where, campaign=self.campaign, branch=self._branch)
        return lineage_of(heads.values(), found, found.head)

    def graph(self, *, viewer: str, as_of: str | None = None) -> Graph:
        """The questions that the campaign answers too, with the same answers."""
        return Graph(lambda: self.view(viewer, as_of))

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, seconds: float = _PATIENCE
    ) -> Iterator[dict[str, Any]]:
        """The DM's own Cypher, read only; `$campaign` and `$branch` are this one's."""
        branch = self._branch_in(self._store)
        given = {"campaign": self.campaign, "branch": branch.id, **(parameters or {})}
        return self._server.ask(cypher, given, seconds=seconds)
