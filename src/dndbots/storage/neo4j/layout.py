"""The layout of the graph: labels, types of edges, and the statements that write them.

All branches of a campaign share its nodes; every edge has the branch that made it and the seq of its event.
So a fork costs only its own events. All data of a campaign are parameters; labels and types are fixed here.
"""

from typing import Final

from dndbots.canon.ties import VERBS, deed_slot
from dndbots.ids import CATEGORIES

# Raise it with every change of this layout: a graph of another version is dropped and made again.
VERSION: Final = 2

# Edge types by the operator of a relation. These edges are claims, with their time of validity.
RELATIONS: Final = {
    "@": "AT",
    "in": "IN",
    "<": "PART_OF",
    "~": "ASSOC",
    "->": "LEADS_TO",
    "<-": "CAUSED_BY",
}
# Edge types by slot, for deeds: done once, and never undone.
DEEDS: Final = {deed_slot(verb): verb.upper() for verb in VERBS}
NAMES: Final = "NAMES"  # a fact whose value names another entity
SEEN: Final = "SEEN_AT"
# Claims without another end. The end of a relation has its own type: a question for a hero's place must not
# read all that is known of its thousand fights.
HOLDS: Final = "HOLDS"
ENDED: Final = "ENDED"
ANY_RELATION: Final = "|".join(RELATIONS.values())
ANY_DEED: Final = "|".join((*DEEDS.values(), NAMES))

SCHEMA: Final = (
    "CREATE CONSTRAINT dndbots_who IF NOT EXISTS FOR (n:Who) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT dndbots_group IF NOT EXISTS FOR (n:Group) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT dndbots_branch IF NOT EXISTS FOR (n:Branch) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT dndbots_log IF NOT EXISTS FOR (n:Log) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX dndbots_entity IF NOT EXISTS FOR (n:Entity) ON (n.campaign, n.uid)",
    "CREATE INDEX dndbots_log_of IF NOT EXISTS FOR (n:Log) ON (n.campaign, n.branch)",
)

# The lock on the branch makes a second projector wait, and then see that there is nothing left to do.
BEGIN: Final = """
MERGE (b:Branch {key: $key})
ON CREATE SET b.campaign = $campaign, b.id = $id, b.seq = $forked_at, b.fold = $fold, b.layout = $layout,
              b.rows = 0
SET b.name = $name, b.parent = $parent, b.forked_at = $forked_at
RETURN b.seq AS seq, b.last AS last, b.fold AS fold, coalesce(b.layout, 1) AS layout, b.dropping AS dropping
"""
# After an undo, a branch has another name, and a new branch has the old one.
NAMED: Final = "UNWIND $rows AS row MATCH (b:Branch {key: row[0]}) SET b.name = row[1]"
END: Final = "MATCH (b:Branch {key: $key}) SET b.seq = $seq, b.last = $last, b.rows = b.rows + $rows"

