"""Casts by name: models are opened when they first speak, and not before."""

import pytest
from tests.game.models.tables import BUDGET, begun, notes, turns

from dndbots.errors import ModelUnavailable, NoSuchPlayer
from dndbots.game.agents import Cast
from dndbots.game.dnd import DnDGame
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.game.setup import build_cast
from dndbots.game.world.house_dm import HouseDM
from dndbots.llm.protocol import Role, Usage, Voice
from dndbots.rules.characters.creation import ready_made
from dndbots.testing import ScriptedVoice, memory_campaign


class Opening:
    """Gives one voice for all roles, and remembers for which it was asked."""

    def __init__(self, voice: Voice | None) -> None:
        self.voice, self.opened = voice, list[Role]()

    def __call__(self, role: Role) -> Voice | None:
        self.opened.append(role)
        return self.voice


def test_a_voice_is_opened_when_it_first_has_to_speak() -> None:
    """To sit down opens nothing; to play opens what is asked."""
    opening = Opening(ScriptedVoice("Well."))
    cast = build_cast("gpt-4o", "house", opening)
    assert isinstance(cast.dm, ModelDM)
    assert opening.opened == []
    campaign = memory_campaign()
    game = Game.begin(campaign, dm="gpt-4o", seed=1, seats=2, budget=BUDGET, cast=cast)
    game.play(1)
    assert {*opening.opened} == {Role.DM}
    assert game.note.dm == "gpt-4o"
    assert isinstance(build_cast("house", "gpt-4o", opening).dm, HouseDM)


def test_a_model_without_a_voice_cannot_sit_down() -> None:
    """It is missed by name, before anything is recorded."""
    campaign = memory_campaign()
    with pytest.raises(NoSuchPlayer, match="gpt-4o"):
        Game.begin(campaign, dm="gpt-4o")
    assert campaign.head == 0
    cast = build_cast("house", "gpt-4o", Opening(None))
    with pytest.raises(NoSuchPlayer, match="player"):
        Game.begin(campaign, players="gpt-4o", cast=cast).play(1)


def test_a_game_in_one_call_is_played_by_models() -> None:
    """With voices for its roles; and it goes on with them."""
    opening = Opening(ScriptedVoice("I nod."))
    campaign = memory_campaign()
    for rounds in (1, 2):
        game = DnDGame("A mill.", list(ready_made()[:2]), campaign=campaign, voices=opening, budget=BUDGET)
        assert game.play(1) == 1
        assert game.game.round == rounds
    assert {event.content for event in turns(game.game)} == {"I nod."}
    assert {one.role for one in campaign.usage()} == {"dm", "player"}
    assert campaign.verify() == []


def test_what_was_taken_beside_the_steps_is_noted_with_the_next_one() -> None:
    """Summaries and extraction are paid for, too: once, by whom, and as much as the provider says."""
    game = begun(seats=1)
    game.record_usage(Role.SUMMARIZER, "openai:a", Usage(input=70, output=7, cached=20))
    assert game.campaign.usage() == []
    game.play(1, compact=False)
    [one] = game.campaign.usage()
    assert (one.role, one.model, one.answers) == ("summarizer", "openai:a", 1)
    assert (one.input, one.output, one.cached) == (70, 7, 20)
    game.play(1, compact=False)
    assert len(notes(game)) == 1


def test_what_was_taken_after_the_last_step_is_noted_when_the_game_stops() -> None:
    """Also where nothing more is played; and a game that was stopped by a fault still tells what it took."""
    game = begun(seats=1)
    game.play(1, compact=False)
    head = game.campaign.head
    game.record_usage(Role.EXTRACTOR, "openai:a", Usage(input=30, output=3))
    game.play(0, compact=False)
    assert game.campaign.head == head + 1
    game.play(0, compact=False)
    assert game.campaign.head == head + 1
    game.record_usage(Role.EXTRACTOR, "openai:a", Usage(input=40, output=4))
    silent = ScriptedVoice(ModelUnavailable("openai:a", reason="it is gone"))
    game.cast = Cast(dm=HouseDM(), player=ModelPlayer(silent))
    with pytest.raises(ModelUnavailable):
        game.play(1, compact=False)
    [one] = game.campaign.usage()
    assert (one.role, one.answers, one.input) == ("extractor", 2, 70)
    assert game.campaign.verify() == []
    assert Game.resume(game.campaign, cast=begun(seats=1).cast).play(1, compact=False) == 1
