"""`DnDGame`: a game in one call, which asks nobody anything until it is to be played."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.game.games import Unprompted

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, NoSuchPlayer
from dndbots.events import EventType, GameEvent
from dndbots.game.dnd import DnDGame
from dndbots.rules.characters.creation import ready_made
from dndbots.testing import memory_campaign
from dndbots.tokens import count_tokens

PARTY = ready_made()[:2]

# Neither a network nor a provider's package; what only the package index has besides stays out too.
ALONE = """
import socket, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("langchain", "langchain_openai", "langchain_anthropic", "openai",
                                      "langchain_google_genai", "langchain_ollama", "anthropic", "litellm"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
def refused(*_, **__):
    raise AssertionError("the network was asked for")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
"""


def game(
    dm: str = "house", players: str = "house", campaign: Campaign | None = None, **more: bool
) -> DnDGame:
    return DnDGame("A mill burned down.", list(PARTY), dm, players, campaign, **more)


def told(number: int, content: str, *witnesses: str) -> GameEvent:
    return GameEvent(
        event_id=f"told{number}",
        event_type=EventType.DM_NARRATION,
        source="dm",
        content=content,
        session_id="s01",
        metadata={"witnesses": [*witnesses], "names": {one.uid: one.name for one in PARTY}},
    )


def test_a_game_is_built_and_played_without_network_key_or_provider() -> None:
    """Nothing but the package itself is needed, in an empty environment."""
    code = f"""{ALONE}
from dndbots.game import DnDGame
from dndbots.rules.characters.creation import ready_made
for model in ("gpt-4o", "house"):
    game = DnDGame("A mill burned down.", list(ready_made()[:2]), model, model)
    assert game._player_agents[0].system_message
print(game.play(1))
"""
    path = ":".join(str(one) for one in sys.path if one)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": path},
        cwd=Path(__file__).parents[2],
    )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


def test_a_seat_is_told_who_it_is_and_what_it_has_just_perceived() -> None:
    """The system message is of this moment: it changes with what its character perceives, and only so."""
    campaign = memory_campaign()
    one, other = game("gpt-4o", "gpt-4o", campaign)._player_agents
    assert PARTY[0].name in one.system_message
    campaign.record(told(1, "A bell rings.", PARTY[0].uid, PARTY[1].uid))
    before, others_before = one.system_message, other.system_message
    assert "A bell rings." in before
    campaign.record(told(2, "The bell breaks.", PARTY[0].uid))
    assert one.system_message != before
    assert "The bell breaks." in one.system_message
    assert other.system_message == others_before


def test_a_seat_without_memory_is_told_who_it_is() -> None:
    """And nothing of what was played."""
    campaign = memory_campaign([told(1, "A bell rings.", PARTY[0].uid)])
    alone = game(campaign=campaign, enable_memory=False)._player_agents[0].system_message
    assert PARTY[0].name in alone
    assert "bell" not in alone


def test_the_dm_is_told_of_the_scenario_and_the_party() -> None:
    """By name, before anything was played."""
    message = game()._dm_agent.system_message
    assert "A mill burned down." in message
    assert all(one.name in message for one in PARTY)


def test_a_model_that_cannot_be_had_is_missed_when_it_is_to_play() -> None:
    """To build the game is no fault; to play it names the model, and leaves no game behind."""
    built = game("gpt-4o", "no-such-model")
    with pytest.raises(NoSuchPlayer, match="gpt-4o"):
        built.play(1)
    with pytest.raises(NoSuchPlayer, match="no-such-model"):
        game("house", "no-such-model").play(1)
    assert built.campaign.head == 0


def test_a_game_needs_somebody_to_play_in_it() -> None:
    """Nobody is not enough."""
    with pytest.raises(InvalidSetting, match="characters"):
        DnDGame("A mill.", [])


def test_a_game_of_the_house_plays_and_goes_on() -> None:
    """Round after round in the same campaign, with prompts inside their limit."""
    built = game()
    assert built.play(2) == 2
    assert built.play(1) == 1
    assert built.game.round == 3
    assert [agent.uid for agent in built._player_agents] == built.game.table.living()
    for agent in (built._dm_agent, *built._player_agents):
        assert count_tokens(agent.system_message) <= built.budget


def test_a_game_goes_on_where_its_campaign_has_one() -> None:
    """Built again at the same campaign, it is the same game."""
    campaign = memory_campaign()
    Unprompted.begin(campaign, characters=list(PARTY), seats=2, scenario="A mill burned down.").play(2)
    again = game(campaign=campaign)
    assert again.play(1) == 1
    assert again.game.round == 3