# All perceivers and entities. The labels of a node follow from its uid, whatever first needs it, so they
# never change.
OTHER: Final = "OTHER"  # an entity of no category
NO_ENTITY: Final = "Who"  # the DM, and other perceivers without a uid
WHO: Final = {
    kind: (
        f"UNWIND $rows AS row MERGE (n:{labels} {{key: row[0]}}) "
        "ON CREATE SET n.campaign = $campaign, n.uid = row[1], n.category = row[2]"
    )
    for kind, labels in (
        *((kind, f"Who:Entity:{kind}") for kind in (*CATEGORIES, OTHER)),
        (NO_ENTITY, "Who"),
    )
}
GROUPS: Final = """
UNWIND $rows AS row
MERGE (g:Group {key: row[0]}) SET g.campaign = $campaign, g.id = row[1]
WITH g, row UNWIND row[2] AS member
MATCH (n:Who {key: member})
MERGE (n)-[:IN_GROUP]->(g)
"""
LOG: Final = """
UNWIND $rows AS row
MERGE (l:Log {key: row[0]})
ON CREATE SET l.campaign = $campaign, l.branch = $branch, l.first = row[1],
              l.ids = row[2], l.audiences = row[3], l.others = row[4]
ON MATCH SET l.ids = l.ids + row[2], l.audiences = l.audiences + row[3], l.others = l.others + row[4]
"""
# Edges are grouped by their ends, so that each end is looked up once.
_ENDS: Final = (
    "UNWIND $ends AS one MATCH (a:{label} {{key: one[0]}}) "
    "UNWIND one[1] AS other MATCH (b:Who {{key: other[0]}}) UNWIND other[1] AS row "
)
_CLAIM: Final = (
    "branch: $branch, slot: row[0], holders: row[1], certainty: row[2], valid_from: row[3], seq: row[4], "
    "n: row[5], value: row[6], total: row[7], how: row[8], said_by: row[9]"
)
CLAIMED: Final = {
    kind: _ENDS.format(label="Group") + f"CREATE (a)-[:{kind} {{{_CLAIM}}}]->(b)" for kind in (HOLDS, ENDED)
}
CALLS: Final = _ENDS.format(label="Group") + (
    "CREATE (a)-[:CALLS {branch: $branch, holders: row[0], seq: row[1], n: row[2], name: row[3], "
    "folded: row[4]}]->(b)"
)
SIGHTED: Final = _ENDS.format(label="Group") + (
    "MERGE (a)-[r:SIGHTED {branch: $branch, holders: row[0]}]->(b) ON CREATE SET r.seq = row[1]"
)
SAME_AS: Final = _ENDS.format(label="Who") + (
    "CREATE (a)-[:SAME_AS {branch: $branch, holders: row[0], seq: row[1]}]->(b)"
)
SEEN_AT: Final = _ENDS.format(label="Who") + (
    f"MERGE (a)-[r:{SEEN} {{branch: $branch, holders: row[0], block: row[1]}}]->(b) "
    "ON CREATE SET r.seqs = row[2] ON MATCH SET r.seqs = r.seqs + row[2]"
)
RELATED: Final = {
    kind: _ENDS.format(label="Who") + f"CREATE (a)-[:{kind} {{{_CLAIM}, ended: row[10]}}]->(b)"
    for kind in RELATIONS.values()
}
_DEED: Final = "branch: $branch, slot: row[0], holders: row[1], certainty: row[2]"
DONE: Final = {
    kind: _ENDS.format(label="Who") + (f"MERGE (a)-[r:{kind} {{{_DEED}}}]->(b) ON CREATE SET r.seq = row[3]")
    for kind in (*DEEDS.values(), NAMES)
}
# In the order of writing.
EDGES: Final[dict[str, str]] = {
    **CLAIMED,
    "CALLS": CALLS,
    "SIGHTED": SIGHTED,
    "SAME_AS": SAME_AS,
    SEEN: SEEN_AT,
    **RELATED,
    **DONE,
}

# The same for new edges, which need no lookup of existing ones.
NEW_EDGES: Final[dict[str, str]] = {
    **EDGES,
    "SIGHTED": _ENDS.format(label="Group")
    + "CREATE (a)-[:SIGHTED {branch: $branch, holders: row[0], seq: row[1]}]->(b)",
    SEEN: _ENDS.format(label="Who")
    + f"CREATE (a)-[:{SEEN} {{branch: $branch, holders: row[0], block: row[1], seqs: row[2]}}]->(b)",
    **{
        kind: _ENDS.format(label="Who") + f"CREATE (a)-[:{kind} {{{_DEED}, seq: row[3]}}]->(b)"
        for kind in (*DEEDS.values(), NAMES)
    },
}

# The last place of an entity, on the edge of its sighting, so that nobody reads its whole past. Seq and place
# are one text: a concurrent reader sees the old one or the new one, never a mixture.
PLACED: Final = """
UNWIND $rows AS row
MATCH (:Group {key: row[0]})-[r:SIGHTED {branch: $branch}]->(:Who {key: row[1]}) SET r.at = row[2]
"""

# The edges of a branch are dropped in small pieces, so that the heap of the server suffices. The branch node
# stays: all writers lock it.
DROPPING: Final = "MATCH (b:Branch {key: $key}) SET b.dropping = true"
DROPPED: Final = """
MATCH (b:Branch {key: $key})
SET b.seq = b.forked_at, b.last = NULL, b.rows = 0, b.fold = $fold, b.layout = $layout, b.dropping = NULL
"""
DROP_EDGES: Final = """
MATCH (n:Entity {campaign: $campaign})<-[r]-() WHERE r.branch = $branch
WITH r LIMIT $limit DELETE r RETURN count(r) AS dropped
"""
DROP_LOG: Final = "MATCH (l:Log {campaign: $campaign, branch: $branch}) DETACH DELETE l"
DROP_LONELY: Final = "MATCH (n:Entity {campaign: $campaign}) WHERE NOT (n)--() DELETE n"


def node_key(campaign: str, *parts: object) -> str:
    """Return the key of a node. A campaign's name may contain anything but a line break."""
    return "\n".join((campaign, *map(str, parts)))
