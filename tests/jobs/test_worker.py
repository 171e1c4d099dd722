"""Workers: what they do for the campaigns of a server, and what they survive."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.compaction.readers import assert_tiled, facts
from tests.jobs.workers import PARTY, QUICK, Program
from tests.postgres import PostgresServer, left_open
from tests.storage.writers import HALL, TALK, Child, at_once, check_sound
from tests.table import event
from tests.waiting import HANG, wait_until

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, StoreTooNew, StoreUnavailable
from dndbots.events import EventType
from dndbots.jobs.kinds import Done, JobKind, compact_campaign
from dndbots.jobs.queue import COMPACT, PROJECT, JobPatience, JobQueue, JobState, QueuedJob
from dndbots.jobs.sql_queue import SqlQueue, open_queue
from dndbots.jobs.sql_schema import NAMESPACE
from dndbots.jobs.worker import Worker, _LeaseConnection
from dndbots.storage.address import address_of

LONG = 3_600.0


@pytest.fixture
def mortal(postgres: PostgresServer) -> Iterator[PostgresServer]:
    if not postgres.is_ours:
        pytest.skip("a server that is not ours is not restarted")
    yield postgres
    if not postgres.is_running:
        postgres.start()


def name_of(url: str) -> str:
    return address_of(url).campaign or ""


def talked(url: str, turns: int = 7) -> Campaign:
    campaign = Campaign.open(url)
    for n in range(turns):
        told = {"participants": PARTY, "location": HALL}
        campaign.record(event(f"t{n}", "dm", TALK[n % len(TALK)], kind=EventType.DM_NARRATION, **told))
    return campaign


def worker(url: str, lines: list[str] | None = None, **how: Any) -> Worker[Campaign]:
    return Worker(
        url, Campaign.open, tell=([] if lines is None else lines).append, **{"patience": QUICK, **how}
    )


def check_compacted(url: str, promised: list[str]) -> None:
    """Nothing lost, nothing twice, every turn read by one run, and log and views agree."""
    with Campaign.open(url) as campaign:
        check_sound(campaign, promised)
        assert_tiled(campaign)
        assert campaign.compaction().turns_waiting == 0


# What it does.


def test_a_worker_compacts_what_was_asked_for(postgres: PostgresServer, database: str) -> None:
    """All campaigns of the database whose turn it is, with a line for each."""
    urls = [postgres.url("asked", database=database) for _ in range(3)]
    with closing(open_queue(urls[0])) as queue:
        for url in urls:
            talked(url).close()
        for url in urls[:2]:
            queue.ask(name_of(url), "main", COMPACT)
        lines: list[str] = []
        worker(urls[0], lines).run(once=True)
        assert [line.split(":")[0] for line in lines] == [
            f"compact {name_of(url)} (main)" for url in urls[:2]
        ]
        assert "7 turns read" in lines[0]
        assert queue.counts()[JobState.DONE] == 2
    for url in urls[:2]:
        check_compacted(url, ["t0", "t6"])
        with Campaign.open(url) as campaign:
            assert facts(campaign, "Elena")["role"] == ("mayor", "fact")
    with Campaign.open(urls[2]) as campaign:
        assert campaign.compaction().turns_waiting == 7


def test_play_asks_and_does_not_compact_itself(postgres: PostgresServer, database: str) -> None:
    """With a queue, a program that plays only asks: for its branch, and at the end for what is left."""
    url = postgres.url("asks", database=database)
    with talked(url, 1) as campaign, campaign.fork("aside") as fork, closing(open_queue(url)) as queue:
        with fork.compacting(every=2, queue=True) as compactor:
            for n in range(5):
                fork.record(event(f"f{n}", "dm", "Elena is a smith.", participants=PARTY))
            assert compactor.wait(HANG)
            assert fork.compaction().turns_waiting == 6
        (job,) = queue.jobs()
        assert (job.campaign, job.branch, job.kind) == (name_of(url), "aside", COMPACT)
        worker(url).run(once=True)
        assert fork.compaction().turns_waiting == 0
        assert campaign.compaction().turns_waiting == 1


def test_only_a_campaign_on_a_server_can_ask_and_no_model_comes_along(
    tmp_path: Path, postgres: PostgresServer, database: str
) -> None:
    with Campaign.open(tmp_path) as campaign, pytest.raises(InvalidSetting, match="postgresql://"):
        campaign.compacting(queue=True)
    with Campaign.open(postgres.url("model", database=database)) as campaign:
        with pytest.raises(InvalidSetting, match="without a model"):
            campaign.compacting(queue=True, extractor=object())
        assert campaign._log._listeners == []


def test_much_work_is_done_in_parts_so_that_others_have_their_turns(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """A kind that has more to do is asked for again, behind all who waited."""
    urls = [postgres.url("parts", database=database) for _ in range(2)]
    left, order = {name_of(url): 3 for url in urls}, list[str]()
    for url in urls:
        talked(url, 1).close()
        queue.ask(name_of(url), "main", COMPACT)

    def part(campaign: Campaign) -> Done:
        name = name_of(campaign.address or "")
        order.append(name)
        left[name] -= 1
        return Done("a part", more=left[name] > 0)

    worker(urls[0], kinds={COMPACT: part}).run(once=True)
    assert order == [name_of(url) for url in urls] * 3


def test_a_large_campaign_is_compacted_over_several_jobs(
    postgres: PostgresServer, database: str, queue: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dndbots.compaction.agent.MOST_EVENTS", 2)
    url = postgres.url("large", database=database)
    talked(url, 40).close()
    queue.ask(name_of(url), "main", COMPACT)
    lines: list[str] = []
    worker(url, lines).run(once=True)
    assert len(lines) == 3
    check_compacted(url, ["t0", "t39"])


# What goes wrong.


def test_a_job_that_fails_is_no_other_campaigns_trouble(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """It is tried again, given up, and its error shown; the others are done."""
    urls = {name: postgres.url(name, database=database) for name in ("bad", "good")}
    for url in urls.values():
        talked(url).close()
        queue.ask(name_of(url), "main", COMPACT)

    def some(campaign: Campaign) -> Done:
        if name_of(campaign.address or "") == name_of(urls["bad"]):
            raise RuntimeError("a very bad day\0")
        return compact_campaign(campaign)

    lines: list[str] = []
    made = worker(urls["bad"], lines, kinds={COMPACT: some}, patience=JobPatience(3, 0.01, 0.02))
    with Running(made):
        wait_until(lambda: queue.counts()[JobState.FAILED], "the bad one is given up")
        wait_until(lambda: queue.counts()[JobState.DONE], "the good one is done")
    (failed,) = queue.jobs(state=JobState.FAILED)
    assert (failed.attempts, failed.campaign) == (3, name_of(urls["bad"]))
    assert failed.error == "RuntimeError: a very bad day\\0"
    assert "given up after 3" in next(line for line in lines if "given up" in line)
    check_compacted(urls["good"], [])


@pytest.mark.parametrize(
    ("kind", "campaign", "branch", "words"),
    [
        (COMPACT, "nobody made it", "main", "nobody made it"),
        (COMPACT, None, "nowhere", "nowhere"),
    ],
)
def test_what_cannot_get_better_is_not_tried_again(
    postgres: PostgresServer,
    database: str,
    queue: JobQueue,
    kind: str,
    campaign: str | None,
    branch: str,
    words: str,
) -> None:
    """It is given up at once, says why, and makes no campaign."""
    url = postgres.url("lasting", database=database)
    talked(url, 1).close()
    queue.ask(campaign or name_of(url), branch, kind)
    worker(url).run(once=True)
    (job,) = queue.jobs()
    assert (job.state, job.attempts) == (JobState.FAILED, 1)
    assert words in (job.error or "")
    assert len(queue.branches()) == 1


def test_a_queue_of_a_newer_version_ends_a_worker(postgres: PostgresServer, database: str) -> None:
    url = postgres.url("newer", database=database)
    open_queue(url).close()
    postgres.execute("UPDATE dndbots_queue.alembic_version SET version_num = '9999'", database=database)
    with pytest.raises(StoreTooNew):
        worker(url).run()


def test_a_worker_that_is_to_work_once_does_not_wait_for_a_server() -> None:
    with pytest.raises(StoreUnavailable, match="is it running"):
        worker("postgresql://dndbots@127.0.0.1:1/nowhere").run(once=True)


@pytest.mark.parametrize("number", [0, 65, 1.5])
def test_nonsense_is_refused(number: Any) -> None:
    with pytest.raises(InvalidSetting, match="jobs"):
        Worker("postgresql://127.0.0.1:1/x", Campaign.open, at_once=number)


# Stopping.


class Running:
    """A worker at work in a thread; afterwards it is stopped."""

    def __init__(self, worker: Worker[Campaign]) -> None:
        self._worker = worker
        self._thread = threading.Thread(target=worker.run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_raised: object) -> None:
        self._worker.stop()
        self._thread.join(HANG)
        assert not self._thread.is_alive()


class Held:
    """Work that is held up until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, _campaign: Campaign) -> Done:
        self.begun.set()
        assert self.go.wait(HANG)
        return Done("held")


