"""Processes that begin at once: one that has loaded all that programs need becomes them, as often as asked.

To load everything takes a second or more of a processor, and a test that wants five programs would spend most
of its time so. What is forked is a process of its own like any other: it is killed, fails and ends as such.
"""

import atexit
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_LOADED = ("tests.jobs.workers", "dndbots.cli", "sqlalchemy.dialects.postgresql.psycopg")
_MOST = 1 << 20


class Process:
    """The part of `subprocess.Popen` that tests use."""

    def __init__(self, module: str, arguments: list[str], *, stdout: int, stderr: int) -> None:
        given, theirs = os.pipe()
        ended, told = os.pipe()
        self.stdin = open(theirs, "wb", buffering=0)  # noqa: SIM115, PTH123 - whoever has the process closes it
        self._ended, self._code = ended, None
        try:
            self.pid = _nursery().begin(module, arguments, [given, stdout, stderr, told])
        finally:
            os.close(given)
            os.close(told)

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self._code is None and select.select([self._ended], [], [], timeout)[0]:
            self._code = int(os.read(self._ended, 16) or b"-9")
            os.close(self._ended)
        return self._code


class _Nursery:
    """The one process of this run of tests. It ends with its end of the socket."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            code = f"from tests.storage.nursery import serve; serve({theirs.fileno()})"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def begin(self, module: str, arguments: list[str], files: list[int]) -> int:
        asked = json.dumps([module, arguments, dict(os.environ)]).encode()
        socket.send_fds(self._socket, [asked], files)
        answer = self._socket.recv(16)
        if not answer:
            raise RuntimeError("the process that others are made of has ended")
        return int(answer)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _nursery() -> _Nursery:
    return _Nursery()


# In the other process.


def serve(number: int) -> None:
    """Becomes what it is asked to be, and tells of each end, until nobody can ask any more."""
    for name in _LOADED:
        with suppress(ModuleNotFoundError):  # psycopg is an extra
            __import__(name)
    asked = socket.socket(fileno=number)
    told: dict[int, int] = {}
    with _woken_by_children() as woken:
        while True:
            ready, _, _ = select.select([asked, woken], [], [])
            if woken in ready:
                woken.recv(4096)
                _tell_of_ends(told)
            if asked not in ready:
                continue
            message, files, _, _ = socket.recv_fds(asked, _MOST, 4)
            if not message:
                break
            process = os.fork()
            if not process:
                asked.close()
                _become(*json.loads(message), files)
            told[process] = files.pop()
            for one in files:
                os.close(one)
            asked.send(str(process).encode())


@contextmanager
def _woken_by_children() -> Iterator[socket.socket]:
    woken, waking = socket.socketpair()
    with woken, waking:
        waking.settimeout(0)
        signal.set_wakeup_fd(waking.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        yield woken


def _tell_of_ends(told: dict[int, int]) -> None:
    for process in [*told]:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            os.write(told[process], str(os.waitstatus_to_exitcode(status)).encode())
            os.close(told.pop(process))


def _become(module: str, arguments: list[str], environment: dict[str, str], files: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    code = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    except BaseException:  # noqa: BLE001 - as Python itself would end
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        # What was registered for the end of the process that loaded it all is not of this one's making.
        os._exit(code)
