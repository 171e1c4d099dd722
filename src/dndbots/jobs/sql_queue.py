"""The queue in PostgreSQL: one row for each kind of job of each branch, and one statement for each step.

No step waits for another worker: the search for a job skips rows that another worker has locked. Workers poll
for new jobs: a campaign compacts after minutes of play, and a second more does not matter.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from sqlalchemy import TextClause, text

from dndbots.errors import InvalidSetting, StoreBusy, UnknownJob
from dndbots.jobs.queue import JobPatience, JobQueue, JobState, QueuedJob
from dndbots.jobs.sql_schema import NAMESPACE, REVISION
from dndbots.storage.address import TIMEOUT, address_of, is_server
from dndbots.storage.sql.database import Database, Dialect
from dndbots.storage.sql.migrate import CAMPAIGNS, Tables, bring_up_to_date

QUEUE: Final = Tables(Path(__file__).parent / "migrations", REVISION, frozenset(("jobs",)), NAMESPACE)
_LONGEST_ERROR: Final = 2_000
_ATTEMPTS: Final = 5
_JOBS: Final = f"{NAMESPACE}.jobs"
_FIELDS: Final = """
    id, campaign, branch, kind, state, priority, attempts, done, failures,
    extract(epoch from CASE state WHEN 'waiting' THEN now() ELSE coalesce(started_at, now()) END - asked_at),
    greatest(extract(epoch from due - now()), 0),
    worker, error, takes
"""


def _statement(sql: str) -> TextClause:
    return text(sql.format(jobs=_JOBS, fields=_FIELDS))


_ASK: Final = _statement("""
    INSERT INTO {jobs} AS job (
        campaign, branch, kind, state, priority, asked, taken, takes, attempts, done, failures, asked_at, due
    )
    VALUES (:campaign, :branch, :kind, 'waiting', :priority, 1, 0, 0, 0, 0, 0, now(), now())
    ON CONFLICT (campaign, branch, kind) DO UPDATE SET
        asked = job.asked + 1,
        priority = greatest(job.priority, excluded.priority),
        state = CASE WHEN job.state = 'running' THEN 'running' ELSE 'waiting' END,
        due = CASE WHEN job.state IN ('waiting', 'running') THEN job.due ELSE now() END,
        asked_at = CASE WHEN job.state IN ('waiting', 'running') THEN job.asked_at ELSE now() END,
        again_at = CASE WHEN job.state = 'running' THEN coalesce(job.again_at, now()) END
""")
_TAKE: Final = _statement("""
    UPDATE {jobs} SET
        state = 'running', taken = asked, takes = takes + 1, worker = :worker, started_at = now(),
        again_at = NULL, lease = now() + make_interval(secs => :lease)
    WHERE id = (
        SELECT job.id FROM {jobs} AS job
        WHERE job.state = 'waiting' AND job.due <= now() AND job.kind = ANY(:kinds)
        AND NOT EXISTS (
            SELECT FROM {jobs} AS other WHERE other.campaign = job.campaign AND other.state = 'running'
        )
        ORDER BY job.priority DESC, job.asked_at, job.id
        LIMIT 1 FOR UPDATE OF job SKIP LOCKED
    )
    RETURNING {fields}
""")
_RENEW: Final = _statement("""
    UPDATE {jobs} SET lease = now() + make_interval(secs => :lease)
    WHERE worker = :worker AND state = 'running'
""")
_FINISH: Final = _statement("""
    UPDATE {jobs} SET
        state = CASE WHEN asked > taken THEN 'waiting' ELSE 'done' END,
        attempts = 0, error = NULL, priority = 0, done = done + 1,
        lease = NULL, due = now(), ended_at = now(),
        asked_at = coalesce(again_at, asked_at)
    WHERE id = :id AND takes = :takes AND state = 'running'
""")
_FAILED: Final = """
    UPDATE {jobs} SET
        state = CASE
            WHEN (:final OR (NOT :away AND attempts + 1 >= :most)) AND asked = taken THEN 'failed'
            ELSE 'waiting'
        END,
        attempts = CASE WHEN :away THEN attempts ELSE attempts + 1 END,
        failures = failures + 1, ended_at = now(), lease = NULL,
        due = now() + make_interval(secs => least(:longest, CASE
            WHEN :away THEN greatest(:first, extract(epoch from now() - asked_at))
            ELSE :first * 2 ^ least(attempts, 30)
        END)),
        error = """
# The job is still this worker's; and the jobs whose lease has run out.
_OWN: Final = "id = :id AND takes = :takes AND state = 'running'"
_SILENT: Final = "state = 'running' AND lease < now()"
_FAIL: Final = _statement(f"{_FAILED} :error WHERE {_OWN} RETURNING {{fields}}")
_RECOVER: Final = _statement(
    f"{_FAILED} 'worker ' || worker || ' stopped responding' WHERE {_SILENT} RETURNING {{fields}}"
)
_GIVE_BACK: Final = _statement("""
    UPDATE {jobs} SET
        state = 'waiting', due = now(), ended_at = now(), lease = NULL
    WHERE id = :id AND takes = :takes AND state = 'running'
