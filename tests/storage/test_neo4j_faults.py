"""Neo4j or the projector goes away in the middle of a run: nothing is lost, nothing doubled, play goes on."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.neo4j_server import Neo4jServer
from tests.storage.graphs import THROK, tangled
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import GraphUnavailable
from dndbots.events import GameEvent
from dndbots.storage.neo4j import projecting
from dndbots.storage.neo4j.projection import Following, Projection
from dndbots.testing import memory_campaign

# Projects event by event, says so, and waits to be killed.
PROGRAM = """
import sys
from dndbots.campaign import Campaign
from dndbots.storage.neo4j import projecting
from dndbots.storage.neo4j.projection import Projection
from dndbots.storage.neo4j.server import Server
projecting.BATCH = 1
_, folder, uri, name, at = sys.argv
campaign = Campaign.open(folder)
write = projecting.Projector._write
def slow(self, tx, **values):
    written = write(self, tx, **values)
    if values["events"][-1].seq >= int(at):
        print("in the middle", flush=True)
        sys.stdin.read()
    return written
projecting.Projector._write = slow
Projection(Server(uri), campaign._store, name, "main").catch_up()
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
    monkeypatch.setattr(projecting, "BATCH", 1)
    campaign = memory_campaign([*tangled(), *many(1_200)])
    connection = server.server()
    projection = Projection(connection, campaign._store, server.name(), "main")
    with pytest.raises(GraphUnavailable, match="start Neo4j"):
        projection.catch_up(lambda _done, _total: server.kill())
    campaign.record(event("later", "dm", "Play goes on.", participants=[THROK]))
    told: list[Following] = []
    stop, waiting, caught = Event(), Event(), Event()

    def hear(one: Following) -> None:
        told.append(one)
        (waiting if one.waiting_for else caught).set()

    follower = Thread(target=projection.follow, args=(stop, hear), kwargs={"pause": 0.05, "longest_pause": 1})
    follower.start()
    try:
        assert waiting.wait(60)
        assert server.uri in str(told[0].waiting_for)
        server.start()
        assert caught.wait(120)
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
    """Whoever comes second sees how far the first one is, and doubles nothing."""
    monkeypatch.setattr(projecting, "BATCH", 1)
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
