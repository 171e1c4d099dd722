"""Limits that no summary can meet: they are kept anyway, and no model is asked."""

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting
from dndbots.memory import Line, MemoryManager, SummaryTask, context_manager
from dndbots.testing import memory_campaign
from dndbots.tokens import count_tokens


def _long_campaign() -> Campaign:
    log = [
        event(f"e{n}", "dm", f"Throk meets goblin {n}.", participants=["pc_throk_001"], session=f"s{n // 10}")
        for n in range(40)
    ]
    return memory_campaign(log)


@pytest.mark.parametrize("what", ["pin", "entries"])
def test_what_a_shorter_summary_cannot_mend_is_not_summarised_turn_after_turn(what: str) -> None:
    """A pin or entries beyond the limit stay so: after a few turns the log does not grow any more."""
    campaign = _long_campaign()
    for n in range(3):
        text = "lorem ipsum " * 3000
        campaign.record(event(f"big{n}", "dm", text, participants=["pc_throk_001"], session="s3"))
    if what == "pin":
        campaign.pin("big0")
        campaign.record(event("last", "dm", "On.", participants=["pc_throk_001"], session="s4"))
    for _ in range(3):
        campaign.remember(token_limit=2000)
    before = campaign.head
    campaign.remember(token_limit=2000)
    assert campaign.head == before


def test_what_is_pinned_is_in_every_context_however_full() -> None:
    """Neither the hard fit of a turn nor the one of a context takes it out first."""
    campaign = _long_campaign()
    campaign.record(event("oath", "dm", "The Great Oath.", participants=["pc_throk_001"], session="s3"))
    campaign.pin("oath")
    for n in range(4):
        text = "the long road goes on. " * 400
        campaign.record(event(f"big{n}", "dm", text, participants=["pc_throk_001"], session="s3"))
        state = campaign.game_state(token_limit=1500)
        for one in (state, context_manager(state)):
            context = MemoryManager(one).get_context("throk")
            assert "Pinned: The Great Oath." in context
            assert count_tokens(context) <= 1500


@pytest.mark.parametrize("limit", [60, 200, 1000, 8000])
def test_pins_are_no_more_than_a_part_of_the_limit(limit: int) -> None:
    """However long and many: what does not fit is cut, with its id in its place, and recaps stay short."""
    campaign = _long_campaign()
    for n in range(5):
        text = "lorem ipsum dolor " * 5000
        campaign.record(event(f"big{n}", "dm", text, participants=["pc_throk_001"], session="s3"))
        campaign.pin(f"big{n}")
    campaign.compress("pc_throk_001", token_limit=limit)
    memory = campaign.memory("pc_throk_001", token_limit=limit)
    assert count_tokens(memory.long_term_summary) <= max(limit, 200)
    if limit >= 1000:
        assert "[cut: big3]" in memory.long_term_summary
    assert count_tokens(campaign.recap("pc_throk_001", length="short").text) < 500


def test_a_long_correction_does_not_fill_a_summary() -> None:
    """It stands there in place of a line, and is no longer than a line."""
    campaign = memory_campaign(
        [event("e1", "dm", "The wolf of the mill attacks Throk.", participants=["pc_throk_001"])]
    )
    campaign.compress("pc_throk_001")
    campaign.correct("e1", "dolor sit amet " * 6000)
    assert len(campaign.memory("pc_throk_001").long_term_summary) <= 401


@pytest.mark.parametrize("limit", [0, -1, 1.5, None])
def test_a_limit_that_is_none_is_refused_in_words(limit: int) -> None:
    """It is not taken for damage to the store."""
    campaign = _long_campaign()
    for call in (campaign.memory, campaign.carried, campaign.compress):
        with pytest.raises(InvalidSetting, match="token_limit"):
            call("pc_throk_001", token_limit=limit)
    with pytest.raises(InvalidSetting, match="token_limit"):
        campaign.game_state(token_limit=limit)


@pytest.mark.parametrize(
    ("session", "title", "wrong"),
    [("x" * 201, "", "session_id"), ("a\0b", "", "session_id"), ("s02", "x" * 102_401, "title")],
)
def test_a_session_that_cannot_be_recorded_is_refused_in_words(session: str, title: str, wrong: str) -> None:
    """And nothing happens."""
    campaign = _long_campaign()
    with pytest.raises(InvalidSetting, match=wrong):
        campaign.start_session(session, title=title)
    assert campaign.head == 40


def test_no_limit_makes_a_summary_too_long_to_be_recorded() -> None:
    """With room for millions of tokens it is still an event like any other."""

    class Wordy:
        waits = False

        def summarize(self, task: SummaryTask) -> list[Line]:
            return [Line("Throk meets goblin. " * (task.tokens // 5))]

    campaign = _long_campaign()
    campaign.summarizer = Wordy()
    assert campaign.compress("pc_throk_001", token_limit=20_000_000)
    assert campaign.carried("pc_throk_001").ids == ()
