"""Reads canon from the graph: the part of the store port for identities, facts and links.

A `View` over it answers the same as a view over the database. Events themselves are not in the graph.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from dndbots.canon.claims import AT
from dndbots.storage.neo4j.graph_rows import place_from
from dndbots.storage.neo4j.layout import (
    ANY_DEED,
    ANY_RELATION,
    ENDED,
    HOLDS,
    RELATIONS,
    SEEN,
    VERSION,
    node_key,
)
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import (
    BLOCK,
    Branch,
    ClaimKey,
    ClaimRow,
    IdentityRow,
    Lineage,
    MentionRow,
    NameRow,
)

_IN_SIGHT: Final = "r.holders IN $groups"
_SO_FAR: Final = "any(part IN $lineage WHERE part[0] = r.branch AND r.seq <= part[1])"
# The same for a lineage of one branch, without a list to search at each edge.
_UNFORKED: Final = "(r.branch = $lineage[0][0] AND r.seq <= $lineage[0][1])"
_THEN: Final = f"{_IN_SIGHT} AND {_SO_FAR}"
_EACH: Final = "UNWIND $uids AS uid MATCH (e:Who {key: $prefix + uid})"
_CLAIM: Final = (
    "[r.branch, e.uid, r.slot, r.holders, r.certainty, r.valid_from, r.seq, r.n, r.value, r.total, r.how, "
    "r.said_by] AS row"
)
# Keeps the newest of each slot, holders and certainty in each branch.
_NEWEST: Final = (
    "WITH e, r ORDER BY r.valid_from DESC, r.seq DESC, r.n DESC "
    "WITH e, r.branch AS branch, r.slot AS slot, r.holders AS holders, r.certainty AS certainty, "
    "collect(r)[0] AS r"
)
# Claims about an entity: its relations, those that ended, and everything else that a group holds of it.
_RELATED: Final = f"MATCH (e)-[r:{ANY_RELATION}]->()"
_ENDED: Final = f"MATCH (e)<-[r:{ENDED}]-()"
_HELD: Final = f"MATCH (e)<-[r:{ENDED}|{HOLDS}]-()"
# The first seq of an edge.
_FIRST: Final = "coalesce(r.seq, r.seqs[0])"
# The last seq of an edge within the lineage.
_LAST: Final = (
    "head([part IN $lineage WHERE part[0] = r.branch | "
    "CASE WHEN r.seqs[-1] <= part[1] THEN r.seqs[-1] ELSE [s IN r.seqs WHERE s <= part[1]][-1] END])"
)


def _of_first(cypher: str) -> str:
    return cypher.replace("r.seq <=", f"{_FIRST} <=")


_SEEN_THEN: Final = _of_first(_THEN)


def _ties(kinds: str, *, out: bool, unless: str = "false") -> str:
    """Return a query for ties in one direction: one row for each kind, with each other end once."""
    edge = f"(e)-[r:{kinds}]->(o)" if out else f"(e)<-[r:{kinds}]-(o)"
    return (
        f"{_EACH} MATCH {edge} WHERE {_THEN} AND NOT {unless} "
        "WITH e, o, r.slot AS slot, r.certainty AS certainty, min(r.seq) AS seq "
        "WITH e.uid AS uid, slot, certainty, collect(o.uid) AS others, collect(seq) AS seqs "
        f"RETURN [uid, {str(out).lower()}, slot, certainty, others, seqs] AS row"
    )


# Everybody ever seen at a place. Another read tells when, and whether they still are.
_SEEN_HERE: Final = (
    f"{_EACH} MATCH (e)<-[r:{SEEN}]-(o) WHERE {_IN_SIGHT} AND r.branch IN $branches "
    "WITH DISTINCT e, o WITH e.uid AS uid, collect(o.uid) AS others "
    "RETURN [uid, false, $at, 0, others, [one IN others | 0]] AS row"
)
_LINKS: Final = " UNION ALL ".join(
    (
        *(_ties(ANY_DEED, out=out) for out in (True, False)),
        *(_ties(ANY_RELATION, out=out, unless="r.ended") for out in (True, False)),
        _SEEN_HERE,
    )
)


Row = TypeVar("Row")


class _RowCache(Generic[Row]):
    """A cache of rows by uid, so that each uid is read once."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Lineage, str | None], dict[str, list[Row]]] = {}

    def of(
        self,
        uids: Collection[str],
        lineage: Lineage,
        viewer: str | None,
        read: Callable[[list[str]], Mapping[str, list[Row]]],
    ) -> list[Row]:
        known = self._rows.setdefault((lineage, viewer), {})
        new = sorted({*uids} - known.keys())
        found = read(new)
        known.update((uid, found.get(uid, [])) for uid in new)
        return [row for uid in uids for row in known[uid]]


