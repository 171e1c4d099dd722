"""Measures how the time of a run grows with the length of its text, however busy the machine is.

CPU time of the thread, the best of several runs, and a verdict only after three doublings in a row,
three times over: a slow moment of the machine is never taken for a slow program.
"""

import signal
import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

LONGEST = 102_400  # characters of an event, the most that anybody can send
MOST_GROWTH = 1.5  # of the time per character when the text doubles: 1 is linear, 2 is quadratic
_DOUBLINGS = 3
_LOOKS = 3
_ENOUGH = 1.0  # seconds of CPU: a run this long needs no larger text to be judged
HOPELESS = 8.0  # seconds, after which it is given up

T = TypeVar("T", bound=Sized)
Work = Callable[[Any], int]  # how much there is to do: of a text, its characters


class TooSlow(BaseException):
    """A run was stopped after more CPU time than any honest one needs."""


def find_growth(
    run: Callable[[T], object],
    fill: Callable[[int], T],
    *,
    start: int,
    most: int = LONGEST,
    work: Work = len,
) -> str | None:
    """Say how the time of `run` grows with the text, if faster than the text itself; else None.

    `fill(n)` makes a text of about n characters. Times are compared from `start` upwards. Where it is no
    text, `work` says how much there is to do.
    """
    times = _Times(run, fill, work)
    grows = None
    try:
        # A busy machine slows CPU time, too: only what is slow at every look is slow.
        for _ in range(_LOOKS):
            with _stopped_after(HOPELESS):
                if any(times.growth(start, repeats) <= MOST_GROWTH for repeats in (1, 3)):
                    return None
                grows = _climb(times, start, most)
                if grows is None:
                    return None
    except TooSlow:
        return f"stopped after {HOPELESS:.0f} s of CPU time"
    return grows


class _Times(Generic[T]):
    def __init__(self, run: Callable[[T], object], fill: Callable[[int], T], work: Work) -> None:
        self._run, self._fill, self._work = run, fill, work

    def growth(self, size: int, repeats: int) -> float:
        """The time for each character of a text twice as long, measured in that of a text of this size."""
        return self._each(2 * size, repeats) / max(self._each(size, repeats), 1e-12)

    def seconds(self, size: int, repeats: int = 1) -> float:
        return self._seconds(self._fill(size), repeats)

    def _each(self, size: int, repeats: int) -> float:
        given = self._fill(size)
        return self._seconds(given, repeats) / max(1, self._work(given))

    def _seconds(self, given: T, repeats: int) -> float:
        best = float("inf")
        for _ in range(repeats):
            begun = time.thread_time()
            self._run(given)
            best = min(best, time.thread_time() - begun)
        return best


def _climb(times: _Times[Any], size: int, most: int) -> str | None:
    """Double the text until it is as long as it gets or takes long enough; the last doublings decide."""
    growths: list[float] = []
    while size < most or len(growths) < _DOUBLINGS:
        growths.append(times.growth(size, repeats=3))
        size *= 2
        seconds = times.seconds(size)
        if len(growths) >= _DOUBLINGS and (seconds > _ENOUGH or max(growths[-_DOUBLINGS:]) <= MOST_GROWTH):
            break
    if min(growths[-_DOUBLINGS:]) <= MOST_GROWTH:
        return None
    told = ", ".join(f"{growth:.2f}" for growth in growths)
    return f"{seconds:.3f} s for {size} characters; time per character grows by {told} at each doubling"


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Stop a run that never ends: also one inside a pattern, which looks for signals now and then."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
