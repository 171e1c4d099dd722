"""The law, on every read: a viewer's answer is made from what the viewer perceived, byte for byte."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from tests.logs import EVERYTHING, NAMES, PCS, logs, played
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.testing import assert_perspective, memory_campaign


def _each(read: Callable[[Campaign, str, str], Any]) -> Callable[[Campaign, str], Any]:
    """A read about somebody, asked about everybody who is or might be there."""

    def ask(campaign: Campaign, viewer: str) -> list[Any]:
        found = []
        for who in (*EVERYTHING, *NAMES, "npc_nobody_001", "Nobody"):
            try:
                found.append(read(campaign, viewer, who))
            except LookupError as exc:
                found.append(repr(exc))
        return found

    return ask


VIEWS: dict[str, Callable[[Campaign, str], Any]] = {
    "events": lambda campaign, viewer: campaign.events(viewer=viewer),
    "export": lambda campaign, viewer: campaign.export(viewer=viewer),
    "timeline": lambda campaign, viewer: campaign.timeline(viewer=viewer, last=100),
    "the newest of the timeline": lambda campaign, viewer: campaign.timeline(viewer=viewer, last=2),
    "entities": lambda campaign, viewer: campaign.entities(viewer=viewer),
    "entity": _each(lambda campaign, viewer, who: campaign.entity(who, viewer=viewer)),
    "history": _each(lambda campaign, viewer, who: campaign.history(who, viewer=viewer)),
    "timeline about": _each(lambda campaign, viewer, who: campaign.timeline(viewer=viewer, about=who)),
    "acts": lambda campaign, viewer: campaign.acts(viewer=viewer),
    "threads": lambda campaign, viewer: campaign.threads(viewer, resolved=True),
    "encounters": lambda campaign, viewer: campaign.encounters(viewer=viewer),
}


@given(log=logs())
def test_a_view_owes_nothing_to_what_was_not_perceived(log: list[GameEvent]) -> None:
    """view(log, v) == view(only the events v perceived, v), for every view and every viewer."""
    assert_perspective(
        played(memory_campaign(), log),
        lambda campaign, viewer: {name: view(campaign, viewer) for name, view in VIEWS.items()},
        viewers=[*PCS, "npc_old_priest_001"],
    )


@given(log=logs())
def test_a_view_of_the_past_owes_nothing_either(log: list[GameEvent]) -> None:
    """The same, as of any event that the viewer perceived."""

    def then(campaign: Campaign, viewer: str) -> list[Any]:
        return [
            [
                campaign.entities(viewer=viewer, as_of=seen.event_id),
                campaign.timeline(viewer=viewer, as_of=seen.event_id),
            ]
            for seen in campaign.events(viewer=viewer)
        ]

    assert_perspective(played(memory_campaign(), log), then, viewers=PCS[:2])


def test_the_law_catches_a_leak() -> None:
    """The helper is not blind: a view that counts unseen events fails it."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "Seen.", witnesses=["pc_zara_001"]),
            event("e2", "dm", "Unseen.", witnesses=["pc_throk_001"]),
        ]
    )
    with pytest.raises(AssertionError, match="pc_zara_001"):
        assert_perspective(campaign, lambda table, _viewer: table.head, viewers=["pc_zara_001"])


def test_what_reaches_others_by_name_only() -> None:
    """A death, a merge, a newer fact and a namesake that Zara did not perceive change nothing for her."""
    both = ["pc_throk_001", "pc_zara_001"]
    campaign = memory_campaign(
        [
            event("e1", "dm", "A priest.", participants=both, names={"npc_old_priest_001": "the old priest"}),
            event("e2", "dm", "x", participants=both, facts=[
                {"subject": "npc_old_priest_001", "key": "mood", "value": "calm"}]),
            event("e3", "dm", "x", witnesses=["pc_throk_001"], names={"npc_aldwin_001": "Aldwin"},
                  same_as={"npc_old_priest_001": "npc_aldwin_001"}),
            event("e4", "dm", "x", witnesses=["pc_throk_001"], killed=["npc_aldwin_001"],
                  facts=[{"subject": "npc_aldwin_001", "key": "mood", "value": "dead"}]),
            event("e5", "dm", "x", witnesses=["pc_throk_001"], names={"npc_imp_001": "the old priest"}),
        ]
    )  # fmt: skip
    hers = campaign.entity("the old priest", viewer="pc_zara_001")
    assert (hers.uid, hers.name, hers.alive, hers.properties) == (
        "npc_old_priest_001", "the old priest", True, {"mood": "calm"},
    )  # fmt: skip
    his = campaign.entity("npc_old_priest_001", viewer="pc_throk_001")
    assert (his.uid, his.name, his.alive, his.properties["mood"]) == (
        "npc_aldwin_001",
        "Aldwin",
        False,
        "dead",
    )
    assert his.merged == ("npc_old_priest_001",)
    assert his.aliases == ("the old priest",)


def test_seconds_of_silence_are_not_told() -> None:
    """Places in the log would tell a viewer how much it missed; only the DM gets them."""
    campaign = memory_campaign(
        [event(f"e{n}", "dm", "x", witnesses=["pc_throk_001"] if n % 2 else []) for n in range(6)]
    )
    assert [one.seq for one in campaign.events(viewer="pc_throk_001")] == [None] * 3
    assert [one.seq for one in campaign.events(viewer="dm")] == [1, 2, 3, 4, 5, 6]
    assert EventType.PLAYER_ACTION.value in next(iter(campaign.timeline(viewer="dm"))).kind
