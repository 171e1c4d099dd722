"""Python's garbage collector: paused for work that makes many objects and no cycles, rare at the start."""

import atexit
import gc
from threading import Lock
from typing import Any, Final


class _CollectionPause:
    """Pauses the collector while any thread is inside. One that is off stays off."""

    def __init__(self) -> None:
        self._lock, self._inside, self._was_on = Lock(), 0, False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._was_on = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._was_on:
                gc.enable()


NO_COLLECTION: Final = _CollectionPause()


_AT_THE_START: Final = 400_000  # more objects than a short command makes
_LATER: Final = 50_000


def spare_short_commands() -> None:
    """Let a short command end before the first collection. Later ones come as often as in a game."""
    gc.set_threshold(_AT_THE_START)
    gc.callbacks.append(_settle)
    atexit.register(gc.freeze)  # nor is it worth looking for garbage when the program ends


def _settle(phase: str, _figures: Any) -> None:
    """After the first collection: keep what was loaded out of the next ones, which come more often."""
    if phase == "stop":
        gc.callbacks.remove(_settle)
        gc.freeze()
        gc.set_threshold(_LATER)
