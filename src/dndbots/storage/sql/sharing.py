"""Engines that the campaigns of one program share, for as long as any of them needs one.

Who forgets to close is collected one day, in any thread and in the middle of anything, this module
included. So nobody who is done with an engine waits for the lock: if it is taken, whoever has it sees to it.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Hashable
from threading import Lock

from sqlalchemy import Engine


class Shared:
    """Engines by what they are for. Who has asked for one lets go of it once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._engines: dict[tuple[int, Hashable], Engine] = {}
        self._users: Counter[Engine] = Counter()
        self._done: deque[Engine] = deque()

    def engine(self, key: Hashable, make: Callable[[], Engine]) -> Engine:
        """The one of this process: what a process was forked with is its parent's."""
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
        self._done.append(engine)
        self._sweep()

    def _sweep(self) -> None:
        """Closes what nobody uses any more. What is let go of meanwhile is seen once the lock is free."""
        while self._done and self._lock.acquire(blocking=False):
            try:
                unused = self._counted()
            finally:
                self._lock.release()
            for process, engine in unused:
                # Through a connection of its parent, a fork would say goodbye in the parent's name.
                engine.dispose(close=process == os.getpid())

    def _counted(self) -> list[tuple[int, Engine]]:
        unused = []
        while self._done:
            engine = self._done.popleft()
            self._users[engine] -= 1
            if self._users[engine] < 1:
                del self._users[engine]
                name = next(name for name, one in self._engines.items() if one is engine)
                del self._engines[name]
                unused.append((name[0], engine))
        return unused
