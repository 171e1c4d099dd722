"""Many campaigns in one database: few connections for all of them, and nothing of one in another."""

import random
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.engine import make_url
from tests.postgres import PostgresServer
from tests.storage.writers import FRIEND, HERO, check_sound, opening_scene, scene
from tests.table import event
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, StoreBusy, StoreUnavailable, UnknownEntity

MANY = 40


def pooled(url: str, number: int) -> str:
    return make_url(url).update_query_dict({"pool": str(number)}).render_as_string(hide_password=False)


def played(url: str, name: str, scenes: int = 3) -> Campaign:
    campaign, rng = Campaign.open(url), random.Random(name)
    campaign.record(opening_scene())
    for number in range(scenes):
        campaign.record_many(scene(name, number, rng))
    return campaign


# Connections.


def test_many_campaigns_of_one_program_share_few_connections(postgres: PostgresServer, database: str) -> None:
    """However many are open and written to at once, there are no more than the pool has; later, none."""
    with ExitStack() as stack:
        urls = [pooled(postgres.url("many", database=database), 4) for _ in range(MANY)]
        opened = [stack.enter_context(Campaign.open(url)) for url in urls]
        most = 0

        def play(campaign: Campaign) -> None:
            nonlocal most
            campaign.record(opening_scene())
            most = max(most, postgres.connections(database))
            campaign.timeline(viewer="dm")

        with ThreadPoolExecutor(12) as threads:
            list(threads.map(play, opened))
        assert 1 < most <= 4
        assert [campaign.head for campaign in opened] == [1] * MANY
        assert opened[7].verify() == []
    postgres.wait_for_connections(database, 0)


def test_one_connection_is_enough_for_everything(postgres: PostgresServer, database: str) -> None:
    """Nothing that a campaign does needs a second connection while it holds one."""
    with Campaign.open(pooled(postgres.url("one", database=database), 1)) as campaign:
        campaign.record(opening_scene())
        campaign.record_many(scene("one", 0, random.Random(1)))
        with campaign.fork("aside") as fork:
            fork.record(event("aside", HERO, "And on."))
            check_sound(fork, ["aside"])
        campaign.compact()
        campaign.rebuild()
        assert campaign.context(HERO, budget=500).tokens <= 500
        check_sound(campaign, ["opening-0-1of1"])
        postgres.wait_for_connections(database, 1)


def test_an_answer_takes_a_connection_once_and_gives_it_back(postgres: PostgresServer, database: str) -> None:
    """However many reads it is made of; also where it fails, and where the connection is lost on the way."""
    with Campaign.open(postgres.url("kept", database=database)) as campaign:
        campaign.record(opening_scene())
        db = campaign._store._db  # type: ignore[attr-defined]
        taken: list[object] = []
        sqlalchemy_event.listen(db.engine, "checkout", lambda *given: taken.append(given))
        campaign.entity(HERO, viewer=HERO)
        assert len(taken) == 1
        with pytest.raises(UnknownEntity):
            campaign.entity("npc_nobody_001", viewer=HERO)
        assert (len(taken), db.engine.pool.checkedout()) == (2, 0)
        with db.keep_connection():
            campaign.timeline(viewer=HERO)
            db._connection.driver_connection.close()
            assert campaign.entity(HERO, viewer=HERO).uid == HERO
        assert db.engine.pool.checkedout() == 0


def test_who_finds_no_connection_free_is_told_so(postgres: PostgresServer, database: str) -> None:
    """After the time that it may take, with the remedy; and it works once one is free."""
    one, other = (pooled(postgres.url("free", database=database), 1) for _ in range(2))
    with Campaign.open(one, timeout=1) as holder, Campaign.open(other, timeout=1) as waiting:
        held, end = threading.Event(), threading.Event()

        def hold() -> None:
            with holder._store.snapshot():
                held.set()
                assert end.wait(HANG)

        with ThreadPoolExecutor(1) as threads:
            ended = threads.submit(hold)
            assert held.wait(HANG)
            with pytest.raises(StoreBusy, match=r"all 1 connections.*pool="):
                waiting.record(opening_scene())
            end.set()
            ended.result(HANG)
        assert waiting.record(opening_scene()).seq == 1


def test_a_pool_of_dead_connections_costs_at_most_one_error(postgres: PostgresServer, database: str) -> None:
    """After the server restarted, whoever notices first clears away what died for everybody."""
    if not postgres.is_ours:
        pytest.skip("a server that is not ours is not restarted")
    with ExitStack() as stack:
        urls = [pooled(postgres.url("dead", database=database), 4) for _ in range(8)]
        opened = [stack.enter_context(played(url, "dead", 1)) for url in urls]
        ready = threading.Barrier(4)

        def look(campaign: Campaign) -> None:
            with campaign._store.snapshot():
                ready.wait(HANG)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(look, opened[:4]))
        postgres.wait_for_connections(database, 4)
        postgres.restart()
        errors = 0
        for campaign in opened:
            try:
                campaign.timeline(viewer="dm")
            except StoreUnavailable:
                errors += 1
        assert errors <= 1
        for campaign in opened:
            assert campaign.verify() == []


