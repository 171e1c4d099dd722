"""Neo4j or the projector goes away in the middle of a run: nothing is lost, nothing doubled, play goes on."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from tests.neo4j_server import Neo4jServer
from tests.storage.graphs import THROK, tangled
from tests.table import event
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import GraphUnavailable
from dndbots.events import GameEvent
from dndbots.storage import recorder
from dndbots.storage.neo4j import projector
from dndbots.storage.neo4j.projection import FollowStatus, Projection
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import BLOCK
from dndbots.testing import memory_campaign

# Projects event by event, says so, and waits to be killed.
PROGRAM = """
import sys
from dndbots.campaign import Campaign
from dndbots.storage import recorder
from dndbots.storage.neo4j import projector
from dndbots.storage.neo4j.projection import Projection
from dndbots.storage.neo4j.server import Server
from dndbots.storage.ports import BLOCK
projector.BATCH, recorder.CHUNK = 1, BLOCK
_, folder, uri, name, at = sys.argv
campaign = Campaign.open(folder)
write = projector.Projector._write
def slow(self, tx, **values):
    written = write(self, tx, **values)
    if values["events"][-1].seq >= int(at):
        print("in the middle", flush=True)
        sys.stdin.read()
    return written
projector.Projector._write = slow
Projection(Server.from_environment(uri), campaign._store, name, "main").catch_up()
"""


def many(number: int) -> list[GameEvent]:
    """More events than a block of the log has, so that there are several batches."""
    return [event(f"n{n}", "dm", "x", participants=[THROK], hp_delta=-1) for n in range(number)]


@pytest.fixture
def server(neo4j: Neo4jServer) -> Iterator[Neo4jServer]:
    if not neo4j.is_ours:
        pytest.skip("NEO4J_URI is somebody's server, which the tests do not stop")
    yield neo4j
    neo4j.start()


def test_a_server_that_dies_in_the_middle(server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play goes on, the projector that follows says what it waits for, and then it catches up by itself."""
    monkeypatch.setattr(projector, "BATCH", 1)
    monkeypatch.setattr(recorder, "CHUNK", BLOCK)
    campaign = memory_campaign([*tangled(), *many(1_200)])
    connection = server.server()
    projection = Projection(connection, campaign._store, server.name(), "main")
    with pytest.raises(GraphUnavailable, match="start Neo4j"):
        projection.catch_up(lambda _done, _total: server.kill())
    campaign.record(event("later", "dm", "Play goes on.", participants=[THROK]))
    told: list[FollowStatus] = []
    stop, waiting, caught = Event(), Event(), Event()

    def hear(one: FollowStatus) -> None:
        told.append(one)
        (waiting if one.waiting_for else caught).set()

    follower = Thread(target=projection.follow, args=(stop, hear), kwargs={"pause": 0.05, "longest_pause": 1})
    follower.start()
    try:
        assert waiting.wait(HANG)
        assert server.uri in str(told[0].waiting_for)
        server.start()
        assert caught.wait(HANG)
    finally:
        stop.set()
        follower.join()
    assert (told[-1].seq, told[-1].behind, told[-1].waiting_for) == (campaign.head, 0, None)
    assert projection.verify() == []
    assert projection.catch_up() == (0, 0, campaign.head)
    connection.close()


@pytest.mark.parametrize("at", [1, 600])
def test_a_projector_that_is_killed(neo4j: Neo4jServer, tmp_path: Path, at: int) -> None:
    """Inside its transaction, with -9: the next one goes on after the last whole batch."""
    name = neo4j.name()
    with Campaign.open(tmp_path / "campaign") as campaign:
        campaign.record_many([*tangled(), *many(1_200)])
        words = [str(tmp_path / "campaign"), neo4j.uri, name, str(at)]
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as program:
            assert program.stdout is not None
            assert program.stdout.readline() == b"in the middle\n"
            program.kill()
        connection = neo4j.server()
        projection = Projection(connection, campaign._store, name, "main")
        assert projection.catch_up().seq == campaign.head
        assert projection.verify() == []
        connection.close()


