"""A worker: takes jobs from the queue of one database, does them, and records the result.

A worker serves all campaigns on a server, beside other workers, and outlives the programs that play them. It
survives failed jobs, and a database that is away for a while. `compaction.reader_process` is something else:
a process that one program starts for its own campaigns.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from typing import Final, Generic
from uuid import uuid4

from dndbots.errors import (
    BranchExists,
    CampaignMissing,
    DndbotsError,
    GraphUnavailable,
    InvalidSetting,
    StoreBusy,
    StoreTooNew,
    StoreUnavailable,
    UnknownBranch,
)
from dndbots.jobs.kinds import CampaignT, Done, JobKind, kinds_of
from dndbots.jobs.open_campaigns import OpenCampaign, OpenCampaigns
from dndbots.jobs.queue import JobPatience, JobQueue, JobState, QueuedJob
from dndbots.jobs.sql_queue import open_queue
from dndbots.storage.address import address_of

log = logging.getLogger("dndbots.jobs")

# After so many seconds without a sign of life, a worker counts as dead.
LEASE: Final = 30.0
_IDLE: Final = (0.1, 1.0)
_AWAY: Final = (0.5, 30.0)
_MOST_AT_ONCE: Final = 64
# The last cleanup waits at most so many seconds for a database that does not answer.
_PARTING: Final = 2.0
# Errors that another attempt cannot mend.
_LASTING: Final = (BranchExists, CampaignMissing, UnknownBranch, InvalidSetting, StoreTooNew)
# Errors that may pass; compared by exact type, because those of the subclasses last.
_PASSING: Final = (StoreUnavailable, StoreBusy)


class Worker(Generic[CampaignT]):
    """Does the jobs of one database, up to `at_once` at a time, until it is stopped.

    `open_campaign` opens the campaign of a job, such as `Campaign.open`. `tell` gets one line for each job,
    and one when the database goes away or comes back.
    """

    def __init__(
        self,
        where: str,
        open_campaign: OpenCampaign[CampaignT],
        *,
        kinds: Mapping[str, JobKind[CampaignT]] | None = None,
        at_once: int = 1,
        lease: float = LEASE,
        patience: JobPatience | None = None,
        tell: Callable[[str], object] = log.info,
    ) -> None:
        if type(at_once) is not int or not 1 <= at_once <= _MOST_AT_ONCE:
            raise InvalidSetting("jobs", at_once, reason=f"is not a number from 1 to {_MOST_AT_ONCE}")
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._where, self._address = where, address_of(where)
        self._open_campaign = open_campaign
        self._kinds: dict[str, JobKind[CampaignT]] = dict(kinds_of() if kinds is None else kinds)
        self._at_once, self._lease = at_once, lease
        self._patience, self._tell = patience or JobPatience(), tell
        self._stopping, self._ended = threading.Event(), threading.Event()
        self._guard = threading.Lock()
        self._held: dict[int, QueuedJob] = {}
        self._error: BaseException | None = None

    # Start and stop.

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Take no more jobs; `run` returns when the running ones are done."""
        self._stopping.set()

    def run(self, *, once: bool = False) -> None:
        """Do jobs until the worker is stopped; or, with `once`, until no job is due.

        An interruption (Ctrl-C) stops it at once and puts running jobs back into the queue.
        """
        queue = self._open_queue(once=once)
        if queue is None:
            return
        queue.close()
        threads = [
            threading.Thread(target=self._run_thread, args=(once,), name="dndbots-job", daemon=True)
            for _ in range(self._at_once)
        ]
        beat = threading.Thread(target=self._renew_leases, name="dndbots-alive", daemon=True)
        try:
            for thread in (beat, *threads):
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._stopping.set()
            self._ended.set()
            self._give_back()
            if beat.is_alive():
                beat.join(_PARTING)  # it closes its own connection
        if self._error is not None:
            raise self._error

    def _open_queue(self, *, once: bool) -> JobQueue | None:
        """Open the queue; wait for a database that is away. None if the worker is stopped first."""
        pause = _Pause(*_AWAY)
        while not self.is_stopping:
            try:
                return open_queue(self._where)
            except StoreUnavailable as exc:
                if once or type(exc) not in _PASSING:
                    raise
                self._wait_for_database(exc, pause)
        return None

    def _run_thread(self, once: bool) -> None:  # noqa: FBT001 - a thread's argument
        try:
            queue = self._open_queue(once=once)
            if queue is not None:
                with closing(queue), closing(OpenCampaigns(self._open_campaign)) as campaigns:
                    self._work(queue, campaigns, once=once)
        except BaseException as exc:  # noqa: BLE001 - `run` raises it again, in the caller's thread
            self._error = self._error or exc
            self.stop()

    def _renew_leases(self) -> None:
        """Renew the leases of this worker's jobs, again and again, until the worker ends."""
        with closing(_LeaseConnection(self._where)) as connection:
            while not self._ended.wait(self._lease / 4):
                if self._held:
                    connection.renew(self.name, self._lease)

    def _give_back(self) -> None:
        with self._guard:
            held = [*self._held.values()]
        if not held:
            return
        try:
            with closing(open_queue(self._where, timeout=_PARTING)) as queue:
                for job in held:
                    if queue.give_back(job):
                        self._tell(f"{_named(job)}: stopped before it was done, back in the queue")
        except StoreUnavailable as exc:
            self._tell(f"the running jobs are free again in {self._lease:.0f} s: {exc}")

    # Jobs.

    def _work(self, queue: JobQueue, campaigns: OpenCampaigns[CampaignT], *, once: bool) -> None:
        idle, away = _Pause(*_IDLE), _Pause(*_AWAY)
        while not self.is_stopping:
            try:
                job = self._next(queue)
            except StoreUnavailable as exc:
                if once or type(exc) not in _PASSING:
                    raise
                self._wait_for_database(exc, away)
                continue
            if away.begun:
                self._tell("the database is back")
                away = _Pause(*_AWAY)
            if job is not None:
                idle = _Pause(*_IDLE)
                self._do(job, queue, campaigns)
            elif once:
                return
            else:
                self._stopping.wait(idle.next())

    def _next(self, queue: JobQueue) -> QueuedJob | None:
        for lost in queue.recover(patience=self._patience):
            self._tell(f"{_named(lost)}: {lost.error}; {_what_next(lost)}")
        return queue.take(self.name, self._kinds.keys(), lease=self._lease)

    def _do(self, job: QueuedJob, queue: JobQueue, campaigns: OpenCampaigns[CampaignT]) -> None:
        with self._guard:
            self._held[job.id] = job
        try:
            self._settle(job, self._result(job, queue, campaigns))
        finally:
            with self._guard:
                self._held.pop(job.id, None)

    def _result(
        self, job: QueuedJob, queue: JobQueue, campaigns: OpenCampaigns[CampaignT]
    ) -> Callable[[], None]:
        """Do a job; return the call that records its result in the queue."""
        where, began = self._address.of(job.campaign), time.monotonic()
        try:
            done = self._kinds[job.kind](campaigns.of(where, job.branch))
        except Exception as exc:  # noqa: BLE001 - it is stored and shown, and other campaigns are waiting
            campaigns.drop(where, job.branch)
            return partial(self._failed, job, queue, exc)
        return partial(self._finished, job, queue, done, time.monotonic() - began)

    def _settle(self, job: QueuedJob, settle: Callable[[], None]) -> None:
        """Record the result of a job; wait for a database that is away."""
        pause = _Pause(*_AWAY)
        while True:
            try:
                return settle()
            except StoreUnavailable as exc:
                if type(exc) not in _PASSING:
                    raise
                if self.is_stopping:
                    self._tell(
                        f"{_named(job)}: its result could not be stored; another worker repeats it ({exc})"
                    )
                    return None
                self._wait_for_database(exc, pause)

    def _finished(self, job: QueuedJob, queue: JobQueue, done: Done, seconds: float) -> None:
        for kind in (*done.then, *([job.kind] if done.more else ())):
            queue.ask(job.campaign, job.branch, kind)
        kept = queue.finish(job)
        words = f"{_named(job)}: {done.words}; {seconds:.2f} s, waited {job.waited:.1f} s"
        self._tell(words if kept else f"{words}; another worker has taken it over")

    def _failed(self, job: QueuedJob, queue: JobQueue, exc: Exception) -> None:
        error = str(exc) if isinstance(exc, DndbotsError) else f"{type(exc).__name__}: {exc}"
        final = isinstance(exc, _LASTING)
        # However long Neo4j is away, nothing is lost: its copy catches up when it is back.
        away = isinstance(exc, GraphUnavailable)
        kept = queue.fail(job, error, patience=self._patience, final=final, away=away)
        after = _what_next(kept) if kept is not None else "another worker has taken it over"
        self._tell(f"{_named(job)}: failed: {error}; {after}")

    def _wait_for_database(self, exc: StoreUnavailable, pause: "_Pause") -> None:
        seconds = pause.next()
        self._tell(f"the database is away, trying again in {seconds:.1f} s: {exc}")
        self._stopping.wait(seconds)


class _LeaseConnection:
    """A separate connection that renews leases, so that no job delays them."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._queue: JobQueue | None = None

    def renew(self, worker: str, lease: float) -> None:
        try:
            if self._queue is None:
                self._queue = open_queue(self._where, timeout=max(1.0, lease / 4))
            self._queue.renew(worker, lease=lease)
        except StoreUnavailable as exc:
            # While the database is away, no worker can take over a job either.
            log.debug("a lease could not be renewed: %s", exc)

    def close(self) -> None:
        if self._queue is not None:
            self._queue.close()


class _Pause:
    """Seconds to wait: doubled each time, up to a limit."""

    def __init__(self, first: float, most: float) -> None:
        self._next, self._most = first, most
        self.begun = False

    def next(self) -> float:
        self.begun = True
        now, self._next = self._next, min(self._next * 2, self._most)
        return now


def _named(job: QueuedJob) -> str:
    return f"{job.kind} {job.campaign} ({job.branch})"


def _what_next(job: QueuedJob) -> str:
    if job.state is JobState.FAILED:
        return f"given up after {job.attempts} attempts; `dndbots jobs --retry {job.id}` tries again"
    return f"next attempt in {job.due_in:.0f} s"
