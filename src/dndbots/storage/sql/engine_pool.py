"""Database engines that the campaigns of one program share, as long as one of them needs it.

A campaign that nobody closed is garbage collected at any time, in any thread, even inside this module. So
releasing an engine never waits for the lock: if it is taken, its holder does the rest.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Hashable
from threading import Lock

from sqlalchemy import Engine


class SharedEngines:
    """Engines by key, with a count of their users. Each `engine` call needs one `let_go`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._engines: dict[tuple[int, Hashable], Engine] = {}
        self._users: Counter[Engine] = Counter()
        self._done: deque[Engine] = deque()

    def engine(self, key: Hashable, make: Callable[[], Engine]) -> Engine:
        """Return the engine for a key in this process: a forked process makes its own."""
        try:
            with self._lock:
                name = os.getpid(), key
                if name not in self._engines:
                    self._engines[name] = make()
                engine = self._engines[name]
                self._users[engine] += 1
                return engine
        finally:
            self._sweep()

    def let_go(self, engine: Engine) -> None:
        """Release an engine; it is closed when nobody uses it any more."""
        self._done.append(engine)
        self._sweep()

    def _sweep(self) -> None:
        """Close unused engines. Engines released meanwhile are handled once the lock is free."""
        while self._done and self._lock.acquire(blocking=False):
            try:
                unused = self._count_released()
            finally:
                self._lock.release()
            for process, engine in unused:
                # A forked process must not close its parent's connections at the server.
                engine.dispose(close=process == os.getpid())

    def _count_released(self) -> list[tuple[int, Engine]]:
        unused = []
        while self._done:
            engine = self._done.popleft()
            self._users[engine] -= 1
            if self._users[engine] < 1:
                del self._users[engine]
                name = next(name for name, known in self._engines.items() if known is engine)
                del self._engines[name]
                unused.append((name[0], engine))
        return unused
