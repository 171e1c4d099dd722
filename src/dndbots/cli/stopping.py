"""How commands that go on until they are stopped are stopped: gently first, and at once the second time."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dndbots.cli import show


@contextmanager
def stopped_by_signals(*, is_stopping: Callable[[], bool], stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGTERM or Ctrl-C asks to stop, the second one stops."""

    def signalled(*_what: Any) -> None:
        if is_stopping():
            raise KeyboardInterrupt
        stop()
        show.note("finishing what is under way; once more stops at once")

    before = {one: signal.signal(one, signalled) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