class Tie(NamedTuple):
    """A tie as it is read. For a tie by a claim, certainty and seq have no meaning."""

    subject: str
    slot: str
    object: str
    certainty: int = 0
    seq: int = 0


class GraphReads:
    """The reads of a campaign for one question, with a cache of what was read."""

    def __init__(self, server: Server, campaign: str) -> None:
        self._server, self._campaign = server, campaign
        self.where = server.where
        self._prefix = node_key(campaign, "")
        self._groups: dict[str, list[int]] = {}
        self._branches: list[Branch] = []
        self._last_places: _RowCache[MentionRow] = _RowCache()
        self._identities: _RowCache[IdentityRow] = _RowCache()

    def branches(self) -> list[Branch]:
        """Return the projected branches, as they were at the first call."""
        self._branches = self._branches or self._read_branches()
        return self._branches

    def _read_branches(self) -> list[Branch]:
        rows = self._server.read(
            "MATCH (b:Branch {campaign: $campaign}) WHERE b.dropping IS NULL AND b.layout = $layout "
            "RETURN b.id AS id, b.name AS name, b.parent AS parent, b.forked_at AS forked_at, b.seq AS head "
            "ORDER BY id",
            campaign=self._campaign,
            layout=VERSION,
        )
        return [Branch(**row) for row in rows]

    def _read(self, cypher: str, lineage: Lineage, viewer: str | None, **values: Any) -> list[Any]:
        if "uids" in values and not values["uids"]:
            return []
        if viewer is None:
            cypher = cypher.replace(_IN_SIGHT, "true")
        if len(lineage) == 1:
            cypher = cypher.replace(_SO_FAR, _UNFORKED).replace(_of_first(_SO_FAR), _of_first(_UNFORKED))
        rows = self._server.read(
            cypher,
            lineage=[list(part) for part in lineage],
            branches=[part.branch for part in lineage],
            groups=None if viewer is None else self._groups_of(viewer),
            prefix=self._prefix,
            campaign=self._campaign,
            **values,
        )
        return [row["row"] for row in rows]

    def _groups_of(self, viewer: str) -> list[int]:
        if viewer not in self._groups:
            rows = self._server.read(
                "MATCH (:Who {key: $key})-[:IN_GROUP]->(g:Group) RETURN g.id AS id ORDER BY id",
                key=self._prefix + viewer,
            )
            self._groups[viewer] = [row["id"] for row in rows]
        return self._groups[viewer]

    def members(self, groups: Collection[int]) -> dict[int, frozenset[str]]:
        rows = self._server.read(
            "UNWIND $keys AS key MATCH (n:Who)-[:IN_GROUP]->(g:Group {key: key}) "
            "RETURN g.id AS id, collect(n.uid) AS people",
            keys=[node_key(self._campaign, group) for group in groups],
        )
        return {row["id"]: frozenset(row["people"]) for row in rows}

    # Claims and links.

    def latest(
        self,
        lineage: Lineage,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        viewer: str | None = None,
    ) -> list[ClaimRow]:
        each = _EACH if subjects is not None else "MATCH (e:Entity {campaign: $campaign})"
        wanted = "" if slots is None else "AND r.slot IN $slots"
        return self._claims(
            [f"{each} {found} WHERE {_THEN} {wanted} {_NEWEST}" for found in (_RELATED, _HELD)],
            lineage,
            viewer,
            uids=sorted(subjects or ()),
            slots=None if slots is None else sorted(slots),
        )

    def latest_in(
        self, lineage: Lineage, keys: Collection[tuple[str, str]], viewer: str | None
    ) -> list[ClaimRow]:
        relations: dict[str, list[str]] = {}
        facts: dict[str, list[str]] = {}
        for subject, slot in keys:
            own = relations if slot.partition(" ")[0] in RELATIONS else facts
            own.setdefault(subject, []).append(slot)
        each = "UNWIND keys($slots) AS uid MATCH (e:Who {key: $prefix + uid})"
        found: list[ClaimRow] = []
        for slots, edges in ((relations, (_RELATED, _ENDED)), (facts, (_HELD,))):
            if slots:
                looks = [f"{each} {edge} WHERE r.slot IN $slots[uid] AND {_THEN} {_NEWEST}" for edge in edges]
                found += self._claims(looks, lineage, viewer, slots=slots)
        return found

    def all_claims(self, lineage: Lineage, subjects: Collection[str], viewer: str | None) -> list[ClaimRow]:
        looks = [f"{_EACH} {edge} WHERE {_THEN}" for edge in (_RELATED, _HELD)]
        return self._claims(looks, lineage, viewer, uids=sorted(subjects))

    def _claims(
        self, looks: Collection[str], lineage: Lineage, viewer: str | None, **values: Any
    ) -> list[ClaimRow]:
        """Return the claims that some queries find."""
        query = " UNION ALL ".join(f"{look} RETURN {_CLAIM}" for look in looks)
        return [ClaimRow(*row) for row in self._read(query, lineage, viewer, **values)]

    def total_before(self, lineage: Lineage, key: ClaimKey, seq: int) -> int:
        rows = self._read(
            f"MATCH (e:Who {{key: $prefix + $uid}})<-[r:{HOLDS}]-() "
            "WHERE r.slot = $slot AND r.holders = $holders "
            f"AND r.certainty = $certainty AND r.seq < $seq AND {_THEN} {_NEWEST} RETURN r.total AS row",
            lineage,
            None,
            uid=key.subject,
            slot=key.slot,
            holders=key.holders,
            certainty=key.certainty,
            seq=seq,
        )
        return sum(rows)

    def links(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[Tie]:
        """Return deeds and naming facts as they were first learned, and relations that held at any time.

        Of the places where an entity was seen, only the last one for each group: it is at one of them, or at
        none.
        """
        wanted = {*uids}
        found = [
            Tie(row.uid, AT, row.place)
            for row in self.latest_places(lineage, sorted(wanted), viewer)
            if row.place is not None
        ]
        for uid, out, slot, certainty, others, seqs in self._read(
            _LINKS, lineage, viewer, uids=sorted(wanted), at=AT
        ):
            for other, seq in zip(others, seqs, strict=True):
                if out:
                    found.append(Tie(uid, slot, other, certainty, seq))
                elif other not in wanted:  # otherwise it was found from its other end
                    found.append(Tie(other, slot, uid, certainty, seq))
        return found

    # Places.

    def latest_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None = None
    ) -> list[MentionRow]:
        return self._last_places.of(
            uids, lineage, viewer, lambda new: self._read_last_places(lineage, new, viewer)
        )

    def _read_last_places(
        self, lineage: Lineage, uids: list[str], viewer: str | None
    ) -> dict[str, list[MentionRow]]:
        rows = self._read(
            f"{_EACH} MATCH (e)<-[r:SIGHTED]-() WHERE r.at IS NOT NULL AND {_THEN} "
            "WITH uid, collect(r.branch) AS branches, collect(r.holders) AS holders, collect(r.at) AS places "
            "RETURN [uid, branches, holders, places] AS row",
            lineage,
            viewer,
            uids=uids,
        )
        upto = dict(lineage)
        found: dict[str, list[MentionRow]] = {}
        later: list[str] = []
        for uid, branches, holders, places in rows:
            seen = [place_from(text) for text in places]
            if any(seq > upto[branch] for branch, (seq, _) in zip(branches, seen, strict=True)):
                later.append(uid)
            else:
                made = zip(branches, holders, seen, strict=True)
                found[uid] = [MentionRow(branch, uid, group, *last) for branch, group, last in made]
        for row in self._earlier_places(lineage, later, viewer):
            found.setdefault(row.uid, []).append(row)
        return found

    def _earlier_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None
    ) -> list[MentionRow]:
        """Return the last places, within the lineage, of entities that were seen again after it."""
        rows = self._read(
            f"{_EACH} MATCH (e)-[r:{SEEN}]->(p:Who) WHERE {_SEEN_THEN} "
            f"WITH e, r, p, {_LAST} AS seq ORDER BY seq DESC "
            "WITH [r.branch, e.uid, r.holders] AS key, collect([seq, p.uid])[0] AS newest "
            "RETURN key + newest AS row",
            lineage,
            viewer,
            uids=sorted(uids),
        )
        return [MentionRow(*row) for row in rows]

    def all_places(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[MentionRow]:
        upto = dict(lineage)
        rows = self._read(
            f"{_EACH} MATCH (e)-[r:{SEEN}]->(p:Who) WHERE {_SEEN_THEN} "
            "RETURN [r.branch, e.uid, r.holders, r.seqs, p.uid] AS row",
            lineage,
            viewer,
            uids=sorted(uids),
        )
        return [
            MentionRow(branch, uid, audience, seq, place)
            for branch, uid, audience, seqs, place in rows
            for seq in seqs
            if seq <= upto[branch]
        ]

    # Who is who.

    def sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None = None) -> set[str]:
        return {*self.first_sighted(lineage, uids, viewer)}

    def first_sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> dict[str, int]:
        first = "WITH e.uid AS uid, min(r.seq) AS seq RETURN [uid, seq] AS row"
        query = f"{_EACH} MATCH (e)<-[r:SIGHTED]-() WHERE {_THEN} {first}"
        return dict(self._read(query, lineage, viewer, uids=sorted(uids)))

    def all_sighted(self, lineage: Lineage, viewer: str) -> list[str]:
        query = (
            "MATCH (e:Entity {campaign: $campaign})<-[r:SIGHTED]-() "
            f"WHERE {_THEN} RETURN DISTINCT e.uid AS row"
        )
        return sorted(self._read(query, lineage, viewer))

    def uids_like(self, prefix: str) -> set[str]:
        query = "MATCH (e:Entity {campaign: $campaign}) WHERE e.uid STARTS WITH $start RETURN e.uid AS row"
        return set(self._read(query, (), None, start=prefix))

    def uids_with(self, lineage: Lineage, prefixes: Collection[str]) -> set[str]:
        query = (
            "UNWIND $starts AS start MATCH (e:Entity {campaign: $campaign}) WHERE e.uid STARTS WITH start "
            f"MATCH (e)<-[r:SIGHTED]-() WHERE {_THEN} RETURN DISTINCT e.uid AS row"
        )
        return set(self._read(query, lineage, None, starts=sorted(prefixes)))

    def names_of(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[NameRow]:
        query = (
            f"{_EACH} MATCH (e)<-[r:CALLS]-() WHERE {_THEN} "
            "RETURN [r.branch, e.uid, r.seq, r.n, r.holders, r.name, r.folded] AS row"
        )
        return [NameRow(*row) for row in self._read(query, lineage, viewer, uids=sorted(uids))]

    def named(self, lineage: Lineage, folded: Collection[str], viewer: str | None) -> dict[str, set[str]]:
        query = (
            "MATCH (e:Entity {campaign: $campaign})<-[r:CALLS]-() "
            f"WHERE r.folded IN $folded AND {_THEN} RETURN DISTINCT [r.folded, e.uid] AS row"
        )
        found: dict[str, set[str]] = {}
        for name, uid in self._read(query, lineage, viewer, folded=sorted(folded)):
            found.setdefault(name, set()).add(uid)
        return found

    def identities(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[IdentityRow]:
        query = (
            f"{_EACH} MATCH (e)-[r:SAME_AS]-() WHERE {_THEN} "
            "RETURN [uid, r.branch, startNode(r).uid, endNode(r).uid, r.seq, r.holders] AS row"
        )

        def read(new: list[str]) -> dict[str, list[IdentityRow]]:
            found: dict[str, list[IdentityRow]] = {}
            for uid, *row in self._read(query, lineage, viewer, uids=new):
                found.setdefault(uid, []).append(IdentityRow(*row))
            return found

        found = dict.fromkeys(self._identities.of(uids, lineage, viewer, read))
        # In the order of the log: if it says two things of one uid, the later one counts.
        return sorted(found, key=lambda row: row.seq)

    # The ids of events.

    def ids_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, str]:
        # By blocks: the ids of a block are read together.
        blocks: dict[str, list[int]] = {}
        for key, seq in self._log_keys(lineage, seqs).values():
            blocks.setdefault(key, []).append(seq)
        rows = self._read(
            "UNWIND keys($blocks) AS key MATCH (l:Log {key: key}) "
            "WITH $blocks[key] AS seqs, l.first AS first, l.ids AS ids "
            "RETURN [seqs, [seq IN seqs | ids[seq - first]]] AS row",
            lineage,
            None,
            blocks=blocks,
        )
        found = {seq: name for own in rows for seq, name in zip(*own, strict=True)}
        return {seq: name for seq, name in found.items() if name is not None}

    def seqs_of(self, lineage: Lineage, ids: Collection[str]) -> dict[str, int]:
        rows = self._read(
            "UNWIND $lineage AS part MATCH (l:Log {campaign: $campaign, branch: part[0]}) "
            "UNWIND range(0, size(l.ids) - 1) AS n WITH part, l, n "
            "WHERE l.ids[n] IN $ids AND l.first + n <= part[1] RETURN [l.ids[n], l.first + n] AS row",
            lineage,
            None,
            ids=sorted(ids),
        )
        return dict(rows)

    def perceivers_at(self, lineage: Lineage, seq: int) -> frozenset[str]:
        """Return everybody who perceived an event."""
        rows = self._read(
            "UNWIND $keys AS key MATCH (l:Log {key: key[0]}) WITH l, key[1] - l.first AS n "
            "RETURN [l.audiences[n], l.others[n]] AS row",
            lineage,
            None,
            keys=list(self._log_keys(lineage, [seq]).values()),
        )
        groups = {group for row in rows for group in row if group}
        return frozenset(who for people in self.members(groups).values() for who in people)

    def _log_keys(self, lineage: Lineage, seqs: Collection[int]) -> Mapping[int, list[Any]]:
        """Return the key of the block that holds each seq, and the seq."""
        found: dict[int, list[Any]] = {}
        for seq in seqs:
            branch = next((part.branch for part in lineage if seq <= part.upto), None)
            if branch is not None:
                found[seq] = [node_key(self._campaign, branch, seq // BLOCK), seq]
        return found