def test_two_projectors_take_turns(neo4j: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second projector sees how far the first one is, and doubles nothing."""
    neo4j.must_be_neo4j("its transactions do not wait for one another")
    monkeypatch.setattr(projector, "BATCH", 1)
    monkeypatch.setattr(recorder, "CHUNK", BLOCK)
    campaign, name = memory_campaign([*tangled(), *many(1_500)]), neo4j.name()
    servers = [neo4j.server() for _ in range(2)]
    projections = [Projection(one, campaign._store.another(), name, "main") for one in servers]
    threads = [Thread(target=one.catch_up) for one in projections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert projections[0].catch_up() == (0, 0, campaign.head)
    assert projections[0].verify() == []
    for one in servers:
        one.close()


def test_who_waits_for_one_another_is_done_in_the_end(neo4j: Neo4jServer) -> None:
    """Two transactions that lock the same in opposite orders: neither fails."""
    servers, name, both = [neo4j.server() for _ in range(2)], neo4j.name(), Barrier(2)
    servers[0].change("UNWIND range(0, 1) AS n CREATE (:Branch {key: $name + n, seq: 0})", name=name)
    lock = "MATCH (b:Branch {key: $name + $n}) SET b.seq = b.seq + 1"

    def cross(server: Server, order: tuple[int, int]) -> None:
        tries = count()

        def work(tx: Any) -> None:
            is_first = next(tries) == 0
            for n in order:
                tx.run(lock, name=name, n=n).consume()
                if is_first and n == order[0]:
                    both.wait(HANG)

        server.write(work)

    with ThreadPoolExecutor() as threads:
        done = [threads.submit(cross, *one) for one in ((servers[0], (0, 1)), (servers[1], (1, 0)))]
        assert [one.result(HANG) for one in done] == [None, None]
    read = "MATCH (b:Branch) WHERE b.key STARTS WITH $name WITH b, b.seq AS seq DELETE b RETURN seq"
    assert [row["seq"] for row in servers[0].change(read, name=name)] == [2, 2]
    for one in servers:
        one.close()


def test_nothing_is_added_to_what_somebody_drops(neo4j: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A projector that finds its branch being dropped stops, drops the rest with it, and begins anew."""
    monkeypatch.setattr(projector, "BATCH", 1)
    monkeypatch.setattr(recorder, "CHUNK", BLOCK)
    campaign, name, connection = memory_campaign([*tangled(), *many(1_200)]), neo4j.name(), neo4j.server()
    write, calls = projector.Projector._write, iter(range(100))

    def interrupted(self: projector.Projector, *args: object, **values: object) -> int:
        if next(calls) == 1:
            begun = "MATCH (b:Branch {campaign: $c}) SET b.dropping = true"
            other = neo4j.server()
            other.change(begun, c=name)
            other.close()
        return write(self, *args, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(projector.Projector, "_write", interrupted)
    projection = Projection(connection, campaign._store, name, "main")
    assert projection.catch_up().seq == campaign.head
    assert projection.verify() == []
    connection.close()


def test_who_drops_leaves_alone_what_was_made_since(
    neo4j: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two who rebuild at once: what the first has made again, the second does not take for the old."""
    campaign, name = memory_campaign([*tangled(), *many(40)]), neo4j.name()
    servers = [neo4j.server() for _ in range(2)]
    first, second = (Projection(one, campaign._store.another(), name, "main") for one in servers)
    first.catch_up()
    change, calls = servers[1].write, iter(range(100))

    def late(work: Callable[[Any], Any]) -> Any:
        if next(calls) == 1:  # it has said that it drops, and nothing more
            first.rebuild()
        return change(work)

    monkeypatch.setattr(servers[1], "write", late)
    branch = campaign._store.branches()[0]
    projector.Projector(servers[1], campaign._store, name, branch).drop()
    assert first.verify() == []
    assert second.catch_up() == (0, 0, campaign.head)
    for one in servers:
        one.close()


def test_rebuilding_while_others_catch_up(neo4j: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever order they come to it: in the end everything is there once."""
    neo4j.must_be_neo4j("its transactions do not wait for one another")
    monkeypatch.setattr(projector, "BATCH", 1)
    monkeypatch.setattr(recorder, "CHUNK", BLOCK)
    monkeypatch.setattr(projector, "_DROPPED_AT_ONCE", 50)
    campaign, name = memory_campaign([*tangled(), *many(600)]), neo4j.name()
    servers = [neo4j.server() for _ in range(3)]
    projections = [Projection(one, campaign._store.another(), name, "main") for one in servers]
    failed: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            for _ in range(3):
                work()
        except BaseException as exc:  # noqa: BLE001 - it is told by the test
            failed.append(exc)

    works = (projections[0].rebuild, projections[1].rebuild, projections[2].catch_up)
    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert projections[0].catch_up() == (0, 0, campaign.head)
    assert projections[0].verify() == []
    for one in servers:
        one.close()
