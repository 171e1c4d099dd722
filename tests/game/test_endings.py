"""Endings of quests: an adventure's own word for the end, and the quest is over in every text."""

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.canon.states import REFUSED, is_over
from dndbots.errors import InvalidModule
from dndbots.events import EventType
from dndbots.game.adventures import list_shipped, load
from dndbots.game.adventures.endless.chapter import make_chapter
from dndbots.game.adventures.library import load_named
from dndbots.testing import memory_campaign

ZARA, QUEST = "pc_zara_001", "qst_bell_001"
MODULES = [
    *map(load_named, list_shipped()),
    *(make_chapter(seed, number) for seed in range(1, 9) for number in range(3)),
]
QUESTS = [quest for module in MODULES for quest in module.quests.values()]
ENDS = sorted({ending.state for quest in QUESTS for ending in quest.endings.values()})
OPEN = ["offered", "accepted", "in progress", "In-Progress", "in_progress", "searching", "a clue"]


def test_the_adventures_have_words_of_their_own_for_an_end() -> None:
    """Or else this would test the two that everybody knows."""
    assert {"completed", "failed", "truce", "ransomed", "hushed"} < {*ENDS}


@pytest.mark.parametrize("state", [*ENDS, REFUSED, "Completed by Zara", "abandoned"])
def test_a_quest_that_ended_is_over_wherever_it_is_told(state: str) -> None:
    """For threads, recaps, sheets and prompts alike, with the promise that it was."""
    assert is_over(state)
    promise = {"id": "promise", "kind": "promise", "text": "promised: ring the bell", "about": [QUEST]}
    quest = {"quest_id": QUEST, "participants": [ZARA], "kind": EventType.QUEST_UPDATE}
    names = {QUEST: "The Bell", ZARA: "Zara"}
    begun = event("e1", "dm", "Yes.", quest_state="accepted", names=names, threads=[promise], **quest)
    campaign = memory_campaign([begun])
    open_ones = {QUEST, "promise"}
    assert {one.id for one in campaign.threads(ZARA)} == open_ones
    assert "The Bell" in campaign.recap(ZARA).text.partition("Still open:")[2]
    assert _quests_on_the_sheet(campaign) == ["Quest The Bell (accepted)"]
    assert _quests_in_the_prompt(campaign)
    closed = event(
        "e2", "dm", "So be it.", quest_state=state, threads=[{"id": "promise", "state": state}], **quest
    )
    campaign.record(closed)
    assert {one.id: one.state for one in campaign.threads(ZARA, resolved=True)} == dict.fromkeys(
        open_ones, "resolved"
    )
    assert campaign.threads(ZARA) == []
    assert "Still open:" not in campaign.recap(ZARA).text
    assert _quests_on_the_sheet(campaign) == []
    assert not _quests_in_the_prompt(campaign)


def _quests_on_the_sheet(campaign: Campaign) -> list[str]:
    facts = campaign.game_state()["agent_memories"]["zara"].character_facts
    return [one for one in facts.notable_events if one.startswith("Quest ")]


def _quests_in_the_prompt(campaign: Campaign) -> list[str]:
    return [one.text for one in campaign.context(ZARA, budget=600).items if one.section == "quests"]


@pytest.mark.parametrize("state", [*OPEN, "", None])
def test_what_still_goes_on_is_not_over(state: str | None) -> None:
    """Neither in the engine's words nor in a sentence of somebody's."""
    assert not is_over(state)


@pytest.mark.parametrize("state", ["accepted", REFUSED, "searching"])
def test_an_ending_that_is_none_is_refused_when_the_adventure_is_read(state: str) -> None:
    """Its author is told, and nobody plays a quest that cannot end."""
    text = f"""
module: {{title: A, start: a}}
places:
  a: {{name: A, looks: A yard.}}
quests:
  q:
    name: Q
    endings:
      e: {{when: rounds 3, state: {state}}}
"""
    with pytest.raises(InvalidModule, match="does not end a quest"):
        load(text)
