"""Retries: how long to wait for an answer, how often to ask, and how long to pause in between.

Every retry of a model is here; the retries of the providers' libraries are switched off. Time, chance and
sleep are arguments.
"""

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from dndbots.errors import InvalidSetting, ModelUnavailable
from dndbots.ids import short
from dndbots.llm.timeouts import ATTEMPTS, TIMEOUT, within
from dndbots.llm.troubles import Trouble, TroubleKind, trouble_of

T = TypeVar("T")
R = TypeVar("R")

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0


class AnswerRefused(Exception):
    """An answer came, and it cannot be used. Callers raise an error of their own, such as SummaryFailed."""

    def __init__(self, reason: str) -> None:
        self.reason = short(reason)
        super().__init__(self.reason)


class NoAnswer(Exception):
    """No answer came after all attempts; `trouble` says why."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.reason)
        self.trouble = trouble


def _any_chance() -> random.Random:
    return random.Random()  # noqa: S311 - spreads callers that wait for the same server


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """A policy for asking a model: at most `attempts` times, each for `timeout` seconds, with pauses that
    double.
    """

    timeout: float | None = TIMEOUT
    attempts: int = ATTEMPTS
    first_pause: float = FIRST_PAUSE
    rng: random.Random = field(default_factory=_any_chance)
    sleep: Callable[[float], None] = time.sleep
    # Keys that no reason may repeat.
    hides: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.timeout is not None and not (
            isinstance(self.timeout, int | float)
            and math.isfinite(self.timeout)
            and 0 < self.timeout <= threading.TIMEOUT_MAX
        ):
            raise InvalidSetting("timeout", self.timeout, reason="is not a number of seconds above 0")
        if type(self.attempts) is not int or self.attempts < 1:
            raise InvalidSetting("attempts", self.attempts, reason="is not a number from 1 up")

    def within(self, call: Callable[[], T]) -> T:
        """Return what the call returns in time, by our own clock: not every library keeps its time-out."""
        return within(self.timeout, call)

    def run(self, call: Callable[[], T]) -> T:
        """Return what the call returns; ask again where that may help, else raise `NoAnswer`.

        The call keeps its own time.
        """
        return self._attempt(lambda _reason: call())

    def ask(self, question: Callable[[str], T], accept: Callable[[T], R], *, waits: bool = True) -> R:
        """Return the first answer that `accept` takes; raise `AnswerRefused` with the last reason.

        The question is told why the last attempt failed; the first time, "". Without `waits`, the call has no
        time-out.
        """
        timeout = self.timeout if waits else None
        try:
            return self._attempt(lambda reason: accept(within(timeout, partial(question, reason))))
        except NoAnswer as exc:
            raise AnswerRefused(exc.trouble.reason) from exc

    def _attempt(self, call: Callable[[str], T]) -> T:
        reason, attempt = "", 0
        while True:
            attempt += 1
            try:
                return call(reason)
            except AnswerRefused as exc:
                # The model is up: ask at once, and say what was wrong.
                cause: Exception = exc
                trouble, pause = Trouble(kind=TroubleKind.OTHER, reason=exc.reason), 0.0
            except ModelUnavailable as exc:
                # It was asked again already.
                raise NoAnswer(Trouble(kind=TroubleKind.DOWN, reason=short(str(exc)))) from exc
            except Exception as exc:  # noqa: BLE001 - whatever a model's library raises, the game goes on
                cause = exc
                trouble = trouble_of(exc, hides=self.hides)
                pause = self._pause(attempt, trouble)
            if attempt >= self.attempts or not trouble.passing or pause > LONGEST_PAUSE:
                raise NoAnswer(_with_pause(trouble)) from cause
            reason = trouble.reason
            if pause:
                self.sleep(pause)

    def _pause(self, attempt: int, trouble: Trouble) -> float:
        """Return how long to pause: longer each time, out of step with others, or as the server asks."""
        longest = min(self.first_pause * 2.0 ** (attempt - 1), LONGEST_PAUSE / 2)
        own: float = longest * (0.5 + self.rng.random())
        return own if trouble.after is None else max(own, trouble.after)


# For models that have a retry of their own.
ASK_ONCE: Final = RetryPolicy(timeout=None, attempts=1)


def _with_pause(trouble: Trouble) -> Trouble:
    if trouble.kind not in (TroubleKind.LIMIT, TroubleKind.BUSY) or not trouble.after:
        return trouble
    reason = f"{trouble.reason}; try again in {trouble.after:.0f} seconds"
    return Trouble(kind=trouble.kind, reason=reason, after=trouble.after)
