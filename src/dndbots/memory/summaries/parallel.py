"""Run the compressions of several agents side by side, and record their notes together."""

import logging
from collections.abc import Mapping, Sequence

from dndbots.errors import DndbotsError, SummaryFailed
from dndbots.memory.entries import SummaryTask
from dndbots.memory.summaries.compression import NotesToRecord, SummaryAnswer, SummaryWork, WorkStep
from dndbots.memory.summaries.summarizer import Summarizer
from dndbots.storage.upkeep import Progress

log = logging.getLogger("dndbots.memory")
# An agent, and notes of it that are not recorded yet.
_Held = tuple[str, NotesToRecord]


def run_compressions(
    work: Mapping[str, SummaryWork], summarizer: Summarizer, progress: Progress | None = None
) -> dict[str, str]:
    """Run compressions by agent and return what each returned. They wait for a model side by side.

    Summaries of a model are recorded at once: they cost time. Without a model, notes that nobody waits for
    are recorded together with awaited ones: a transaction costs more than a summary.
    """
    done: dict[str, str] = {}
    made, held = 0, list[_Held]()
    steps = {name: _advance(name, compression, None, done) for name, compression in work.items()}
    try:
        while tasks := _record_until_tasks(work, steps, done, held, at_once=summarizer.waits):
            answers = dict(zip(tasks, summarizer.condense_all(tasks.values()), strict=True))
            made += len(tasks)
            if progress is not None:
                progress(made, 0)
            steps = {name: _advance(name, work[name], answer, done) for name, answer in answers.items()}
    finally:
        _record(held)  # also after an interruption, so that finished summaries are not made again
    return done


def _record_until_tasks(
    work: Mapping[str, SummaryWork],
    steps: dict[str, WorkStep | None],
    done: dict[str, str],
    held: list[_Held],
    *,
    at_once: bool,
) -> dict[str, SummaryTask]:
    """Record notes until every running compression waits for a summary; return those tasks."""
    while batches := {name: step for name, step in steps.items() if isinstance(step, NotesToRecord)}:
        held += batches.items()
        refused: dict[str, DndbotsError] = {}
        if at_once or any(batch.awaited for batch in batches.values()):
            now = held.copy()
            held.clear()
            refused = _record(now)
        steps = {
            name: _advance(name, work[name], refused.get(name, []), done)
            if name in batches or name in refused
            else step
            for name, step in steps.items()
        }
    return {name: step for name, step in steps.items() if isinstance(step, SummaryTask)}


def _record(held: Sequence[_Held]) -> dict[str, DndbotsError]:
    """Record all notes in one transaction, or, if that is refused, agent by agent.

    Returns the error of each agent whose notes were refused.
    """
    campaigns = [batch.campaign for _, batch in held]
    if all(campaign is campaigns[0] for campaign in campaigns) and len(campaigns) > 1:
        try:
            campaigns[0].record_many([note for _, batch in held for note in batch.notes])
        except DndbotsError:
            pass  # the loop below finds out whose it was
        else:
            return {}
    refused: dict[str, DndbotsError] = {}
    for name, batch in held:
        if name in refused:
            continue  # the note it follows was refused
        try:
            batch.campaign.record_many(batch.notes)
        except DndbotsError as exc:
            refused[name] = exc
    return refused


def _advance(
    name: str, steps: SummaryWork, answer: SummaryAnswer | DndbotsError | None, done: dict[str, str]
) -> WorkStep | None:
    """Send an answer to a compression and return its next step; None once it is done or has failed."""
    try:
        if answer is None:
            return next(steps)
        # A failed summary is an answer like any other.
        if isinstance(answer, DndbotsError) and not isinstance(answer, SummaryFailed):
            return steps.throw(answer)
        return steps.send(answer)
    except StopIteration as stop:
        done[name] = stop.value
    except DndbotsError as exc:
        log.warning("the memory of %s was not summarised: %s", name, exc)
        done[name] = ""
    return None
