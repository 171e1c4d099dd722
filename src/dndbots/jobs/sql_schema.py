"""The table of the queue, in a PostgreSQL namespace of its own: it can be dropped, or left out of a copy.

One row stands for all requests of one kind for one branch of a campaign. So the table grows with the number
of campaigns only, and a campaign that asks often gets no more turns than others.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISION: Final = "0001"
NAMESPACE: Final = "dndbots_queue"

metadata = MetaData(schema=NAMESPACE)
_Key = Text(collation="C")
_Moment = DateTime(timezone=True)

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("campaign", _Key, nullable=False),
    Column("branch", _Key, nullable=False),
    Column("kind", _Key, nullable=False),
    Column("state", _Key, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    # How often it was asked for, and the value of `asked` when a worker took it last.
    Column("asked", BigInteger, nullable=False),
    Column("taken", BigInteger, nullable=False),
    # How often it was taken: a worker that holds an older number has lost the job.
    Column("takes", BigInteger, nullable=False),
    # Failures in a row; then how often it was done and failed in all.
    Column("attempts", Integer, nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    # Since when it waits; and, while it runs, since when the next run waits.
    Column("asked_at", _Moment, nullable=False),
    Column("again_at", _Moment, nullable=True),
    Column("due", _Moment, nullable=False),
    Column("started_at", _Moment, nullable=True),
    Column("ended_at", _Moment, nullable=True),
    Column("lease", _Moment, nullable=True),
    Column("worker", Text, nullable=True),
    Column("error", Text, nullable=True),
    UniqueConstraint("campaign", "branch", "kind", name="jobs_of_a_campaign"),
)
# First come, first served; a job keeps its turn when its worker was lost.
Index(
    "jobs_waiting",
    jobs.c.priority.desc(),
    jobs.c.asked_at,
    jobs.c.id,
    postgresql_where=text("state = 'waiting'"),
)
# The database itself enforces that a campaign has one running job at a time.
Index("jobs_one_at_a_time", jobs.c.campaign, unique=True, postgresql_where=text("state = 'running'"))