@pytest.mark.parametrize("pool", ["0", "-1", "many", "1001", ""])
def test_a_pool_of_no_size_is_refused(pool: str) -> None:
    with pytest.raises(InvalidSetting, match="pool"):
        Campaign.open(f"postgresql://dndbots@127.0.0.1:1/x?campaign=y&pool={pool or 'x'}")


def test_a_password_among_the_options_is_not_shown() -> None:
    """A password may stand behind the question mark too."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    with pytest.raises(StoreUnavailable) as raised:
        Campaign.open("postgresql://dndbots@127.0.0.1:1/x?campaign=y&password=hush", timeout=2)
    assert "hush" not in str(raised.value)


# Nothing of one in another.


def everything(campaign: Campaign) -> Iterator[object]:
    """Return the answers of a campaign to every viewer."""
    yield list(campaign.export())
    yield [branch.name for branch in campaign.branches()]
    yield campaign.compaction()
    yield campaign.data()
    for viewer in ("dm", HERO, FRIEND):
        yield campaign.timeline(viewer=viewer)
        yield campaign.entities(viewer=viewer)
        yield campaign.context(viewer, budget=800).text
        yield campaign.recall(viewer, "Where is the goblin with the torch?", budget=400).items
        yield campaign.history("Throk", viewer=viewer)
    yield campaign.who_knows({"subject": HERO, "op": "@"})


def test_what_a_campaign_answers_does_not_depend_on_its_neighbours(postgres: PostgresServer) -> None:
    """Alone, and among others with the same people, names and event ids, it answers the same to the byte."""
    alone = postgres.url("answers", database=postgres.new_database())
    crowded = postgres.new_database()
    with ExitStack() as stack:
        quiet = stack.enter_context(played(alone, "story", 6))
        around = [postgres.url("neighbour", database=crowded) for _ in range(2)]
        stack.enter_context(played(around[0], "other", 9)).fork("aside").close()
        beside = stack.enter_context(played(postgres.url("beside", database=crowded), "story", 6))
        after = stack.enter_context(played(around[1], "story", 2))
        after.record(event("more", "dm", "The goblin has a torch.", participants=[HERO, FRIEND]))
        for one in (quiet, beside):
            one.compact()
        assert [_timeless(one) for one in everything(quiet)] == [_timeless(one) for one in everything(beside)]


def _timeless(answer: object) -> str:
    """Drop the duration of a run, which differs each time."""
    return re.sub(r"(milliseconds\D+)\d+", r"\1", str(answer))


ROWS = (
    "events",
    "lines",
    "postings",
    "sightings",
    "mentions",
    "names",
    "slots",
    "claims",
    "truth",
    "cursors",
)


def rows_of(postgres: PostgresServer, database: str, campaign: str) -> list[object]:
    """Every row of a campaign, and who wrote it: one that is written again differs."""
    found: list[object] = []
    for table in ROWS:
        sql = f"""
            SELECT t.xmin::text, t.* FROM {table} t JOIN branches b ON b.id = t.branch
            JOIN campaigns c ON c.id = b.campaign WHERE c.name = '{campaign}' ORDER BY t::text
        """  # noqa: S608 - our own names
        found += postgres.execute(sql, database=database)
    return found


def test_whatever_one_campaign_does_no_row_of_another_is_written(postgres: PostgresServer) -> None:
    """Recording, forking, compacting, rebuilding and checking one leaves the others' rows as they stand."""
    database = postgres.new_database()
    still, busy = (postgres.url("rows", database=database) for _ in range(2))
    played(still, "still", 5).close()
    name = str(make_url(still).query["campaign"])
    before = rows_of(postgres, database, name)
    with played(busy, "still", 5) as campaign:
        campaign.fork("aside").close()
        campaign.compact()
        campaign.rebuild()
        assert campaign.verify() == []
    assert rows_of(postgres, database, name) == before
    assert len(before) > 50


def test_a_slow_writer_keeps_nobody_elses_campaign_waiting(postgres: PostgresServer, database: str) -> None:
    """While one campaign is held, and half of a record is written, others are written to and made."""
    with (
        played(postgres.url("slow", database=database), "slow") as slow,
        Campaign.open(postgres.url("quick", database=database), timeout=HANG) as quick,
        slow._store.appending(slow.branches()[0].id),
    ):
        slow._store.intern([frozenset({"dm", "pc_somebody_new_001"})])
        quick.record(opening_scene())
        quick.record_many(scene("quick", 0, random.Random(2)))
        quick.fork("aside").close()
        with Campaign.open(postgres.url("new", database=database), timeout=HANG) as new:
            assert new.record(opening_scene()).seq == 1
        assert quick.verify() == []
