"""Asides: events whose words come from the phrase book and change nothing."""

from tests.game.sandbox import MILL, Sandbox

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb


def test_words_of_the_phrase_book_that_change_nothing_are_asides() -> None:
    """Memories are made of what happened, not of banter and misses."""
    box = Sandbox()
    step, throk = box.step("x"), box.party[0]
    banter = Act(words='"Nice boots."', phrases=("banter#1",)).model_dump(mode="json")
    assert step.add(EventType.DIALOGUE, '"Nice boots."', source=throk, play={"act": banter}).metadata["aside"]
    typed = Act(words='"Nice boots."').model_dump(mode="json")
    own = step.add(EventType.DIALOGUE, '"Nice boots."', source=throk, play={"act": typed})
    assert "aside" not in own.metadata
    given = Act(verb=Verb.ACCEPT, words='"Agreed."', what="bell", phrases=("accept#1",))
    word = step.add(
        EventType.PLAYER_ACTION, '"Agreed."', source=throk, play={"act": given.model_dump(mode="json")}
    )
    assert "aside" not in word.metadata


def test_a_phrase_with_a_gist_is_worth_remembering() -> None:
    """The gist is what players tell each other later."""
    box = Sandbox()
    step = box.step("x")
    step.used["search_found#1"] += 1
    gist = {"gist": "there is a key at the mill"}
    found = step.add(EventType.DM_NARRATION, "There it is: a key.", place=MILL, play=gist)
    assert "aside" not in found.metadata
    step.used["search_nothing#1"] += 1
    assert step.add(EventType.DM_NARRATION, "Nothing.", place=MILL).metadata["aside"]


def test_a_blow_is_an_aside_and_a_death_is_not() -> None:
    """The fight as a whole is told, and who died in it."""
    box = Sandbox()
    step, throk = box.step("x"), box.party[0]
    step.used["foe_hit#1"] += 1
    hit = step.add(EventType.COMBAT_ROUND, "A blow lands.", place=MILL, hp_delta={throk: -2})
    assert hit.metadata["aside"]
    step.used["dies#1"] += 1
    death = step.add(EventType.COMBAT_ROUND, "That was all.", place=MILL, killed=[throk])
    assert "aside" not in death.metadata


def test_a_telling_by_a_model_is_no_aside() -> None:
    """Other words have taken the place of the phrase."""
    box = Sandbox()
    step = box.step("x")
    step.used["search_nothing#1"] += 1
    drafted = step.add(EventType.DM_NARRATION, "Nothing.", place=MILL)
    told = step.retell(drafted, "Under the dust somebody has written a name.")
    assert "aside" not in told.metadata
