"""Faults of a PostgreSQL server: it dies, is crowded or locked, or is not there at all."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from tests.postgres import PostgresServer
from tests.storage.writers import (
    FRIEND,
    HERO,
    IS_LONG,
    WITHOUT_PSYCOPG,
    Child,
    at_once,
    check_sound,
    opening_scene,
    scene,
)
from tests.table import event
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import (
    DndbotsError,
    InvalidSetting,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from dndbots.events import GameEvent
from dndbots.storage.sql.schema import metadata

KILLS = 40 if IS_LONG else 3
RESTARTS = 30 if IS_LONG else 3


@pytest.fixture
def mortal(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """The server, if it is ours to kill; afterwards it runs again, whatever a test did."""
    if not postgres.is_ours:
        pytest.skip("a server that is not ours is not killed")
    yield postgres
    if not postgres.is_running:
        postgres.start()


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.url("faults")


def database_of(url: str) -> str:
    return str(make_url(url).database)


def some_scene(name: str) -> list[GameEvent]:
    return scene(name, 0, random.Random(name))


def again(deed: Callable[[], Any]) -> Any:
    """Does it, a second time if the first one finds the connection lost."""
    try:
        return deed()
    except StoreUnavailable as exc:
        assert type(exc) is StoreUnavailable  # noqa: PT017
        return deed()


# Programs that die, and programs at the same time.


def test_what_was_acknowledged_survives_a_kill(url: str) -> None:
    """An event that was recorded is there after its writer got SIGKILL, once, and the campaign goes on."""
    promised: list[str] = []
    for seed in range(KILLS):
        with at_once(("write", url, f"kill{seed}", 10**6)) as (child,):
            child.wait_for_lines(1)
            time.sleep(random.Random(seed).uniform(0, 0.3))
            promised += child.kill()
        with Campaign.open(url) as campaign:
            # The server may not have noticed yet; once it is our turn to write, it has.
            promised += [one.event_id for one in campaign.record_many(some_scene(f"after{seed}"))]
            check_sound(campaign, promised, told=f"seed {seed}")


def test_four_writers_at_once(url: str) -> None:
    """Everything that four programs write is there, in one sequence, and each one's in its own order."""
    with at_once(*(("write", url, f"writer{n}", 15) for n in range(4))) as children:
        promised = [child.finish() for child in children]
    with Campaign.open(url) as campaign:
        check_sound(campaign, [one for own in promised for one in own])
        ids = [one.event_id for one in campaign.events(viewer="dm")]
    assert [[one for one in ids if one in set(own)] for own in promised] == promised
    assert len(ids) == sum(map(len, promised))


def test_four_programs_make_one_campaign(postgres: PostgresServer) -> None:
    """In an empty database, four programs that open one campaign at once make it once."""
    urls = [postgres.url("made", database=postgres.new_database()) for _ in range(10 if IS_LONG else 3)]
    with at_once(*(("look", *urls) for _ in range(4))) as children:
        assert [child.finish() for child in children] == [["main 0"] * len(urls)] * 4
    for url in urls:
        assert postgres.execute("SELECT count(*) FROM campaigns", database=database_of(url)) == [(1,)]


def test_branches_are_written_and_read_at_once(url: str) -> None:
    """Two branches grow side by side, and whoever reads meanwhile sees whole scenes and no error."""
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        campaign.fork("fork").close()
    writers = [("write", url, f"on-{branch}", 25, branch) for branch in ("main", "fork")]
    readers = [("read", url, "main", "dm"), ("read", url, "fork", FRIEND)]
    with at_once(*writers, *readers) as (on_main, on_fork, *reading):
        promised = [on_main.finish(), on_fork.finish()]
        heard = [child.stop() for child in reading]
    assert [len(lines) for lines in heard] == [1, 1], heard
    for branch, own in zip(("main", "fork"), promised, strict=True):
        with Campaign.open(url, branch=branch) as campaign:
            check_sound(campaign, own)


def test_campaigns_of_one_database_do_not_meet(postgres: PostgresServer) -> None:
    """Two campaigns in one database are written at once, and neither has anything of the other."""
    urls = [postgres.url("one"), postgres.url("other")]
    with at_once(*(("write", url, f"in{n}", 10) for n, url in enumerate(urls))) as children:
        promised = [child.finish() for child in children]
    for url, own in zip(urls, promised, strict=True):
        with Campaign.open(url) as campaign:
            check_sound(campaign, own)
            assert campaign.head == len(own)


