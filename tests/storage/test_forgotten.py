"""A campaign that nobody closed: its shared engine is released when it is collected, and only then."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool
from tests.postgres import PostgresServer
from tests.storage.writers import opening_scene
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.storage.sql.database import Database
from dndbots.storage.sql.engine_pool import SharedEngines
from dndbots.storage.sql.sqlite import SqliteDialect


@pytest.fixture
def all_is_closed() -> None:
    """Here it is the point that something is not."""


def engine_of(campaign: Campaign) -> Engine:
    found: Engine = campaign._store._db.engine  # type: ignore[attr-defined]
    return found


def test_a_forgotten_campaign_keeps_no_connection(postgres: PostgresServer, database: str) -> None:
    """Neither it nor its fork, once both are collected."""
    campaign = Campaign.open(postgres.url("forgotten", database=database))
    campaign.record(opening_scene())
    fork = campaign.fork("aside")
    assert fork.head == 1
    del campaign
    gc.collect()
    assert fork.head == 1
    postgres.wait_for_connections(database, 1)
    del fork
    gc.collect()
    postgres.wait_for_connections(database, 0)


def test_who_closed_is_not_counted_again_when_it_is_collected(
    postgres: PostgresServer, database: str
) -> None:
    """The others go on with the engine that they share; and closing twice is closing once."""
    one, two = postgres.url("one", database=database), postgres.url("two", database=database)
    campaign, other = Campaign.open(one), Campaign.open(two)
    campaign.close()
    campaign.close()
    del campaign
    gc.collect()
    with Campaign.open(one) as again:
        assert engine_of(again) is engine_of(other)
    postgres.wait_for_connections(database, 1)
    other.close()
    postgres.wait_for_connections(database, 0)


def test_what_a_fork_of_the_program_forgets_is_its_parents(postgres: PostgresServer, database: str) -> None:
    """A child that collects a campaign it was born with ends no connection of its parent."""
    program = """
import gc, os, sys
from dndbots.campaign import Campaign

campaign = Campaign.open(sys.argv[1])
db = campaign._store._db
def backend():
    return db.cursor.execute("SELECT pg_backend_pid()").fetchone()[0]
before = backend()
db._put_back()
child = os.fork()
if not child:
    del campaign, db
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
print(before == backend())
campaign.close()
"""
    url = postgres.url("parent", database=database)
    done = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


# The counting itself, for which any engine does.


class Pooled:
    """Engines that say when a connection of theirs was closed."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = 0

    def __call__(self) -> Engine:
        self.made += 1
        engine = create_engine("sqlite://", poolclass=QueuePool, connect_args={"check_same_thread": False})
        event.listen(engine, "close", lambda *_given: setattr(self, "closed", self.closed + 1))
        engine.raw_connection().close()
        return engine


def ends(work: Callable[[], object]) -> bool:
    """Return whether an action ends, where it might deadlock."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(HANG)
    return not thread.is_alive()


class Collecting:
    """A key at the sight of which something is collected, as may happen at any moment."""

    def __init__(self, collected: Callable[[], object]) -> None:
        self.collected = collected

    def __hash__(self) -> int:
        self.collected()
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Collecting)


def test_what_is_collected_while_somebody_asks_is_let_go_of_afterwards() -> None:
    """Nobody waits for the lock that it holds itself; nor is the engine lost that is being asked for."""
    shared, make = SharedEngines(), Pooled()
    quiet = Collecting(lambda: None)
    engine = shared.engine(quiet, make)
    gone = [engine]
    asked: list[Engine] = []

    def collected() -> None:
        if gone:
            shared.let_go(gone.pop())

    assert ends(lambda: asked.append(shared.engine(Collecting(collected), make)))
    assert (asked, gone, make.closed) == ([engine], [], 0)
    assert shared.engine(quiet, make) is engine
    shared.let_go(engine)
    shared.let_go(engine)
    assert (make.made, make.closed) == (1, 1)


def test_however_many_forget_at_once_nothing_stays_in_use(tmp_path: Path) -> None:
    """In any thread: each asks for an engine and is collected, and the last one ends the connections."""
    shared, make = SharedEngines(), Pooled()

    class Lending(SqliteDialect):
        def engine(self) -> Engine:
            return shared.engine("one", make)

        def let_go(self, engine: Engine) -> None:
            shared.let_go(engine)

    dialect = Lending(tmp_path, create=True, timeout=HANG)

    def forget(_number: int) -> None:
        for _ in range(50):
            forgotten = [Database(dialect)]
            assert forgotten[0].engine
            forgotten.append(forgotten)  # type: ignore[arg-type]  # only the collector finds it

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(forget, range(8)))
    gc.collect()
    assert make.made == make.closed >= 1
    assert not shared._users
    assert not shared._engines


def test_two_threads_that_begin_at_once_take_one_engine(tmp_path: Path) -> None:
    """A second one would be nobody's to let go of."""
    taken: list[Engine] = []

    class Slow(SqliteDialect):
        def engine(self) -> Engine:
            time.sleep(0.05)
            taken.append(super().engine())
            return taken[-1]

    db = Database(Slow(tmp_path, create=True, timeout=HANG))
    with ThreadPoolExecutor(4) as threads:
        found = {*threads.map(lambda _: db.engine, range(4))}
    assert len(found) == len(taken) == 1
    db.close()
