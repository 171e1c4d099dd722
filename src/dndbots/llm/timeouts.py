"""Calls that may hang: run with a time-out, streamed, or several at once.

A call that hangs is abandoned: it runs in a daemon thread, which ends with the program. Nothing here knows
what is asked, and nothing is logged.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

# Tells whether nobody wants the rest any more.
Stopped = Callable[[], bool]

# Seconds between two looks at whether a call is still wanted.
_LOOK: Final = 0.1


class Unwanted(Exception):
    """A call that nobody waits for any more."""


# Seconds for one answer of a model, and how often to ask.
TIMEOUT: Final = 120.0
ATTEMPTS: Final = 3


class _Asked(Generic[T]):
    """A call that runs in a thread of its own."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._answers: list[T] = []
        self._error: BaseException | None = None
        # Pass the caller's context on: tracing and callbacks of model libraries live in it.
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="dndbots-asks", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        try:
            self._answers.append(self._call())
        except BaseException as exc:  # noqa: BLE001 - it is raised again where the answer is taken
            self._error = exc

    def answer(self, timeout: float | None, stopped: Stopped | None = None) -> T:
        if stopped is None:
            self._thread.join(timeout)
        else:
            until = None if timeout is None else time.monotonic() + timeout
            while self._thread.is_alive() and (until is None or time.monotonic() < until):
                if stopped():
                    raise Unwanted
                self._thread.join(_LOOK)
        if self._error is not None:
            raise self._error
        if not self._answers:
            raise TimeoutError(f"no answer within {timeout or 0:.3g} seconds")
        return self._answers[0]


def within(timeout: float | None, call: Callable[[], T], *, stopped: Stopped | None = None) -> T:
    """Return or raise what the call does; raise TimeoutError if it takes longer, `Unwanted` if stopped.

    Without a time-out and a way to stop, use no thread.
    """
    return call() if timeout is None and stopped is None else _Asked(call).answer(timeout, stopped)


def as_it_comes(
    timeout: float | None, begin: Callable[[], Iterator[T]], *, stopped: Stopped | None = None
) -> Iterator[T]:
    """Yield what an iterator in another thread gives; raise TimeoutError if all of it takes longer.

    Ends early with `Unwanted` once it is stopped. Items are taken in the caller's thread, so that nothing is
    handed on after the caller has left.
    """
    made: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    left = threading.Event()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            source = begin()
            for one in source:
                if left.is_set():
                    with suppress(AttributeError):
                        source.close()  # type: ignore[attr-defined] # only generators have it
                    return
                made.put(("one", one))
            made.put(("end", None))
        except BaseException as exc:  # noqa: BLE001 - it is raised again where it is taken
            made.put(("error", exc))

    threading.Thread(target=context.run, args=(work,), name="dndbots-hears", daemon=True).start()
    until = None if timeout is None else time.monotonic() + timeout
    try:
        while True:
            kind, one = _next_of(made, until, stopped)
            if kind == "error":
                raise one
            if kind == "end":
                return
            yield one
    except Empty:
        raise TimeoutError(f"no answer within {timeout or 0:.3g} seconds") from None
    finally:
        left.set()


def _next_of(
    made: "SimpleQueue[tuple[str, Any]]", until: float | None, stopped: Stopped | None
) -> tuple[str, Any]:
    """Return the next item of a queue; raise `Empty` after the time `until`, `Unwanted` once stopped."""
    while True:
        left = None if until is None else max(0.0, until - time.monotonic())
        if stopped is None:
            return made.get(timeout=left)
        if stopped():
            raise Unwanted
        try:
            return made.get(timeout=_LOOK if left is None else min(_LOOK, left))
        except Empty:
            if left is not None and left <= _LOOK:
                raise


def side_by_side(calls: Sequence[Callable[[], T]], timeout: float | None = None) -> list[T | Exception]:
    """Run calls at once; return the answer or error of each, in order.

    They share `timeout` seconds; a call still running then becomes a TimeoutError.
    """
    asked = [_Asked(call) for call in calls]
    until = None if timeout is None else time.monotonic() + timeout
    answers: list[T | Exception] = []
    for one in asked:
        try:
            answers.append(one.answer(None if until is None else max(0.0, until - time.monotonic())))
        except Exception as exc:  # noqa: BLE001 - one that fails must not keep the others' answers
            answers.append(exc)
    return answers
