"""Signals for commands that run until they are stopped: a gentle stop first, an immediate one second."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dndbots.cli import console


@contextmanager
def stopped_by_signals(*, is_stopping: Callable[[], bool], stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the first SIGTERM or Ctrl-C; raise KeyboardInterrupt on the second."""

    def handle(*_signal: Any) -> None:
        if is_stopping():
            raise KeyboardInterrupt
        stop()
        console.note("finishing the current work; press Ctrl-C again to stop at once")

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