def test_a_worker_that_is_stopped_finishes_what_is_under_way_and_no_more(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    urls = [postgres.url("stop", database=database) for _ in range(2)]
    for url in urls:
        talked(url, 1).close()
        queue.ask(name_of(url), "main", COMPACT)
    held = Held()
    made = worker(urls[0], kinds={COMPACT: held})
    with Running(made):
        assert held.begun.wait(HANG)
        made.stop()
        held.go.set()
    assert queue.counts() == {"waiting": 1, "running": 0, "done": 1, "failed": 0}


def test_several_jobs_at_once_are_of_several_campaigns(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """With room for three, two campaigns are worked on; the second job of one waits."""
    urls = [postgres.url("several", database=database) for _ in range(2)]
    for url in urls:
        talked(url, 1).close()
        queue.ask(name_of(url), "main", COMPACT)
        queue.ask(name_of(url), "main", PROJECT)
    together = threading.Barrier(2)

    def both(_campaign: Campaign) -> Done:
        together.wait(HANG)
        return Done("together")

    kinds: dict[str, JobKind[Campaign]] = {COMPACT: both, PROJECT: both}
    with Running(worker(urls[0], kinds=kinds, at_once=3)):
        wait_until(lambda: queue.counts()[JobState.DONE] == 4, "all four are done")
    assert [job.failures for job in queue.jobs()] == [0] * 4


def served(*arguments: object) -> Any:
    return at_once(*(("work", *arguments),), kind=Program)


def are_done(queue: JobQueue, number: int, postgres: PostgresServer, database: str, dead: Child) -> bool:
    """Return whether so many jobs are done. Also lets the lease of a killed program run out.

    Looked at again and again: the server may do what a program asked for after that was killed.
    """
    past = f"UPDATE {NAMESPACE}.jobs SET lease = now() - interval '1 s' WHERE worker LIKE '%:{dead.pid}:%'"  # noqa: S608
    postgres.execute(past, database=database)
    return queue.counts()[JobState.DONE] == number


def running(queue: JobQueue) -> list[QueuedJob]:
    return queue.jobs(state=JobState.RUNNING)


def test_a_signal_lets_it_finish_and_a_killed_one_leaves_its_job_to_the_other(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """Killed (-9) in the middle of a job: another worker does the rest, nothing twice and nothing skipped."""
    url = postgres.url("killed", database=database)
    talked(url, 400).close()
    queue.ask(name_of(url), "main", COMPACT)
    with served(url, 1) as (first,):
        first.wait_for_lines(5)
        (job,) = running(queue)
        with served(url, 50) as (second,):
            first.kill()
            runs = len([line for line in first.lines if line.startswith("run")])
            assert 0 < runs < 400
            wait_until(lambda: are_done(queue, 1, postgres, database, first), "the other does it")
            (done,) = queue.jobs()
            assert done.worker != job.worker
            assert (done.failures, done.takes) == (1, 2)
            said = second.stop()
    assert any("stopped responding" in line for line in said)
    check_compacted(url, ["t0", "t399"])


class Hurried(threading.Event):
    """A clock for a worker, by which its pauses are short; it knows how long they should have been."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.asked.append(timeout)
        return super().wait(0.01)


def test_a_job_that_takes_longer_than_the_lease_stays_with_its_worker(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """As long as a worker lives, it says so again and again; nobody else takes its job."""
    url = postgres.url("long", database=database)
    talked(url, 1).close()
    queue.ask(name_of(url), "main", COMPACT)
    held, other = Held(), Held()
    other.go.set()
    made, clock = worker(url, kinds={COMPACT: held}, lease=LONG), Hurried()
    made._ended = clock
    leases = f"SELECT lease FROM {NAMESPACE}.jobs"  # noqa: S608 - our own table
    with Running(made):
        assert held.begun.wait(HANG)
        with Running(worker(url, kinds={COMPACT: other}, lease=LONG)):
            for _ in range(3):
                before = postgres.execute(leases, database=database)
                wait_until(lambda: postgres.execute(leases, database=database) > before, "it is renewed")  # noqa: B023
            held.go.set()
            wait_until(lambda: queue.counts()[JobState.DONE], "it is done")
    assert set(clock.asked) == {LONG / 4}
    assert not other.begun.is_set()
    (done,) = queue.jobs()
    assert (done.state, done.takes, done.failures) == (JobState.DONE, 1, 0)


def test_a_worker_that_has_ended_has_closed_all_connections(
    postgres: PostgresServer, database: str, queue: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the one by which it says that it lives, however long closing it takes."""
    url = postgres.url("closed", database=database)
    talked(url, 1).close()
    queue.ask(name_of(url), "main", COMPACT)
    close, renewed = _LeaseConnection.close, threading.Event()

    def slowly(kept: _LeaseConnection) -> None:
        time.sleep(0.3)
        close(kept)

    monkeypatch.setattr(_LeaseConnection, "close", slowly)
    monkeypatch.setattr(SqlQueue, "renew", lambda *_, **__: renewed.set())
    made = worker(url, kinds={COMPACT: lambda _: Done(str(renewed.wait(HANG)))})
    made._ended = Hurried()
    with left_open() as left:
        made.run(once=True)
        assert renewed.is_set()
        assert left() == []


# The command.


def started(url: str, *options: str) -> Child:
    """The command, in a process of its own."""

    class Command(Child):
        def __init__(self) -> None:
            super().__init__("worker", url, *options)

        _module = "dndbots"

    return Command()


def test_the_command_stops_gracefully_when_it_is_told_to(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """A first SIGTERM lets it finish the job; it ends well, and the campaign is compacted."""
    url = postgres.url("term", database=database)
    talked(url, 300).close()
    with started(url) as command:
        command.wait_until_ready()
        queue.ask(name_of(url), "main", COMPACT)
        wait_until(lambda: running(queue) or queue.counts()[JobState.DONE], "it begins")
        command.signal(signal.SIGTERM)
        command.finish()
        assert "again to stop at once" in command.errors
        assert len(command.lines) == 1
    assert queue.counts() == {"waiting": 0, "running": 0, "done": 1, "failed": 0}
    check_compacted(url, ["t299"])


def test_a_second_signal_stops_it_at_once_and_the_job_goes_back(
    postgres: PostgresServer, database: str, queue: JobQueue
) -> None:
    """The job is held up by a lock on its campaign; nobody waits for it, and the next may have it at once."""
    url = postgres.url("twice", database=database)
    talked(url, 20).close()
    with started(url) as command, postgres.connect(database=database) as holder:
        command.wait_until_ready()
        with holder.transaction(force_rollback=True):
            holder.execute("SELECT id FROM campaigns FOR UPDATE")
            queue.ask(name_of(url), "main", COMPACT)
            wait_until(lambda: running(queue), "it begins")
            for number in (signal.SIGTERM, signal.SIGINT):
                command.signal(number)
                wait_until(lambda: "again to stop at once" in command.errors, "it takes note of the signal")
            assert command._process.wait(HANG) == 130
        assert "back in the queue" in command.lines[-1]
    (job,) = queue.jobs()
    assert (job.state, job.failures) == (JobState.WAITING, 0)
    worker(url).run(once=True)
    check_compacted(url, ["t19"])


# A server that goes, and many at once.


def test_a_server_that_restarts_in_the_middle_of_jobs_costs_nothing(mortal: PostgresServer) -> None:
    """Workers say that it is away, wait, and go on by themselves; nothing is lost, nothing is done twice."""
    database = mortal.new_database()
    urls = [mortal.url("restart", database=database) for _ in range(3)]
    for url in urls:
        talked(url, 1).close()
    players = [("play", url, f"p{n}") for n, url in enumerate(urls)]
    # What the server took note of and could not tell a worker any more is free after a few seconds.
    workers = [("work", urls[0], 2, 5)] * 2
    with at_once(*players, *workers, kind=Program) as programs:
        playing, working = programs[:3], programs[3:]
        for restart in (mortal.restart, lambda: (mortal.kill(), mortal.start())):
            _more(playing)
            wait_until(lambda: any(line.startswith("run") for one in working for line in one.lines), "a run")
            restart()
            _more(playing)
        promised = [one.stop() for one in playing]
        with closing(open_queue(urls[0])) as queue:
            for url in urls:
                queue.ask(name_of(url), "main", COMPACT)
            wait_until(lambda: queue.counts()[JobState.DONE] == 3, "all three are compacted")
        for one in working:
            one.stop()
    for url, own in zip(urls, promised, strict=True):
        check_compacted(url, own)


def _more(programs: list[Child]) -> None:
    for one, number in [(one, len(one.lines)) for one in programs]:
        one.wait_for_lines(number + 8)


def test_two_workers_and_many_players_lose_and_double_nothing(
    postgres: PostgresServer, database: str
) -> None:
    """Two writers on each of three campaigns, two workers, one of them killed on the way."""
    urls = [postgres.url("crowd", database=database) for _ in range(3)]
    for url in urls:
        talked(url, 1).close()
    players = [("play", url, f"p{n}", 40) for url in urls for n in range(2)]
    with at_once(*players, ("work", urls[0], 3), ("work", urls[0], 3), kind=Program) as programs:
        playing, (lost, kept) = programs[:6], programs[6:]
        lost.wait_for_lines(6)
        lost.kill()
        promised = [one.finish() for one in playing]
        with closing(open_queue(urls[0])) as queue:
            wait_until(lambda: are_done(queue, 3, postgres, database, lost), "all three are compacted")
        kept.stop()
    for n, url in enumerate(urls):
        check_compacted(url, promised[2 * n] + promised[2 * n + 1])
        with Campaign.open(url) as campaign:
            played = [one for one in campaign.events(viewer="dm") if not one.is_note]
            assert len([one for one in played if one.event_id.startswith("p")]) == 80
