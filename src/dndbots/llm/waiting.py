"""Asking what may hang, fail or answer nonsense: with a time-out, more than once, several side by side.

What hangs is abandoned, never waited for: it runs in a daemon thread, which ends with the program.
Nothing here knows what is asked, and nothing is logged.
"""

import contextvars
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from dndbots.errors import InvalidSetting
from dndbots.ids import short

T = TypeVar("T")
R = TypeVar("R")


class Refused(Exception):
    """What came back cannot be used. Callers of ours see an error of their own, such as SummaryFailed."""

    def __init__(self, reason: str) -> None:
        self.reason = short(reason)
        super().__init__(self.reason)


class _Asked(Generic[T]):
    """One call on its way in a thread of its own."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._answers: list[T] = []
        self._error: BaseException | None = None
        # The caller's context goes along: tracing and callbacks of model libraries live in it.
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

    def answer(self, timeout: float | None) -> T:
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        if not self._answers:
            raise TimeoutError(f"no answer within {timeout or 0:.3g} seconds")
        return self._answers[0]


def within(timeout: float | None, call: Callable[[], T]) -> T:
    """What the call returns or raises; TimeoutError when it takes longer. No time-out: no thread."""
    return call() if timeout is None else _Asked(call).answer(timeout)


def as_it_comes(timeout: float | None, begin: Callable[[], Iterator[T]]) -> Iterator[T]:
    """What an iterator gives, made in a thread of its own; TimeoutError when all of it takes longer.

    It is taken where the caller is, so that nothing is handed on any more once the caller has left.
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
            kind, one = made.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            if kind == "error":
                raise one
            if kind == "end":
                return
            yield one
    except Empty:
        raise TimeoutError(f"no answer within {timeout or 0:.3g} seconds") from None
    finally:
        left.set()


def side_by_side(calls: Sequence[Callable[[], T]], timeout: float | None = None) -> list[T | Exception]:
    """The answer of each call or the error it raised, in order, all asked at once.

    All of them together have `timeout` seconds; what is still under way then is a TimeoutError.
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


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for an answer, and how often to ask for one that can be used."""

    timeout: float | None = 60.0
    attempts: int = 2

    def __post_init__(self) -> None:
        if self.timeout is not None and not (
            isinstance(self.timeout, int | float)
            and math.isfinite(self.timeout)
            and 0 < self.timeout <= threading.TIMEOUT_MAX
        ):
            raise InvalidSetting("timeout", self.timeout, reason="is not a number of seconds above 0")
        if type(self.attempts) is not int or self.attempts < 1:
            raise InvalidSetting("attempts", self.attempts, reason="is not a number from 1 up")

    def ask(self, question: Callable[[str], T], accept: Callable[[T], R], *, waits: bool = True) -> R:
        """The first answer that is accepted, or `Refused` with the last reason.

        The question is told why the last answer was refused; the first time, "".
        """
        reason = ""
        for _ in range(self.attempts):
            try:
                return accept(within(self.timeout if waits else None, partial(question, reason)))
            except Refused as exc:
                reason = exc.reason
            except TimeoutError as exc:
                reason = short(str(exc)) or "no answer in time"
            except Exception as exc:  # noqa: BLE001 - whatever a model's library raises, the game goes on
                reason = short(f"{type(exc).__name__}: {exc}")
        raise Refused(reason)


# For what has patience of its own.
ONCE: Final = Patience(timeout=None, attempts=1)
