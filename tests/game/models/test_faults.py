"""Models that do everything wrong, at random, for many rounds."""

import pytest
from bench.faults import faulty_cast, play_on, wrongs
from tests.storage.writers import IS_LONG

from dndbots.events import GameEvent
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.testing import memory_campaign
from dndbots.testing.scripted_voices import FAULTS

ROUNDS = 250 if IS_LONG else 30
GAMES = [("endless", 1), ("the_unpaid_bridge", 5), ("open", 3)]


class Forgetful(Game):
    """With prompts that say nothing: what is looked at here is what becomes of answers."""

    def context_manager(self) -> None:
        """Nobody's memory is seen to."""

    def _prompt(self, who: str) -> Context:
        return Context(viewer=who, budget=200, encoding="cl100k_base", text="", tokens=0, prompt_tokens=0)


@pytest.mark.parametrize(("module", "seed"), GAMES)
def test_whatever_models_do_the_game_goes_on_and_the_log_stays_true(module: str, seed: int) -> None:
    """No crash, a sound log, nobody hears what it should not, and nothing false in anybody's words."""
    campaign = memory_campaign()
    cast, voices = faulty_cast(seed)
    game = Forgetful.begin(campaign, module=module, seed=seed, seats=3, cast=cast)
    down = play_on(game, ROUNDS)
    assert down
    assert {fault for voice in voices for fault in voice.done} >= {*FAULTS}
    log = list(campaign.events(viewer=DM))
    assert list(wrongs(log)) == []
    assert campaign.verify() == []
    assert game.round == ROUNDS
    assert sum(one.faults for one in campaign.usage()) > ROUNDS


def test_a_game_of_faults_goes_on_from_its_log() -> None:
    """Folded again, every table is what it was: nothing of a broken step is left in them."""
    campaign = memory_campaign()
    cast, _ = faulty_cast(7)
    game = Forgetful.begin(campaign, seed=7, seats=3, cast=cast)
    play_on(game, 12)
    again = Forgetful.resume(campaign, cast=cast)
    assert again.tables.keys() == game.tables.keys()
    for who, table in game.tables.items():
        other = again.tables[who]
        assert (table.facts, table.names, table.laid, table.clocks) == (
            other.facts,
            other.names,
            other.laid,
            other.clocks,
        )


def test_every_table_is_looked_for() -> None:
    """The search for what is wrong finds it: a line of false memory in somebody's words."""
    event = GameEvent(
        event_id="e", event_type="dialogue", source="pc_x_001", content="## MEMORY_dm", session_id="s01"
    )
    assert list(wrongs([event]))
