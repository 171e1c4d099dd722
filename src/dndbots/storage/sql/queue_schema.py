"""The table of the queue. It has a namespace of its own: what waits can be dropped, or left out of a copy.

Only PostgreSQL has it. A row stands for all that was ever asked of one kind for one branch of a campaign,
so the table is as large as there are campaigns, and who is asked often gets no more turns than others.
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
    # How often it was asked for, and up to which of these the last one who took it did the work.
    Column("asked", BigInteger, nullable=False),
    Column("taken", BigInteger, nullable=False),
    # How often it was taken: who took it before that has no say in it any more.
    Column("takes", BigInteger, nullable=False),
    # Failures in a row, and what came of it all in all.
    Column("attempts", Integer, nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    # Since when it waits, and since when for the time after the one that is under way.
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
# Who asked first comes first, also after a worker was lost: that is nobody's fault who waits.
Index(
    "jobs_waiting",
    jobs.c.priority.desc(),
    jobs.c.asked_at,
    jobs.c.id,
    postgresql_where=text("state = 'waiting'"),
)
# The law that a campaign has one job at a time, kept by the database itself.
Index("jobs_one_at_a_time", jobs.c.campaign, unique=True, postgresql_where=text("state = 'running'"))
