"""Compaction while play goes on: a turn only counts, and somebody else reads.

What costs time of ours is done by another process, what waits for a model by a thread. While one run is
under way, further triggers are folded into the next. Nothing that goes wrong here reaches play.
"""

import atexit
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

from dndbots.compaction.turns import is_spoken
from dndbots.errors import InvalidSetting, WorkerFailed
from dndbots.events import EventType, GameEvent

log = logging.getLogger("dndbots.compaction")

EVERY_TURNS: Final = 5
# So much that was said is worth a run, however few turns it took.
EVERY_WORDS: Final = 1_500
_SCENE_ENDS: Final = frozenset((EventType.LOCATION_CHANGE, EventType.SESSION_END, EventType.COMBAT_END))
_MODULE: Final = "dndbots.worker"
JOB_TIMEOUT: Final = 600.0


class Job(NamedTuple):
    """A campaign to be compacted: where it is, and which branch."""

    where: str
    branch: str


class Work(Protocol):
    """Compacts one campaign as far as there is anything; says how many runs it took."""

    def __call__(self) -> int: ...


class Compactor:
    """Compacts a campaign in the background as long as it is open. Made by `Campaign.compacting`.

    `failures` counts runs that failed; `error` is what the last one failed by, None if it did not.
    """

    def __init__(self, work: Work, *, every: int = EVERY_TURNS, words: int = EVERY_WORDS) -> None:
        for name, number in (("every", every), ("words", words)):
            if type(number) is not int or number < 1:
                raise InvalidSetting(name, number, reason="is not a number from 1 up")
        self.runs = 0
        self.failures = 0
        self.error: BaseException | None = None
        self._work, self._every, self._most_words = work, every, words
        self._turns = self._words = 0
        self._wanted = self._busy = self._closed = False
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._leave: Callable[[], object] = lambda: None
        self._ended: Callable[[], object] = lambda: None

    # What play calls.

    def notice(self, events: Iterable[GameEvent]) -> None:
        """Counts what was played, and asks for a run where it is time for one. Never waits."""
        due = False
        with self._change:
            for event in events:
                if event.is_note:
                    continue
                if is_spoken(event):
                    self._turns += 1
                    self._words += event.content.count(" ") + 1
                due |= event.event_type in _SCENE_ENDS and self._turns > 0
            if due or self._turns >= self._every or self._words >= self._most_words:
                self.request()

    def request(self) -> None:
        """Asks for a run; one that is asked for while another is under way comes after it."""
        with self._change:
            if self._closed:
                return
            self._turns = self._words = 0
            self._wanted = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dndbots-compacts", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until nothing is asked for or under way; False if that takes longer."""
        with self._change:
            return self._change.wait_for(lambda: not (self._wanted or self._busy), timeout)

    def on_close(self, *, first: Callable[[], object], last: Callable[[], object] | None = None) -> Self:
        """What to do beside when it is closed: before what is left is compacted, and after that."""
        self._leave, self._ended = first, last or self._ended
        return self

    def close(self, timeout: float | None = 60.0) -> None:
        """Compacts what is left, and stops. What cannot be done in time is done another day."""
        self._leave()
        with self._change:
            if self._turns or self.error is not None:
                self.request()
            is_idle = self.wait(timeout)
            self._closed = True
            self._change.notify_all()
        if self._thread is None:
            self._end()
        elif is_idle:
            self._thread.join(timeout)
        else:
            log.warning("a compaction is still under way, and goes on by itself")

    def _end(self) -> None:
        ended, self._ended = self._ended, lambda: None
        ended()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What the thread does.

    def _run(self) -> None:
        while True:
            with self._change:
                self._busy = False
                self._change.notify_all()
                self._change.wait_for(lambda: self._wanted or self._closed)
                if self._closed:
                    break
                self._wanted, self._busy = False, True
            self._once()
        self._end()

    def _once(self) -> None:
        try:
            self.runs += self._work()
            self.error = None
        except BaseException as exc:  # noqa: BLE001 - whatever it was, play goes on, and the next run tries again
            self.failures += 1
            self.error = exc
            log.warning("compaction failed, and is tried again later: %s", exc)


# The process that reads.


class Worker:
    """Another process that compacts campaigns, one at a time, for all who ask. Started on first use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    def compact(self, job: Job, *, timeout: float = JOB_TIMEOUT) -> int:
        with self._turn:
            try:
                return self._ask(job, timeout)
            except (OSError, ValueError, LookupError, TypeError) as exc:
                # What it said is no answer, or not to what was asked.
                self.stop()
                raise WorkerFailed(f"{type(exc).__name__}: {exc}") from exc

    def _ask(self, job: Job, timeout: float) -> int:
        process = self._started()
        if process.stdin is None or process.stdout is None:
            raise WorkerFailed("it cannot be talked to")
        process.stdin.write(json.dumps(job._asdict()) + "\n")
        process.stdin.flush()
        # A worker that hangs is stopped, which ends the reading.
        alarm = threading.Timer(timeout, process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            answer = process.stdout.readline()
        finally:
            alarm.cancel()
        if not answer:
            self.stop()
            raise WorkerFailed("it ended in the middle of a run")
        said: dict[str, Any] = json.loads(answer)
        if "error" in said:
            raise WorkerFailed(str(said["error"]))
        return int(said["runs"])

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, and jobs come as data
                [sys.executable, "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            atexit.register(self.stop)
        return self._process

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(self.stop)
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


_shared = threading.Lock()
_workers: list[Worker] = []


def shared_worker() -> Worker:
    """The one worker of this program."""
    with _shared:
        if not _workers:
            _workers.append(Worker())
        return _workers[0]
