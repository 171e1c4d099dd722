"""Asking a model again: how long to wait for an answer, how often to ask, how long to pause in between.

All retries are here; the libraries' own are switched off. Time, chance and sleep are arguments.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from dndbots.llm.settings import ATTEMPTS, TIMEOUT
from dndbots.llm.troubles import Kind, Trouble, trouble_of
from dndbots.llm.waiting import within

T = TypeVar("T")

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0


class Failed(Exception):
    """No answer, and why. Whoever asks for somebody makes an error of its own of it."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.reason)
        self.trouble = trouble


def _any_chance() -> random.Random:
    return random.Random()  # noqa: S311 - only so that many who wait do not come back at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """How a model is asked: so many times, each for so many seconds, with pauses that double."""

    timeout: float | None = TIMEOUT
    attempts: int = ATTEMPTS
    rng: random.Random = field(default_factory=_any_chance)
    sleep: Callable[[float], None] = time.sleep
    # Keys, which nothing that is told may hold.
    hides: tuple[str, ...] = field(default=(), repr=False)

    def within(self, call: Callable[[], T]) -> T:
        """What the call returns in time, by our own clock: not every library keeps to its time-out."""
        return within(self.timeout, call)

    def run(self, call: Callable[[], T]) -> T:
        """What the call returns, asked again where that may help; else `Failed`. It keeps its own time."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return call()
            except Exception as exc:  # libraries raise whatever they like; none of it may end a game
                trouble = trouble_of(exc, hides=self.hides)
                pause = self._pause(attempt, trouble)
                if attempt >= self.attempts or not trouble.passing or pause > LONGEST_PAUSE:
                    raise Failed(_with_pause(trouble)) from exc
            self.sleep(pause)

    def _pause(self, attempt: int, trouble: Trouble) -> float:
        """Longer each time, and never in step with others; at least as long as the server asks for."""
        own: float = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE / 2) * (0.5 + self.rng.random())
        return own if trouble.after is None else max(own, trouble.after)


def _with_pause(trouble: Trouble) -> Trouble:
    if trouble.kind not in (Kind.LIMIT, Kind.BUSY) or not trouble.after:
        return trouble
    told = f"{trouble.reason}; it says to come back in {trouble.after:.0f} seconds"
    return Trouble(kind=trouble.kind, reason=told, after=trouble.after)
