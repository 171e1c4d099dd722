"""A stand-in for the engine without a model: the first entries that fit. To be replaced."""

from dndbots.memory.entries import Line, SummaryTask
from dndbots.tokens import count_tokens


class Extractive:
    waits = False

    def summarize(self, task: SummaryTask) -> list[Line]:
        lines: list[Line] = []
        left = task.tokens
        for entry in task.entries:
            text = " ".join(str(entry).split())
            left -= count_tokens(text) + 1
            if left < 0:
                break
            lines.append(Line(text, (entry.event_id,) if entry.event_id else ()))
        return lines
