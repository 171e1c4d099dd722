"""A pseudo-terminal: the program as somebody meets it who sits in front of it."""

import os
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.calling import plain_environment
from tests.waiting import HANG

# The terminal becomes the program's own, so that Ctrl-C reaches it.
_IN_FRONT = """
import fcntl, runpy, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("dndbots", run_name="__main__")
"""


class Terminal:
    """The program on a terminal of eighty columns: what it shows, and keys for it to read."""

    def __init__(self, *words: object, folder: Path) -> None:
        self.shown = ""
        self._master, slave = os.openpty()
        termios.tcsetwinsize(slave, (40, 80))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _IN_FRONT, *map(str, words)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=plain_environment() | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def keys(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, text: str, *, times: int = 1) -> str:
        """All that was shown by the time that a text has come so often."""
        deadline = time.monotonic() + HANG
        while self.shown.count(text) < times:
            assert time.monotonic() < deadline, f"{text!r} did not come:\n{self.shown}"
            if not self._read(0.2) and self._process.poll() is not None and not self._read(0.2):
                break
        assert self.shown.count(text) >= times, f"{text!r} did not come:\n{self.shown}"
        return self.shown

    def ended(self) -> int:
        """The exit code, once all was shown."""
        deadline = time.monotonic() + HANG
        while self._read(0.2) or self._process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end:\n{self.shown}"
        return self._process.wait()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        try:
            text = os.read(self._master, 65_536) if ready else b""
        except OSError:  # the other end is closed
            text = b""
        self.shown += text.decode("utf-8", "replace")
        return bool(text)
