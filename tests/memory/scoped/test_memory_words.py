"""The words of a scoped memory without a model: what was decided or said, and no filler."""

from typing import Any

import pytest
from tests.table import event

from dndbots.events import EventType
from dndbots.memory.entries import SummaryTask
from dndbots.memory.human_gates import gates_of
from dndbots.memory.retold_events import retell_events
from dndbots.memory.selection.candidates import find_candidates
from dndbots.memory.selection.scoped_memory import tells_nothing, write_scoped_memory
from dndbots.testing import memory_campaign
from dndbots.tokens import DEFAULT_ENCODING

THROK, PELL, GREEN = "pc_throk_001", "npc_pell_001", "loc_green_001"
NAMES = {PELL: "Wymond Pell", GREEN: "Oak Green", THROK: "Throk"}


def line(number: int, source: str, text: str, kind: EventType = EventType.DIALOGUE, **known: Any) -> Any:
    people = [who for who in (THROK, PELL) if who != source]
    return event(
        f"e{number}", source, text, kind=kind, participants=people, location=GREEN, names=NAMES, **known
    )


def memory_of(*events: Any, kind: Any = "npc", name: str = "Wymond Pell") -> list[str]:
    campaign = memory_campaign(events)
    with campaign.view("dm") as view:
        entries = tuple(retell_events(view, view.events(), gates_of(view)))
    task = SummaryTask(agent="dm", entries=entries, tokens=120, kind=kind, about=PELL, name=name)
    return [told.text for told in write_scoped_memory(task, DEFAULT_ENCODING)]


def test_a_memory_of_a_person_has_words_and_no_gestures() -> None:
    """That somebody takes a breath before speaking is nothing to remember."""
    spoken = line(1, PELL, 'Wymond Pell takes a breath. "The old bell was sold to a smith in Oakham."')
    told = " ".join(memory_of(spoken))
    assert "sold to a smith" in told
    assert "takes a breath" not in told


def test_a_memory_of_a_person_leaves_out_what_others_found_nearby() -> None:
    """What lay on the ground while Pell stood there is no part of the dealings with Pell."""
    found = line(
        1, "dm", "Throk stows away a hatch key.", EventType.LOOT, loot=[{"item": "a hatch key", "to": THROK}]
    )
    spoken = line(2, PELL, '"The old bell was sold to a smith in Oakham."')
    assert "hatch key" not in " ".join(memory_of(found, spoken))
    assert "hatch key" in " ".join(memory_of(found, spoken, kind="location", name="Oak Green"))


def test_a_meeting_of_which_nothing_came_is_one_sentence() -> None:
    """Small talk of the house is marked as an aside, and an aside is not remembered."""
    banter = line(1, THROK, '"My socks have become one thing with my feet, Pell."', aside=True)
    assert memory_of(banter) == ["Throk met Wymond Pell, and nothing came of it."]
    assert memory_of(banter, kind="location", name="Oak Green") == [
        "Throk passed through, and nothing came of it."
    ]


def test_a_step_of_the_story_is_remembered_in_the_words_that_told_it() -> None:
    """A new chapter is no visit of which nothing came; what is only learned from it is not its memory."""
    learned = line(1, "system", "You have learned a thing or two.", EventType.SYSTEM)
    journey = line(
        2, "dm", "The road from Oakham has brought you to Oak Green, with an appetite.", aside=True
    )
    told = ["The road from Oakham has brought you to Oak Green, with an appetite."]
    assert memory_of(learned, journey, kind="world", name="act progressed") == told


@pytest.mark.parametrize("summary", ["Throk passed through, and nothing came of it.", "Nothing came of it."])
def test_a_memory_that_tells_nothing_is_known_as_such(summary: str) -> None:
    """A prompt has no room for a visit of which nothing came."""
    assert tells_nothing(summary)
    assert not tells_nothing(f"Throk asked for the bell. {summary}")
    assert not tells_nothing("Throk took on the quest.")


def test_a_gesture_weighs_less_than_the_words_beside_it() -> None:
    """Prompts and recaps have what a person said, before how that person looked while saying it."""
    spoken = line(1, PELL, 'Wymond Pell looks at the sky. "The old bell was sold to a smith in Oakham."')
    campaign = memory_campaign([spoken])
    with campaign.view("dm") as view:
        gesture, words = find_candidates(retell_events(view, view.events(), gates_of(view)))
    assert "looks at the sky" in gesture.text
    assert gesture.weight < words.weight / 2


