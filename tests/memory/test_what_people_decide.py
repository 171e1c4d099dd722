"""Decisions on memories and facts: each is an event, can be made again, and is refused in words."""

import pytest
from tests.table import event

from dndbots import Campaign
from dndbots.errors import InvalidSetting
from dndbots.testing import memory_campaign


@pytest.fixture
def campaign() -> Campaign:
    names = {"pc_zara_001": "Zara", "pc_throk_001": "Throk"}
    return memory_campaign(
        [
            event("evt_1", "pc_zara_001", "I open the gate.", participants=["pc_throk_001"], names=names),
            event("evt_2", "pc_throk_001", "I close it again.", participants=["pc_zara_001"]),
        ]
    )


def test_a_fact_can_be_corrected_to_and_fro(campaign: Campaign) -> None:
    """Each time it is another event, and the newest holds."""
    said = ["merry", "sour", "merry", "sour", "merry", "merry"]
    made = [campaign.correct_fact("Zara", "mood", mood).event_id for mood in said]
    assert len(set(made)) == len(made)
    assert campaign.entity("Zara", viewer="dm").properties == {"mood": "merry"}


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_correction_without_words_is_refused(campaign: Campaign, text: str) -> None:
    """In words, and nothing is recorded."""
    with pytest.raises(InvalidSetting, match="says nothing"):
        campaign.correct("evt_1", text)
    assert campaign.head == 2


@pytest.mark.parametrize(
    ("key", "value"), [("mood", ""), ("mood", float("nan")), ("mood", "x" * 2_000), ("a b", "x"), ("", 1)]
)
def test_a_fact_that_is_none_is_refused(campaign: Campaign, key: str, value: str | float) -> None:
    """The error names what is wrong, and does not take it for damage to the campaign."""
    with pytest.raises(InvalidSetting, match=r"is no (key|value) of a fact"):
        campaign.correct_fact("Zara", key, value)
    assert campaign.head == 2


def test_memories_of_a_kind_that_is_none(campaign: Campaign) -> None:
    """The kinds that there are stand in the error."""
    with pytest.raises(InvalidSetting, match="'weather' is none of location, npc, world"):
        campaign.memories("Zara", source="weather")
