"""Compares the graph's copy of a branch with canon: every row, by sums of hashes over blocks of events."""

from collections.abc import Iterator
from typing import Any, Final

from dndbots.canon.reducers import FOLD_VERSION
from dndbots.canon.ties import verb_of
from dndbots.ids import is_uid
from dndbots.storage.neo4j.graph_rows import is_named, place_text
from dndbots.storage.neo4j.layout import ANY_DEED, ANY_RELATION, ENDED, HOLDS, SEEN, VERSION, node_key
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import BLOCK, VIEWS, Branch, LinkRow, MentionRow, Segment, Store
from dndbots.storage.upkeep import Problem, RowSums

_REMEDY: Final = "run `dndbots graph rebuild`"
_CLAIM: Final = (
    "[r.branch, {}.uid, r.slot, r.holders, r.certainty, r.valid_from, r.seq, r.n, r.value, r.total, r.how, "
    "r.said_by] AS row"
)
# Each view that the graph holds, with the patterns and columns of its rows.
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


def find_graph_problems(server: Server, store: Store, campaign: str, branch: Branch) -> list[Problem]:
    """Return all differences between the graph and canon; empty if they agree."""
    found = server.read(
        "MATCH (b:Branch {key: $key}) WHERE b.fold = $fold AND b.layout = $layout AND b.dropping IS NULL "
        "RETURN b.seq AS seq",
        key=node_key(campaign, branch.id),
        fold=FOLD_VERSION,
        layout=VERSION,
    )
    if not found:
        return [Problem(branch.name, "graph", "is missing, or of another version; run `dndbots graph sync`")]
    check = _Check(server, store, campaign, branch, int(found[0]["seq"]))
    return [*check.log(), *check.groups(), *check.views(), *check.last_places()]


class _Check:
    """Checks one branch, up to the last event that the graph has."""

    def __init__(self, server: Server, store: Store, campaign: str, branch: Branch, seq: int) -> None:
        self._server, self._store, self._campaign = server, store, campaign
        self._branch, self._seq = branch, seq
        self._last_places: dict[tuple[str, int], tuple[int, str]] = {}

    def _tell(self, where: str, what: str) -> Problem:
        return Problem(self._branch.name, f"graph, {where}", f"{what}; {_REMEDY}")

    def views(self) -> Iterator[Problem]:
        sums = RowSums()
        for view, parts in _STORED.items():
            sums.add(view, self._canon(view), +1)
            for pattern, row in parts:
                sums.add(view, self._graph(view, pattern, row), -1)
        for view, block in sums.unequal():
            first = block * BLOCK
            yield self._tell(view, f"rows of the events {first} to {first + BLOCK - 1} differ from canon")

    def _canon(self, view: str) -> Iterator[tuple[Any, ...]]:
        seq = VIEWS[view]._fields.index("seq")
        for stored in self._store.view_rows(view, self._branch.id):
            row: Any = tuple(stored)
            if row[seq] <= self._seq and _is_projected(view, row):
                if view == "mentions":
                    self._note(MentionRow(*row))
                yield row

    def _note(self, row: MentionRow) -> None:
        """Note the last place in a mention, so that the many mentions are read only once."""
        if row.place is not None:
            key, place = (row.uid, row.audience), (row.seq, row.place)
            self._last_places[key] = max(place, self._last_places.get(key, place))

    def last_places(self) -> Iterator[Problem]:
        """Compare the last places. Call it after `views`, which reads them."""
        rows = self._server.read(
            "MATCH (:Group)-[r:SIGHTED]->(b:Entity) WHERE b.campaign = $campaign AND r.branch = $branch "
            "AND r.at IS NOT NULL RETURN b.uid AS uid, r.holders AS holders, r.at AS at",
            campaign=self._campaign,
            branch=self._branch.id,
        )
        kept = {(row["uid"], row["holders"]): row["at"] for row in rows}
        known = {key: place_text(*last) for key, last in self._last_places.items()}
        for uid in sorted({uid for (uid, _), _ in known.items() ^ kept.items()}):
            yield self._tell("sightings", f"the place where {uid} was last seen differs from canon")

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
                yield self._tell("log", f"the events {first} to {last} differ from the log")
        counted = sum(len(row["ids"]) for row in rows)
        if counted != self._seq - self._branch.forked_at:
            yield self._tell(
                "log", f"there are {counted} events up to {self._seq}, which is not their number"
            )

    def groups(self) -> Iterator[Problem]:
        rows = self._server.read(
            "MATCH (n:Who)-[:IN_GROUP]->(g:Group {campaign: $campaign}) "
            "RETURN g.id AS id, collect(n.uid) AS people",
            campaign=self._campaign,
        )
        known = self._store.members([row["id"] for row in rows])
        for row in rows:
            if sorted(row["people"]) != sorted(known.get(row["id"], ())):
                yield self._tell("groups", f"the members of group {row['id']} differ from canon")


def _is_projected(view: str, row: tuple[Any, ...]) -> bool:
    """Return whether the graph holds a row of canon: rows of entities, and mentions with a place."""
    if view == "links":
        link = LinkRow(*row)
        return verb_of(link.slot) is not None or is_named(link)
    return is_uid(row[1]) and (view != "mentions" or row[4] is not None)
