"""`dndbots worker` and `dndbots jobs`: what they say, and what they refuse."""

import pytest
from tests.cli.calling import HOSTILE, Run
from tests.postgres import PostgresServer
from tests.storage.writers import WITHOUT_PSYCOPG, Child
from tests.table import event
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.events import EventType
from dndbots.jobs.queue import COMPACT, PROJECT, JobPatience, JobQueue, JobState
from dndbots.storage.address import address_of

NOWHERE = "postgresql://dndbots:secret@127.0.0.1:1/nowhere"


@pytest.fixture
def server(postgres: PostgresServer, database: str) -> str:
    return postgres.url("told", database=database)


def played(server: str) -> str:
    """A campaign with something to read; its name."""
    with Campaign.open(server) as campaign:
        for n in range(3):
            said = "Elena is a smith."
            campaign.record(
                event(f"t{n}", "dm", said, kind=EventType.DM_NARRATION, participants=["pc_zara_001"])
            )
    return address_of(server).campaign or ""


def test_a_worker_does_what_is_due_and_says_so(run: Run, server: str, queue: JobQueue) -> None:
    """A line a job; afterwards nothing is left to do."""
    name = played(server)
    queue.ask(name, "main", COMPACT)
    answer = run("worker", server, "--once")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"compact {name} (main): 3 turns read, 1 updates; ")
    assert len(answer.out.splitlines()) == 1
    assert run("worker", server, "--once").out == ""
    assert run("jobs", server).out.splitlines()[0] == "0 waiting, 0 running, 1 done, 0 failed"


def test_only_the_kinds_that_are_named_are_taken(run: Run, server: str, queue: JobQueue) -> None:
    name = played(server)
    for kind in (PROJECT, COMPACT):
        queue.ask(name, "main", kind)
    assert run("worker", server, "--once", "--kinds", " compact ").out.startswith(f"compact {name}")
    assert [job.kind for job in queue.jobs(state=JobState.WAITING)] == [PROJECT]


def test_what_needs_neo4j_is_left_to_a_worker_that_has_it(run: Run, server: str, queue: JobQueue) -> None:
    """Without an address, jobs that project wait for another worker; one that insists is refused."""
    queue.ask(played(server), "main", PROJECT)
    assert run("worker", server, "--once").out == ""
    refused = run("worker", server, "--once", "--kinds", "project")
    assert (refused.code, refused.out) == (1, "")
    assert "no Neo4j server is configured" in refused.err
    for wrong in ("http://somewhere", "bolt://dndbots:secret@host:7687"):
        refused = run("worker", server, "--once", "--neo4j", wrong)
        assert (refused.code, refused.out) == (1, "")
        assert "secret" not in refused.err
    assert [job.state for job in queue.jobs()] == [JobState.WAITING]


def test_jobs_are_shown_with_what_they_failed_by(run: Run, server: str, queue: JobQueue) -> None:
    """For people and for programs; one that was given up can be tried again."""
    queue.ask("mill", "main", COMPACT)
    job = queue.take("w", [COMPACT], lease=HANG)
    assert job is not None
    queue.ask("inn", "main", COMPACT)
    queue.fail(job, "the bridge is out", patience=JobPatience(), final=True)
    shown = run("jobs", server)
    assert shown.out.startswith("1 waiting, 0 running, 0 done, 1 failed\n")
    assert "the bridge is out" in shown.out
    only = run("jobs", server, "--failed", "--json").json
    assert only["counts"] == {"waiting": 1, "running": 0, "done": 0, "failed": 1}
    assert [(one["campaign"], one["state"], one["error"]) for one in only["jobs"]] == [
        ("mill", "failed", "the bridge is out")
    ]
    assert run("jobs", server, "--retry", job.id).code == 0
    assert run("jobs", server, "--failed", "--json").json["jobs"] == []
    again = run("jobs", server, "--retry", 10**9)
    assert (again.code, again.out) == (1, "")
    assert "does not exist" in again.err


def test_work_can_be_asked_for_all_campaigns(run: Run, server: str) -> None:
    """Every branch of each; asked again, it is the same work."""
    played(server)
    with Campaign.open(server) as campaign:
        campaign.fork("aside").close()
    for _ in range(2):
        assert run("jobs", server, "--ask", "compact").out.startswith("2 waiting")
    assert len(run("worker", server, "--once").out.splitlines()) == 2
    assert run("jobs", server).out.startswith("0 waiting, 0 running, 2 done")


def test_hostile_names_and_errors_steer_no_terminal(run: Run, server: str, queue: JobQueue) -> None:
    queue.ask(HOSTILE, HOSTILE, COMPACT)
    told = run("worker", server, "--once").out + run("jobs", server).out
    assert "failed" in told
    assert "\x1b" not in told
    assert "\u202e" not in told


@pytest.mark.parametrize("command", ["worker", "jobs"])
@pytest.mark.parametrize("where", ["campaigns/mill", "mysql://dndbots:secret@host/x"])
def test_only_a_server_has_work(run: Run, command: str, where: str) -> None:
    answer = run(command, where)
    assert (answer.code, answer.out) == (1, "")
    assert "postgresql://" in answer.err
    assert "secret" not in answer.err


@pytest.mark.parametrize("words", [["worker", NOWHERE, "--once"], ["jobs", NOWHERE]])
def test_a_server_that_is_away_is_said_to_be_so(run: Run, words: list[str]) -> None:
    """What is to be done once does not wait for it; no password is shown."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    answer = run(*words)
    assert answer.code == 1
    assert "is it running" in answer.err
    assert "secret" not in answer.err


@pytest.mark.parametrize(
    "wrong", [["--kinds", "nothing"], ["--kinds", ","], ["--jobs", "0"], ["--lease", "0"]]
)
def test_nonsense_is_refused(run: Run, wrong: list[str]) -> None:
    answer = run("worker", NOWHERE, *wrong)
    assert answer.code in (1, 2)
    assert answer.out == ""


class _Command(Child):
    _module = "dndbots"


def test_a_missing_driver_is_said_to_be_so() -> None:
    """Without psycopg, the error says how to get it."""
    with _Command("worker", NOWHERE, first=WITHOUT_PSYCOPG) as command:
        assert command._process.wait(HANG) == 1
        assert "pip install 'dndbots[postgres]'" in command.errors


def test_a_worker_waits_for_a_server_that_is_away() -> None:
    """It says so, without the password, and stops when it is told to."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'dndbots[postgres]'")
    with _Command("worker", NOWHERE) as command:
        command.wait_for_lines(1)
        assert "the database is away, trying again in" in command.lines[0]
        assert "secret" not in command.lines[0]
        command.signal(15)
        command.finish()
