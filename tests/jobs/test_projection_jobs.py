"""Jobs that project: what a worker does for the copies in Neo4j, on a real server of either kind."""

from contextlib import closing

import pytest
from tests.jobs.workers import PARTY, QUICK
from tests.neo4j_server import Neo4jServer
from tests.postgres import PostgresServer
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, NoProjection
from dndbots.events import EventType
from dndbots.jobs.kinds import kinds_of
from dndbots.jobs.queue import COMPACT, PROJECT, JobPatience, JobQueue, JobState
from dndbots.jobs.worker import Worker
from dndbots.storage.address import address_of, name_of

NOWHERE = "bolt://127.0.0.1:1"


@pytest.fixture
def url(postgres: PostgresServer, database: str) -> str:
    return postgres.url("copied", database=database)


def played(url: str, number: int, first: int = 0) -> Campaign:
    campaign = Campaign.open(url)
    for n in range(first, first + number):
        told = {"participants": PARTY, "hp_delta": {PARTY[0]: -1}}
        campaign.record(event(f"t{n}", "dm", "Elena is a smith.", kind=EventType.DM_NARRATION, **told))
    return campaign


def work(url: str, neo4j: str, *, patience: JobPatience = QUICK) -> list[str]:
    lines: list[str] = []
    kinds = kinds_of(neo4j=neo4j)
    Worker(url, Campaign.open, kinds=kinds, patience=patience, tell=lines.append).run(once=True)
    return lines


def test_what_is_compacted_is_projected_and_only_what_is_new(
    neo4j: Neo4jServer, url: str, queue: JobQueue
) -> None:
    """Compaction leads to projection on each branch; the copy is sound; a second job writes only the rest."""
    name = str(address_of(url).campaign)
    with played(url, 6) as campaign, campaign.fork("aside") as fork:
        fork.record(event("aside", "dm", "x", participants=PARTY))
        for branch in ("main", "aside"):
            queue.ask(name, branch, COMPACT)
        lines = work(url, neo4j.uri)
        assert [line.split(":")[0] for line in lines] == [
            f"{kind} {name} ({branch})" for kind in (COMPACT, PROJECT) for branch in ("main", "aside")
        ]
        for one in (campaign, fork):
            with closing(one.projection(neo4j.uri)) as projection:
                assert projection.verify() == []
                assert projection.catch_up() == (0, 0, one.head)
        before = campaign.head
        campaign.record(event("later", "dm", "x", participants=PARTY))
        queue.ask(name, "main", PROJECT)
        assert f": 1 events projected; the graph is at {before + 1}; " in work(url, neo4j.uri)[0]


def test_a_job_waits_for_a_neo4j_that_is_away_and_is_not_given_up(
    neo4j: Neo4jServer, url: str, queue: JobQueue
) -> None:
    """However often it fails, it is tried again later and says why; when Neo4j is back, it is done."""
    played(url, 2).close()
    name, tried = str(address_of(url).campaign), JobPatience(attempts=2, first=0.0, longest=0.0)
    queue.ask(name, "main", PROJECT)
    seen: list[str] = []

    def told(line: str) -> None:
        seen.append(line)
        if len(seen) == 5:
            made.stop()

    made = Worker(url, Campaign.open, kinds=kinds_of([PROJECT], neo4j=NOWHERE), patience=tried, tell=told)
    made.run()
    (job,) = queue.jobs()
    assert (job.state, job.attempts, job.failures) == (JobState.WAITING, 0, 5)
    assert f"{NOWHERE}: cannot be reached" in str(job.error)
    assert all("next attempt in" in line for line in seen)
    (line,) = work(url, neo4j.uri)
    assert "2 events projected" in line
    (job,) = queue.jobs()
    assert (job.state, job.attempts, job.error) == (JobState.DONE, 0, None)


def test_everybody_means_the_same_copy_and_nobodys_password_is_in_its_name(
    postgres: PostgresServer, url: str
) -> None:
    """The name of a projection does not depend on the user or the size of the pool."""
    plain = "postgresql://db.example:5433/tales?campaign=mill"
    assert name_of(plain) == plain
    assert (
        name_of("postgres://zara:secret@db.example:5433/tales?pool=3&campaign=mill&sslmode=require") == plain
    )
    assert "dndbots@" not in name_of(url)
    assert name_of(url) != name_of(postgres.url("copied"))


def test_nothing_is_projected_nowhere() -> None:
    assert [*kinds_of()] == [COMPACT]
    assert [*kinds_of([COMPACT])] == [COMPACT]
    with pytest.raises(NoProjection, match="NEO4J_URI"):
        kinds_of([PROJECT])
    with pytest.raises(InvalidSetting, match="address"):
        kinds_of(neo4j="http://somewhere")
