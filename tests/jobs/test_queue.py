"""The queue: what is asked for is done once, one thing at a time for a campaign, and never lost."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.jobs.workers import Program
from tests.postgres import PostgresServer
from tests.storage.writers import at_once
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, InvalidSetting, StoreDamaged, StoreTooNew, UnknownJob
from dndbots.jobs.queue import COMPACT, PROJECT, JobPatience, JobState, QueuedJob
from dndbots.jobs.sql_queue import SqlQueue, open_queue
from dndbots.jobs.sql_schema import NAMESPACE, metadata

BOTH = (COMPACT, PROJECT)
# Nothing is due or over by itself while a test runs: `pass_time` says when.
LONG, PATIENCE = 36_000.0, JobPatience(attempts=3, first=20_000.0, longest=50_000.0)


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def queue(postgres: PostgresServer, database: str) -> Iterator[Any]:
    """An empty queue."""
    queue = open_queue(postgres.url("queue", database=database))
    postgres.execute(f"TRUNCATE {NAMESPACE}.jobs", database=database)
    yield queue
    queue.close()


@pytest.fixture
def pass_time(postgres: PostgresServer, database: str) -> Any:
    """Lets everything be due, and every lease be over, without waiting for it."""

    def later(what: str) -> None:
        sql = f"UPDATE {NAMESPACE}.jobs SET {what} = now() - interval '1 s'"  # noqa: S608 - our own words
        postgres.execute(sql, database=database)

    return later


def taken(queue: SqlQueue, worker: str = "w", kinds: tuple[str, ...] = BOTH) -> QueuedJob:
    job = queue.take(worker, kinds, lease=LONG)
    assert job is not None
    return job


def campaigns_taken(queue: SqlQueue, number: int) -> list[str]:
    """Takes and finishes so many jobs; says whose they were."""
    found = []
    for _ in range(number):
        job = taken(queue)
        assert queue.finish(job)
        found.append(job.campaign)
    return found


# What is asked for.


def test_what_is_asked_for_often_is_done_once(queue: SqlQueue) -> None:
    """Asking is folded for each kind and branch; another kind or branch is another job."""
    for _ in range(5):
        queue.ask("one", "main", COMPACT)
    queue.ask("one", "main", PROJECT)
    queue.ask("one", "aside", COMPACT)
    assert queue.counts()[JobState.WAITING] == 3
    done = [taken(queue) for _ in range(1)]
    assert queue.finish(done[0])
    assert queue.counts() == {"waiting": 2, "running": 0, "done": 1, "failed": 0}


def test_what_is_asked_for_while_it_is_under_way_comes_after_it(queue: SqlQueue) -> None:
    """A job asked for while it runs is done once more."""
    queue.ask("one", "main", COMPACT)
    job = taken(queue)
    queue.ask("one", "main", COMPACT)
    queue.ask("one", "main", COMPACT)
    assert queue.take("other", BOTH, lease=LONG) is None
    assert queue.finish(job)
    again = taken(queue)
    assert (again.id, again.done) == (job.id, 1)
    assert queue.finish(again)
    assert queue.take("other", BOTH, lease=LONG) is None


def test_only_kinds_that_are_wanted_are_taken(queue: SqlQueue) -> None:
    """A worker that cannot project leaves that to others."""
    queue.ask("one", "main", PROJECT)
    assert queue.take("w", [COMPACT], lease=LONG) is None
    assert taken(queue, kinds=(PROJECT,)).kind == PROJECT


def test_a_campaign_has_one_job_at_a_time(queue: SqlQueue) -> None:
    """Any kind, any branch: one job of a campaign at a time; other campaigns are not held up."""
    queue.ask("one", "main", COMPACT)
    queue.ask("one", "main", PROJECT)
    queue.ask("one", "aside", COMPACT)
    queue.ask("two", "main", COMPACT)
    first, second = taken(queue, "a"), taken(queue, "b")
    assert {first.campaign, second.campaign} == {"one", "two"}
    assert queue.take("c", BOTH, lease=LONG) is None
    mine = first if first.campaign == "one" else second
    assert queue.finish(mine)
    assert taken(queue, "c").campaign == "one"


def test_workers_that_take_at_the_same_moment_share_no_campaign(
    postgres: PostgresServer, database: str, queue: SqlQueue
) -> None:
    """Eight at once on few campaigns with many jobs each: never two at one campaign, and all is done once."""
    names = ["one", "two", "three"]
    for name in names:
        for branch in ("main", "aside", "third"):
            for kind in BOTH:
                queue.ask(name, branch, kind)
    begin, crowd = threading.Barrier(8), _Crowd()

    def work(number: int) -> None:
        with closing(open_queue(postgres.url("queue", database=database))) as own:
            begin.wait(HANG)
            while sum(crowd.done.values()) < 18 and not crowd.wrong:
                job = own.take(f"w{number}", BOTH, lease=LONG)
                if job is not None:
                    with crowd.at(job):
                        own.renew(f"w{number}", lease=LONG)
                    own.finish(job)

    with ThreadPoolExecutor(8) as threads:
        for ended in [threads.submit(work, number) for number in range(8)]:
            ended.result(HANG)
    assert crowd.wrong == []
    assert len(crowd.done) == 18
    assert set(crowd.done.values()) == {1}


class _Crowd:
    """Notices who is at which campaign, and what is done."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._busy: Counter[str] = Counter()
        self.done: Counter[int] = Counter()
        self.wrong: list[QueuedJob] = []

    @contextmanager
    def at(self, job: QueuedJob) -> Iterator[None]:
        with self._guard:
            self._busy[job.campaign] += 1
            if self._busy[job.campaign] > 1:
                self.wrong.append(job)
        yield
        with self._guard:
            self._busy[job.campaign] -= 1
            self.done[job.id] += 1