""")
_RETRY: Final = _statement("""
    UPDATE {jobs} SET
        attempts = CASE WHEN state = 'failed' THEN 0 ELSE attempts END,
        asked_at = CASE WHEN state = 'failed' THEN now() ELSE asked_at END,
        state = 'waiting', due = now()
    WHERE id = :id AND state IN ('failed', 'waiting') RETURNING {fields}
""")
_LIST: Final = _statement("""
    SELECT {fields} FROM {jobs} WHERE CAST(:state AS text) IS NULL OR state = :state
    ORDER BY array_position(ARRAY['running', 'waiting', 'failed', 'done'], state), priority DESC, asked_at, id
    LIMIT :limit
""")
_ONE: Final = _statement("SELECT {fields} FROM {jobs} WHERE id = :id")
_COUNTS: Final = _statement("SELECT state, count(*) FROM {jobs} GROUP BY state")
_BRANCHES: Final = text("""
    SELECT campaigns.name, branches.name FROM branches JOIN campaigns ON campaigns.id = branches.campaign
    ORDER BY 1, branches.id
""")


class SqlQueue:
    """The queue of one PostgreSQL database. Implements `JobQueue`."""

    def __init__(self, dialect: Dialect) -> None:
        self._db = Database(dialect)
        self.where = dialect.where
        try:
            # The tables of campaigns too: a worker may start before anybody has played.
            bring_up_to_date(self._db, CAMPAIGNS)
            bring_up_to_date(self._db, QUEUE)
        except BaseException:  # nobody else would close the connection
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def ask(self, campaign: str, branch: str, kind: str, *, priority: int = 0) -> None:
        self._db.run(_ASK, campaign=campaign, branch=branch, kind=kind, priority=priority)

    def take(self, worker: str, kinds: Collection[str], *, lease: float) -> QueuedJob | None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                rows = self._db.all(_TAKE, worker=worker, kinds=[*kinds], lease=lease)
            except StoreBusy:
                # Another worker took a job of the same campaign at the same moment; the next try sees that.
                if attempt == _ATTEMPTS:
                    raise
            else:
                return _jobs(rows)[0] if rows else None
        return None

    def renew(self, worker: str, *, lease: float) -> int:
        return self._db.run(_RENEW, worker=worker, lease=lease)

    def finish(self, job: QueuedJob) -> bool:
        return bool(self._db.run(_FINISH, id=job.id, takes=job.takes))

    def fail(
        self, job: QueuedJob, error: str, *, patience: JobPatience, final: bool = False, away: bool = False
    ) -> QueuedJob | None:
        # PostgreSQL stores no NUL in a text, and an error message may contain one.
        stored = error.replace("\0", "\\0")[:_LONGEST_ERROR]
        waits = _waits(patience, final=final, away=away)
        failed = _jobs(self._db.all(_FAIL, id=job.id, takes=job.takes, error=stored, **waits))
        return failed[0] if failed else None

    def give_back(self, job: QueuedJob) -> bool:
        return bool(self._db.run(_GIVE_BACK, id=job.id, takes=job.takes))

    def recover(self, *, patience: JobPatience) -> list[QueuedJob]:
        return _jobs(self._db.all(_RECOVER, **_waits(patience)))

    def retry(self, job: int) -> QueuedJob:
        retried = _jobs(self._db.all(_RETRY, id=job))
        if not retried:
            known = _jobs(self._db.all(_ONE, id=job))
            raise UnknownJob(job, state=str(known[0].state) if known else None)
        return retried[0]

    def jobs(self, *, state: JobState | None = None, limit: int = 1_000) -> list[QueuedJob]:
        return _jobs(self._db.all(_LIST, state=state and str(state), limit=limit))

    def counts(self) -> dict[JobState, int]:
        counts = {JobState(state): int(number) for state, number in self._db.all(_COUNTS)}
        return {state: counts.get(state, 0) for state in JobState}

    def branches(self) -> list[tuple[str, str]]:
        return [(str(campaign), str(branch)) for campaign, branch in self._db.all(_BRANCHES)]


def _waits(patience: JobPatience, *, final: bool = False, away: bool = False) -> dict[str, Any]:
    return {
        "final": final,
        "away": away,
        "most": patience.attempts,
        "first": float(patience.first),
        "longest": float(patience.longest),
    }


def _jobs(rows: Iterable[tuple[Any, ...]]) -> list[QueuedJob]:
    jobs = map(QueuedJob._make, rows)
    return [
        job._replace(state=JobState(job.state), waited=float(job.waited), due_in=float(job.due_in))
        for job in jobs
    ]


def open_queue(where: str | None, *, timeout: float = TIMEOUT) -> JobQueue:
    """Open the queue of a PostgreSQL database, made on first use. The address may name a campaign or not."""
    if where is None or not is_server(where):
        reason = "has no queue: only campaigns at a postgresql:// address share one"
        raise InvalidSetting("queue", where or "a campaign in memory", reason=reason)
    return SqlQueue(address_of(where).dialect(timeout=timeout))
