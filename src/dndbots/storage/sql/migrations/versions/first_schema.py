"""The first schema: the log, and the views that are folded from it."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "audiences",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("campaign", NUMBER, nullable=False),
        sa.Column("digest", KEY, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("campaign", "digest", name="audiences_by_digest"),
        sqlite_with_rowid=True,
    )
    op.create_table(
        "campaigns",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sqlite_with_rowid=True,
    )
    op.create_table(
        "claims",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("slot", KEY, nullable=False),
        sa.Column("holders", NUMBER, nullable=False),
        sa.Column("certainty", sa.SmallInteger(), nullable=False),
        sa.Column("valid_from", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("n", NUMBER, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("said_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint(
            "branch", "subject", "slot", "holders", "certainty", "valid_from", "seq", "n"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cursors",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("event_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=True),
        sa.Column("timestamp", sa.Text(), nullable=True),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("others", NUMBER, nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("branch", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_index("events_by_id", "events", ["branch", "event_id"], unique=True)
    op.create_table(
        "identities",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("uid", KEY, nullable=False),
        sa.Column("same_as", KEY, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "uid", "same_as", "seq", "audience"),
        sqlite_with_rowid=False,
    )
    op.create_index("identities_by_other", "identities", ["branch", "same_as", "audience"], unique=False)
    op.create_table(
        "lines",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("ordinal", NUMBER, nullable=False),
        sa.Column("words", NUMBER, nullable=False),
        sa.Column("words_total", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "audience", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "members",
        sa.Column("campaign", NUMBER, nullable=False),
        sa.Column("member", KEY, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("campaign", "member", "audience"),
        sqlite_with_rowid=False,
    )
    op.create_index("members_by_audience", "members", ["audience"], unique=False)
    op.create_table(
        "mentions",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("uid", KEY, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("place", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("branch", "uid", "audience", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "names",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("uid", KEY, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("n", NUMBER, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", KEY, nullable=False),
        sa.PrimaryKeyConstraint("branch", "uid", "seq", "n", "audience"),
        sqlite_with_rowid=False,
    )
    op.create_index("names_by_name", "names", ["branch", "folded", "audience"], unique=False)
    op.create_table(
        "postings",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("term", KEY, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("block", NUMBER, nullable=False),
        sa.Column("events", NUMBER, nullable=False),
        sa.Column("hits", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("branch", "term", "audience", "block"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sightings",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("uid", KEY, nullable=False),
        sa.Column("audience", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "uid", "audience"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "slots",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("slot", KEY, nullable=False),
        sa.Column("holders", NUMBER, nullable=False),
        sa.Column("certainty", sa.SmallInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "subject", "slot", "holders", "certainty"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "truth",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("slot", KEY, nullable=False),
        sa.Column("value", KEY, nullable=False),
        sa.Column("valid_from", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "subject", "slot"),
        sqlite_with_rowid=False,
    )
    op.create_index("truth_by_value", "truth", ["branch", "slot", "value"], unique=False)
    op.create_table(
        "branches",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("campaign", NUMBER, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("parent", NUMBER, nullable=True),
        sa.Column("forked_at", NUMBER, nullable=False),
        sa.Column("head", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"],
            ["campaigns.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("campaign", "name", name="branches_by_name"),
        sqlite_with_rowid=True,
    )
