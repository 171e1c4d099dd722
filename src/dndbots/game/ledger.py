"""What models took in a step, kept until it can be noted in the log with what came of it.

A step that comes to nothing was paid for all the same: what it took is noted with the next one.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple

from dndbots.events import EventType, GameEvent
from dndbots.game.steps import BEGINNING, Step
from dndbots.ids import SYSTEM, is_hidden
from dndbots.llm.asking import Answer, Role, Usage

Cost = Callable[[str, Usage], float | None]

_MILLIONTHS: Final = 1_000_000
_MOST_REPORTS: Final = 20
_MOST_FAULTS: Final = 20
_LONGEST_FAULT: Final = 160
_LONGEST_NAME: Final = 120
_LARGEST: Final = 10**12
_UNKNOWN: Final = "unknown"


def unpriced(_model: str, _usage: Usage) -> float | None:
    """Nobody said what anything costs."""
    return None


@dataclass(slots=True)
class _Taken:
    answers: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    counted: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0
    reports: list[list[int]] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)


class _Key(NamedTuple):
    """For what a model was asked: the role, its name, and the character whose turn it was, if any."""

    role: str
    model: str
    seat: str | None


class Ledger:
    """Adds up what each model took in each role, and what was wrong with its answers."""

    def __init__(self, cost: Cost = unpriced) -> None:
        self._cost = cost
        self._taken: dict[_Key, _Taken] = {}
        self._last: dict[str, _Key] = {}
        self._beside: deque[tuple[Role, str, Usage]] = deque()

    def took(self, role: Role, model: str, usage: Usage) -> None:
        """What a model took that is asked beside the steps, in whatever thread."""
        self._beside.append((role, model, usage))

    def asked(
        self, role: Role, answer: Answer, *, faults: Iterable[str] = (), seat: str | None = None
    ) -> None:
        """One answer more, and what of it was not used. What is taken in a `seat` is for it to know."""
        model, usage = _plain(answer.model, _LONGEST_NAME) or _UNKNOWN, answer.usage
        key = self._last[role.value] = _Key(role.value, model, seat)
        one = self._taken.setdefault(key, _Taken())
        one.answers += 1
        one.input += usage.input
        one.output += usage.output
        one.cached += usage.cached
        one.counted += usage.counted
        one.seconds += usage.seconds
        cost = self._cost(answer.model, usage)
        one.cost = None if cost is None or one.cost is None else one.cost + cost
        if usage.counted and usage.input:
            one.reports = [*one.reports, [usage.counted, usage.input]][-_MOST_REPORTS:]
        for call in answer.calls:
            one.calls[call.tool] = one.calls.get(call.tool, 0) + 1
        for fault in (*answer.faults, *faults):
            self.fault(role, fault)

    def fault(self, role: Role, what: str) -> None:
        """Something that was found wrong with the newest answer in a role."""
        last = self._last.get(role.value)
        one = None if last is None else self._taken.get(last)
        if one is not None and len(one.faults) < _MOST_FAULTS and (said := _plain(what, _LONGEST_FAULT)):
            one.faults.setdefault(said)

    def notes(self, step: Step) -> list[GameEvent]:
        """What was taken since the last time, as notes that belong to a step."""
        while self._beside:
            role, model, usage = self._beside.popleft()
            self.asked(role, Answer(model=model, usage=usage))
        return [self._note(step, key, one) for key, one in self._taken.items()]

    def clear(self) -> None:
        self._taken.clear()
        self._last.clear()

    def _note(self, step: Step, key: _Key, one: _Taken) -> GameEvent:
        named = (key.role, key.model) if key.seat in (None, step.name) else key
        parts = "/".join(map(str, (step.seed, step.session, step.round, step.name, *named)))
        note: dict[str, Any] = {
            "role": key.role,
            "model": key.model,
            "answers": one.answers,
            "input": one.input,
            "output": one.output,
            "cached": one.cached,
            "counted": one.counted,
            "milliseconds": int(one.seconds * 1_000),
        }
        note = {
            key: min(max(value, 0), _LARGEST) if isinstance(value, int) else value
            for key, value in note.items()
        }
        if one.cost is not None and self._cost is not unpriced:
            note["cost"] = min(round(one.cost * _MILLIONTHS), _LARGEST)
        beside = {"reports": one.reports, "calls": one.calls, "faults": [*one.faults]}
        return GameEvent(
            event_id=f"use_{hashlib.sha256(parts.encode()).hexdigest()[:16]}",
            event_type=EventType.USAGE,
            source=SYSTEM,
            content="",
            session_id=step.session,
            metadata={
                "usage": note | {key: value for key, value in beside.items() if value},
                "witnesses": [] if key.seat is None else [key.seat],
            },
            timestamp=BEGINNING + timedelta(minutes=step.table.minutes),
        )


def _plain(text: str, longest: int) -> str:
    """Words from outside on one line, that can be kept."""
    return " ".join("".join(" " if is_hidden(char) else char for char in text).split())[:longest].strip()
