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
    with pytest.raises(InvalidSetting, match="is empty"):
        campaign.correct("evt_1", text)
    assert campaign.head == 2


@pytest.mark.parametrize(
    ("key", "value"), [("mood", ""), ("mood", float("nan")), ("mood", "x" * 2_000), ("a b", "x"), ("", 1)]
)
def test_a_fact_that_is_none_is_refused(campaign: Campaign, key: str, value: str | float) -> None:
    """The error names what is wrong, and does not take it for damage to the campaign."""
    with pytest.raises(InvalidSetting, match=r"is not a valid (key|value) for a fact"):
        campaign.correct_fact("Zara", key, value)
    assert campaign.head == 2


def test_memories_of_a_kind_that_is_none(campaign: Campaign) -> None:
    """The kinds that there are stand in the error."""
    with pytest.raises(InvalidSetting, match="'weather' must be one of location, npc, world"):
        campaign.memories("Zara", source="weather")


def test_a_lock_of_one_holds_against_decisions_for_all(campaign: Campaign) -> None:
    """A memory that Zara locked stays as it is until she unlocks it; others can change theirs."""
    campaign.lock("evt_1", viewer="Zara")
    for decided in (campaign.forget, lambda target: campaign.correct(target, "I shut the gate.")):
        with pytest.raises(InvalidSetting, match="is locked"):
            decided("evt_1")
    campaign.forget("evt_1", viewer="Throk")
    campaign.lock("evt_1", on=False, viewer="Zara")
    campaign.forget("evt_1")
    assert campaign.memory("Zara").short_term_buffer == campaign.memory("Throk").short_term_buffer


def test_a_lock_for_all_may_be_taken_off_for_one(campaign: Campaign) -> None:
    """The newer decision of the two holds for that one, and the older for the others."""
    campaign.lock("evt_1")
    campaign.lock("evt_1", on=False, viewer="Zara")
    campaign.correct("evt_1", "I shut the gate.", viewer="Zara")
    with pytest.raises(InvalidSetting, match="is locked"):
        campaign.correct("evt_1", "I shut the gate.", viewer="Throk")
    with pytest.raises(InvalidSetting, match="is locked"):
        campaign.forget("evt_1")


def test_what_is_forgotten_or_corrected_goes_from_summaries_made_before(campaign: Campaign) -> None:
    """A summary has lines of events: they go and change with them, and come back as they were."""
    campaign.compress("Zara")
    before = campaign.memory("Zara")
    assert "open" in before.long_term_summary
    assert before.short_term_buffer == []
    campaign.forget("evt_1")
    assert "open" not in campaign.memory("Zara").long_term_summary
    assert "close" in campaign.memory("Zara").long_term_summary
    campaign.forget("evt_1", on=False)
    assert campaign.memory("Zara") == before
    campaign.correct("evt_1", "I bar the gate.\nFor good.")
    assert "I bar the gate. For good." in campaign.memory("Zara").long_term_summary
    assert "open" not in campaign.memory("Zara").long_term_summary
    campaign.correct("evt_1", None)
    assert campaign.memory("Zara") == before


def test_a_corrected_fact_tells_nobody_a_name_they_do_not_know() -> None:
    """The stranger's real name stays the DM's secret when the stranger's mood is corrected."""
    grim = [{"subject": "npc_stranger_001", "key": "mood", "value": "grim"}]
    campaign = memory_campaign(
        [
            event("evt_1", "dm", "A stranger.", participants=["pc_zara_001", "npc_stranger_001"], facts=grim),
            event("evt_2", "dm", "A secret.", witnesses=[], names={"npc_stranger_001": "Strahd"}),
        ]
    )
    campaign.correct_fact("Strahd", "mood", "merry")
    assert "Strahd" not in "".join(campaign.export(viewer="pc_zara_001"))
    assert campaign.entity("npc_stranger_001", viewer="pc_zara_001").properties == {"mood": "merry"}
    assert campaign.entity("Strahd", viewer="dm").properties == {"mood": "merry"}


def test_a_corrected_fact_tells_nobody_who_somebody_really_is() -> None:
    """A holder who knows only the old priest gets his mood corrected, and hears of no Aldwin."""
    priest, aldwin = "npc_old_priest_001", "npc_aldwin_001"
    grim = [{"subject": priest, "key": "mood", "value": "grim"}]
    campaign = memory_campaign(
        [
            event(
                "evt_1", "dm", "A priest.", participants=["pc_zara_001", "pc_throk_001", priest], facts=grim
            ),
            event(
                "evt_2",
                "dm",
                "It is he!",
                witnesses=["pc_throk_001"],
                discovered=[aldwin],
                same_as={priest: aldwin},
            ),
        ]
    )
    campaign.correct_fact(priest, "mood", "merry")
    assert "ldwin" not in "".join(campaign.export(viewer="pc_zara_001"))
    for viewer in ("dm", "pc_zara_001", "pc_throk_001"):
        assert campaign.entity(priest, viewer=viewer).properties["mood"] == "merry"
