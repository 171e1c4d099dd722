"""Material of a scene: a telling takes the place of the house's texts and loses nothing it must tell."""

from typing import Any

from tests.game.models.tables import SQUARE, Walker, calls, notes, play, run_by

from dndbots.events import EventType, audience
from dndbots.game.acts import Act, Verb
from dndbots.game.game import Game
from dndbots.game.models.scene_material import SceneTelling, find_material, tell_material
from dndbots.ids import DM

WAYS = " There are ways: inn sign, tall house, masons' gate, onto the bridge, river stairs."
SHORT = (
    "Wind takes hats in Halfbridge, where an arch leans over a gorge. A thin man with inky cuffs nails up a "
    "notice, beside a statue of the first Warden: a freshly nailed notice."
)
WHOLE = SHORT + WAYS


def texts(game: Game) -> list[str]:
    told = (event for event in play(game) if event.event_type is EventType.DM_NARRATION)
    return [event.content for event in told if event.content]


def test_a_telling_with_everything_in_it_stands_alone() -> None:
    game, _ = run_by(WHOLE, seats=1, player=Walker())
    game.play(1, compact=False)
    assert WHOLE in texts(game)
    assert not any("It has been so for sixty years" in text for text in texts(game))


def test_what_is_left_out_is_added_once_in_the_houses_words() -> None:
    game, _ = run_by(SHORT, seats=1, player=Walker())
    game.play(1, compact=False)
    (told,) = [text for text in texts(game) if SHORT in text]
    assert "river stairs" in told
    assert told.count("river stairs") == 1


def test_what_was_decided_is_decided_however_it_is_told() -> None:
    game, _ = run_by(WHOLE, seats=2, player=Walker())
    house, _ = run_by("", seats=2, player=Walker())
    for one in (game, house):
        one.play(2, compact=False)
    assert game.table.beats == house.table.beats
    assert game.table.sights == house.table.sights
    who = game.table.living()[0]
    assert game.tables[who].sights == house.tables[who].sights
    assert {*game.tables[who].names} >= {*house.tables[who].names}
    folded = Game.resume(game.campaign, cast=game.cast)
    assert folded.tables[who].names == game.tables[who].names
    assert [event.content for event in folded.table.lately] == [event.content for event in game.table.lately]


def test_texts_for_some_are_not_told_to_all() -> None:
    """Events of another audience keep their own words."""
    game, _ = run_by("Hm, well.", seats=2, player=Walker())
    one, other = game.table.living()
    step: Any = game._step("dm")
    for witnesses in ([one, other], [one, other, "npc_odo_001"]):
        step.add(EventType.DM_NARRATION, "A bell rings.", place=SQUARE, witnesses=witnesses)
    material = find_material(step, SQUARE)
    assert len(material) == 1
    assert audience(material[0]) == {DM, one, other}


def test_numbers_must_be_told() -> None:
    game, _ = run_by("Hm.", seats=1, player=Walker())
    step: Any = game._step("dm")
    event = step.add(EventType.LOOT, "You find 12 gold. The box is old.", place=SQUARE)
    assert tell_material(step, [event], "There is gold in it.").text.endswith("You find 12 gold.")
    assert tell_material(step, [event], "There are 12 gold pieces in it.") == SceneTelling(
        "There are 12 gold pieces in it."
    )


def test_what_somebody_finds_out_is_told_whatever_the_model_tells() -> None:
    """Of a text that teaches something, a telling of something else leaves nothing out."""
    act = Act(verb=Verb.LOOK, what="founder_statue", words="I look at the statue.")
    game, _ = run_by(WHOLE, "Rain begins.", seats=1, player=Walker(Throk=act))
    game.play(2, compact=False)
    (told,) = [event.content for event in play(game) if "Rain begins." in event.content]
    assert "He holds a model of the bridge, complete." in told
    assert "Somebody has scratched a small question mark behind it" in told
    step: Any = game._step("dm")
    ambience = step.add(EventType.DM_NARRATION, "A dog sleeps in the sun.", place=SQUARE)
    assert tell_material(step, [ambience], "Rain begins.").text == "Rain begins."


def test_an_answer_with_a_call_alone_is_no_fallback() -> None:
    game, _ = run_by(calls("speak_as", npc="Pask", gist="The tithe is due."), seats=1, player=Walker())
    game.play(1, compact=False)
    assert [note.fallbacks for note in notes(game)] == [0]
    silent, _ = run_by("", seats=1, player=Walker())
    silent.play(1, compact=False)
    assert [note.fallbacks for note in notes(silent)] == [1]


def test_what_a_shown_place_lacks_is_told_after_it() -> None:
    """Nobody reads where one can go before there is a place; a place that is not shown at all comes first."""
    for words, is_first in ((SHORT, True), ("A dog barks.", False)):
        game, _ = run_by(words, seats=1)
        game.play(1)
        told = next(text for text in texts(game) if words in text)
        assert told.startswith(words) is is_first
        assert "the inn sign" in told
