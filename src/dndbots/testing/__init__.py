"""Help for tests of programs built on dndbots: campaigns in memory, the law of perspective, and doubles.

    assert_perspective(campaign, lambda table, viewer: table.timeline(viewer=viewer))

fails if any character's answer depends on an event that the character did not perceive.

`ScriptedVoice`, `FaultyVoice` and `FakeChatModel` stand in for models: no network, no key, no chance that
cannot be replayed.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from dndbots._jsontext import as_json
from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError
from dndbots.events import GameEvent, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.in_memory import MemoryStore
from dndbots.testing.fake_chat_model import FakeChatModel
from dndbots.testing.recorded_answers import RECORDED, ServerFault, recorded
from dndbots.testing.scripted_voices import FaultyVoice, ScriptedVoice

__all__ = [
    "RECORDED",
    "FakeChatModel",
    "FaultyVoice",
    "ScriptedVoice",
    "ServerFault",
    "as_text",
    "assert_perspective",
    "memory_campaign",
    "perceived_only",
    "perceivers",
    "recorded",
]

ViewOf = Callable[[Campaign, str], Any]


def memory_campaign(events: Iterable[GameEvent] = ()) -> Campaign:
    """Return a campaign that lives as long as its process, with some events in it."""
    campaign = Campaign(MemoryStore())
    campaign.record_many(events)
    return campaign


def perceived_only(campaign: Campaign, viewer: str) -> Campaign:
    """Return a campaign whose log holds only what one viewer of another campaign perceived."""
    part = memory_campaign()
    with campaign.view(viewer) as view:
        part.replay(view.with_own_events().events())
    return part


def perceivers(campaign: Campaign) -> list[str]:
    """Return every viewer who perceived anything."""
    return sorted({who for event in campaign.events(viewer=DM) for who in audience(event)} - {SYSTEM})


def as_text(answer: Any) -> str:
    """Return any answer of the campaign as text, the same for the same answer."""
    return as_json(_plain(answer))


def _plain(answer: Any) -> Any:
    if isinstance(answer, BaseModel):
        return _plain(answer.model_dump(mode="json"))
    if isinstance(answer, dict):
        return {str(key): _plain(value) for key, value in answer.items()}
    if isinstance(answer, str | int | float | None):
        return answer
    return [_plain(one) for one in answer]


def _answer(view: ViewOf, campaign: Campaign, viewer: str) -> str:
    """Return what a view answers. A refusal is an answer too, and may tell as much."""
    try:
        return as_text(view(campaign, viewer))
    except DndbotsError as exc:
        return f"{type(exc).__name__}: {exc}"


def assert_perspective(campaign: Campaign, view: ViewOf, *, viewers: Iterable[str] | None = None) -> None:
    """Check the law: a viewer's answer is the same, byte for byte, from only what the viewer perceived.

    Without `viewers`, everybody who perceived anything is asked.
    """
    known = perceivers(campaign)
    for viewer in known if viewers is None else [one for one in viewers if one in known]:
        whole = _answer(view, campaign, viewer)
        own = _answer(view, perceived_only(campaign, viewer), viewer)
        assert whole == own, f"{viewer} learns from what it did not perceive:\n{whole}\ninstead of\n{own}"  # noqa: S101
