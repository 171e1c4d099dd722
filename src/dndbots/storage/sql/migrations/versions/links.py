"""Add links between entities, found from either end. The next fold of the log adds the rows."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "links",
        sa.Column("branch", NUMBER, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("slot", KEY, nullable=False),
        sa.Column("object", KEY, nullable=False),
        sa.Column("holders", NUMBER, nullable=False),
        sa.Column("certainty", sa.SmallInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("branch", "subject", "slot", "object", "holders", "certainty"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "links_by_object",
        "links",
        ["branch", "object", "holders", "subject", "slot", "certainty", "seq"],
    )
