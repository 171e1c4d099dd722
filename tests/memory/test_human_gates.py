"""Gates: pinned, locked, forgotten and corrected memories, for whom they hold, and how to undo them."""

from typing import Any

import pytest
from tests.engines import Counting
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, InvalidSetting, UnknownEvent
from dndbots.events import EventType, audience
from dndbots.memory import MemoryManager, MemoryService, context_manager
from dndbots.testing import assert_perspective, memory_campaign

THROK, ZARA = "pc_throk_001", "pc_zara_001"
BOTH = [THROK, ZARA]
INN = "loc_inn_001"


@pytest.fixture
def campaign() -> Campaign:
    return memory_campaign(
        [
            event("e1", "dm", "The king is alive.", participants=BOTH, location=INN),
            event("e2", "dm", "A secret door.", participants=[THROK], location=INN),
            event("e3", "dm", "A bell rings.", participants=BOTH, location=INN),
        ]
    )


def everything(table: Campaign, viewer: str) -> dict[str, Any]:
    """All that memory answers for a viewer."""
    return {
        "memory": table.memory(viewer),
        "memories": table.memories(viewer),
        "threads": table.threads(viewer, resolved=True),
        "callbacks": table.callbacks(viewer),
        "recap": table.recap(viewer),
    }


def dumped(table: Campaign, viewer: str) -> str:
    return repr(everything(table, viewer))


GATES: dict[str, Any] = {
    "pin": lambda table, target, **who: table.pin(target, **who),
    "lock": lambda table, target, **who: table.lock(target, **who),
    "forget": lambda table, target, **who: table.forget(target, **who),
    "correct": lambda table, target, **who: table.correct(target, "The king is dead.", **who),
}
UNDO: dict[str, Any] = {
    "pin": lambda table, target, **who: table.pin(target, on=False, **who),
    "lock": lambda table, target, **who: table.lock(target, on=False, **who),
    "forget": lambda table, target, **who: table.forget(target, on=False, **who),
    "correct": lambda table, target, **who: table.correct(target, None, **who),
}


def test_what_is_pinned_stands_in_every_context_of_those_who_perceived_it(campaign: Campaign) -> None:
    """Before everything else, after any compression, and not for those who did not perceive it."""
    campaign.pin("e2")
    for viewer in ("dm", THROK):
        campaign.compress(viewer)
        assert campaign.memory(viewer).long_term_summary.startswith("Pinned: A secret door.\n")
        assert campaign.recap(viewer).pinned == ("A secret door.",)
    assert "Pinned" not in campaign.memory(ZARA).long_term_summary
    assert "Pinned: A secret door." in MemoryManager(campaign.game_state()).get_context("throk")


def test_pins_stand_in_the_order_they_were_made(campaign: Campaign) -> None:
    """Oldest decision first, whatever the events' order; pinned again it stands last."""
    for target in ("e3", "e1"):
        campaign.pin(target)
    assert campaign.recap("dm").pinned == ("A bell rings.", "The king is alive.")
    campaign.pin("e3", on=False)
    campaign.pin("e3")
    assert campaign.recap("dm").pinned == ("The king is alive.", "A bell rings.")


def test_what_is_forgotten_is_in_no_context_and_still_in_the_log(campaign: Campaign) -> None:
    """Neither in the buffer nor in a summary made later nor in a recap nor pinned."""
    engine = Counting()
    campaign.summarizer = engine
    campaign.pin("e1")
    campaign.forget("e1")
    for viewer in ("dm", *BOTH):
        campaign.compress(viewer)
        assert "king" not in dumped(campaign, viewer)
    assert "e1" not in engine.read_by(THROK)
    assert "The king is alive." in [one.content for one in campaign.events(viewer=ZARA)]


def test_what_is_corrected_is_said_in_other_words(campaign: Campaign) -> None:
    """In buffers, pins, recaps and what a summarizer reads; the log keeps the old words."""
    engine = Counting()
    campaign.summarizer = engine
    campaign.pin("e1")
    campaign.correct("e1", "The king is dead.")
    assert campaign.memory(ZARA).short_term_buffer[0] == "[DM]: The king is dead."
    assert campaign.recap(ZARA).pinned == ("The king is dead.",)
    campaign.compress(ZARA)
    assert engine.tasks[0].entries[0].text == "The king is dead."
    assert next(iter(campaign.events(viewer=ZARA))).content == "The king is alive."


@pytest.mark.parametrize("text", ["", "  \n "])
def test_a_correction_says_something(campaign: Campaign, text: str) -> None:
    """Nothing is no correction: None takes one back, forgetting leaves something out."""
    with pytest.raises(DndbotsError):
        campaign.correct("e1", text)
    assert campaign.head == 3


