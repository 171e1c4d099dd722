"""Count what models used: by role and by model, in tokens and, where prices are known, in money."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dndbots.llm.messages import count_in
from dndbots.llm.protocol import Heard, Role, Usage
from dndbots.llm.responses.shapes import tokens_of
from dndbots.llm.settings import Price
from dndbots.tokens import REPORTS, Calibration, Report, calibrated, counter_for

# Methods that return another model, which is metered as well.
_DERIVING: Final = frozenset(("with_structured_output", "bind", "bind_tools", "with_config"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Usage of one model in one role. `cost` is None if its price is unknown."""

    role: Role
    model: str
    answers: int
    usage: Usage
    cost: float | None


class Meter:
    """Sums up usage. Several threads may report to it."""

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._prices = dict(prices or {})
        self._sums: dict[tuple[Role, str], tuple[int, Usage]] = {}
        self._reports: dict[str, deque[Report]] = {}
        self._lock = threading.Lock()

    def heard(self, role: Role, model: str, usage: Usage) -> None:
        """Add the usage of one answer."""
        with self._lock:
            answers, before = self._sums.get((role, model), (0, Usage()))
            self._sums[role, model] = answers + 1, plus(before, usage)
            if usage.counted and usage.input:
                reports = self._reports.setdefault(model, deque(maxlen=REPORTS))
                reports.append(Report(usage.counted, usage.input))

    def spent(self) -> tuple[Spent, ...]:
        """Return usage by role, and by model in each role."""
        with self._lock:
            sums = sorted(self._sums.items())
        return tuple(
            Spent(role=role, model=model, answers=answers, usage=usage, cost=self.cost_of(model, usage))
            for (role, model), (answers, usage) in sums
        )

    def cost_of(self, model: str, usage: Usage) -> float | None:
        """Return the cost by the model's price, listed under its full name or without its provider."""
        price = self._prices.get(model) or self._prices.get(model.partition(":")[2])
        return None if price is None else price.of(usage)

    @property
    def cost(self) -> float | None:
        """Return the cost of everything; None if any part of it is unknown."""
        costs = [one.cost for one in self.spent()]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def calibration(self, model: str) -> Calibration:
        """Return how the model's provider counts tokens, from its latest reports."""
        with self._lock:
            return calibrated(model, tuple(self._reports.get(model, ())))


def plus(one: Usage, other: Usage) -> Usage:
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        cached=one.cached + other.cached,
        counted=one.counted + other.counted,
        seconds=one.seconds + other.seconds,
    )


class Metered:
    """A chat model that reports the usage of each answer, including answers held to a schema."""

    def __init__(
        self, model: Any, role: Role, heard: Heard, *, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model, self._role, self._heard, self._name, self._clock = model, role, heard, name, clock

    def invoke(self, messages: Any, *args: Any, **fields: Any) -> Any:
        began = self._clock()
        answer = self._model.invoke(messages, *args, **fields)
        message = answer.get("raw") if isinstance(answer, Mapping) and "raw" in answer else answer
        shown = messages if isinstance(messages, list | tuple) else [("human", messages)]
        counted = count_in(shown, counter_for(self._name).encoding)
        seconds = max(0.0, self._clock() - began)
        self._heard(self._role, self._name, Usage(**tokens_of(message), counted=counted, seconds=seconds))
        return answer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in _DERIVING:
            return found

        def derive(*args: Any, **fields: Any) -> Metered:
            made = found(*args, **fields)
            return Metered(made, self._role, self._heard, name=self._name, clock=self._clock)

        return derive
