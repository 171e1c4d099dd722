"""Compares what the graph has of a branch with canon: every row, by sums of hashes over blocks of events."""

from collections.abc import Iterator
from typing import Any, Final

from dndbots.canon.reducers import FOLD_VERSION
from dndbots.canon.ties import verb_of
from dndbots.ids import is_uid
from dndbots.storage.neo4j.layout import ANY_DEED, ANY_RELATION, ENDED, HOLDS, SEEN, VERSION, key_of
from dndbots.storage.neo4j.making import is_named, place_text
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import BLOCK, VIEWS, Branch, LinkRow, MentionRow, Segment, Store
from dndbots.storage.upkeep import Heaps, Problem

_REMEDY: Final = "`dndbots graph rebuild` makes it again"
_CLAIM: Final = (
    "[r.branch, {}.uid, r.slot, r.holders, r.certainty, r.valid_from, r.seq, r.n, r.value, r.total, r.how, "
    "r.said_by] AS row"
)
# Each view that the graph has, and where its rows are there.
_STORED: Final = {
    "claims": (
        (f"(a:Group)-[r:{HOLDS}|{ENDED}]->(b:Entity)", _CLAIM.format("b")),
        (f"(a:Entity)-[r:{ANY_RELATION}]->(b:Entity)", _CLAIM.format("a")),
    ),
    "links": (
        (
            f"(a:Entity)-[r:{ANY_DEED}]->(b:Entity)",
            "[r.branch, a.uid, r.slot, b.uid, r.holders, r.certainty, r.seq] AS row",
        ),
    ),
    "names": (
        (
            "(a:Group)-[r:CALLS]->(b:Entity)",
            "[r.branch, b.uid, r.seq, r.n, r.holders, r.name, r.folded] AS row",
        ),
    ),
    "sightings": (("(a:Group)-[r:SIGHTED]->(b:Entity)", "[r.branch, b.uid, r.holders, r.seq] AS row"),),
    "identities": (
        ("(a:Entity)-[r:SAME_AS]->(b:Entity)", "[r.branch, a.uid, b.uid, r.seq, r.holders] AS row"),
    ),
    "mentions": (
        (f"(a:Entity)-[r:{SEEN}]->(b:Entity)", "[r.branch, a.uid, r.holders, r.seqs, b.uid] AS row"),
    ),
}


def problems_in(server: Server, store: Store, campaign: str, branch: Branch) -> list[Problem]:
    found = server.read(
        "MATCH (b:Branch {key: $key}) WHERE b.fold = $fold AND b.layout = $layout AND b.dropping IS NULL "
        "RETURN b.seq AS seq",
        key=key_of(campaign, branch.id),
        fold=FOLD_VERSION,
        layout=VERSION,
    )
    if not found:
        return [
            Problem(branch.name, "graph", "is not there, or another version's; `dndbots graph sync` makes it")
        ]
    check = _Check(server, store, campaign, branch, int(found[0]["seq"]))
    return [*check.log(), *check.groups(), *check.views(), *check.last_places()]


class _Check:
    """The check of one branch, up to where the graph has come."""

    def __init__(self, server: Server, store: Store, campaign: str, branch: Branch, seq: int) -> None:
        self._server, self._store, self._campaign = server, store, campaign
        self._branch, self._seq = branch, seq
        self._last_places: dict[tuple[str, int], tuple[int, str]] = {}

    def _tell(self, where: str, what: str) -> Problem:
        return Problem(self._branch.name, f"graph, {where}", f"{what}; {_REMEDY}")

    def views(self) -> Iterator[Problem]:
        heaps = Heaps()
        for view, parts in _STORED.items():
            heaps.add(view, self._canon(view), +1)
            for pattern, row in parts:
                heaps.add(view, self._graph(view, pattern, row), -1)
        for view, heap in heaps.unequal():
            first = heap * BLOCK
            yield self._tell(view, f"rows of the events {first} to {first + BLOCK - 1} are not canon's")

    def _canon(self, view: str) -> Iterator[tuple[Any, ...]]:
        seq = VIEWS[view]._fields.index("seq")
        for stored in self._store.view_rows(view, self._branch.id):
            row: Any = tuple(stored)
            if row[seq] <= self._seq and _is_projected(view, row):
                if view == "mentions":
                    self._note(MentionRow(*row))
                yield row

    def _note(self, row: MentionRow) -> None:
        """Mentions are many, and read once."""
        if row.place is not None:
            key, place = (row.uid, row.audience), (row.seq, row.place)
            self._last_places[key] = max(place, self._last_places.get(key, place))

    def last_places(self) -> Iterator[Problem]:
        """After `views`, which reads what this compares."""
        rows = self._server.read(
            "MATCH (:Group)-[r:SIGHTED]->(b:Entity) WHERE b.campaign = $campaign AND r.branch = $branch "
            "AND r.at IS NOT NULL RETURN b.uid AS uid, r.holders AS holders, r.at AS at",
            campaign=self._campaign,
            branch=self._branch.id,
        )
        kept = {(row["uid"], row["holders"]): row["at"] for row in rows}
        known = {key: place_text(*last) for key, last in self._last_places.items()}
        for uid in sorted({uid for (uid, _), _ in known.items() ^ kept.items()}):
            yield self._tell("sightings", f"where {uid} was seen last is not canon's")

    def _graph(self, view: str, pattern: str, row: str) -> Iterator[tuple[Any, ...]]:
        query = f"MATCH {pattern} WHERE b.campaign = $campaign AND r.branch = $branch RETURN {row}"
        rows = self._server.read(query, campaign=self._campaign, branch=self._branch.id)
        for found in rows:
            values = found["row"]
            if view != "mentions":
                yield tuple(values)
                continue
            branch, uid, audience, seqs, place = values
            yield from ((branch, uid, audience, seq, place) for seq in seqs)

    def log(self) -> Iterator[Problem]:
        rows = self._server.read(
            "MATCH (l:Log {campaign: $campaign, branch: $branch}) RETURN l.first AS first, l.ids AS ids, "
            "l.audiences AS audiences, l.others AS others ORDER BY first",
            campaign=self._campaign,
            branch=self._branch.id,
        )
        kept = (
            (row["first"], *zip(row["ids"], row["audiences"], row["others"], strict=True)) for row in rows
        )
        for first, *events in kept:
            last = first + len(events) - 1
            own = self._store.events((Segment(self._branch.id, last),), after=first - 1, limit=len(events))
            if [(row.event_id, row.audience, row.others or 0) for row in own] != events:
                yield self._tell("log", f"the events {first} to {last} are not the log's")
        counted = sum(len(row["ids"]) for row in rows)
        if counted != self._seq - self._branch.forked_at:
            yield self._tell("log", f"there are {counted} events up to {self._seq}")

    def groups(self) -> Iterator[Problem]:
        rows = self._server.read(
            "MATCH (n:Who)-[:IN_GROUP]->(g:Group {campaign: $campaign}) "
            "RETURN g.id AS id, collect(n.uid) AS people",
            campaign=self._campaign,
        )
        known = self._store.members([row["id"] for row in rows])
        for row in rows:
            if sorted(row["people"]) != sorted(known.get(row["id"], ())):
                yield self._tell("groups", f"the people of group {row['id']} are not canon's")


def _is_projected(view: str, row: tuple[Any, ...]) -> bool:
    """Whether a row of canon is one that the graph has: of entities, and of places that they were seen at."""
    if view == "links":
        link = LinkRow(*row)
        return verb_of(link.slot) is not None or is_named(link)
    return is_uid(row[1]) and (view != "mentions" or row[4] is not None)
