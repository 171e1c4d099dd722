"""A module that somebody wrote after the page on writing them can be played to its end."""

import re
from pathlib import Path

import pytest

from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.testing import memory_campaign

PAGE = Path(__file__).parents[2] / "docs" / "modules.md"
QUEST = "qst_a_light_for_the_ford_001"


@pytest.fixture
def lantern(tmp_path: Path) -> Path:
    """The first module of the page, saved as the page says."""
    text = re.search(r"Save this as `(\S+)`:\n\n```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert text is not None
    written = tmp_path / text[1]
    written.write_text(text[2], "utf-8")
    return written


@pytest.mark.parametrize("seed", [1, 2])
def test_the_module_of_the_page_is_played_to_its_end(lantern: Path, seed: int) -> None:
    """The house finds the lantern, brings it home, is paid, and the story is over."""
    campaign = memory_campaign()
    game = Game.begin(campaign, module=str(lantern), seed=seed)
    assert game.play(60) < 60
    assert game.over
    quest = campaign.entity(QUEST, viewer=DM)
    assert quest.properties["state"] == "completed"
    assert quest.objectives == {"find": "completed", "home": "completed"}
    assert campaign.verify() == []
