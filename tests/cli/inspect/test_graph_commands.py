"""`dndbots graph`: who has to do with whom, for whom, and the copy in Neo4j."""

import signal
from pathlib import Path

import pytest
from tests.cli.calling import HOSTILE, Run
from tests.neo4j_server import Neo4jServer
from tests.storage.writers import Child
from tests.table import event

from dndbots.campaign import Campaign


def test_a_path_is_told_in_names(run: Run, campaign: Path) -> None:
    """The way, then each link with its certainty and since when."""
    answer = run("graph", "path", "Zara", "Grimfang", "--campaign", campaign, "--as", "dm")
    assert answer.code == 0
    assert answer.out.startswith("Zara (pc_zara_001) - Grimfang (npc_grimfang_001)\n")
    assert "met" in answer.out


def test_no_path_is_said_and_exits_with_1(run: Run, campaign: Path) -> None:
    """Throk never met Grimfang; he does not know of him at all."""
    words = ("graph", "path", "Throk", "npc_guard_001", "--campaign", campaign)
    answer = run(*words, "--as", "Throk")
    assert (answer.code, answer.out) == (
        1,
        "no known path from Throk (pc_throk_001) to Guard (npc_guard_001)\n",
    )
    answer = run("graph", "path", "Throk", "Grimfang", "--campaign", campaign, "--as", "Throk")
    assert (answer.code, answer.out) == (1, "")
    assert "knows nothing called 'Grimfang'" in answer.err


@pytest.mark.parametrize(
    "words", [["near", "Zara"], ["about", "Zara"], ["common", "Zara", "Throk"], ["links", "Zara", "Throk"]]
)
def test_every_question_answers_in_words_and_in_json(run: Run, campaign: Path, words: list[str]) -> None:
    """The same, for people and for programs."""
    call = ("graph", *words, "--campaign", campaign, "--as", "dm")
    assert run(*call).code == 0
    assert isinstance(run(*call, "--json").json, dict)


def test_a_viewer_is_needed(run: Run, campaign: Path) -> None:
    """Nobody is the DM by default."""
    assert run("graph", "near", "Zara", "--campaign", campaign).code == 2


def test_hostile_names_do_not_steer_the_terminal(run: Run, hostile: Path) -> None:
    """What is in a campaign is text."""
    for words in (["near", "pc_zara_001"], ["about", "pc_zara_001"]):
        answer = run("graph", *words, "--campaign", hostile, "--as", "dm")
        assert answer.code == 0
        assert "\x1b" not in answer.out
        assert HOSTILE not in answer.out


def test_a_server_that_is_away_is_one_line(run: Run, campaign: Path) -> None:
    """With its address, what to do, and no password."""
    answer = run("graph", "sync", "--campaign", campaign, "--neo4j", "bolt://127.0.0.1:1",
                 NEO4J_PASSWORD="secret")  # noqa: S106 # fmt: skip
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert "bolt://127.0.0.1:1: cannot be reached" in answer.err
    assert "secret" not in answer.err


def test_the_copy_in_neo4j(run: Run, campaign: Path, neo4j: Neo4jServer) -> None:
    """Synced, verified, asked and rebuilt; it answers as the campaign does, and refuses to be written to."""
    at = ("--campaign", campaign, "--neo4j", neo4j.uri)
    assert run("graph", "sync", *at, "--json").json["events"] == 4
    assert run("graph", "sync", *at).out == "projected 0 events as 0 rows; the graph is at 4\n"
    assert run("graph", "verify", *at).code == 0
    for viewer in ("dm", "Zara", "Throk"):
        near = ("graph", "near", viewer if viewer != "dm" else "Zara", "--as", viewer, "--steps", 2)
        assert run(*near, *at).out == run(*near, "--campaign", campaign).out
    query = ("graph", "query", *at, "--cypher")
    asked = "MATCH (n:Entity {campaign: $campaign}) RETURN count(n) AS n"
    if neo4j.is_neo4j:  # another server does not tell what a query would do, so that none is run there
        assert run(*query, asked).out == '{"n": 7}\n'
    refused = run(*query, "MATCH (n) DETACH DELETE n")
    assert refused.code == 1
    assert "may only read the graph" in refused.err
    assert run("graph", "rebuild", *at, "--json").json["seq"] == 4


class _Following(Child):
    _module = "dndbots"

    @property
    def lines(self) -> list[str]:
        """A command says nothing before its work."""
        return self._read(self._out).splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_copy_follows_play_until_it_is_stopped(
    campaign: Path, neo4j: Neo4jServer, number: signal.Signals
) -> None:
    """What others record meanwhile is there soon after; Ctrl-C ends it well, without a trace."""
    with _Following("graph", "follow", "--every", "0.1", "-c", campaign, "--neo4j", neo4j.uri) as command:
        command.wait_for_lines(1)
        with Campaign.open(campaign) as played:
            played.record(event("more", "dm", "The bell rings.", participants=["pc_zara_001"]))
            command.wait_for_lines(2)
            command.signal(number)
            assert command.finish() == ["the graph is at 4", "the graph is at 5"]
            projection = played.projection(neo4j.uri)
            assert projection.catch_up() == (0, 0, 5)
            projection.close()


def test_whoever_follows_waits_for_a_server_that_is_away(campaign: Path) -> None:
    """It says once what it waits for, and stops when it is told to."""
    with _Following("graph", "follow", "-c", campaign, "--neo4j", "bolt://127.0.0.1:1") as command:
        command.wait_for_lines(1)
        command.signal(signal.SIGINT)
        (line,) = command.finish()
        assert line.startswith("waiting: bolt://127.0.0.1:1: cannot be reached")
