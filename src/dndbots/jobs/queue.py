"""The port of the job queue: the jobs for the campaigns of one database, and the workers that hold them.

The queue keeps one job for each kind and each branch of a campaign, however often it is asked for. A
campaign has one running job at a time. A worker holds its job as long as it renews the lease; when the lease
runs out, the next worker takes the job.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

COMPACT: Final = "compact"
PROJECT: Final = "project"


class JobState(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class JobPatience(NamedTuple):
    """The number of attempts before a job is given up, and the pause in seconds, which doubles each time."""

    attempts: int = 5
    first: float = 2.0
    longest: float = 600.0


class QueuedJob(NamedTuple):
    """A job of one kind for one branch of a campaign.

    `waited` is the time in seconds that it has waited for a worker; `due_in` the time until it may be taken.
    `attempts` counts failures in a row, `failures` all failures, `done` how often it was done. `worker` is
    the worker that holds it, or held it last.
    """

    id: int
    campaign: str
    branch: str
    kind: str
    state: JobState
    priority: int
    attempts: int
    done: int
    failures: int
    waited: float
    due_in: float
    worker: str | None
    error: str | None
    takes: int


class JobQueue(Protocol):
    """A queue of jobs. All times come from the database, so the clocks of workers need not agree."""

    where: str

    def ask(self, campaign: str, branch: str, kind: str, *, priority: int = 0) -> None:
        """Ask for a job: no change if it is waiting already, one more run if it is running.

        A job that was given up is tried once more each time it is asked for.
        """
        ...

    def take(self, worker: str, kinds: Collection[str], *, lease: float) -> QueuedJob | None:
        """Take the next job of some kinds, of a campaign with no running job, for `lease` seconds."""
        ...

    def renew(self, worker: str, *, lease: float) -> int:
        """Extend the lease of a worker's jobs to `lease` seconds from now; return how many it holds."""
        ...

    def finish(self, job: QueuedJob) -> bool:
        """Mark a job as done. False if another worker has taken it over."""
        ...

    def fail(
        self, job: QueuedJob, error: str, *, patience: JobPatience, final: bool = False, away: bool = False
    ) -> QueuedJob | None:
        """Mark a job as failed: it waits for another attempt, or is given up. None if another worker has it.

        If it was asked for again while it ran, it is tried again in any case. With `away`, something that it
        needs cannot be reached: that counts as no attempt, the wait doubles, and the job is never given up.
        """
        ...

    def give_back(self, job: QueuedJob) -> bool:
        """Put a job back that was not done, without counting a failure: it may be taken at once."""
        ...

    def recover(self, *, patience: JobPatience) -> list[QueuedJob]:
        """Take jobs away from workers whose lease ran out, as failed once; return these jobs."""
        ...

    def retry(self, job: int) -> QueuedJob:
        """Make a job due now that was given up, or waits for its next attempt."""
        ...

    def jobs(self, *, state: JobState | None = None, limit: int = 1_000) -> list[QueuedJob]: ...
    def counts(self) -> dict[JobState, int]: ...
    def branches(self) -> list[tuple[str, str]]:
        """List every branch of every campaign in the database, as (campaign, branch)."""
        ...

    def close(self) -> None: ...
