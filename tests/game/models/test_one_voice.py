"""Nothing is told twice: whoever speaks, in the order in which it is told."""

import pytest
from tests.game.models.tables import PASK, SQUARE, Walker, calls, notes, play, run_by

from dndbots.events import EventType
from dndbots.game.game import Game
from dndbots.game.models.echoes import EchoFilter, texts_told
from dndbots.game.models.guards import is_engine_talk
from dndbots.game.models.scene_material import tell_material
from dndbots.llm.protocol import Question
from dndbots.testing import ScriptedVoice

GULL = "A gull laughs at the crooked mill, and the miller throws a wet boot after it."


def told(game: Game) -> str:
    return "\n".join(event.content for event in play(game))


def test_an_npc_does_not_say_what_the_dm_has_just_told() -> None:
    """The DM's words of this very turn count, though the step is not recorded yet."""
    voice = ScriptedVoice(f"{GULL} The tithe is due on Monday.")
    game, _ = run_by(
        calls("speak_as", GULL, npc="Pask", gist="The tithe."), npcs=voice, seats=1, player=Walker()
    )
    game.play(1, compact=False)
    assert told(game).count("A gull laughs") == 1
    assert any("The tithe is due on Monday." in event.content for event in play(game) if event.source == PASK)


def test_the_text_of_a_tool_is_guarded_like_a_telling() -> None:
    """What was told stands once, and engine talk in a tool's text never reaches the story."""
    game, _ = run_by(calls("clear_place", GULL, text=GULL), seats=1, player=Walker())
    game.play(1, compact=False)
    assert told(game).count("A gull laughs") == 1
    assert "Halfbridge Square is safe now." in told(game)
    game, _ = run_by(calls("spend_time", hours=1, text="Field required."), seats=1, player=Walker())
    game.play(1, compact=False)
    assert "Field required" not in told(game)
    assert "60 minutes pass." in told(game)


def test_a_scene_does_not_end_with_what_was_told() -> None:
    game, _ = run_by(calls("end_scene", GULL, summary=GULL), seats=1, player=Walker())
    game.play(1, compact=False)
    assert told(game).count("A gull laughs") == 1
    assert any(
        "summary is empty, or was told before" in fault for note in notes(game) for fault in note.faults
    )


def test_what_the_house_adds_is_told_once() -> None:
    """A sentence of the model that tells nearly the same makes room for the house's own."""
    game, _ = run_by("Hm, well.", seats=1, player=Walker())
    step = game._step("dm")
    event = step.add(EventType.LOOT, "In the old box under the stairs you find 12 gold.", place=SQUARE)
    words = "In the old box under the stairs you find some gold. The lid creaks."
    assert tell_material(step, [event], words).text == (
        "The lid creaks.\n\nIn the old box under the stairs you find 12 gold."
    )
    again = step.add(EventType.DM_NARRATION, "Three carts with 9 barrels wait here.", place=SQUARE)
    heard = ["Three carts with 9 barrels wait here."]
    assert tell_material(step, [again], "It rains.", earlier=heard).text == "It rains."
    assert tell_material(step, [again], "It rains.").text == f"It rains.\n\n{heard[0]}"


def test_the_house_shows_a_person_once() -> None:
    game, _ = run_by("", seats=1, player=Walker())
    game.play(1, compact=False)
    opening = next(event.content for event in play(game) if event.known.discovered)
    assert opening.casefold().count("a thin man with inky cuffs") == 1


@pytest.mark.parametrize(
    ("again", "is_echo"),
    [
        ("The miller throws a boot after a laughing gull.", True),  # shorter
        ("A gull laughs at the very crooked mill, and the miller throws a wet boot after it.", True),
        ("A gull lands on the mill, and nobody throws anything at all this time.", False),
        ("I look at the cart with care.", False),
    ],
)
def test_a_retelling_with_little_new_in_it_is_an_echo(again: str, is_echo: bool) -> None:  # noqa: FBT001
    assert EchoFilter([GULL, "I look at the stone with care."]).has(again) is is_echo


def test_only_the_last_rounds_count_and_only_for_those_who_heard_it() -> None:
    game, _ = run_by(
        GULL, *[f"Cart number {word} rolls by." for word in ["one", "two", "three", "four", "five", "six"]]
    )
    game.play(2, compact=False)
    who = game.table.living()[0]
    assert any(GULL in text for text in texts_told(game.table, hearers=(who,)))
    assert not any(GULL in text for text in texts_told(game.table, hearers=("npc_nobody_001",)))
    game.play(5, compact=False)
    assert not any(GULL in text for text in texts_told(game.table, hearers=(who,)))


def test_reasons_of_refusals_are_no_story() -> None:
    assert is_engine_talk("The party looks around, but there is no 'Halfbridge Square' here.")
    assert not is_engine_talk("There is no bridge here, and there never was.")


def test_the_dms_question_has_what_people_would_tell() -> None:
    """It changes from turn to turn, so it stands in the question; no player is ever shown it."""
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return "The wind turns."

    game, _ = run_by(answer, seats=2, player=Walker())
    game.play(2, compact=False)
    text = asked[-1].text
    assert "Would tell of: " in text
    assert "hit points, 12 gold" in text
    assert "Would tell of" not in asked[-1].system
    for who in game.table.living():
        assert "Would tell of" not in game.system_message(who)
