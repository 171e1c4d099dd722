"""Ranks of lines: their number among a viewer's own lines, read for as few lines as can be."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.memory.recall import line_scores
from dndbots.storage.views import word_index
from dndbots.testing import as_text, memory_campaign

ZARA, FINN = "pc_zara_001", "pc_finn_001"
GROUPS = ([ZARA], [ZARA, FINN], [FINN])
FEWER = max(3, settings().max_examples // 10)

heard_by = st.lists(st.sampled_from(GROUPS), min_size=12, max_size=50)


def line(number: int, witnesses: list[str], text: str = "The bell rings.") -> GameEvent:
    return event(f"e{number:03d}", "dm", text, witnesses=witnesses)


@contextmanager
def tables(events: list[GameEvent], folder: Path) -> Iterator[list[Campaign]]:
    """The same log in memory and in a file; and each again, with the second half in a fork."""
    half = len(events) // 2
    with ExitStack() as stack:
        both = [memory_campaign(), stack.enter_context(Campaign.open(folder / "c"))]
        for campaign in both:
            campaign.record_many(events[:half])
        forks = [campaign.fork("aside", at=events[half - 1].event_id) for campaign in both]
        for campaign in (*both, *forks):
            campaign.record_many(events[half:])
        yield [*both, *forks]


@settings(max_examples=FEWER)
@given(groups=heard_by, data=st.data())
def test_only_lines_far_from_all_others_have_no_rank(
    tmp_path_factory: pytest.TempPathFactory, groups: list[list[str]], data: st.DataObject
) -> None:
    """A rank is exact, wherever a line is; a line without one is apart from the rest."""
    events = [line(number, group) for number, group in enumerate(groups)]
    apart = data.draw(st.integers(1, 8))
    with tables(events, tmp_path_factory.mktemp("ranks")) as campaigns:
        for campaign in campaigns:
            with campaign.view(ZARA) as view:
                own = view.seqs_after(0)
                asked = data.draw(st.lists(st.sampled_from(own), unique=True)) if own else []
                index = view.index()
                every = {seq: own.index(seq) + 1 for seq in asked}
                assert index.ranks([*asked, *asked]) == every
                crowds = index.ranks_in_crowds(asked, apart)
            assert crowds.items() <= every.items()
            for seq in every.keys() - crowds.keys():
                others = [abs(every[seq] - every[other]) for other in asked if other != seq]
                assert min(others, default=apart) >= apart


def test_words_that_stand_in_the_same_lines_are_equally_rare() -> None:
    """The oldest line that was read of both is the same one, and counts once."""
    rain = [line(number, [ZARA], "It rains.") for number in range(8)]
    campaign = memory_campaign(
        [*rain, *(line(number, [ZARA]) for number in range(8, 16)), *map(_dry, range(16, 20))]
    )
    with patch.multiple(word_index, _NEWEST=4, _MOST_LINES=1, _MOST_READ=1), campaign.view(ZARA) as view:
        bell, rings = view.index().find([["bell"], ["rings"]])
        (alone,) = view.index().find([["bell"]])
    assert bell.lines == rings.lines == alone.lines


def _dry(number: int) -> GameEvent:
    return line(number, [ZARA], "It is dry.")


@pytest.mark.parametrize("seed", range(20))
def test_a_line_far_from_others_has_the_same_score_as_with_its_rank(seed: int) -> None:
    """Made-up sections change no score, neither of the line nor of those around it."""
    rng = random.Random(seed)
    said = [rng.choice(["bell", "crypt", *["rain"] * 6]) for _ in range(40)]
    events = [line(n, rng.choice(GROUPS), f"A {word} by the {n % 7}.") for n, word in enumerate(said)]
    campaign = memory_campaign(events)
    answers = []
    for apart in (6, 10**9):
        with patch.multiple(line_scores, _SECTION=2, _APART=apart, _MOST_CANDIDATES=4):
            answers.append([as_text(campaign.recall(who, "bell crypt")) for who in (ZARA, "dm")])
    assert answers[0] == answers[1]
