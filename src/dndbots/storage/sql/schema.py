"""The one schema, in SQLAlchemy Core. Migrations bring a database to it; a test compares the two.

SQLite has no statistics for a new database, and prefers a table's primary key. So a secondary index covers
all columns that are read through it.

The columns of a table have the order of its row in `ports`.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

REVISION: Final = "0003"

metadata = MetaData()

# SQLite assigns row numbers only in a column declared as INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")
# Compared by code point on every database.
Key = Text().with_variant(Text(collation="C"), "postgresql")


def _table(name: str, *columns: Column[object] | Index | UniqueConstraint, with_rowid: bool = False) -> Table:
    return Table(name, metadata, *columns, sqlite_with_rowid=with_rowid)


campaigns = _table(
    "campaigns",
    Column("id", Number, primary_key=True),
    Column("name", Key, nullable=False, unique=True),
    with_rowid=True,
)

branches = _table(
    "branches",
    Column("id", Number, primary_key=True),
    Column("campaign", Number, ForeignKey("campaigns.id"), nullable=False),
    Column("name", Key, nullable=False),
    Column("parent", Number, nullable=True),
    Column("forked_at", Number, nullable=False),
    Column("head", Number, nullable=False),
    Column("seal", Text, server_default="", nullable=False),
    UniqueConstraint("campaign", "name", name="branches_by_name"),
    with_rowid=True,
)

audiences = _table(
    "audiences",
    Column("id", Number, primary_key=True),
    Column("campaign", Number, nullable=False),
    Column("digest", Key, nullable=False),
    UniqueConstraint("campaign", "digest", name="audiences_by_digest"),
    with_rowid=True,
)

members = _table(
    "members",
    Column("campaign", Number, primary_key=True),
    Column("member", Key, primary_key=True),
    Column("audience", Number, primary_key=True),
    Index("members_by_audience", "audience"),
)

events = _table(
    "events",
    Column("branch", Number, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("event_id", Key, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", SmallInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("turn", BigInteger, nullable=True),
    Column("timestamp", Text, nullable=True),
    Column("audience", Number, nullable=False),
    Column("others", Number, nullable=True),
    Column("content", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Index("events_by_id", "branch", "event_id", unique=True),
)

lines = _table(
    "lines",
    Column("branch", Number, primary_key=True),
    Column("audience", Number, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("ordinal", Number, nullable=False),
    Column("words", Number, nullable=False),
    Column("words_total", Number, nullable=False),
)

postings = _table(
    "postings",
    Column("branch", Number, primary_key=True),
    Column("term", Key, primary_key=True),
    Column("audience", Number, primary_key=True),
    Column("block", Number, primary_key=True),
    Column("events", Number, nullable=False),
    Column("hits", Text, nullable=False),
)

sightings = _table(
    "sightings",
    Column("branch", Number, primary_key=True),
    Column("uid", Key, primary_key=True),
    Column("audience", Number, primary_key=True),
    Column("seq", Number, nullable=False),
)

mentions = _table(
    "mentions",
    Column("branch", Number, primary_key=True),
    Column("uid", Key, primary_key=True),
    Column("audience", Number, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("place", Text, nullable=True),
)

names = _table(
    "names",
    Column("branch", Number, primary_key=True),
    Column("uid", Key, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("n", Number, primary_key=True),
    Column("audience", Number, primary_key=True),
    Column("name", Text, nullable=False),
    Column("folded", Key, nullable=False),
    Index("names_by_name", "branch", "folded", "audience"),
)

identities = _table(
    "identities",
    Column("branch", Number, primary_key=True),
    Column("uid", Key, primary_key=True),
    Column("same_as", Key, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("audience", Number, primary_key=True),
    Index("identities_by_other", "branch", "same_as", "audience"),
)

slots = _table(
    "slots",
    Column("branch", Number, primary_key=True),
    Column("subject", Key, primary_key=True),
    Column("slot", Key, primary_key=True),
    Column("holders", Number, primary_key=True),
    Column("certainty", SmallInteger, primary_key=True),
    Column("seq", Number, nullable=False),
)

claims = _table(
    "claims",
    Column("branch", Number, primary_key=True),
    Column("subject", Key, primary_key=True),
    Column("slot", Key, primary_key=True),
    Column("holders", Number, primary_key=True),
    Column("certainty", SmallInteger, primary_key=True),
    Column("valid_from", Number, primary_key=True),
    Column("seq", Number, primary_key=True),
    Column("n", Number, primary_key=True),
    Column("value", Text, nullable=False),
    Column("total", BigInteger, nullable=True),
    Column("how", Text, nullable=False),
    Column("said_by", Text, nullable=True),
)

links = _table(
    "links",
    Column("branch", Number, primary_key=True),
    Column("subject", Key, primary_key=True),
    Column("slot", Key, primary_key=True),
    Column("object", Key, primary_key=True),
    Column("holders", Number, primary_key=True),
    Column("certainty", SmallInteger, primary_key=True),
    Column("seq", Number, nullable=False),
    Index("links_by_object", "branch", "object", "holders", "subject", "slot", "certainty", "seq"),
)

truth = _table(
    "truth",
    Column("branch", Number, primary_key=True),
    Column("subject", Key, primary_key=True),
    Column("slot", Key, primary_key=True),
    Column("value", Key, nullable=False),
    Column("valid_from", Number, nullable=False),
    Column("seq", Number, nullable=False),
    Index("truth_by_value", "branch", "slot", "value"),
)

cursors = _table(
    "cursors",
    Column("branch", Number, primary_key=True),
    Column("name", Key, primary_key=True),
    Column("seq", Number, nullable=False),
    Column("version", Number, nullable=False),
)