# Whose turn it is.


def test_campaigns_take_turns_however_often_one_asks(queue: SqlQueue) -> None:
    """A busy campaign gets as many turns as the others, not as many as it asks for."""
    for name in ("busy", "quiet", "calm"):
        queue.ask(name, "main", COMPACT)
    order = []
    for _ in range(6):
        for _ in range(10):
            queue.ask("busy", "main", COMPACT)
        job = taken(queue)
        order.append(job.campaign)
        queue.ask(job.campaign, "main", COMPACT)
        assert queue.finish(job)
    assert order == ["busy", "quiet", "calm"] * 2


def test_a_job_that_was_lost_keeps_its_place(queue: SqlQueue, pass_time: Any) -> None:
    """A job whose worker died keeps its turn."""
    for name in ("first", "second", "third"):
        queue.ask(name, "main", COMPACT)
    assert taken(queue, "silent").campaign == "first"
    queue.ask("first", "main", COMPACT)
    pass_time("lease")
    assert len(queue.recover(patience=PATIENCE)) == 1
    pass_time("due")
    assert campaigns_taken(queue, 3) == ["first", "second", "third"]


def test_what_matters_more_comes_first_until_it_is_done(queue: SqlQueue) -> None:
    """Asked for again with less, it keeps its priority; once it is done, it is like any other."""
    queue.ask("one", "main", COMPACT)
    queue.ask("two", "main", COMPACT, priority=5)
    queue.ask("two", "main", COMPACT)
    assert campaigns_taken(queue, 2) == ["two", "one"]
    queue.ask("one", "main", COMPACT)
    queue.ask("two", "main", COMPACT)
    assert campaigns_taken(queue, 2) == ["one", "two"]


# What goes wrong.


def test_a_failed_job_is_tried_again_later_each_time_and_then_given_up(
    queue: SqlQueue, pass_time: Any
) -> None:
    """Its error is kept and shown. A job that waits for its next attempt keeps nobody else waiting."""
    queue.ask("bad", "main", COMPACT)
    queue.ask("good", "main", COMPACT)
    waits = []
    for number in range(1, 4):
        job = queue.fail(taken(queue), f"no {number}\0", patience=PATIENCE)
        assert job is not None
        waits.append((job.state, round(job.due_in, -4), job.attempts, job.error))
        if number == 1:
            assert campaigns_taken(queue, 1) == ["good"]
        queue.ask("bad", "main", COMPACT)
        if number < 3:
            assert queue.take("w", BOTH, lease=LONG) is None, "asking does not get around the wait"
            pass_time("due")
    assert waits == [
        (JobState.WAITING, 20_000, 1, "no 1\\0"),
        (JobState.WAITING, 40_000, 2, "no 2\\0"),
        (JobState.FAILED, 50_000, 3, "no 3\\0"),
    ]


