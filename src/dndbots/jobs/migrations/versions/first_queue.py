"""The first queue: a row for each kind of job of each branch of a campaign."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAMESPACE = "dndbots_queue"
KEY = sa.Text(collation="C")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("campaign", KEY, nullable=False),
        sa.Column("branch", KEY, nullable=False),
        sa.Column("kind", KEY, nullable=False),
        sa.Column("state", KEY, nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=False),
        sa.Column("takes", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("again_at", MOMENT, nullable=True),
        sa.Column("due", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.Column("lease", MOMENT, nullable=True),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("campaign", "branch", "kind", name="jobs_of_a_campaign"),
        schema=NAMESPACE,
    )
    op.create_index(
        "jobs_waiting",
        "jobs",
        [sa.text("priority DESC"), "asked_at", "id"],
        schema=NAMESPACE,
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index(
        "jobs_one_at_a_time",
        "jobs",
        ["campaign"],
        unique=True,
        schema=NAMESPACE,
        postgresql_where=sa.text("state = 'running'"),
    )
