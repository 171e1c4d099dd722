"""Names instead of uids: who hears a line, what is filled in, and what is refused."""

import threading
from pathlib import Path

import pytest
from tests.waiting import HANG

from dndbots import Campaign, GameEvent
from dndbots.errors import AmbiguousName, EventRefused, InvalidName, InvalidSetting
from dndbots.events import EventType, audience
from dndbots.testing import assert_perspective, memory_campaign

ZARA, THROK, ELENA = "pc_zara_001", "pc_throk_001", "npc_elena_001"


@pytest.fixture
def campaign() -> Campaign:
    return memory_campaign()


def test_a_secret_reaches_its_two_ends_and_the_dm(campaign: Campaign) -> None:
    campaign.say("Elena", "Good evening.", role="npc")
    event = campaign.say("Zara", "I hid the key under the altar.", to=["Throk"], at="the chapel")
    assert audience(event) == {ZARA, THROK, "dm"}
    assert event.event_type is EventType.WHISPER
    assert not campaign.recall("Throk", "Where is the key?").no_record
    assert campaign.recall("Elena", "Where is the key?").no_record
    assert_perspective(campaign, lambda table, viewer: table.context(viewer, 300).text)


def test_a_single_name_is_no_list_of_letters(campaign: Campaign) -> None:
    event = campaign.say("Zara", "Psst.", to="Throk")
    assert audience(event) == {ZARA, THROK, "dm"}
    assert {entity.name for entity in campaign.entities(viewer="dm")} == {"Zara", "Throk"}


def test_ids_and_session_are_filled_in(campaign: Campaign) -> None:
    first, again = campaign.say("Zara", "Yes."), campaign.say("Zara", "Yes.")
    assert first.event_id != again.event_id
    assert first.session_id == "s01"
    campaign.start_session("s02")
    assert campaign.say("Zara", "Yes.").session_id == "s02"
    assert campaign.say("Zara", "Yes.", session="s09", event_id="mine").session_id == "s09"


def test_ids_do_not_tell_how_much_a_viewer_missed(campaign: Campaign) -> None:
    campaign.say("Zara", "One.")
    event = campaign.say("Zara", "Two.")
    assert not any(part.isdigit() and len(part) < 6 for part in event.event_id.split("_"))


def test_everybody_at_the_place_hears_and_nobody_elsewhere(campaign: Campaign) -> None:
    campaign.say("Zara", "Here I am.", at="the mill")
    campaign.say("Throk", "And I.", at="the mill")
    campaign.say("Finn", "I stay.", at="the inn")
    event = campaign.say("Zara", "A trap door!")
    assert event.metadata["location"] == "loc_the_mill_001"
    assert audience(event) == {ZARA, THROK, "dm"}


def test_a_stranger_who_speaks_is_where_the_party_is(campaign: Campaign) -> None:
    campaign.say("Zara", "Hello?")
    campaign.narrate("You reach the mill.", at="the mill")
    campaign.say("Elena", "Who is there?", role="npc")
    assert ELENA in audience(campaign.say("Zara", "Only me."))


def test_the_party_goes_where_the_story_is_told(campaign: Campaign) -> None:
    campaign.say("Zara", "Onward.")
    campaign.say("Throk", "Aye.")
    event = campaign.narrate("You reach the mill.", at="the mill")
    assert audience(event) == {ZARA, THROK, "dm"}
    assert campaign.entity("Throk", viewer="dm").location == "loc_the_mill_001"
    campaign.narrate("Only Zara goes down.", at="the cellar", to=["Zara"])
    assert campaign.entity("Throk", viewer="dm").location == "loc_the_mill_001"
    assert audience(campaign.narrate("It is dark.", at="the cellar")) == {ZARA, "dm"}


def test_a_note_is_the_dms_unless_somebody_knows_it(campaign: Campaign) -> None:
    campaign.say("Zara", "Hello.")
    campaign.say("Throk", "Hello.")
    fact = {"Elena": {"role": "traitor"}}
    assert audience(campaign.note("Elena sold them.", facts=fact)) == {"dm"}
    campaign.note("Elena sold them.", facts=fact, known_to="Zara")
    assert campaign.entity("Elena", viewer="Zara").properties["role"] == "traitor"
    assert [held.holder for held in campaign.who_knows({"subject": "Elena", "key": "role"})] == [ZARA]
    assert audience(campaign.note("It is winter.", known_to="party")) == {ZARA, THROK, "dm"}


def test_words_are_believed_and_the_dm_is_right(campaign: Campaign) -> None:
    campaign.say("Zara", "Hello.")
    campaign.say("Elena", "I am the smith.", role="npc", to="Zara", facts={"Elena": {"role": "smith"}})
    facts = campaign.entity("Elena", viewer="Zara").facts
    assert [(fact.value, fact.certainty) for fact in facts if fact.key == "role"] == [("smith", "belief")]
    campaign.narrate("She is the miller.", facts={"Elena": {"role": "miller"}})
    assert campaign.entity("Elena", viewer="Zara").properties["role"] == "miller"


