"""Fallback: ask another model while the first one gives no answer.

One rule serves those who ask voices and those who ask chat models by `invoke`: a model that gave no answer
rests for a while, since each failed attempt takes its time.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from dndbots.errors import ModelUnavailable
from dndbots.llm.protocol import Answer, Hear, Question, Voice
from dndbots.llm.retry import NoAnswer, RetryPolicy
from dndbots.llm.troubles import TroubleKind

M = TypeVar("M")
T = TypeVar("T")

Derive = Callable[[Any], Any]

# How many seconds a model rests after it gave no answer.
REST: Final = 60.0


class Fallback(Generic[M]):
    """Several models in the order in which to ask them."""

    def __init__(
        self, models: Sequence[M], *, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._models, self._rest, self._clock = tuple(models), rest, clock
        self._resting: dict[int, float] = {}

    def first_answer(self, ask: Callable[[M], T]) -> T:
        """Return the first answer; ask resting models last. Raise `ModelUnavailable` if none answers."""
        now = self._clock()
        rests = [self._resting.get(number, now) > now for number in range(len(self._models))]
        failures: list[ModelUnavailable] = []
        for number in sorted(range(len(self._models)), key=rests.__getitem__):
            try:
                answer = ask(self._models[number])
            except ModelUnavailable as exc:
                self._resting[number] = self._clock() + self._rest
                failures.append(exc)
            else:
                self._resting.pop(number, None)
                return answer
        *before, last = failures
        reason = "; and ".join(
            (last.reason, *(f"{one.model} does not answer either: {one.reason}" for one in before))
        )
        raise ModelUnavailable(last.model, reason=reason) from last


class FallbackVoice:
    """A voice that asks the first of several voices that answers."""

    def __init__(
        self, *voices: Voice, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fallback = Fallback(voices, rest=rest, clock=clock)

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        """Return the first answer; raise `ModelUnavailable` if no voice gives one."""
        return self._fallback.first_answer(lambda voice: voice.ask(question, hear=hear))


class FallbackModel:
    """Chat models as one object with `invoke`: each is asked with retries, the next one if it fails."""

    def __init__(
        self,
        models: Sequence[tuple[str, Any, RetryPolicy]],
        *,
        derive: Derive = lambda model: model,
        fallback: Fallback[tuple[str, Any, RetryPolicy]] | None = None,
    ) -> None:
        self._fallback = fallback or Fallback(models)
        self._models, self._derive = models, derive

    def invoke(self, messages: Any, *args: Any, **fields: Any) -> Any:
        """Return the answer of the first model that gives one; raise `ModelUnavailable` if none does.

        Raises `NotImplementedError` if a model cannot be asked in this way.
        """

        def ask(named: tuple[str, Any, RetryPolicy]) -> Any:
            name, model, retry = named

            def once() -> Any:
                derived = self._derive(model)
                return retry.within(lambda: derived.invoke(messages, *args, **fields))

            try:
                return retry.run(once)
            except NoAnswer as exc:
                if exc.trouble.kind is TroubleKind.UNSUPPORTED:
                    # The model is up: the caller asks it in another way.
                    raise NotImplementedError(exc.trouble.reason) from exc
                raise ModelUnavailable(name, reason=exc.trouble.reason) from exc

        return self._fallback.first_answer(ask)

    def with_structured_output(self, *args: Any, **fields: Any) -> "FallbackModel":
        """Return the same models held to a schema; they rest together with these."""

        def derive(model: Any) -> Any:
            if not hasattr(model, "with_structured_output"):
                raise NotImplementedError("with_structured_output")
            return model.with_structured_output(*args, **fields)

        return FallbackModel(self._models, derive=derive, fallback=self._fallback)
