"""Waiting in tests: for what must happen, however slow the machine is. Only what hangs is given up."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import pytest

# Seconds after which a test is taken for one that hangs. Nothing that works comes near it.
HANG: Final = 600.0
_PAUSE: Final = 0.005

Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found], what: str) -> Found:
    """Waits for a condition to become true, and gives what it found; says what did not happen."""
    end = time.monotonic() + HANG
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {HANG:.0f} s, and it did not happen: {what}"
        time.sleep(_PAUSE)
    return found


_HUNG: set[int | None] = set()


def hang(released: threading.Event) -> None:
    """Hangs where it is called until it is released, and lets `only_what_hangs_times_out` know."""
    thread = threading.get_ident()
    _HUNG.add(thread)
    try:
        released.wait(HANG)
    finally:
        _HUNG.discard(thread)


def only_what_hangs_times_out(patch: "pytest.MonkeyPatch") -> None:
    """Lets every call be done that does not `hang`, however small its time-out; the others have theirs."""
    from dndbots.llm import timeouts

    answer = timeouts._Asked.answer

    def patient(asked: Any, timeout: float | None, stopped: Any = None) -> Any:
        thread = asked._thread
        wait_until(lambda: thread.ident in _HUNG or not thread.is_alive(), "a call is done, or hangs")
        return answer(asked, timeout, stopped)

    patch.setattr(timeouts._Asked, "answer", patient)