def test_hearers_can_be_listed(campaign: Campaign) -> None:
    campaign.say("Finn", "Hello.")
    event = campaign.say("Zara", "Run!", to="Throk", heard_by=["Elena"])
    assert event.event_type is EventType.DIALOGUE
    assert audience(event) == {ZARA, THROK, "pc_elena_001", "dm"}


def test_known_people_keep_their_uid_whatever_the_role(campaign: Campaign) -> None:
    campaign.say("Elena", "Hello.", role="npc")
    assert campaign.say("Elena", "Still me.").source == ELENA
    assert campaign.say("ELENA", "Loud.").source == ELENA
    assert campaign.say(ELENA, "By uid.").source == ELENA
    assert campaign.say("dm", "Listen.").source == "dm"


def test_names_that_do_not_spell_their_uid_are_introduced_to_each_hearer(campaign: Campaign) -> None:
    campaign.say("Kael'thas", "Hello.", to="Zara")
    campaign.say("Kael'thas", "Hello you.", to="Throk")
    assert "Kael'thas: " in campaign.context("Throk", 300).text


def test_two_people_of_one_name_are_not_guessed(campaign: Campaign) -> None:
    campaign.introduce("PC", "Finn")
    campaign.introduce("PC", "Finn")
    with pytest.raises(AmbiguousName, match="pc_finn_002"):
        campaign.say("Finn", "Which one?")
    with pytest.raises(AmbiguousName):
        campaign.say("Zara", "You there!", to=["Finn"])


@pytest.mark.parametrize("key", ["participant", "Witnesses", "told-to", "witneses"])
def test_misspelled_metadata_are_refused(campaign: Campaign, key: str) -> None:
    with pytest.raises(EventRefused, match="is not a known key; write"):
        campaign.say("Zara", "Hello.", metadata={key: [THROK]})
    assert campaign.head == 0


@pytest.mark.parametrize("value", [{"event_id": "e1"}, "Zara: hello", None, ["e1"]])
def test_recording_something_else_says_so(campaign: Campaign, value: object) -> None:
    with pytest.raises(InvalidSetting, match="is not a GameEvent; make one with"):
        campaign.record(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"text": ""}, InvalidSetting),
        ({"text": "x" * 102_401}, InvalidSetting),
        ({"speaker": " "}, InvalidName),
        ({"speaker": 7}, InvalidSetting),
        ({"to": 7}, InvalidSetting),
        ({"to": [""]}, InvalidName),
        ({"to": ["loc_mill_001"]}, InvalidSetting),
        ({"at": "a\nb"}, InvalidName),
        ({"role": "wizard"}, InvalidSetting),
        ({"facts": {"Elena": "smith"}}, InvalidSetting),
        ({"facts": {"Elena": {"a b": 1}}}, InvalidSetting),
        ({"metadata": {"x": object()}}, InvalidSetting),
        ({"session": ""}, None),
        ({"session": " "}, InvalidSetting),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    campaign: Campaign, call: dict[str, object], error: type[Exception] | None
) -> None:
    given = {"speaker": "Zara", "text": "Hello.", **call}
    if error is None:
        assert campaign.say(**given).session_id == "s01"  # type: ignore[arg-type]
        return
    with pytest.raises(error):
        campaign.say(**given)  # type: ignore[arg-type]
    assert campaign.head == 0


def test_many_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    with Campaign.open(tmp_path / "c") as campaign:
        campaign.say("Zara", "Hello.")

        def write(name: str) -> None:
            with campaign.another() as own:
                for number in range(5):
                    own.say(name, f"{name} {number}", to="Zara")

        threads = [threading.Thread(target=write, args=(f"User {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
        said = [event.content for event in campaign.events(viewer="Zara")][1:]
        assert sorted(said) == [f"User {n} {k}" for n in range(4) for k in range(5)]
        assert not campaign.verify()
        assert len(campaign.entities(viewer="dm", category="PC")) == 5


def test_lines_by_name_and_events_by_uid_are_one_story(campaign: Campaign) -> None:
    campaign.say("Zara", "Hello.", to="Throk")
    fields = {"event_id": "e1", "event_type": "dialogue", "source": ZARA, "content": "Again."}
    campaign.record(GameEvent(**fields, session_id="x", metadata={"participants": [THROK]}))
    assert campaign.say("Throk", "Yes?", to="Zara").session_id == "x"
    assert [event.source for event in campaign.events(viewer="Throk")] == [ZARA, ZARA, THROK]