# A server that dies.


def test_a_server_killed_under_load_loses_nothing(mortal: PostgresServer) -> None:
    """Writers that try again when the server was away find everything in the log exactly once."""
    url = mortal.url("load")
    rng = random.Random(RESTARTS)
    with Campaign.open(url) as campaign:
        with at_once(*(("write", url, f"load{n}", 10**6, "main", "patient") for n in range(3))) as children:
            for _ in range(RESTARTS):
                _wait_for_more(children)
                time.sleep(rng.uniform(0, 0.2))
                mortal.kill()
                time.sleep(rng.uniform(0, 0.1))
                mortal.start()
            _wait_for_more(children)
            promised = [child.stop() for child in children]
        again(campaign.branches)
        check_sound(campaign, [one for own in promised for one in own])
        ids = [one.event_id for one in campaign.events(viewer="dm")]
    assert [[one for one in ids if one in set(own)] for own in promised] == promised


def _wait_for_more(children: list[Child]) -> None:
    """Until every one of them has recorded something again."""
    for child, number in [(child, len(child.lines)) for child in children]:
        child.wait_for_lines(number + 2)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_campaign_comes_back_with_its_server(mortal: PostgresServer, end: str) -> None:
    """While the server is away every call says so; after that the same object works on."""
    with Campaign.open(mortal.url("back"), timeout=HANG) as campaign:
        campaign.record(opening_scene())
        getattr(mortal, end)()
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="is it running"):
                campaign.record(event("away", HERO, "Is anybody there?"))
            with pytest.raises(StoreUnavailable, match="is it running"):
                campaign.timeline(viewer="dm")
        mortal.start()
        assert again(lambda: campaign.record(event("back", HERO, "And on."))).seq == 2
        check_sound(campaign, ["back"])


@pytest.mark.parametrize("deed", ["record", "timeline", "verify", "fork"])
def test_a_server_that_restarted_unnoticed_costs_at_most_one_error(mortal: PostgresServer, deed: str) -> None:
    """The first call on a connection that died while idle may fail; the second one does not."""
    with Campaign.open(mortal.url("idle")) as campaign:
        campaign.record(opening_scene())
        mortal.restart()
        again(
            {
                "record": lambda: campaign.record(event("idle", HERO, "And on.")),
                "timeline": lambda: campaign.timeline(viewer="dm"),
                "verify": campaign.verify,
                "fork": lambda: campaign.fork("fork").close(),
            }[deed]
        )
        check_sound(campaign, [])


