"""The scene of a context: where one is, who is there, how they fare; each with an event that shows it."""

from time import process_time

import pytest
from tests.memory.context.test_context import BOTH, CRYPT, MILL, THROK, ZARA, assert_sound, fact
from tests.table import event

from dndbots import Campaign
from dndbots.errors import UnknownEvent
from dndbots.events import EventType
from dndbots.ids import DM
from dndbots.testing import memory_campaign

ANNA, BERT = "npc_anna_001", "npc_bert_001"


@pytest.fixture
def table() -> Campaign:
    campaign = memory_campaign()
    people = [*BOTH, ANNA, BERT]
    campaign.record(event("e0", DM, "You meet.", location=MILL, participants=people))
    return campaign


def scene(campaign: Campaign, viewer: str) -> list[str]:
    context = campaign.context(viewer, 1000)
    assert_sound(context)
    return [item.text for item in context.items if item.section == "scene"]


def test_all_that_one_event_says_of_somebody_is_told(table: Campaign) -> None:
    """Hit points, gold and conditions of one event do not push one another out."""
    facts = [fact(THROK, "hp", 3), fact(THROK, "gold", 7)]
    table.record(event("e1", DM, "Ouch.", participants=BOTH, facts=facts, conditions={THROK: ["poisoned"]}))
    assert "Throk: poisoned, gold 7, hp 3." in scene(table, ZARA)


def test_a_place_that_is_to_be_forgotten_is_not_told(table: Campaign) -> None:
    """Every line has its sources: where the only event is forgotten, there is nothing to say."""
    assert "You are at Mill." in scene(table, THROK)
    table.forget("e0")
    for viewer in (DM, *BOTH):
        assert scene(table, viewer) == []


def test_of_many_who_fell_the_last_few_are_told_and_the_scene_is_where_somebody_lives(
    table: Campaign,
) -> None:
    """A long campaign has many graves; the DM's scene is not made of them."""
    for n in range(30):
        one, grave = f"pc_fallen{n:02}_001", f"loc_grave{n:02}_001"
        table.record(event(f"f{n}", DM, "One comes.", location=grave, participants=[one]))
        table.record(event(f"g{n}", DM, "One dies.", location=grave, participants=[one], killed=[one]))
    # Until others are spoken of, the newest graves are what the DM looks at.
    for n in range(40):
        table.record(event(f"h{n}", DM, "On you go.", location=MILL, participants=[*BOTH, ANNA, BERT]))
    context = table.context(DM, 4_000)
    assert_sound(context)
    there = [item.text for item in context.items if item.section == "scene" and item.text.startswith("At ")]
    assert there == ["At Mill: Anna, Bert, Throk, Zara."]
    party = "\n".join(item.text for item in context.items if item.section == "identity")
    told = [n for n in range(30) if f"fallen{n:02}" in party.lower()]
    assert told == list(range(22, 30))


@pytest.mark.parametrize("name", ["## NOW", "# Anna", "`Anna`", "#", "###"])
def test_no_name_opens_a_section(table: Campaign, name: str) -> None:
    """People and places may be called anything, and memories begin with anything."""
    table.record(
        event(
            "e1",
            ANNA,
            "I promise you a horse.",
            kind=EventType.DIALOGUE,
            location=MILL,
            participants=[*BOTH, ANNA],
            names={ANNA: name, MILL: name},
        )
    )
    table.record(event("e2", DM, "She bleeds.", participants=BOTH, facts=[fact(ANNA, "hp", 3)]))
    for number in range(20):
        table.record(event(f"n{number}", DM, "They wait, and count the hours.", participants=BOTH))
    table.record(event("e3", DM, "You leave.", location=CRYPT, participants=BOTH))
    table.memory_service.on_location_exit(table, MILL)
    table.record(event("e4", DM, "You come back.", location=MILL, participants=[*BOTH, ANNA]))
    for viewer in (DM, *BOTH, ANNA):
        for budget in (300, 2000):
            assert_sound(table.context(viewer, budget, query="What did Anna promise?"))


def test_two_places_that_are_one_are_one_scene(table: Campaign) -> None:
    """An NPC at either of two merged places is present."""
    table.record(event("e1", DM, "Down the stairs.", location=CRYPT, participants=[THROK], witnesses=[ZARA]))
    assert scene(table, THROK) == ["You are at Crypt."]
    table.record(event("e2", DM, "It is below the mill!", participants=BOTH, same_as={CRYPT: MILL}))
    assert scene(table, THROK) == ["You are at Mill.", "Here: Anna, Bert, Zara."]
    assert scene(table, DM) == ["At Mill: Anna, Bert, Throk, Zara."]


def test_who_turned_out_to_be_another_is_still_somewhere(table: Campaign) -> None:
    """And knows who it is, under the uid that it always had, and does not meet itself."""
    told = {"participants": [BERT], "facts": [fact(BERT, "role", "spy")]}
    table.record(event("e1", DM, "You are Anna.", location=CRYPT, same_as={BERT: ANNA}, **told))
    context = table.context(BERT, 1000)
    assert_sound(context)
    assert scene(table, BERT) == ["You are at Crypt."]
    assert "who you are" in {item.reason for item in context.items}


def test_one_long_sheet_does_not_push_out_all_else(table: Campaign) -> None:
    """A line that has no room leaves it to the others: to the party, and to what is to be done."""
    long = [fact(THROK, f"trait_{n}", "a long story of the old days of the war " * 3) for n in range(30)]
    facts = [*long, fact(ZARA, "class", "MU")]
    table.record(
        event("e1", DM, "So.", participants=BOTH, facts=facts, quest_id="qst_war_001", quest_state="offered")
    )
    for budget in (500, 1000):
        context = table.context(THROK, budget)
        assert_sound(context)
        assert {"a party member", "an open quest"} <= {item.reason for item in context.items}
        assert "over budget: who you are" in {item.reason for item in context.dropped}


def test_long_lines_full_of_what_was_asked_are_shortened_at_once(table: Campaign) -> None:
    """The part that says most is found in one go, however often the word stands there."""
    for number in range(3):
        table.record(event(f"l{number}", DM, "sword " * 17_000, participants=BOTH))
    started = process_time()
    context = table.context(THROK, 1000, query="Who has the sword?")
    assert process_time() - started < 4
    assert_sound(context)
    assert [item for item in context.items if item.section == "asked"]


def test_what_is_no_event_is_no_place_in_the_log(table: Campaign) -> None:
    """It is not taken for damage to the store."""
    with pytest.raises(UnknownEvent):
        table.context(THROK, as_of=5)  # type: ignore[arg-type]


def test_a_whisper_is_told_as_one(table: Campaign) -> None:
    """A whisper is marked as one; only its two ends and the DM have it."""
    table.record(event("e1", THROK, "I do not trust her.", kind=EventType.WHISPER, told_to=[ZARA]))
    table.record(event("e2", ANNA, "Lovely weather.", location=MILL, participants=[*BOTH, ANNA]))
    for viewer in (DM, *BOTH):
        assert "Throk: (whispers to Zara) I do not trust her." in table.context(viewer, 600).text
    assert "trust" not in table.context(ANNA, 600).text
