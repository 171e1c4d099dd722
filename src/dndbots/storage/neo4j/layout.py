"""How canon stands in the graph: labels, types of edges, and the statements that write them.

Nodes are shared by all branches of a campaign; every edge says which branch made it, and where in its
log. So a fork costs nothing but its own events. All that comes from a campaign is a parameter: labels and
types are the fixed ones of this page.
"""

from typing import Final

from dndbots.canon.ties import VERBS, deed_slot
from dndbots.ids import CATEGORIES

# What is made otherwise than this page says is dropped and made again. It grows with every change of it.
VERSION: Final = 2

# By the operator of a relation; edges of these types are claims, with their validity.
RELATIONS: Final = {
    "@": "AT",
    "in": "IN",
    "<": "PART_OF",
    "~": "ASSOC",
    "->": "LEADS_TO",
    "<-": "CAUSED_BY",
}
# By slot; done once, and never undone.
DEEDS: Final = {deed_slot(verb): verb.upper() for verb in VERBS}
NAMES: Final = "NAMES"  # a fact whose value names another entity
SEEN: Final = "SEEN_AT"
# Claims without another end. Where a relation ended is apart from all else that is held of somebody: whoever
# asks where a hero is must not read how it fared in a thousand fights.
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
# What is taken back goes by another name from then on, and another branch by its own.
NAMED: Final = "UNWIND $rows AS row MATCH (b:Branch {key: row[0]}) SET b.name = row[1]"
END: Final = "MATCH (b:Branch {key: $key}) SET b.seq = $seq, b.last = $last, b.rows = b.rows + $rows"

# Whoever perceives, and all that is perceived. The labels of a node are those of its uid, whatever it is
# needed for first: they never change, and need not, for a database that keeps a key by label.
OTHER: Final = "OTHER"  # an entity of no category
NO_ENTITY: Final = "Who"  # the DM, and whoever else perceives without a uid
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
# Edges come by their ends, so that each is looked up once for all edges that it has.
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
# In the order in which they are written: ends before edges.
EDGES: Final[dict[str, str]] = {
    **CLAIMED,
    "CALLS": CALLS,
    "SIGHTED": SIGHTED,
    "SAME_AS": SAME_AS,
    SEEN: SEEN_AT,
    **RELATED,
    **DONE,
}

# The same where nothing of it can be there yet, and there is nothing to look for.
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

# Where each was seen last, beside since when it is known at all, so that nobody looks through its whole past.
# Place and time are one text: whoever reads while it is written finds the old one or the new, no mixture.
PLACED: Final = """
UNWIND $rows AS row
MATCH (:Group {key: row[0]})-[r:SIGHTED {branch: $branch}]->(:Who {key: row[1]}) SET r.at = row[2]
"""

# A branch's part is dropped in pieces, of which none is too much for a small heap. The branch itself stays:
# it is what all who write or drop lock.
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


def key_of(campaign: str, *parts: object) -> str:
    """The key of a node. A campaign's name may hold anything but the line break that parts them."""
    return "\n".join((campaign, *map(str, parts)))
