"""Hypothesis profiles: few cases by default, many with HYPOTHESIS_PROFILE=long.

And servers that tests share: PostgreSQL, Neo4j, a small model.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from tests.neo4j_server import Neo4jServer
    from tests.postgres import PostgresServer

    from dndbots.jobs.queue import JobQueue

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
# CI judges a change by the same cases each time; runs by hand and the long profile look for new ones.
settings.register_profile(
    "default",
    max_examples=40,
    deadline=None,
    suppress_health_check=_SLOW,
    derandomize=bool(os.environ.get("CI")),
)
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=_SLOW)
# To find a fault fast, without looking for its simplest form.
settings.register_profile(
    "quick",
    max_examples=100,
    deadline=None,
    suppress_health_check=_SLOW,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
# The tests wait for what is compacted in the background, so it need not stand back for them.
os.environ.setdefault("DNDBOTS_NICE", "0")


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    """A server of its own for the tests that ask for one; they are skipped where none can be had."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    from tests.postgres import NoPostgres, PostgresServer

    try:
        server = PostgresServer()
    except NoPostgres as exc:
        pytest.skip(str(exc))
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture
def database(postgres: "PostgresServer") -> str:
    """A database of the server in which there is nothing yet."""
    return postgres.new_database()


@pytest.fixture
def queue(postgres: "PostgresServer", database: str) -> "Iterator[JobQueue]":
    """The queue of that database."""
    from dndbots.jobs.sql_queue import open_queue

    with closing(open_queue(postgres.url("queue", database=database))) as queue:
        yield queue


@pytest.fixture(autouse=True)
def all_is_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Who opens a campaign or a queue on the server closes it, and does not leave that to be collected.

    What a fixture of a whole module opened stood there before the test, and is not counted.
    """
    if "postgres" not in request.fixturenames:
        yield
        return
    from tests.postgres import left_open
    from tests.waiting import wait_until

    with left_open() as left:
        yield
    # A thread of the test may be about to close what it opened.
    wait_until(lambda: left() == [] or threading.active_count() == 1, "all is closed")
    assert left() == []


@pytest.fixture(scope="session")
def neo4j() -> "Iterator[Neo4jServer]":
    """The same of Neo4j, whose version the report names."""
    pytest.importorskip("neo4j", reason="the driver is not installed: pip install 'dndbots[neo4j]'")
    from tests.neo4j_server import Neo4jServer, NoNeo4j

    try:
        server = Neo4jServer()
    except NoNeo4j as exc:
        pytest.skip(str(exc))
    try:
        server.start()
        yield server
    finally:
        server.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """On which graph database the tests ran: a green suite without one has not seen it."""
    from tests.neo4j_server import found

    terminalreporter.write_line(f"graph: {found()}")


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    """The address of a real small model on this machine; tests are skipped where it is not installed."""
    from bench.small import NoSmallModel, served

    try:
        server = served()
    except NoSmallModel as exc:
        pytest.skip(str(exc))
    yield server.listening_address
    del server
