"""A voice that falls back on another while it gives no answer."""

import time
from collections.abc import Callable
from typing import Final

from dndbots.errors import ModelUnavailable
from dndbots.llm.asking import Answer, Hear, Question, Voice

# For so many seconds after the first gave no answer it is not asked again: each attempt takes its time.
REST: Final = 60.0


class FallbackVoice:
    """The first that answers. One that is down is left alone for a while, as long as the other answers."""

    def __init__(
        self, first: Voice, second: Voice, *, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._first, self._second = first, second
        self._rest, self._clock = rest, clock
        self._until: float | None = None

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        if self._until is not None and self._clock() < self._until:
            try:
                return self._second.ask(question, hear=hear)
            except ModelUnavailable as second:
                return self._last_resort(self._first, question, hear, second)
        try:
            answer = self._first.ask(question, hear=hear)
        except ModelUnavailable as first:
            self._until = self._clock() + self._rest
            return self._last_resort(self._second, question, hear, first)
        self._until = None
        return answer

    @staticmethod
    def _last_resort(voice: Voice, question: Question, hear: Hear | None, before: ModelUnavailable) -> Answer:
        try:
            return voice.ask(question, hear=hear)
        except ModelUnavailable as exc:
            reason = f"{exc.reason}; and {before.model} gives none either: {before.reason}"
            raise ModelUnavailable(exc.model, reason=reason) from exc
