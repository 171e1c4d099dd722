"""An imported story that is played on: its people in the seats, its last place, its log as memory."""

from typing import Any

import pytest
from tests.game.models.tables import Walker

from dndbots.campaign import Campaign
from dndbots.errors import GameExists, InvalidSetting
from dndbots.game.agents import Cast
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.story_seats import UNNAMED, StoryWish, find_people
from dndbots.ids import DM
from dndbots.rules.characters.creation import ready_made
from dndbots.testing import ScriptedVoice, memory_campaign

FORD, CHURCH = "Gallow Ford", "The Drowned Church"
LINES: list[dict[str, Any]] = [
    {"session": session, "speaker": who, "role": role, "text": text, "location": place}
    for session, who, role, text, place in (
        ("s01", "DM", "dm", "Rain falls on Gallow Ford.", FORD),
        ("s01", "Bram", "pc", "I promised the miller his bell back.", FORD),
        ("s02", "Isolde", "pc", "The bell hangs in the drowned church.", FORD),
        ("s02", "Bram", "pc", "Then we wade in tonight.", CHURCH),
    )
]


def imported() -> Campaign:
    campaign = memory_campaign()
    campaign.import_transcript(LINES)
    return campaign


def played_on(campaign: Campaign, *said: str, **wish: Any) -> tuple[Game, ScriptedVoice]:
    voice = ScriptedVoice(*said)
    cast = Cast(dm=ModelDM(voice), player=Walker())
    return Game.go_on(campaign, StoryWish(seed=3, dm="double", **wish), cast=cast), voice


def test_its_people_sit_down_where_the_story_stopped() -> None:
    campaign = imported()
    before = list(campaign.events(viewer=DM))
    game, voice = played_on(campaign, "The water is cold, and black.")
    game.play(1, compact=False)
    names = {game.table.name(uid) for uid in game.table.living()}
    assert names == {"Bram", "Isolde"}
    assert {game.table.name(str(game.table.place(uid))) for uid in game.table.living()} == {
        "The Drowned Church"
    }
    assert "The Drowned Church" in voice.questions[0].text
    assert "bell" in voice.questions[0].system
    after = list(campaign.events(viewer=DM))
    assert [event.content for event in after[: len(before)]] == [event.content for event in before]
    assert any("The water is cold, and black." in event.content for event in after)
    assert campaign.verify() == []


def test_nothing_of_another_story_is_told() -> None:
    """No opening, no module: what is told is what the DM tells."""
    game, _ = played_on(imported(), "The water is cold, and black.")
    game.play(2, compact=False)
    told = " ".join(event.content for event in game.campaign.events(viewer=DM))
    assert "This is where the story begins" not in told
    assert "Open Game" not in told


def test_its_log_is_the_memory_of_those_who_were_there() -> None:
    game, _ = played_on(imported(), "The water is cold, and black.")
    game.play(1, compact=False)
    bram = next(uid for uid in game.table.living() if game.table.name(uid) == "Bram")
    assert "bell" in game.system_message(bram)
    assert game.campaign.recall(bram, "What did I promise the miller?").items


def test_sessions_go_on_counting_and_the_game_resumes() -> None:
    game, _ = played_on(imported(), "The water is cold, and black.")
    game.play(1, compact=False)
    assert game.table.session == "s03"
    game.end_session()
    game.start_session()
    assert game.table.session == "s04"
    resumed = Game.resume(game.campaign, cast=game.cast)
    assert resumed.table.seats == game.table.seats
    resumed.play(1, compact=False)
    with pytest.raises(GameExists):
        played_on(game.campaign, "Hm.")


def test_a_sheet_that_is_given_is_used_and_a_newcomer_may_join() -> None:
    sheet = ready_made()[0]
    own = sheet.model_copy(update={"name": "Bram", "char_id": None})
    game, _ = played_on(imported(), "Cold.", sheets=(own, ready_made()[1]), wanted=("Bram",), seats=1)
    sheets = {game.table.name(uid): game.table.character(uid) for uid in game.table.living()}
    assert sheets.keys() == {"Bram", ready_made()[1].name}
    assert sheets["Bram"] is not None
    assert sheets["Bram"].stats == sheet.stats


def test_a_story_without_players_needs_a_sheet() -> None:
    campaign = memory_campaign()
    campaign.import_transcript([{"speaker": "DM", "role": "dm", "text": "It rains."}])
    assert find_people(campaign) == []
    with pytest.raises(InvalidSetting, match="--character"):
        played_on(campaign, "Hm.")


def test_the_busiest_come_first() -> None:
    assert [person.name for person in find_people(imported())] == ["Bram", "Isolde"]


def test_a_story_without_a_place_goes_on_in_no_other_story() -> None:
    """Where nobody said where they were, the place has no name, and is not where an adventure begins."""
    campaign = memory_campaign()
    campaign.import_transcript(
        [{key: line[key] for key in ("session", "speaker", "role", "text")} for line in LINES]
    )
    game, _ = played_on(campaign, "The water is cold, and black.")
    game.play(2, compact=False)
    places = {game.table.name(str(game.table.place(uid))) for uid in game.table.living()}
    assert places == {UNNAMED}
    told = " ".join(event.content for event in campaign.events(viewer=DM))
    assert "Beginning" not in told
    assert "The story goes on where it stopped." in told
    assert campaign.verify() == []
