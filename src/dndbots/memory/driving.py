"""Compressions run: several agents' at once, where each waits for a model, and where each notes something."""

import logging
from collections.abc import Mapping, Sequence

from dndbots.errors import DndbotsError, SummaryFailed
from dndbots.memory.compression import Answer, Noting, Step, Summarizing
from dndbots.memory.entries import SummaryTask
from dndbots.memory.summarizer import Summarizer
from dndbots.storage.upkeep import Progress

log = logging.getLogger("dndbots.memory")
# Notes of an agent that are yet to be recorded.
_Held = tuple[str, Noting]


def drive(
    work: Mapping[str, Summarizing], summarizer: Summarizer, progress: Progress | None = None
) -> dict[str, str]:
    """Runs compressions of several agents. Where a model has to be waited for, they wait side by side.

    What took a model's time is recorded at once. Without one, all that nobody waits for is recorded with
    what somebody does: a transaction costs more than a summary.
    """
    done: dict[str, str] = {}
    made, held = 0, list[_Held]()
    steps = {name: _next(name, one, None, done) for name, one in work.items()}
    try:
        while tasks := _noted(work, steps, done, held, at_once=summarizer.waits):
            answers = dict(zip(tasks, summarizer.condense_all(tasks.values()), strict=True))
            made += len(tasks)
            if progress is not None:
                progress(made, 0)
            steps = {name: _next(name, work[name], answer, done) for name, answer in answers.items()}
    finally:
        _record(held)  # also where it is broken off: what was done before need not be done again
    return done


def _noted(
    work: Mapping[str, Summarizing],
    steps: dict[str, Step | None],
    done: dict[str, str],
    held: list[_Held],
    *,
    at_once: bool,
) -> dict[str, SummaryTask]:
    """Has everything recorded that is to be noted down, until all who go on need a summary."""
    while notings := {name: step for name, step in steps.items() if isinstance(step, Noting)}:
        held += notings.items()
        refused: dict[str, DndbotsError] = {}
        if at_once or any(one.awaited for one in notings.values()):
            now = held.copy()
            held.clear()
            refused = _record(now)
        steps = {
            name: _next(name, work[name], refused.get(name, []), done)
            if name in notings or name in refused
            else step
            for name, step in steps.items()
        }
    return {name: step for name, step in steps.items() if isinstance(step, SummaryTask)}


def _record(held: Sequence[_Held]) -> dict[str, DndbotsError]:
    """Records notes at once; if any of them is refused, each agent's by themselves. Says what was refused."""
    tables = [one.table for _, one in held]
    if all(table is tables[0] for table in tables) and len(tables) > 1:
        try:
            tables[0].record_many([note for _, one in held for note in one.notes])
        except DndbotsError:
            pass  # whose it was shows below
        else:
            return {}
    refused: dict[str, DndbotsError] = {}
    for name, one in held:
        if name in refused:
            continue  # it would follow what is not there
        try:
            one.table.record_many(one.notes)
        except DndbotsError as exc:
            refused[name] = exc
    return refused


def _next(
    name: str, steps: Summarizing, answer: Answer | DndbotsError | None, done: dict[str, str]
) -> Step | None:
    """The next thing that somebody's compression needs, if it is not done or broken."""
    try:
        if answer is None:
            return next(steps)
        # A summary that failed is an answer like any other.
        if isinstance(answer, DndbotsError) and not isinstance(answer, SummaryFailed):
            return steps.throw(answer)
        return steps.send(answer)
    except StopIteration as stop:
        done[name] = stop.value
    except DndbotsError as exc:
        log.warning("the memory of %s was not summarised: %s", name, exc)
        done[name] = ""
    return None