def test_opening_beside_one_that_was_open_before_a_restart_costs_no_error(
    mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that the first left a moment before the server went is not what the second fails by."""
    monkeypatch.setattr("dndbots.storage.sql.postgres._FRESH", 60.0)
    with Campaign.open(mortal.url("first")) as first:
        first.record(opening_scene())
        mortal.restart()
        with Campaign.open(mortal.url("second")) as second:
            second.record(opening_scene())
            check_sound(second, [])


@pytest.mark.parametrize("is_back", [False, True], ids=["away", "back"])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_nothing_is_written_by_half_when_the_server_dies(
    mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch, after: int, *, is_back: bool
) -> None:
    """A server that dies between two tables of one record, even if it is back at once, has none of it."""
    with Campaign.open(mortal.url("half"), timeout=HANG) as campaign:
        campaign.record(opening_scene())
        db = campaign._store._db  # type: ignore[attr-defined]
        insert, times = db.insert, iter(range(1, 100))

        def dying(*arguments: Any) -> None:
            insert(*arguments)
            if next(times) == after:
                mortal.kill()
                if is_back:
                    mortal.start()

        monkeypatch.setattr(db, "insert", dying)
        with pytest.raises(StoreUnavailable):
            campaign.record(event("half", HERO, "A sword.", hp_delta={HERO: -3}))
        monkeypatch.undo()
        if not is_back:
            mortal.start()
        assert again(lambda: campaign.head) == 1
        assert campaign.verify() == []
        assert campaign.record(event("half", HERO, "A sword.", hp_delta={HERO: -3})).seq == 2
        check_sound(campaign, ["half"])


def test_a_record_does_not_go_on_through_another_connection(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is known to be lost in the middle of a record is not replaced before its end."""
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        db = campaign._store._db  # type: ignore[attr-defined]
        insert = db.insert

        def losing(*arguments: Any) -> None:
            insert(*arguments)
            db._connection.driver_connection.close()

        monkeypatch.setattr(db, "insert", losing)
        with pytest.raises(StoreUnavailable):
            campaign.record(event("half", HERO, "A sword.", hp_delta={HERO: -3}))
        monkeypatch.undo()
        assert campaign.head == 1
        check_sound(campaign, ["opening-0-1of1"])


def _left_in_the_middle(cursor: Any, *_asked: Any) -> Any:
    """Leave a connection in the middle of a pipeline, like a server that ends with its socket open."""
    cursor.connection.pgconn.enter_pipeline_mode()
    cursor.connection.pgconn.send_query_params(b"SELECT pg_sleep(0)", None)
    raise _psycopg().errors.AdminShutdown("terminating connection due to administrator command")


def _left_busy(cursor: Any, *_asked: Any) -> Any:
    """Leave a connection busy, with an answer that nobody waited for."""
    cursor.connection.pgconn.send_query(b"SELECT pg_sleep(0)")
    raise _psycopg().OperationalError("interrupted")


def _psycopg() -> Any:
    return pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")


@pytest.mark.parametrize("left", [_left_in_the_middle, _left_busy])
@pytest.mark.parametrize("deed", ["record", "timeline"])
def test_a_connection_left_in_the_middle_of_something_goes_to_nobody(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, deed: str, left: Any
) -> None:
    """It is dropped without a word of the pool's, and the next call has another one."""
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        dialect = campaign._store._db.dialect  # type: ignore[attr-defined]
        deeds = {
            "record": lambda: campaign.record(event("after", HERO, "And on.")),
            "timeline": lambda: campaign.timeline(viewer="dm"),
        }
        monkeypatch.setattr(dialect, "each", left)
        with pytest.raises(StoreUnavailable, match="is it running"):
            deeds[deed]()
        monkeypatch.undo()
        deeds[deed]()
        assert "Traceback" not in caplog.text
        assert "Exception during reset" not in caplog.text
        check_sound(campaign, ["after"] if deed == "record" else [])


def test_a_connection_lost_while_rows_are_read_goes_to_nobody(
    postgres: PostgresServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The reader gets an error, the pool logs nothing, and the next reader gets everything."""
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        db = campaign._store._db  # type: ignore[attr-defined]
        many = text("SELECT pg_backend_pid() FROM generate_series(1, 20000)")
        rows = db.stream(many)
        (process,) = next(rows)
        postgres.execute(f"SELECT pg_terminate_backend({process}, 5000)")
        with pytest.raises(StoreUnavailable):
            list(rows)
        assert len(list(db.stream(many))) == 20_000
        assert "Traceback" not in caplog.text


class _LostAtCommit:
    """A cursor whose connection ends just before it would commit."""

    def __init__(self, cursor: Any, server: PostgresServer) -> None:
        self._cursor, self._server = cursor, server

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql == "COMMIT":
            process = self._cursor.connection.info.backend_pid
            self._server.execute(f"SELECT pg_terminate_backend({process}, 5000)")
        return self._cursor.execute(sql, *arguments)


def test_a_failed_commit_is_not_taken_for_anothers_write(
    postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed commit is forgotten, even if somebody else then writes as many events."""
    there = {"participants": [HERO, FRIEND], "hp_delta": {HERO: -3}}
    with Campaign.open(url) as one, Campaign.open(url) as other:
        one.record(opening_scene())
        db = one._store._db  # type: ignore[attr-defined]
        connect = db._connect

        def connecting() -> None:
            connect()
            db._cursor = _LostAtCommit(db._cursor, postgres)

        monkeypatch.setattr(db, "_connect", connecting)
        with pytest.raises(StoreUnavailable):
            one.record(event("lost", HERO, "Lost words.", **there))
        monkeypatch.undo()
        other.record(event("other", FRIEND, "In between.", **there))
        again(lambda: one.record(event("afterwards", HERO, "And on.", **there)))
        check_sound(one, ["opening-0-1of1", "other", "afterwards"])
        assert one.head == 3


# Locks and rights.


def test_a_locked_campaign_is_busy_and_can_be_read(postgres: PostgresServer, url: str) -> None:
    """While another program writes, recording fails in time, reading works, and later all works."""
    with Campaign.open(url, timeout=0.2) as campaign:
        campaign.record(opening_scene())
        with postgres.connect(database=database_of(url)) as holder, holder.transaction(force_rollback=True):
            holder.execute("SELECT id FROM campaigns FOR UPDATE")
            begun = time.monotonic()
            with pytest.raises(StoreBusy, match="try again"):
                campaign.record(event("busy", HERO, "Too early."))
            assert time.monotonic() - begun > 0.1
            assert len(campaign.timeline(viewer="dm")) == 1
            with pytest.raises(StoreBusy, match="try again"):
                campaign.record(event("busy", HERO, "Still too early."))
        assert campaign.record(event("busy", HERO, "Now.")).seq == 2
        check_sound(campaign, ["busy"])


def test_a_refused_event_leaves_the_connection_usable(url: str) -> None:
    """An error in the middle of a record undoes all of it, and the next call works."""
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        with pytest.raises(DndbotsError):
            campaign.record_many([event("fine", HERO, "Fine."), event("opening-0-1of1", HERO, "Again.")])
        assert campaign.head == 1
        campaign.record(event("fine", HERO, "Fine."))
        check_sound(campaign, ["fine"])


def test_a_database_that_takes_no_writes_is_read_only(postgres: PostgresServer) -> None:
    """A server that accepts no writes, such as a standby, says so; reading works."""
    database = postgres.new_database()
    url = postgres.url("standby", database=database)
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
    postgres.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    with Campaign.open(url) as campaign:
        with pytest.raises(StoreReadOnly):
            campaign.record(event("no", HERO, "No."))
        assert len(campaign.timeline(viewer="dm")) == 1


# No server, no database, no driver.


def check_plain(exc: DndbotsError) -> None:
    """An error to be read by people: short, and without the driver's own traces."""
    assert "Traceback" not in str(exc)
    assert "sqlalche.me" not in str(exc)
    assert len(str(exc)) < 600


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    """If no server listens, the error names the address, and not the password."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    with pytest.raises(StoreUnavailable, match="is it running") as raised:
        Campaign.open("postgresql://dndbots:secret@127.0.0.1:1/nowhere?campaign=none", timeout=2)
    check_plain(raised.value)
    assert "127.0.0.1" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_database_that_is_not_there_is_said_to_be_so(postgres: PostgresServer) -> None:
    """The server answers, but has no such database."""
    with pytest.raises(StoreUnavailable, match="nowhere") as raised:
        Campaign.open(postgres.url("none", database="nowhere"))
    check_plain(raised.value)
    assert "does not exist" in str(raised.value)


def test_a_missing_driver_is_said_to_be_so() -> None:
    """Without psycopg, the error says how to get it."""
    where = "postgresql://127.0.0.1:1/nowhere?campaign=none"
    with Child("attempt", where, first=WITHOUT_PSYCOPG) as child:
        child.wait_until_ready()
        child.go()
        (line,) = child.finish()
    assert line.split()[:2] == ["open", InvalidSetting.__name__]
    assert "pip install 'dndbots[postgres]'" in line


def test_sqlite_needs_no_driver(tmp_path: Path) -> None:
    """Without psycopg, a campaign in a folder works."""
    with Child("attempt", tmp_path, first=WITHOUT_PSYCOPG) as child:
        child.wait_until_ready()
        child.go()
        assert [line.split()[1] for line in child.finish()] == ["done"] * 4


# Versions.


def test_an_empty_database_becomes_one_of_campaigns(postgres: PostgresServer) -> None:
    """An empty database is brought to the schema, which is the one we declare."""
    url = postgres.url("empty", database=postgres.new_database())
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
        check_sound(campaign, ["opening-0-1of1"])
    address = make_url(url).difference_update_query(["campaign"]).set(drivername="postgresql+psycopg")
    engine = create_engine(address)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", StoreTooNew),
        ("UPDATE cursors SET version = version + 1", StoreTooNew),
        ("DROP TABLE alembic_version", StoreDamaged),
        ("DELETE FROM alembic_version", StoreDamaged),
    ],
)
def test_what_is_not_of_this_version_is_left_alone(
    postgres: PostgresServer, sql: str, kind: type[DndbotsError]
) -> None:
    """A database of a newer dndbots, or of no known version, is refused as such."""
    database = postgres.new_database()
    url = postgres.url("version", database=database)
    with Campaign.open(url) as campaign:
        campaign.record(opening_scene())
    postgres.execute(sql, database=database)
    with pytest.raises(kind):
        Campaign.open(url)
