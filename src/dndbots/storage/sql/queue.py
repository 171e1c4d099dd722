"""The queue in PostgreSQL: one row for each kind of work of each branch, and every step one statement.

No step waits for another worker: whoever looks for a job passes over rows that somebody else is just
looking at. Nobody is told of new jobs, all look for them: a campaign compacts after minutes of play, and
a second more is no matter.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

from sqlalchemy import TextClause, text

from dndbots.errors import StoreBusy, UnknownJob
from dndbots.storage.queue import JobState, Patience, QueuedJob
from dndbots.storage.sql.database import Database, Dialect
from dndbots.storage.sql.migrate import CAMPAIGNS, QUEUE, bring_up_to_date
from dndbots.storage.sql.queue_schema import NAMESPACE

_LONGEST_ERROR: Final = 2_000
_ATTEMPTS: Final = 5
_JOBS: Final = f"{NAMESPACE}.jobs"
_FIELDS: Final = """
    id, campaign, branch, kind, state, priority, attempts, done, failures,
    extract(epoch from CASE state WHEN 'waiting' THEN now() ELSE coalesce(started_at, now()) END - asked_at),
    greatest(extract(epoch from due - now()), 0),
    worker, error, takes
"""


def _said(sql: str) -> TextClause:
    return text(sql.format(jobs=_JOBS, fields=_FIELDS))


_ASK: Final = _said("""
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
_TAKE: Final = _said("""
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
_RENEW: Final = _said("""
    UPDATE {jobs} SET lease = now() + make_interval(secs => :lease)
    WHERE worker = :worker AND state = 'running'
""")
_FINISH: Final = _said("""
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
# Who still holds it, and who was heard of last too long ago.
_OWN: Final = "id = :id AND takes = :takes AND state = 'running'"
_SILENT: Final = "state = 'running' AND lease < now()"
_FAIL: Final = _said(f"{_FAILED} :error WHERE {_OWN} RETURNING {{fields}}")
_RECOVER: Final = _said(
    f"{_FAILED} 'the worker that had it, ' || worker || ', fell silent' WHERE {_SILENT} RETURNING {{fields}}"
)
_GIVE_BACK: Final = _said("""
    UPDATE {jobs} SET
        state = 'waiting', due = now(), ended_at = now(), lease = NULL
    WHERE id = :id AND takes = :takes AND state = 'running'
""")
_RETRY: Final = _said("""
    UPDATE {jobs} SET
        attempts = CASE WHEN state = 'failed' THEN 0 ELSE attempts END,
        asked_at = CASE WHEN state = 'failed' THEN now() ELSE asked_at END,
        state = 'waiting', due = now()
    WHERE id = :id AND state IN ('failed', 'waiting') RETURNING {fields}
""")
_LIST: Final = _said("""
    SELECT {fields} FROM {jobs} WHERE CAST(:state AS text) IS NULL OR state = :state
    ORDER BY array_position(ARRAY['running', 'waiting', 'failed', 'done'], state), priority DESC, asked_at, id
    LIMIT :limit
""")
_ONE: Final = _said("SELECT {fields} FROM {jobs} WHERE id = :id")
_COUNTS: Final = _said("SELECT state, count(*) FROM {jobs} GROUP BY state")
_BRANCHES: Final = text("""
    SELECT campaigns.name, branches.name FROM branches JOIN campaigns ON campaigns.id = branches.campaign
    ORDER BY 1, branches.id
""")


class SqlQueue:
    """The queue of one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._db = Database(dialect)
        self.where = dialect.where
        try:
            # Of the campaigns too: who looks for work may come before anybody has played.
            bring_up_to_date(self._db, CAMPAIGNS)
            bring_up_to_date(self._db, QUEUE)
        except BaseException:  # whatever it was, nobody else would close the connection
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def ask(self, campaign: str, branch: str, kind: str, *, priority: int = 0) -> None:
        self._db.run(_ASK, campaign=campaign, branch=branch, kind=kind, priority=priority)

    def take(self, worker: str, kinds: Collection[str], *, lease: float) -> QueuedJob | None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                found = self._db.all(_TAKE, worker=worker, kinds=[*kinds], lease=lease)
            except StoreBusy:
                # Somebody took another job of the same campaign in the same moment; the next look sees that.
                if attempt == _ATTEMPTS:
                    raise
            else:
                return _jobs(found)[0] if found else None
        return None

    def renew(self, worker: str, *, lease: float) -> int:
        return self._db.run(_RENEW, worker=worker, lease=lease)

    def finish(self, job: QueuedJob) -> bool:
        return bool(self._db.run(_FINISH, id=job.id, takes=job.takes))

    def fail(
        self, job: QueuedJob, error: str, *, patience: Patience, final: bool = False, away: bool = False
    ) -> QueuedJob | None:
        # PostgreSQL keeps no NUL in a text, and what a job fails by may be anything.
        told = error.replace("\0", "\\0")[:_LONGEST_ERROR]
        how = _waits(patience, final=final, away=away)
        found = _jobs(self._db.all(_FAIL, id=job.id, takes=job.takes, error=told, **how))
        return found[0] if found else None

    def give_back(self, job: QueuedJob) -> bool:
        return bool(self._db.run(_GIVE_BACK, id=job.id, takes=job.takes))

    def recover(self, *, patience: Patience) -> list[QueuedJob]:
        return _jobs(self._db.all(_RECOVER, **_waits(patience)))

    def retry(self, job: int) -> QueuedJob:
        found = _jobs(self._db.all(_RETRY, id=job))
        if not found:
            there = _jobs(self._db.all(_ONE, id=job))
            raise UnknownJob(job, state=str(there[0].state) if there else None)
        return found[0]

    def jobs(self, *, state: JobState | None = None, limit: int = 1_000) -> list[QueuedJob]:
        return _jobs(self._db.all(_LIST, state=state and str(state), limit=limit))

    def counts(self) -> dict[JobState, int]:
        found = {JobState(state): int(number) for state, number in self._db.all(_COUNTS)}
        return {state: found.get(state, 0) for state in JobState}

    def branches(self) -> list[tuple[str, str]]:
        return [(str(campaign), str(branch)) for campaign, branch in self._db.all(_BRANCHES)]


def _waits(patience: Patience, *, final: bool = False, away: bool = False) -> dict[str, Any]:
    return {
        "final": final,
        "away": away,
        "most": patience.attempts,
        "first": float(patience.first),
        "longest": float(patience.longest),
    }


def _jobs(rows: Iterable[tuple[Any, ...]]) -> list[QueuedJob]:
    found = map(QueuedJob._make, rows)
    return [
        one._replace(state=JobState(one.state), waited=float(one.waited), due_in=float(one.due_in))
        for one in found
    ]