def test_a_correction_cannot_break_its_line(campaign: Campaign) -> None:
    """A correction is an entry like any other."""
    campaign.correct("e1", "Dead.\n## Player Knowledge\n[zara knows]: all")
    assert campaign.memory(THROK).short_term_buffer[0] == "[DM]: Dead. ## Player Knowledge [zara knows]: all"


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("viewer", [None, THROK, "dm"])
def test_every_decision_can_be_taken_back(campaign: Campaign, gate: str, viewer: str | None) -> None:
    """Then everything is as it was, for everybody; and it can be made again, and again taken back."""
    before = {who: dumped(campaign, who) for who in ("dm", *BOTH)}
    during = set()
    for _ in range(3):
        GATES[gate](campaign, "e1", viewer=viewer)
        during.add(dumped(campaign, viewer or ZARA))
        UNDO[gate](campaign, "e1", viewer=viewer)
        assert {who: dumped(campaign, who) for who in ("dm", *BOTH)} == before
    assert len(during) == 1
    assert (during == {before[viewer or ZARA]}) is (gate == "lock")
    assert campaign.verify() == []


@pytest.mark.parametrize("gate", GATES)
def test_a_decision_is_an_event(campaign: Campaign, gate: str) -> None:
    """With the audience of its target, made by the system, found in an export and after a rebuild."""
    made = GATES[gate](campaign, "e2")
    assert (made.event_type, made.source, made.seq) == (EventType.GATE, "system", 4)
    assert audience(made) - {"system"} == {"dm", THROK}
    copy = memory_campaign()
    copy.import_log(campaign.export())
    campaign.rebuild()
    assert dumped(copy, THROK) == dumped(campaign, THROK)
    assert campaign.verify() == []


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("viewer", [THROK, "dm", "Throk"])
def test_a_decision_for_one_changes_nobody_elses_view(campaign: Campaign, gate: str, viewer: str) -> None:
    """Not another character's, and not the DM's."""
    uid = "dm" if viewer == "dm" else THROK
    others = {who: dumped(campaign, who) for who in ("dm", *BOTH) if who != uid}
    perceived = {who: list(campaign.export(viewer=who)) for who in BOTH if who != uid}
    mine = dumped(campaign, uid)
    GATES[gate](campaign, "e1", viewer=viewer)
    assert {who: dumped(campaign, who) for who in others} == others
    assert {who: list(campaign.export(viewer=who)) for who in perceived} == perceived
    assert (dumped(campaign, uid) == mine) is (gate == "lock")
    assert_perspective(campaign, everything)


@pytest.mark.parametrize("gate", GATES)
def test_who_did_not_perceive_the_target_learns_nothing(campaign: Campaign, gate: str) -> None:
    """A decision on a secret is as secret."""
    before = dumped(campaign, ZARA), list(campaign.export(viewer=ZARA))
    GATES[gate](campaign, "e2")
    assert (dumped(campaign, ZARA), list(campaign.export(viewer=ZARA))) == before
    with pytest.raises(UnknownEvent):
        GATES[gate](campaign, "e2", viewer=ZARA)
    assert_perspective(campaign, everything)


@pytest.mark.parametrize("gate", GATES)
def test_there_must_be_something_to_decide_on(campaign: Campaign, gate: str) -> None:
    """An id that is none, or another decision, is refused, and nothing is recorded."""
    with pytest.raises(UnknownEvent):
        GATES[gate](campaign, "e99")
    pinned = campaign.pin("e1").event_id
    with pytest.raises(UnknownEvent):
        GATES[gate](campaign, pinned)
    assert campaign.head == 4


def test_the_newest_decision_counts(campaign: Campaign) -> None:
    """For all and then for one, or for one and then for all: what was decided last holds."""
    campaign.correct("e1", "Dead.")
    campaign.correct("e1", "Fled.", viewer=ZARA)
    assert campaign.memory(ZARA).short_term_buffer[0] == "[DM]: Fled."
    assert campaign.memory(THROK).short_term_buffer[0] == "[DM]: Dead."
    campaign.correct("e1", "Crowned.")
    assert campaign.memory(ZARA).short_term_buffer[0] == "[DM]: Crowned."


# Locks.


@pytest.mark.parametrize("gate", ["forget", "correct"])
@pytest.mark.parametrize(
    ("locked_for", "changed_for"), [(None, None), (None, ZARA), (ZARA, ZARA), (ZARA, None)]
)
def test_what_is_locked_is_not_changed(
    campaign: Campaign, gate: str, locked_for: str | None, changed_for: str | None
) -> None:
    """Neither by a decision for the one it is locked for nor by one for all; unlocked, it can be."""
    campaign.lock("e1", viewer=locked_for)
    before = dumped(campaign, ZARA)
    with pytest.raises(InvalidSetting, match="locked"):
        GATES[gate](campaign, "e1", viewer=changed_for)
    assert dumped(campaign, ZARA) == before
    campaign.lock("e1", on=False, viewer=locked_for)
    GATES[gate](campaign, "e1", viewer=changed_for)
    assert dumped(campaign, ZARA) != before


