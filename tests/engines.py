"""Summarizers that tests can look into: they note what they were asked, and can fail, hang or die."""

from collections.abc import Callable, Iterable
from typing import Any

from dndbots.memory import Line, SummaryTask


class Counting:
    """Says how many entries it read, names the events as its sources, and keeps every task."""

    waits = False

    def __init__(
        self, *, failing: Iterable[str] = (), then: Callable[[SummaryTask], object] | None = None
    ) -> None:
        self.tasks: list[SummaryTask] = []
        self.failing = set(failing)
        self.then = then

    def summarize(self, task: SummaryTask) -> list[Line]:
        self.tasks.append(task)
        if self.then is not None:
            self.then(task)
        if task.agent in self.failing:
            raise RuntimeError("no model today")
        return [Line(said(task), tuple(dict.fromkeys(one.event_id for one in task.entries if one.event_id)))]

    def read_by(self, agent: str) -> list[str]:
        """The ids of all events that it was shown for somebody, in order."""
        return [one.event_id for task in self.tasks if task.agent == agent for one in task.entries]


def said(task: SummaryTask) -> str:
    return f"{len(task.entries)} things, the last being {' '.join(task.entries[-1].text.split()[:3])}."


class Killed(BaseException):
    """What a program that dies raises: nothing may catch it."""


class Dying:
    """A campaign whose program dies at the n-th thing it writes, before it is written."""

    def __init__(self, campaign: Any, at: int) -> None:
        self._campaign, self._left = campaign, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._campaign, name)

    def record(self, event: Any) -> Any:
        self._step()
        return self._campaign.record(event)

    def record_many(self, events: Any) -> Any:
        self._step()
        return self._campaign.record_many(events)

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Killed