def test_what_was_given_up_is_tried_once_for_each_time_that_it_is_asked_for(queue: SqlQueue) -> None:
    """So it heals by itself, without trying in vain all the while; success makes it like new."""
    queue.ask("bad", "main", COMPACT)
    queue.fail(taken(queue), "no", patience=PATIENCE._replace(attempts=1))
    assert [one.error for one in queue.jobs(state=JobState.FAILED)] == ["no"]
    assert queue.take("w", BOTH, lease=LONG) is None
    queue.ask("bad", "main", COMPACT)
    failed = queue.fail(taken(queue), "still no", patience=PATIENCE._replace(attempts=1))
    assert failed is not None
    assert failed.state is JobState.FAILED
    queue.ask("bad", "main", COMPACT)
    assert queue.finish(taken(queue))
    (job,) = queue.jobs()
    assert (job.state, job.attempts, job.error, job.done, job.failures) == (JobState.DONE, 0, None, 1, 2)


def test_what_cannot_get_better_is_given_up_at_once(queue: SqlQueue) -> None:
    queue.ask("gone", "main", COMPACT)
    job = queue.fail(taken(queue), "no such campaign", patience=PATIENCE, final=True)
    assert job is not None
    assert job.state is JobState.FAILED


def test_what_is_asked_for_while_it_fails_is_tried_all_the_same(queue: SqlQueue) -> None:
    """Asked for before it was given up, or after: it is tried once for it."""
    queue.ask("bad", "main", COMPACT)
    job = taken(queue)
    queue.ask("bad", "main", COMPACT)
    kept = queue.fail(job, "no", patience=PATIENCE._replace(attempts=1, first=0.0))
    assert kept is not None
    assert kept.state is JobState.WAITING
    given_up = queue.fail(taken(queue), "no", patience=PATIENCE._replace(attempts=1))
    assert given_up is not None
    assert given_up.state is JobState.FAILED


def test_what_waits_for_something_that_is_away_has_used_up_no_attempt(
    queue: SqlQueue, pass_time: Any, postgres: PostgresServer, database: str
) -> None:
    """It waits as long again as it has waited; a worker that is lost after that is its first failure."""
    queue.ask("patient", "main", PROJECT)
    for waited, due in ((0, 20_000), (30_000, 30_000), (600_000, 50_000)):
        ago = f"UPDATE {NAMESPACE}.jobs SET asked_at = now() - interval '{waited} s'"  # noqa: S608 - our own
        postgres.execute(ago, database=database)
        pass_time("due")
        job = queue.fail(taken(queue), "away", patience=PATIENCE, away=True)
        assert job is not None
        assert (job.state, job.attempts, round(job.due_in, -4)) == (JobState.WAITING, 0, due)
    pass_time("due")
    taken(queue)
    pass_time("lease")
    (lost,) = queue.recover(patience=PATIENCE)
    assert (lost.state, lost.attempts, lost.failures) == (JobState.WAITING, 1, 4)


def test_a_job_can_be_tried_again_by_hand(queue: SqlQueue) -> None:
    """A failed or waiting job can be retried; a running or unknown one is refused."""
    queue.ask("bad", "main", COMPACT)
    job = queue.fail(taken(queue), "no", patience=PATIENCE, final=True)
    assert job is not None
    assert (queue.retry(job.id).state, queue.retry(job.id).attempts) == (JobState.WAITING, 0)
    assert taken(queue).id == job.id
    with pytest.raises(UnknownJob, match="is running"):
        queue.retry(job.id)
    with pytest.raises(UnknownJob, match="does not exist"):
        queue.retry(10**9)


def test_the_job_of_a_worker_that_fell_silent_goes_to_the_next(queue: SqlQueue, pass_time: Any) -> None:
    """A worker that comes back after its job was taken over can no longer change it."""
    queue.ask("one", "main", COMPACT)
    lost = taken(queue, "silent")
    assert queue.recover(patience=PATIENCE) == []
    pass_time("lease")
    (found,) = queue.recover(patience=PATIENCE)
    assert (found.id, found.state, found.attempts) == (lost.id, JobState.WAITING, 1)
    assert "silent" in (found.error or "")
    assert queue.recover(patience=PATIENCE) == []
    pass_time("due")
    again = taken(queue, "next")
    assert again.id == lost.id
    assert not queue.finish(lost)
    assert queue.fail(lost, "late", patience=PATIENCE) is None
    assert not queue.give_back(lost)
    assert queue.finish(again)


def test_a_job_that_ends_every_worker_is_given_up(queue: SqlQueue, pass_time: Any) -> None:
    """It must not take one worker after the other with it for ever."""
    queue.ask("poison", "main", COMPACT)
    for _ in range(PATIENCE.attempts):
        pass_time("due")
        taken(queue)
        pass_time("lease")
        (lost,) = queue.recover(patience=PATIENCE)
    assert lost.state is JobState.FAILED


