"""Scores and lengths: which of the lines near an answer are worth their tokens."""

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.memory.recall.citations import RecallItem
from dndbots.testing import memory_campaign

ZARA = "pc_zara_001"
LONG = "and the wind goes on and on over the roofs of the town " * 6


def table(*lines: str) -> Campaign:
    """A log with some lines, after a few hundred about the weather."""
    weather = [f"It rains on day {n}, and the river rises." for n in range(300)]
    told = [*weather, *lines]
    return memory_campaign(event(f"e{n}", "dm", text, witnesses=[ZARA]) for n, text in enumerate(told))


def by_source(campaign: Campaign, question: str, budget: int) -> dict[str, RecallItem]:
    return {item.sources[0]: item for item in campaign.recall("Zara", question, budget=budget).items}


def test_of_two_lines_beside_an_answer_the_one_that_says_more_counts_more() -> None:
    """A word or two fill a budget, and tell nothing."""
    campaign = table(
        "The sexton hums a tune in his garden.", "The porphyry bell lies under the crypt.", "Hm!"
    )
    items = by_source(campaign, "Where is the porphyry bell?", 500)
    assert items["e301"].score > items["e300"].score > items["e302"].score


@pytest.mark.parametrize("budget", [1_000, 2_000])
def test_what_answers_best_is_shown_longer_than_what_stands_beside_it(budget: int) -> None:
    """More lines fit, and the answer keeps its length."""
    best, beside = f"The porphyry bell lies here, {LONG}", f"The sexton speaks, {LONG}"
    items = by_source(table(best, beside), "Where is the porphyry bell?", budget)
    assert len(items["e300"].text) > 300
    assert len(items["e301"].text) < 220


def test_a_small_budget_refuses_no_more_than_a_large_one() -> None:
    """Chance has two of these words in many places; the one place that has all three is below those."""
    pairs = ["A bell and a candle.", "A candle and a crypt.", "A crypt and a bell."] * 8
    rain = [f"The rain is heavier at {n}." for n in range(12)]
    spread = ["The crypt is damp.", *rain[:2], "The bell is heard.", *rain[:2], "The candle is out."]
    campaign = table(*(line for pair in pairs for line in (pair, *rain)), *spread)
    question = "Did the gnarfle find a candle, a crypt or a bell?"
    verdicts = {campaign.recall("Zara", question, budget=budget).no_record for budget in (200, 4_000)}
    assert len(verdicts) == 1
