"""The port of the queue: what is to be done for the campaigns of one database, and who is doing it.

What is asked for is kept once for each kind of work and each branch of a campaign, however often it is
asked. A campaign has one job at a time. Whoever takes a job holds it for as long as it says that it still
does; a job of somebody who fell silent goes to the next.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from dndbots.errors import InvalidSetting
from dndbots.storage.opening import TIMEOUT, address_of, is_server

COMPACT: Final = "compact"
PROJECT: Final = "project"


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Patience(NamedTuple):
    """How often a job is tried before it is given up, and the seconds between: twice as many each time."""

    attempts: int = 5
    first: float = 2.0
    longest: float = 600.0


class QueuedJob(NamedTuple):
    """Work of one kind for one branch of a campaign.

    `waited` is how many seconds it waited for its turn, or does so far; `due_in` how many are left before
    it may be taken. `attempts` are failures in a row, `failures` all there were, `done` how often it was
    done. `worker` is who has it, or had it last.
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
    """Times are the database's own, so that the clocks of workers need not agree."""

    where: str

    def ask(self, campaign: str, branch: str, kind: str, *, priority: int = 0) -> None:
        """Wants work done: once if it is waiting already, and once more after it if it is under way.

        What was given up is tried once more for each time that it is asked for.
        """
        ...

    def take(self, worker: str, kinds: Collection[str], *, lease: float) -> QueuedJob | None:
        """The next job of some kinds of a campaign that has none under way, held for so many seconds."""
        ...

    def renew(self, worker: str, *, lease: float) -> int:
        """Says that somebody is alive, and holds its jobs for so many seconds from now; says how many."""
        ...

    def finish(self, job: QueuedJob) -> bool:
        """It is done. False if it is no longer the worker's: somebody else took it over."""
        ...

    def fail(
        self, job: QueuedJob, error: str, *, patience: Patience, final: bool = False, away: bool = False
    ) -> QueuedJob | None:
        """It failed: it waits for another attempt, or is given up. None if it is no longer the worker's.

        What was asked for while it was under way is tried all the same. Where something that it needs is
        `away`, that is no attempt of its own: it waits as long again as it has waited, and is never given up.
        """
        ...

    def give_back(self, job: QueuedJob) -> bool:
        """It was not done, and nobody is to blame: the next may have it at once."""
        ...

    def recover(self, *, patience: Patience) -> list[QueuedJob]:
        """Takes jobs away from those who fell silent, as failed once; says which."""
        ...

    def retry(self, job: int) -> QueuedJob:
        """A job that was given up, or waits for its next attempt, may be taken now."""
        ...

    def jobs(self, *, state: JobState | None = None, limit: int = 1_000) -> list[QueuedJob]: ...
    def counts(self) -> dict[JobState, int]: ...
    def branches(self) -> list[tuple[str, str]]:
        """Every branch of every campaign in the database: what work can be asked for."""
        ...

    def close(self) -> None: ...


def open_queue(where: str | None, *, timeout: float = TIMEOUT) -> JobQueue:
    """The queue of a PostgreSQL database, made on first use. The address may name a campaign or not."""
    if where is None or not is_server(where):
        reason = "has no queue: only the campaigns of a postgresql:// address share one"
        raise InvalidSetting("queue", where or "a campaign in memory", reason=reason)
    from dndbots.storage.sql.queue import SqlQueue

    return SqlQueue(address_of(where).dialect(timeout=timeout))
