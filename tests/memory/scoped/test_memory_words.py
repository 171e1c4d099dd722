"""The words of a scoped memory without a model: what was decided or said, and no filler."""

from typing import Any

from tests.table import event

from dndbots.events import EventType
from dndbots.memory.entries import SummaryTask
from dndbots.memory.human_gates import gates_of
from dndbots.memory.retold_events import retell_events
from dndbots.memory.selection.scoped_memory import write_scoped_memory
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


def test_a_promise_in_a_memory_is_one_sentence() -> None:
    """The words around a promise do not make a memory longer than three sentences."""
    vow = line(1, THROK, '"We are in." "I promise to bring the bell." I put my hand on my heart.')
    [told] = memory_of(vow, kind="location", name="Oak Green")
    assert told == 'Throk said, "I promise to bring the bell."'
