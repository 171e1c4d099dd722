"""Another telling of the last turn: asked for again, edited, or gone back to. Nobody remembers the others."""

import pytest
from tests.game.models.tables import Walker, begun, calls, run_by
from tests.views import all_views

from dndbots.errors import NothingToRetell
from dndbots.game import LiveState, LiveWords
from dndbots.game.game import Game
from dndbots.game.models.model_dm import ModelDM
from dndbots.game.models.model_player import ModelPlayer
from dndbots.ids import DM
from dndbots.llm.protocol import Answer, Hear, Question, Usage
from dndbots.testing import ScriptedVoice

GULL, HERON, CROW = "A gull laughs at the mill.", "A heron stands in the weir.", "A crow counts the coins."


def contents(game: Game) -> str:
    return "\n".join(event.content for event in game.campaign.events(viewer=DM))


def test_a_turn_is_told_again_and_the_first_telling_is_in_nobodys_memory() -> None:
    game, voice = run_by(GULL, HERON, seats=1, player=Walker())
    game.play(1)
    assert GULL in contents(game)
    telling = game.retry("shorter, and let the guard be afraid", who=DM)
    assert HERON in telling.text
    assert "shorter, and let the guard be afraid" in voice.questions[1].text
    assert all(GULL not in view for view in all_views(game.campaign).values())
    assert HERON in contents(game)
    assert game.campaign.verify() == []
    game.play(2)
    assert all(GULL not in view for view in all_views(game.campaign).values())
    assert "guard be afraid" not in voice.questions[-1].text


def test_the_same_dice_decide_and_the_round_goes_on() -> None:
    """What the rules decided is no matter of taste: only the words are others."""
    game, _ = run_by(GULL, HERON, CROW, seats=2)
    game.play(2)
    before = game.round
    game.retry(who=DM)
    assert game.round == before
    assert game.play(1, compact=False) == 1
    assert game.campaign.verify() == []


def test_tellings_are_gone_through_in_a_circle() -> None:
    game, _ = run_by(GULL, HERON, CROW, seats=1, player=Walker())
    game.play(1)
    game.retry(who=DM)
    game.retry(who=DM)
    texts = [telling.text for telling in game.tellings()]
    assert [any(bird in text for bird in (GULL, HERON, CROW)) for text in texts] == [True] * 3
    assert GULL in game.swipe().text
    assert all(CROW not in view for view in all_views(game.campaign).values())
    assert sorted(telling.text for telling in game.tellings()) == sorted(texts)
    assert len({game.swipe().text for _ in range(3)}) == 3
    assert game.campaign.verify() == []


def test_one_telling_alone_cannot_be_swiped_and_the_house_cannot_be_asked_again() -> None:
    game, _ = run_by(GULL, seats=1, player=Walker())
    with pytest.raises(NothingToRetell):
        game.retry()
    game.play(1)
    with pytest.raises(NothingToRetell, match="told only once"):
        game.swipe()
    house = begun(seats=1)
    house.play(1)
    with pytest.raises(NothingToRetell, match="no model plays"):
        house.retry()


def test_an_edit_replaces_the_text_and_keeps_what_was_decided() -> None:
    new = {"name": "Odo Fenn", "looks": "a man with a crate"}
    game, _ = run_by(calls("introduce_npc", GULL, **new), HERON, seats=1, player=Walker())
    game.play(1)
    facts = {uid: dict(known) for uid, known in game.table.facts.items()}
    game.edit("Odo Fenn puts the crate down.", seen_by=DM)
    assert "Odo Fenn puts the crate down." in contents(game)
    assert all(GULL not in view for view in all_views(game.campaign).values())
    assert {uid: known.get("called") for uid, known in facts.items()} == {
        uid: known.get("called") for uid, known in game.table.facts.items()
    }
    who = game.table.living()[0]
    assert "Odo Fenn" in game.tables[who].names.values()
    with pytest.raises(NothingToRetell, match="0 characters"):
        game.edit("  ")


def test_a_player_retells_only_what_it_perceived() -> None:
    """The DM told two places; a seat at the first one edits the text of the first one."""
    game, _ = run_by(GULL, seats=2, player=Walker())
    one, other = game.table.living()
    voice = ScriptedVoice(
        calls("move_scene", way="river stairs", who=[game.table.name(other)]), HERON, "Mud smells.", "Rain."
    )
    game.cast.dm._voice = voice  # type: ignore[attr-defined]
    game.play(2)
    assert game.table.place(one) != game.table.place(other)
    theirs = "\n".join(event.content for event in game.campaign.events(viewer=other))
    game.edit("The square is empty.", seen_by=one)
    assert "The square is empty." in "\n".join(e.content for e in game.campaign.events(viewer=one))
    assert "\n".join(event.content for event in game.campaign.events(viewer=other)) == theirs


def test_a_players_line_is_told_again() -> None:
    voice = ScriptedVoice(
        lambda question: Answer(words="I sing." if not question.so_far else ""), "I hum.", "I wait."
    )
    game = begun(seats=1, player=ModelPlayer(voice))
    game.play(1)
    assert "I sing." in contents(game)
    game.retry("quieter")
    assert "I hum." in contents(game)
    assert "I sing." not in contents(game)
    assert "quieter" in voice.questions[1].text


def test_usage_of_what_was_taken_back_is_kept() -> None:
    answers = [
        Answer(words=words, model="m", usage=Usage(input=100, output=10))
        for words in (GULL, HERON, CROW, "An owl hunts over the dark weir.")
    ]
    game = begun(dm=ModelDM(ScriptedVoice(*answers)), seats=1, player=Walker())
    game.play(2)
    paid = sum(one.input for one in game.campaign.usage())
    game.undo()
    assert sum(one.input for one in game.campaign.usage()) == paid
    game.play(1)
    game.retry()
    assert sum(one.input for one in game.campaign.usage()) == paid + 200
    assert game.campaign.verify() == []


class Slow:
    """Says its words one by one, and stops when it is told to."""

    def __init__(self, words: str) -> None:
        self.words = words

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer:
        said = ""
        for word in self.words.split(" "):
            if question.stop is not None and question.stop.is_set():
                return Answer(words=said.strip(), stopped=True)
            said += f"{word} "
            if hear is not None:
                hear(f"{word} ")
        return Answer(words=said.strip())


def test_words_are_heard_as_they_come_by_those_who_are_there() -> None:
    game = begun(dm=ModelDM(Slow(f"{GULL} {HERON}")), seats=2, player=Walker())
    heard: list[LiveWords] = []
    game.play(1, hear=heard.append)
    assert [one.state for one in heard] == [
        LiveState.ASKED,
        LiveState.COMES,
        LiveState.COMES,
        LiveState.OVER,
    ]
    assert [one.text.strip() for one in heard[1:3]] == [GULL, HERON]
    assert heard[1].viewers == {DM, *game.table.living()}
    assert all(HERON in view for view in [contents(game)])


def test_an_answer_that_is_stopped_is_told_as_far_as_it_came() -> None:
    def hear(words: LiveWords) -> None:
        if words.text:
            assert game.stop_answer()

    game = begun(dm=ModelDM(Slow(f"{GULL} {HERON} {CROW}")), seats=1, player=Walker())
    assert not game.stop_answer()
    game.play(1, hear=hear)
    assert GULL in contents(game)
    assert CROW not in contents(game)
    assert game.play(1) == 1