def test_a_sign_of_life_holds_what_a_worker_has(queue: SqlQueue, pass_time: Any) -> None:
    """All of its own, and nobody else's."""
    queue.ask("one", "main", COMPACT)
    queue.ask("two", "main", COMPACT)
    taken(queue, "alive")
    taken(queue, "silent")
    pass_time("lease")
    assert queue.renew("alive", lease=LONG) == 1
    assert [one.worker for one in queue.recover(patience=PATIENCE)] == ["silent"]


def test_what_is_given_back_is_nobodys_fault(queue: SqlQueue) -> None:
    """It may be taken at once, and has not failed."""
    queue.ask("one", "main", COMPACT)
    assert queue.give_back(taken(queue, "leaving"))
    job = taken(queue, "next")
    assert (job.attempts, job.failures) == (0, 0)


STEPS = st.lists(st.sampled_from(["ask", "take", "finish", "fail", "back", "lose"]), max_size=25)


@given(steps=STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_all_that_was_asked_for_is_done_in_the_end(
    queue: SqlQueue, pass_time: Any, steps: list[str]
) -> None:
    """After the last time that work is asked for, somebody begins it and finishes it."""
    name = f"law_{random.randrange(10**12)}"
    held: QueuedJob | None = None
    patience = PATIENCE._replace(attempts=10**6)
    is_owed = begun_with = False
    for step in steps:
        if step == "ask":
            queue.ask(name, "main", COMPACT)
            is_owed = True
        elif step == "take" and held is None:
            pass_time("due")
            held = queue.take("w", BOTH, lease=LONG)
            assert (held is not None) == is_owed
            begun_with, is_owed = is_owed, False
        elif held is not None and step in ("finish", "fail", "back", "lose"):
            if step == "finish":
                assert queue.finish(held)
            elif step == "fail":
                assert queue.fail(held, "no", patience=patience)
            elif step == "back":
                assert queue.give_back(held)
            else:
                pass_time("lease")
                assert len(queue.recover(patience=patience)) == 1
            is_owed |= begun_with and step != "finish"
            held = None
    if held is not None:
        assert queue.finish(held)
    pass_time("due")
    last = queue.take("w", BOTH, lease=LONG)
    assert (last is not None) == is_owed
    assert last is None or queue.finish(last)
    assert queue.take("w", BOTH, lease=LONG) is None


# Where it is.


def test_the_queue_is_made_on_first_use_and_is_the_one_we_declare(postgres: PostgresServer) -> None:
    """In a database that has nothing yet, in a namespace of its own; the campaigns are beside it."""
    url = postgres.url("empty", database=postgres.new_database())
    queue: Any = open_queue(url)
    with queue._db.engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_schemas": True,
                "version_table_schema": NAMESPACE,
                "include_name": lambda name, kind, _parents: kind != "schema" or name == NAMESPACE,
            },
        )
        assert compare_metadata(context, metadata) == []
    assert queue.branches() == []
    with Campaign.open(url) as campaign:
        campaign.fork("aside").close()
    assert [branch for _, branch in queue.branches()] == ["main", "aside"]
    queue.close()


def test_programs_that_make_the_queue_at_once_make_one(postgres: PostgresServer) -> None:
    """In an empty database, each of them finds it as if it had been there."""
    url = postgres.url("first", database=postgres.new_database())
    with at_once(*(("make", url) for _ in range(4)), kind=Program) as programs:
        assert [one.finish() for one in programs] == [["made"]] * 4


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE dndbots_queue.alembic_version SET version_num = '9999'", StoreTooNew),
        ("DROP TABLE dndbots_queue.alembic_version", StoreDamaged),
    ],
)
def test_a_queue_of_another_version_is_left_alone(
    postgres: PostgresServer, sql: str, kind: type[DndbotsError]
) -> None:
    database = postgres.new_database()
    url = postgres.url("version", database=database)
    open_queue(url).close()
    postgres.execute(sql, database=database)
    with pytest.raises(kind):
        open_queue(url)


@pytest.mark.parametrize("where", ["campaigns/mill", None, "mysql://x/y"])
def test_only_a_server_has_a_queue(where: str | None) -> None:
    with pytest.raises(InvalidSetting, match="postgresql://"):
        open_queue(where)
