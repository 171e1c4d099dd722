"""Doubles of chat models and engines. They record what they were asked, and answer what they were told to."""

import threading
from collections.abc import Sequence
from typing import Any

from tests.waiting import hang

from dndbots.memory.entries import Entry, Line, SummaryTask

HANGS: Any = object()


class Chat:
    """A chat model with its answers in order, the last one for ever; an exception is raised, HANGS hangs."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.asked: list[list[tuple[str, str]]] = []
        self.released = threading.Event()

    def invoke(self, messages: list[tuple[str, str]]) -> Any:
        self.asked.append(messages)
        self.prompts.append(messages[-1][1])
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if answer is HANGS:
            hang(self.released)
            return "Too late."
        if isinstance(answer, BaseException):
            raise answer
        return answer(messages) if callable(answer) else answer


class Says:
    """An engine that answers anything at all."""

    def __init__(self, *answers: Any, waits: bool = False) -> None:
        self._chat = Chat(*answers)
        self.waits = waits
        self.tasks: list[SummaryTask] = []

    def summarize(self, task: SummaryTask) -> Sequence[Line]:
        self.tasks.append(task)
        answer: Sequence[Line] = self._chat.invoke([("human", "")])
        return answer


CAVE = (
    Entry(text="Four goblins ambush you at the cave of Darkwood.", who="DM", event_id="e1", narrated=True),
    Entry(text="I charge their chief with my axe!", who="Throk", event_id="e2"),
    Entry(
        text="The chief of the goblins dies, and Throk is wounded.", who="DM", event_id="e3", narrated=True
    ),
    Entry(text="I take the brass key and hide it from Mirela.", who="Zara", event_id="e4"),
)
GOOD = "Throk killed the goblin chief at the cave of Darkwood and was wounded. Zara took a brass key."


def task(entries: Sequence[Entry] = CAVE, **fields: Any) -> SummaryTask:
    return SummaryTask(**{"agent": "throk", "entries": tuple(entries), "tokens": 100, **fields})
