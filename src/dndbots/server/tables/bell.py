"""The bell of a table: rings when something new was recorded or a seat has to act, for all open streams."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Bell:
    """Wakes waiting streams. Any thread may ring; a stream listens in its event loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def ring(self) -> None:
        """Wake everybody who listens."""
        with self._lock:
            listeners = list(self._listeners.items())
        for event, loop in listeners:
            try:
                loop.call_soon_threadsafe(event.set)
            except RuntimeError:  # the loop has ended, and its stream with it
                with self._lock:
                    self._listeners.pop(event, None)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Give an event that each ring sets, while the block runs."""
        event = asyncio.Event()
        with self._lock:
            self._listeners[event] = asyncio.get_running_loop()
        try:
            yield event
        finally:
            with self._lock:
                self._listeners.pop(event, None)