def test_words_that_teach_weigh_more_than_banter_and_than_the_gesture_with_them() -> None:
    """Who learned something from a person remembers that, and not how the person stood there."""
    text = 'Wymond Pell leans on the gate. "The old bell was sold to a smith in Oakham."'
    fact = {"subject": "itm_bell_001", "key": "sold_to", "value": "a smith in Oakham"}
    banter, lesson = (
        line(1, PELL, '"A dry summer makes a long winter here."'),
        line(2, PELL, text, facts=[fact]),
    )
    with memory_campaign([banter, lesson]).view("dm") as view:
        idle, gesture, words = find_candidates(retell_events(view, view.events(), gates_of(view)))
    assert words.weight > 2 * idle.weight
    assert gesture.weight < idle.weight


def test_a_promise_in_a_memory_is_one_sentence() -> None:
    """The words around a promise do not make a memory longer than three sentences."""
    vow = line(1, THROK, '"We are in." "I promise to bring the bell." I put my hand on my heart.')
    [told] = memory_of(vow, kind="location", name="Oak Green")
    assert told == 'Throk said, "I promise to bring the bell."'


def test_a_memory_quotes_what_was_said_without_the_words_around_it() -> None:
    """A speaker stands before the words once, and a name that somebody gives is no memory."""
    spoken = line(
        1,
        PELL,
        '"Wymond Pell," says the man. "The old bell was sold to a smith in Oakham," says Wymond Pell.',
    )
    assert memory_of(spoken) == ['Wymond Pell said, "The old bell was sold to a smith in Oakham."']


def test_a_memory_has_no_sentence_that_hangs_on_another() -> None:
    """Nobody knows later what "one" was."""
    seen = line(1, "dm", "Nine doors have one. A black thread is tied around every wreath.")
    [told] = memory_of(seen, kind="location", name="Oak Green")
    assert told == "A black thread is tied around every wreath."


def test_the_first_look_of_a_place_is_remembered_only_if_there_is_nothing_else() -> None:
    """The place itself has a line of its own in a prompt."""
    look = [{"subject": GREEN, "key": "looks", "value": "Snow lies on the old well."}]
    first = line(1, "dm", "Snow lies on the old well.", EventType.DM_NARRATION, facts=look)
    spoken = line(2, PELL, '"The old bell was sold to a smith in Oakham."')
    assert "Snow" not in " ".join(memory_of(first, spoken, kind="location", name="Oak Green"))
    assert "Snow" in " ".join(memory_of(first, kind="location", name="Oak Green"))


def test_a_list_of_ways_and_things_is_no_memory() -> None:
    """What the game only lists stands in every question."""
    sights = {"ways": ["inn door", "onto the bridge"], "things": {"well": "a stone well"}}
    text = "A rider has left tracks in the snow. Somebody points: a stone well."
    text += " There is: the inn door and the way onto the bridge."
    seen = line(1, "dm", text, EventType.DM_NARRATION, play={"step": "dm", "sights": sights})
    assert memory_of(seen, kind="location", name="Oak Green") == ["A rider has left tracks in the snow."]


def test_a_memory_of_the_world_tells_the_step_it_was_made_for() -> None:
    """Older and weightier news leaves room for what happened just now."""
    quest = "qst_the_very_long_and_winding_road_to_the_last_of_the_seven_bells_001"
    goal = {"subject": quest, "key": "goal", "value": "Find " + "the lost bell of the seven towers and " * 7}
    asked = line(1, PELL, '"Find it."', quest_id=quest, quest_state="offered", facts=[goal])
    step = {"subject": quest, "key": "step_see", "value": "You have seen the empty tower."}
    seen = line(
        2, "dm", "It is empty.", EventType.QUEST_UPDATE, quest_id=quest, objective_id="see",
        objective_state="completed", facts=[step],
    )  # fmt: skip
    assert "saw the empty tower" in " ".join(memory_of(asked, seen, kind="world", name=""))


def test_a_walk_and_a_coin_are_no_memory() -> None:
    """They are decided, too, but nobody would tell of them later."""
    coin = line(1, "dm", "", EventType.LOOT, loot=[{"gold": 1, "to": THROK}])
    spoken = line(2, PELL, '"The old bell was sold to a smith in Oakham."')
    assert "gold" not in " ".join(memory_of(coin, spoken, kind="location", name="Oak Green"))
