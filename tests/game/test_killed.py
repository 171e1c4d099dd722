"""A game survives a kill at any moment of a round: another process resumes it."""

import random
import time
from pathlib import Path

from tests.game.games import log, played, story
from tests.storage.writers import IS_LONG, Child

from dndbots.campaign import Campaign

KILLS = 99 if IS_LONG else 3
KILLS_OF_A_GAME = 3
GAME = ("the_unpaid_bridge", 1)
ROUNDS = 10


class Playing(Child):
    """A process that plays the game in a folder."""

    _module = "tests.game.program"

    def __init__(self, where: Path, *, compacts: bool = False) -> None:
        super().__init__(str(where), *GAME, ROUNDS, "yes" if compacts else "")
        self.wait_until_ready()
        self.go()


def killed(where: Path, rng: random.Random, *, compacts: bool) -> list[str]:
    """A process plays, and is killed somewhere; gives the events that it promised before."""
    with Playing(where, compacts=compacts) as child:
        child.wait_for_lines(rng.randint(0, 20))
        time.sleep(rng.uniform(0, 0.1))
        return child.kill()


def test_a_game_that_was_killed_again_and_again_is_the_same_story(tmp_path: Path) -> None:
    """No step is lost, played twice, or by half; what was played is what would have been."""
    whole = played(story(*GAME, ROUNDS))
    promised = list[str]()
    for kill in range(KILLS):
        rng, where = random.Random(kill), tmp_path / str(kill // KILLS_OF_A_GAME)
        promised = promised if kill % KILLS_OF_A_GAME else []
        promised += killed(where, rng, compacts=kill % KILLS_OF_A_GAME == 1)
        with Campaign.open(where) as campaign:
            assert campaign.verify() == [], f"kill {kill}"
            assert {*promised} <= {event.event_id for event in log(campaign)}, f"kill {kill}"
            before = played(campaign)
            assert before == whole[: len(before)], f"kill {kill}"
    assert promised, "nothing was played before the kills, so that nothing was tried"
    with Playing(where) as child:
        child.finish()
    with Campaign.open(where) as campaign:
        assert campaign.verify() == []
        assert played(campaign) == whole
