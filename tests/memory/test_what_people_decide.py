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
