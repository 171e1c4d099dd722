"""Every method of a campaign can be awaited, and none blocks the loop."""

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

from dndbots import AsyncCampaign, Campaign
from dndbots.testing import memory_campaign


def methods(kind: type) -> set[str]:
    found = {name for name, value in vars(kind).items() if inspect.isfunction(value)}
    return {name for name in found if not name.startswith("_")}


def test_every_method_has_its_awaited_form() -> None:
    assert methods(AsyncCampaign) <= methods(Campaign)
    table = AsyncCampaign(memory_campaign())
    assert all(inspect.iscoroutinefunction(getattr(table, name)) for name in methods(Campaign))
    with pytest.raises(AttributeError, match="no method 'head'"):
        _ = table.head


def test_awaited_answers_are_the_same(tmp_path: Path) -> None:
    async def play() -> None:
        async with await AsyncCampaign.open(tmp_path / "c") as table:
            await asyncio.gather(*(table.say("Zara", f"Line {n}", to="Throk") for n in range(8)))
            heard = [event.content for event in await table.events(viewer="Throk")]
            assert sorted(heard) == [f"Line {n}" for n in range(8)]
            context = await table.context("Throk", budget=400)
            assert context.text == table.campaign.context("Throk", budget=400).text
            fork = await table.fork("other")
            await fork.close()

    asyncio.run(play())


def test_the_loop_goes_on_while_a_call_waits() -> None:
    campaign, begun, may_end = memory_campaign(), threading.Event(), threading.Event()

    def wait(_events: object) -> None:
        begun.set()
        assert may_end.wait(30)

    campaign.listen(wait)

    async def play() -> None:
        waiting = asyncio.create_task(AsyncCampaign(campaign).say("Zara", "Hello."))
        while not begun.is_set():
            await asyncio.sleep(0.001)  # the loop runs although the call does not return
        may_end.set()
        assert (await waiting).content == "Hello."

    asyncio.run(play())
