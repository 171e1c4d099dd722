"""Usage of models: a ledger that notes it in the log, and the prompt budgets that follow from it.

Usage is noted together with the events of a step. A step that fails was paid for all the same: its usage is
noted with the next one.
"""

import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.state.game_notes import HOUSE, GameNote
from dndbots.game.state.scene_tags import BEGINNING
from dndbots.game.state.step import Step
from dndbots.ids import DM, SYSTEM, is_hidden
from dndbots.llm.protocol import Answer, Role, Usage
from dndbots.memory.recall.search import LEAST_BUDGET
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

Cost = Callable[[str, Usage], float | None]

_MILLIONTHS: Final = 1_000_000
_MOST_REPORTS: Final = 20
_MOST_FAULTS: Final = 20
_LONGEST_FAULT: Final = 160
_LONGEST_NAME: Final = 120
_LARGEST: Final = 10**12
_UNKNOWN: Final = "unknown"
# A small change is not worth a new prompt: the old one is in the provider's cache.
_STEPS: Final = 20
_MOST: Final = 2.0  # a higher ratio means that more than the prompt was counted


def unpriced(_model: str, _usage: Usage) -> float | None:
    """Return None: no prices are known."""
    return None


@dataclass(slots=True)
class _Usage:
    """The usage of one model for one purpose, added up."""

    answers: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    counted: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0
    reports: list[list[int]] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    cuts: dict[str, int] = field(default_factory=dict)
    fallbacks: int = 0
    faults: dict[str, None] = field(default_factory=dict)


class _Key(NamedTuple):
    """The purpose of an answer: the role, the model, and the character whose turn it was, if any."""

    role: str
    model: str
    seat: str | None


class Ledger:
    """The usage of each model in each role since the last note, and the faults of its answers."""

    def __init__(self, cost: Cost = unpriced) -> None:
        self._cost = cost
        self._taken: dict[_Key, _Usage] = {}
        self._last: dict[str, _Key] = {}
        self._beside: deque[tuple[Role, str, Usage]] = deque()

    def record_usage(self, role: Role, model: str, usage: Usage) -> None:
        """Add usage outside the steps, such as for summaries. Any thread may call this."""
        self._beside.append((role, model, usage))

    def record_answer(
        self,
        role: Role,
        answer: Answer,
        *,
        faults: Iterable[str] = (),
        cuts: Mapping[str, int] | None = None,
        seat: str | None = None,
    ) -> None:
        """Add an answer, its faults and what guards cut. Only `seat` may read its usage; else only the DM."""
        model, usage = _plain(answer.model, _LONGEST_NAME) or _UNKNOWN, answer.usage
        key = self._last[role.value] = _Key(role.value, model, seat)
        total = self._taken.setdefault(key, _Usage())
        total.answers += 1
        total.input += usage.input
        total.output += usage.output
        total.cached += usage.cached
        total.counted += usage.counted
        total.seconds += usage.seconds
        cost = self._cost(answer.model, usage)
        total.cost = None if cost is None or total.cost is None else total.cost + cost
        if usage.counted and usage.input:
            total.reports = [*total.reports, [usage.counted, usage.input]][-_MOST_REPORTS:]
        for call in answer.calls:
            total.calls[call.tool] = total.calls.get(call.tool, 0) + 1
        for kind, number in (cuts or {}).items():
            total.cuts[kind] = total.cuts.get(kind, 0) + number
        for fault in (*answer.faults, *faults):
            self.record_fault(role, fault)

    def record_fallback(self, role: Role, why: str) -> None:
        """Note that the house told or played something in place of the newest answer in a role."""
        last = self._last.get(role.value)
        if last is not None and (total := self._taken.get(last)) is not None:
            total.fallbacks += 1
        self.record_fault(role, why)

    def record_fault(self, role: Role, what: str) -> None:
        """Add a fault of the newest answer in a role."""
        last = self._last.get(role.value)
        total = None if last is None else self._taken.get(last)
        if total is not None and len(total.faults) < _MOST_FAULTS and (fault := _plain(what, _LONGEST_FAULT)):
            total.faults.setdefault(fault)

    def notes(self, step: Step) -> list[GameEvent]:
        """Return the usage since the last note, as events of a step."""
        while self._beside:
            role, model, usage = self._beside.popleft()
            self.record_answer(role, Answer(model=model, usage=usage))
        return [self._note(step, key, total) for key, total in self._taken.items()]

    def clear(self) -> None:
        """Forget all usage, once it is noted."""
        self._taken.clear()
        self._last.clear()

    def _note(self, step: Step, key: _Key, total: _Usage) -> GameEvent:
        named = (key.role, key.model) if key.seat in (None, step.name) else key
        parts = "/".join(map(str, (step.seed, step.session, step.round, step.name, *named)))
        note: dict[str, Any] = {
            "role": key.role,
            "model": key.model,
            "answers": total.answers,
            "input": total.input,
            "output": total.output,
            "cached": total.cached,
            "counted": total.counted,
            "milliseconds": int(total.seconds * 1_000),
        }
        note = {
            key: min(max(value, 0), _LARGEST) if isinstance(value, int) else value
            for key, value in note.items()
        }
        if total.cost is not None and self._cost is not unpriced:
            note["cost"] = min(round(total.cost * _MILLIONTHS), _LARGEST)
        beside: dict[str, Any] = {"reports": total.reports, "calls": total.calls, "cuts": total.cuts}
        beside |= {"fallbacks": total.fallbacks, "faults": [*total.faults]}
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


class Budgets:
    """The prompt budgets of a game by our own count, chosen so that each provider's count stays in the limit.

    They follow from the usage in the log, so they are the same after a restart, and calls outside the game do
    not change them. Seats without a model have the budget that the game was begun with.
    """

    def __init__(self, campaign: Campaign, note: GameNote) -> None:
        self._campaign, self._note = campaign, note
        self._known: dict[str, tuple[float, str]] = {}

    def forget(self) -> None:
        """Compute the budgets anew: there is new usage in the log."""
        self._known.clear()

    def of(self, who: str, beside: str) -> tuple[int, str]:
        """Return the budget and the encoding for a prompt of a seat with `beside` before its memory."""
        if who not in self._known:
            self._known[who] = self._ratio(who)
        ratio, encoding = self._known[who]
        whole = self._note.budget
        least = count_tokens(f"{beside}\n\n", encoding) + LEAST_BUDGET
        return max(min(int(whole / ratio), whole), min(least, whole)), encoding

    def _ratio(self, who: str) -> tuple[float, str]:
        role, name = (Role.DM, self._note.dm) if who == DM else (Role.PLAYER, self._note.players)
        models = [usage.model for usage in self._campaign.usage(viewer=who) if usage.role == role.value]
        models = models or ([name] if name != HOUSE else [])
        if not models:
            return 1.0, DEFAULT_ENCODING
        counts = [self._campaign.calibration(model, viewer=who) for model in models]
        strictest = max(counts, key=lambda count: count.expected(self._note.budget))
        ratio = strictest.expected(self._note.budget) / self._note.budget
        return min(math.ceil(ratio * _STEPS) / _STEPS, _MOST), strictest.encoding


def _plain(text: str, longest: int) -> str:
    """Return a text from outside on one line, without hidden characters, cut to a length."""
    return " ".join("".join(" " if is_hidden(char) else char for char in text).split())[:longest].strip()
