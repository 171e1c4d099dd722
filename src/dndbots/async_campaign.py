"""A campaign for asynchronous programs: the same methods, awaited, on worker threads.

Nothing here repeats what a campaign does. Each line lends one of its methods a form that does not block the
event loop, with its types; methods that are not listed have that form too.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterator
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from dndbots.campaign import Campaign

__all__ = ["AsyncCampaign"]

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def _awaited(
    method: Callable[Concatenate[Campaign, _Params], _Result],
) -> Callable[Concatenate["AsyncCampaign", _Params], Coroutine[Any, Any, _Result]]:
    """Make a method that runs a method of `Campaign` on a worker thread."""

    @wraps(method)
    async def call(self: "AsyncCampaign", /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        return await asyncio.to_thread(method, self.campaign, *args, **kwargs)

    return call


def _listed(
    method: Callable[Concatenate[Campaign, _Params], Iterator[_Result]],
) -> Callable[Concatenate["AsyncCampaign", _Params], Coroutine[Any, Any, list[_Result]]]:
    """Do the same for a method that reads as it goes: the whole answer, as a list."""

    @wraps(method)
    async def call(self: "AsyncCampaign", /, *args: _Params.args, **kwargs: _Params.kwargs) -> list[_Result]:
        return await asyncio.to_thread(lambda: list(method(self.campaign, *args, **kwargs)))

    return call


class AsyncCampaign:
    """A campaign whose methods are awaited. `campaign` is the campaign itself, with all the rest.

    A task that is cancelled stops waiting; the call goes on and ends as a whole, so nothing is half written.
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    @classmethod
    async def open(cls, where: str | Path, **settings: Any) -> Self:
        """Open a campaign with the settings of `Campaign.open`."""
        return cls(await asyncio.to_thread(Campaign.open, where, **settings))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def fork(self, name: str, *, at: str | None = None) -> "AsyncCampaign":
        """Add a branch and open it. See `Campaign.fork`."""
        return AsyncCampaign(await asyncio.to_thread(self.campaign.fork, name, at=at))

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Return any other method of the campaign, awaited. Those below have their types."""
        method = None if name.startswith("_") else getattr(Campaign, name, None)
        if not inspect.isfunction(method):
            raise AttributeError(f"a campaign has no method {name!r} to await; see `campaign.{name}`")
        return partial(_awaited(method), self)

    close = _awaited(Campaign.close)
    # The log.
    say = _awaited(Campaign.say)
    narrate = _awaited(Campaign.narrate)
    note = _awaited(Campaign.note)
    record = _awaited(Campaign.record)
    record_many = _awaited(Campaign.record_many)
    introduce = _awaited(Campaign.introduce)
    events = _listed(Campaign.events)
    timeline = _awaited(Campaign.timeline)
    start_session = _awaited(Campaign.start_session)
    # What somebody knows.
    context = _awaited(Campaign.context)
    recall = _awaited(Campaign.recall)
    recap = _awaited(Campaign.recap)
    entity = _awaited(Campaign.entity)
    entities = _awaited(Campaign.entities)
    history = _awaited(Campaign.history)
    acts = _awaited(Campaign.acts)
    encounters = _awaited(Campaign.encounters)
    who_knows = _awaited(Campaign.who_knows)
    usage = _awaited(Campaign.usage)
    calibration = _awaited(Campaign.calibration)
    # Memory and its upkeep.
    memory = _awaited(Campaign.memory)
    persona = _awaited(Campaign.persona)
    memories = _awaited(Campaign.memories)
    carried = _awaited(Campaign.carried)
    summaries = _awaited(Campaign.summaries)
    threads = _awaited(Campaign.threads)
    callbacks = _awaited(Campaign.callbacks)
    diff = _awaited(Campaign.diff)
    game_state = _awaited(Campaign.game_state)
    drop_cache = _awaited(Campaign.drop_cache)
    compress = _awaited(Campaign.compress)
    remember = _awaited(Campaign.remember)
    remembered = _awaited(Campaign.remembered)
    # Decisions of people.
    gates = _awaited(Campaign.gates)
    pin = _awaited(Campaign.pin)
    lock = _awaited(Campaign.lock)
    forget = _awaited(Campaign.forget)
    correct = _awaited(Campaign.correct)
    correct_fact = _awaited(Campaign.correct_fact)
    # Compaction.
    compact = _awaited(Campaign.compact)
    compaction = _awaited(Campaign.compaction)
    data = _awaited(Campaign.data)
    save_data = _awaited(Campaign.save_data)
    export_data = _awaited(Campaign.export_data)
    proposals = _awaited(Campaign.proposals)
    accept = _awaited(Campaign.accept)
    reject = _awaited(Campaign.reject)
    rejections = _awaited(Campaign.rejections)
    # Branches, import and export, upkeep.
    branches = _awaited(Campaign.branches)
    undo = _awaited(Campaign.undo)
    replay = _awaited(Campaign.replay)
    import_transcript = _awaited(Campaign.import_transcript)
    import_log = _awaited(Campaign.import_log)
    export = _listed(Campaign.export)
    rebuild = _awaited(Campaign.rebuild)
    verify = _awaited(Campaign.verify)
