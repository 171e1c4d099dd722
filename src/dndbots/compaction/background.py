"""Compaction in the background: a turn only counts towards the next run, and never waits for it.

Reading without a model takes processor time, so another process does it; reading with a model waits for the
network, so a thread does it. Triggers during a run lead to one more run. No failure here reaches play.
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

from dndbots.errors import InvalidSetting, WorkerFailed
from dndbots.events import EventType, GameEvent

log = logging.getLogger("dndbots.compaction")

EVERY_TURNS: Final = 5
# This many spoken words trigger a run, however few turns they took.
EVERY_WORDS: Final = 1_500
_SCENE_ENDS: Final = frozenset((EventType.LOCATION_CHANGE, EventType.SESSION_END, EventType.COMBAT_END))
# It opens campaigns, so it stands above this room, and is started by name.
_PROGRAM: Final = "dndbots.cli.maintain.reader"
_NOT_DONE: Final = "the newest events are not compacted yet; the next game does it, or `dndbots compact`"
JOB_TIMEOUT: Final = 600.0


class Job(NamedTuple):
    """A campaign to compact: its address and the branch."""

    where: str
    branch: str


class Work(Protocol):
    """A function that compacts one campaign as far as it can, and returns the number of runs."""

    def __call__(self) -> int: ...


class Compactor:
    """Compacts a campaign in the background until it is closed. Made by `Campaign.compacting`.

    `failures` counts failed runs; `error` is the error of the last run, None if it succeeded.
    """

    def __init__(self, work: Work, *, every: int = EVERY_TURNS, words: int = EVERY_WORDS) -> None:
        from dndbots.compaction.heard_turns import is_spoken  # loads the rules of extraction

        self._is_spoken = is_spoken
        for name, number in (("every", every), ("words", words)):
            if type(number) is not int or number < 1:
                raise InvalidSetting(name, number, reason="is not a whole number of at least 1")
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

    # Called by play.

    def notice(self, events: Iterable[GameEvent]) -> None:
        """Count new events, and request a run when enough have come. Never waits."""
        due = False
        with self._change:
            for event in events:
                if event.is_note:
                    continue
                if self._is_spoken(event):
                    self._turns += 1
                    self._words += event.content.count(" ") + 1
                due |= event.event_type in _SCENE_ENDS and self._turns > 0
            if due or self._turns >= self._every or self._words >= self._most_words:
                self.request()

    def request(self) -> None:
        """Request a run. A request during a run leads to one more run after it."""
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
        """Wait until no run is requested or running; False after `timeout` seconds."""
        with self._change:
            return self._change.wait_for(lambda: not (self._wanted or self._busy), timeout)

    def on_close(self, *, first: Callable[[], object], last: Callable[[], object] | None = None) -> Self:
        """Set what `close` calls as well: `first` before the last run, `last` after it."""
        self._leave, self._ended = first, last or self._ended
        return self

    def close(self, timeout: float | None = 60.0) -> None:
        """Compact what is left, and stop. A run of more than `timeout` ends with the program."""
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
            log.warning(_NOT_DONE)

    def _end(self) -> None:
        ended, self._ended = self._ended, lambda: None
        ended()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Run in the thread.

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
        except BaseException as exc:  # noqa: BLE001 - play goes on, and the next run tries again
            self.failures += 1
            self.error = exc
            if not self._closed:  # a program that ends takes its reader with it, and has said so
                log.warning("compaction failed, and will be tried again: %s", exc)


class ReaderProcess:
    """Another process that compacts campaigns, one at a time. Started on first use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    def compact(self, job: Job, *, timeout: float = JOB_TIMEOUT) -> int:
        """Let the process compact a campaign; return the number of runs."""
        with self._turn:
            try:
                return self._ask(job, timeout)
            except (OSError, ValueError, LookupError, TypeError) as exc:
                # The answer makes no sense, or answers another question.
                self.stop()
                raise WorkerFailed(f"{type(exc).__name__}: {exc}") from exc

    def _ask(self, job: Job, timeout: float) -> int:
        process = self._start()
        if process.stdin is None or process.stdout is None:
            raise WorkerFailed("it has no input or output")
        process.stdin.write(json.dumps(job._asdict()) + "\n")
        process.stdin.flush()
        # A process that hangs is killed, which ends `readline`.
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
        result: dict[str, Any] = json.loads(answer)
        if "error" in result:
            raise WorkerFailed(str(result["error"]))
        return int(result["runs"])

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, and jobs come as data
                [sys.executable, "-m", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            atexit.register(self.stop)
        return self._process

    def stop(self) -> None:
        """End the process, if it runs."""
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
_readers: list[ReaderProcess] = []


def shared_reader() -> ReaderProcess:
    """Return the one reader process of this program."""
    with _shared:
        if not _readers:
            _readers.append(ReaderProcess())
        return _readers[0]