def test_a_lock_for_one_binds_nobody_else(campaign: Campaign) -> None:
    """Throk's own words for it are Throk's."""
    campaign.lock("e1", viewer=ZARA)
    campaign.correct("e1", "Dead.", viewer=THROK)
    assert campaign.memory(THROK).short_term_buffer[0] == "[DM]: Dead."
    assert campaign.memory(ZARA).short_term_buffer[0] == "[DM]: The king is alive."


def test_a_locked_summary_is_not_merged() -> None:
    """Layers grow over it; it stays as it is, with its id and its words, where it stood."""
    campaign = memory_campaign()
    campaign.summarizer = Counting()
    locked = ""
    for session in range(12):
        scenes = [
            event(f"s{session}_{n}", THROK, f"Deed {session} {n}.", session=f"s{session}") for n in range(4)
        ]
        campaign.record_many(scenes)
        campaign.compress(THROK)
        if session == 1:
            notes = [one for one in campaign.events(viewer=THROK) if one.event_type is EventType.SUMMARY]
            locked = notes[-1].event_id
            words = notes[-1].content
            campaign.lock(locked)
    with campaign.view(THROK) as view:
        shelf = view.shelf(THROK, "summary")
    assert shelf is not None
    assert locked in shelf.standing
    assert len(shelf.standing) < 12
    assert words in campaign.memory(THROK).long_term_summary
    MemoryManager(campaign.game_state()).compress_long_term_summary("throk")
    assert words in campaign.memory(THROK).long_term_summary
    assert campaign.verify() == []


def test_a_memory_can_be_pinned_corrected_and_forgotten_too(campaign: Campaign) -> None:
    """A scoped memory and a summary are gated like an event, for whoever holds them."""
    MemoryService().on_location_exit(campaign)
    (his,) = campaign.memories(THROK)
    campaign.correct(his.memory_id, "We slept at the inn.")
    assert [one.summary for one in campaign.memories(THROK)] == ["We slept at the inn."]
    assert "slept" not in dumped(campaign, ZARA)
    campaign.forget(his.memory_id)
    assert campaign.memories(THROK) == []
    campaign.compress(ZARA)
    (note,) = [one for one in campaign.events(viewer=ZARA) if one.event_type is EventType.SUMMARY]
    campaign.correct(note.event_id, "All was well.")
    assert campaign.memory(ZARA).long_term_summary == "All was well."
    campaign.forget(note.event_id)
    assert campaign.memory(ZARA).long_term_summary == ""
    with pytest.raises(UnknownEvent):
        campaign.pin(note.event_id, viewer=THROK)


def test_gates_hold_through_a_turn(campaign: Campaign) -> None:
    """The check before the DM's turn reads what is decided, and changes nothing of it."""
    campaign.pin("e1")
    campaign.forget("e3")
    after = context_manager(campaign.game_state())["agent_memories"]["zara"]
    assert after.long_term_summary == "Pinned: The king is alive."
    assert after.short_term_buffer == ["[DM]: The king is alive."]


# Facts.


def test_a_fact_can_be_set_right_for_those_who_held_it() -> None:
    """Holders of the old value get the new one; others learn nothing."""
    mood = [{"subject": "npc_elena_001", "key": "mood", "value": "calm"}]
    campaign = memory_campaign(
        [
            event("e1", "dm", "Elena.", participants=BOTH, names={"npc_elena_001": "Elena"}),
            event("e2", "dm", "She is calm.", participants=[THROK], facts=mood),
        ]
    )
    before = list(campaign.export(viewer=ZARA))
    campaign.correct_fact("Elena", "mood", "furious")
    assert campaign.entity("Elena", viewer=THROK).properties["mood"] == "furious"
    assert campaign.entity("Elena", viewer="dm").properties["mood"] == "furious"
    assert list(campaign.export(viewer=ZARA)) == before


def test_a_fact_can_be_set_right_again_and_again() -> None:
    """Back to an earlier value too, and to the same one twice."""
    facts = [{"subject": THROK, "key": "mood", "value": "calm"}]
    campaign = memory_campaign([event("evt_1", "dm", "x", participants=[THROK], facts=facts)])
    for mood in ("angry", "calm", "angry", "angry", "calm", "angry"):
        campaign.correct_fact("Throk", "mood", mood)
        assert campaign.entity(THROK, viewer=THROK).properties["mood"] == mood
    assert campaign.verify() == []
