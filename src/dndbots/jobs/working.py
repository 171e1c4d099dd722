"""A worker: takes jobs of a database's campaigns from its queue, does them, and says how that went.

Not to be confused with `dndbots.worker`, the process that one program starts for its own campaigns. This
one serves all who play on a server, beside others like it, and outlives them. Nothing that a job fails by
ends it, nor that the database is away for a while.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from typing import Final
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
from dndbots.jobs.kinds import Done, Kind, kinds_of
from dndbots.jobs.opened import Opened
from dndbots.storage.opening import address_of
from dndbots.storage.queue import JobQueue, JobState, Patience, QueuedJob, open_queue

log = logging.getLogger("dndbots.jobs")

# A worker that says nothing for so many seconds is taken for dead.
LEASE: Final = 30.0
_IDLE: Final = (0.1, 1.0)
_AWAY: Final = (0.5, 30.0)
_MOST_AT_ONCE: Final = 64
# What is left to do takes so many seconds at most, where the database does not answer.
_PARTING: Final = 2.0
# Trying again does not help.
_LASTING: Final = (BranchExists, CampaignMissing, UnknownBranch, InvalidSetting, StoreTooNew)
# The database may be back later; what the subclasses say stays so.
_PASSING: Final = (StoreUnavailable, StoreBusy)


class QueueWorker:
    """Does the jobs of one database, so many at once, until it is stopped.

    `tell` is told a line for each job, and when the database goes and comes.
    """

    def __init__(
        self,
        where: str,
        *,
        kinds: Mapping[str, Kind] | None = None,
        at_once: int = 1,
        lease: float = LEASE,
        patience: Patience | None = None,
        tell: Callable[[str], object] = log.info,
    ) -> None:
        if type(at_once) is not int or not 1 <= at_once <= _MOST_AT_ONCE:
            raise InvalidSetting("jobs", at_once, reason=f"is not a number from 1 to {_MOST_AT_ONCE}")
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._where, self._address = where, address_of(where)
        self._kinds = dict(kinds_of() if kinds is None else kinds)
        self._at_once, self._lease = at_once, lease
        self._patience, self._tell = patience or Patience(), tell
        self._stopping, self._ended = threading.Event(), threading.Event()
        self._guard = threading.Lock()
        self._held: dict[int, QueuedJob] = {}
        self._error: BaseException | None = None

    # Its life.

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Takes no more jobs; `run` returns when those under way are done."""
        self._stopping.set()

    def run(self, *, once: bool = False) -> None:
        """Works until it is stopped; or, `once`, until nothing is due.

        Whoever interrupts it stops it at once: what was under way goes back into the queue.
        """
        queue = self._opened(once=once)
        if queue is None:
            return
        queue.close()
        threads = [
            threading.Thread(target=self._guarded, args=(once,), name="dndbots-job", daemon=True)
            for _ in range(self._at_once)
        ]
        beat = threading.Thread(target=self._keep, name="dndbots-alive", daemon=True)
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
                beat.join(_PARTING)  # it closes a connection of its own
        if self._error is not None:
            raise self._error

    def _opened(self, *, once: bool) -> JobQueue | None:
        """The queue, if it is of this version. Waits for a database that is away; None if it stops first."""
        pause = _Pause(*_AWAY)
        while not self.is_stopping:
            try:
                return open_queue(self._where)
            except StoreUnavailable as exc:
                if once or type(exc) not in _PASSING:
                    raise
                self._away(exc, pause)
        return None

    def _guarded(self, once: bool) -> None:  # noqa: FBT001 - a thread's argument
        try:
            queue = self._opened(once=once)
            if queue is not None:
                with closing(queue), closing(Opened()) as opened:
                    self._work(queue, opened, once=once)
        except BaseException as exc:  # noqa: BLE001 - it is told by `run`, to whom it matters
            self._error = self._error or exc
            self.stop()

    def _keep(self) -> None:
        """Says all the while that this worker is alive, and what it holds is held."""
        with closing(_Kept(self._where)) as kept:
            while not self._ended.wait(self._lease / 4):
                if self._held:
                    kept.renew(self.name, self._lease)

    def _give_back(self) -> None:
        with self._guard:
            held = [*self._held.values()]
        if not held:
            return
        try:
            with closing(open_queue(self._where, timeout=_PARTING)) as queue:
                for job in held:
                    if queue.give_back(job):
                        self._tell(f"{_named(job)}: not done, and given back")
        except StoreUnavailable as exc:
            self._tell(f"what was under way is free again in {self._lease:.0f} s: {exc}")

    # Jobs.

    def _work(self, queue: JobQueue, opened: Opened, *, once: bool) -> None:
        idle, away = _Pause(*_IDLE), _Pause(*_AWAY)
        while not self.is_stopping:
            try:
                job = self._next(queue)
            except StoreUnavailable as exc:
                if once or type(exc) not in _PASSING:
                    raise
                self._away(exc, away)
                continue
            if away.begun:
                self._tell("the database is back")
                away = _Pause(*_AWAY)
            if job is not None:
                idle = _Pause(*_IDLE)
                self._do(job, queue, opened)
            elif once:
                return
            else:
                self._stopping.wait(idle.next())

    def _next(self, queue: JobQueue) -> QueuedJob | None:
        for lost in queue.recover(patience=self._patience):
            self._tell(f"{_named(lost)}: {lost.error}; {_what_next(lost)}")
        return queue.take(self.name, self._kinds.keys(), lease=self._lease)

    def _do(self, job: QueuedJob, queue: JobQueue, opened: Opened) -> None:
        with self._guard:
            self._held[job.id] = job
        try:
            self._settle(job, self._done(job, queue, opened))
        finally:
            with self._guard:
                self._held.pop(job.id, None)

    def _done(self, job: QueuedJob, queue: JobQueue, opened: Opened) -> Callable[[], None]:
        """Does it; gives back what the queue is to be told of it."""
        where, began = self._address.of(job.campaign), time.monotonic()
        try:
            done = self._kinds[job.kind](opened.of(where, job.branch))
        except Exception as exc:  # noqa: BLE001 - it is kept and shown, and other campaigns are waiting
            opened.drop(where, job.branch)
            return partial(self._failed, job, queue, exc)
        return partial(self._finished, job, queue, done, time.monotonic() - began)

    def _settle(self, job: QueuedJob, settle: Callable[[], None]) -> None:
        """The queue has to know how a job went: as long as it is not there, that waits."""
        pause = _Pause(*_AWAY)
        while True:
            try:
                return settle()
            except StoreUnavailable as exc:
                if type(exc) not in _PASSING:
                    raise
                if self.is_stopping:
                    self._tell(f"{_named(job)}: nobody can be told how it went; another worker looks ({exc})")
                    return None
                self._away(exc, pause)

    def _finished(self, job: QueuedJob, queue: JobQueue, done: Done, seconds: float) -> None:
        for kind in (*done.then, *([job.kind] if done.more else ())):
            queue.ask(job.campaign, job.branch, kind)
        kept = queue.finish(job)
        words = f"{_named(job)}: {done.words}; {seconds:.2f} s, waited {job.waited:.1f} s"
        self._tell(words if kept else f"{words}; another worker took it over meanwhile")

    def _failed(self, job: QueuedJob, queue: JobQueue, exc: Exception) -> None:
        error = str(exc) if isinstance(exc, DndbotsError) else f"{type(exc).__name__}: {exc}"
        final = isinstance(exc, _LASTING)
        # However long Neo4j is away, nothing is lost, and its copy catches up when it is back.
        away = isinstance(exc, GraphUnavailable)
        kept = queue.fail(job, error, patience=self._patience, final=final, away=away)
        after = _what_next(kept) if kept is not None else "another worker took it over meanwhile"
        self._tell(f"{_named(job)}: failed: {error}; {after}")

    def _away(self, exc: StoreUnavailable, pause: "_Pause") -> None:
        seconds = pause.next()
        self._tell(f"the database is away, trying again in {seconds:.1f} s: {exc}")
        self._stopping.wait(seconds)


class _Kept:
    """A connection of its own for signs of life, so that no job delays them."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._queue: JobQueue | None = None

    def renew(self, worker: str, lease: float) -> None:
        try:
            if self._queue is None:
                self._queue = open_queue(self._where, timeout=max(1.0, lease / 4))
            self._queue.renew(worker, lease=lease)
        except StoreUnavailable as exc:
            # While nobody can write, nobody can take a job over either.
            log.debug("no sign of life could be given: %s", exc)

    def close(self) -> None:
        if self._queue is not None:
            self._queue.close()


class _Pause:
    """Seconds to wait: twice as many each time, up to so many."""

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
        return f"given up after {job.attempts}; `dndbots jobs --retry {job.id}` tries again"
    return f"tried again in {job.due_in:.0f} s"
