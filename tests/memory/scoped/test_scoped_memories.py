"""Scoped memories: when they are made, from which events, for whom, and what makes them redundant."""

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines import Counting
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, InvalidUid, UnknownEntity
from dndbots.events import EventType, GameEvent
from dndbots.game import (
    ChangeLocationCommand,
    CompleteObjectiveCommand,
    CompleteQuestCommand,
    LocationHandler,
    LocationService,
    ProgressActCommand,
    QuestHandler,
    UpdateLocationStateCommand,
)
from dndbots.memory import (
    MAX_ENTRIES,
    LocationMemoryBuilder,
    MemoryEntry,
    MemoryService,
    MemorySource,
    NPCMemoryBuilder,
    WorldMemoryBuilder,
)
from dndbots.memory.scoped.shelves import MOST_ENTRIES, find_redundant
from dndbots.memory.visits import around_mentions, triggers_of
from dndbots.storage.in_memory import MemoryStore
from dndbots.testing import assert_perspective, memory_campaign

THROK, ZARA, MIRA = "pc_throk_001", "pc_zara_001", "pc_mira_001"
ELENA, ANN = "npc_elena_001", "npc_ann_001"
INN, MILL = "loc_inn_001", "loc_mill_001"
DAWN = datetime(1492, 3, 1, 6, tzinfo=UTC)


def at(number: int, content: str, source: str = THROK, **metadata: Any) -> GameEvent:
    """Something said at the inn, an hour after what was said before it."""
    metadata = {"location": INN, "participants": [THROK, ZARA]} | metadata
    made = event(f"m{number:03d}", source, content, kind=EventType.DIALOGUE, **metadata)
    return made.model_copy(update={"timestamp": DAWN + timedelta(hours=number)})


def arrival(**metadata: Any) -> GameEvent:
    here = [{"subject": npc, "op": "@", "object": INN} for npc in (ELENA, ANN)]
    names = {ELENA: "Elena", ANN: "Ann", INN: "The Inn", MILL: "The Mill"}
    made = at(0, "You enter the inn.", "dm", witnesses=[ELENA, ANN], facts=here, names=names, **metadata)
    return made.model_copy(update={"event_type": EventType.LOCATION_CHANGE})


def visit(*messages: GameEvent) -> Campaign:
    return memory_campaign([arrival(), *messages])


@pytest.fixture
def inn() -> Campaign:
    return visit(
        at(1, "A room, please."),
        at(2, "Elena, what news?", witnesses=[ELENA]),
        at(3, "Wolves.", ELENA),
        at(4, "Thanks."),
    )


@pytest.fixture
def engine() -> Counting:
    return Counting()


def summaries(entries: list[MemoryEntry]) -> list[str]:
    return [entry.summary for entry in entries]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


# Leaving a place.


def test_leaving_a_place_makes_its_memory_and_moves_its_cursor(inn: Campaign, engine: Counting) -> None:
    """The entry has its fields and tags; the cursor is the highest index in it."""
    MemoryService(engine).on_location_exit(inn)
    (entry,) = inn.location_memories[INN]
    assert entry.summary == "5 things, the last being Thanks.."
    assert (entry.source, entry.tags) == (MemorySource.LOCATION, ["session", f"location:{INN}"])
    assert (entry.location_id, entry.npc_ids, entry.quest_id, entry.encounter_id) == (INN, [], None, None)
    assert (entry.created_at, entry.since_timestamp) == (DAWN + timedelta(hours=4), DAWN)
    assert entry.since_message_index == 5
    assert entry.sources == ("m000", "m001", "m002", "m003", "m004")
    assert inn.last_location_message_index == {INN: 5}
    assert inn.last_world_message_index == -1
    assert inn.world_memories == []


def test_without_new_messages_nothing_happens(inn: Campaign, engine: Counting) -> None:
    """No second memory of the same visit, no question asked, no event recorded."""
    service = MemoryService(engine)
    service.on_location_exit(inn)
    head, asked = inn.head, len(engine.tasks)
    service.on_location_exit(inn)
    MemoryService(engine).catch_up(inn)
    assert (inn.head, len(engine.tasks)) == (head, asked)


def test_a_second_visit_is_remembered_from_where_the_first_ended(inn: Campaign, engine: Counting) -> None:
    """Each message is in one memory of the place."""
    service = MemoryService(engine)
    service.on_location_exit(inn)
    inn.record_many([at(5, "We are back."), at(6, "Any wolves?")])
    service.on_location_exit(inn)
    first, second = inn.location_memories[INN]
    assert second.sources == ("m005", "m006")
    assert (second.since_timestamp, second.since_message_index) == (
        DAWN + timedelta(hours=5),
        inn.last_location_message_index[INN],
    )
    assert not set(first.sources) & set(second.sources)


def test_every_message_of_a_long_visit_reaches_the_summarizer(engine: Counting) -> None:
    """200 of them, not the last 30; and the cursor passes only what was read."""
    campaign = visit(*(at(n, f"Line {n} of many.") for n in range(1, 201)))
    MemoryService(engine).on_location_exit(campaign)
    dms = [task for task in engine.tasks if task.kind == "location"]
    assert [[one.event_id for one in task.entries] for task in dms] == [[f"m{n:03d}" for n in range(201)]]
    assert campaign.last_location_message_index == {INN: 201}


def test_leaving_a_place_that_nobody_knows_raises_nothing(inn: Campaign, engine: Counting) -> None:
    """Nor does leaving from nowhere, or a place that has the longest of names."""
    service = MemoryService(engine)
    service.on_location_exit(inn, "loc_nowhere_001")
    service.on_location_exit(memory_campaign())
    service.on_location_exit(memory_campaign([event("e1", THROK, "Where am I?")]))
    assert engine.tasks == []
    longest = "loc_" + "a" * 196
    campaign = memory_campaign([event("e1", THROK, "A long hall.", location=longest)])
    service.on_location_exit(campaign)
    assert summaries(campaign.location_memories[longest]) == ["1 things, the last being A long hall.."]


def test_a_memory_is_made_on_the_model_for_the_dm_and_without_one_for_characters(
    inn: Campaign, engine: Counting
) -> None:
    """The model writes the DM's and the NPCs'; a character's is made without it."""
    MemoryService(engine).on_location_exit(inn)
    assert [(task.agent, task.kind) for task in engine.tasks] == [("dm", "location"), (ELENA, "npc")]
    assert [entry.source for entry in inn.memories(THROK)] == [MemorySource.LOCATION, MemorySource.NPC]


# NPCs.


def test_only_npcs_present_and_mentioned_remember(engine: Counting) -> None:
    """Ann is there and not mentioned; Bob is mentioned and elsewhere; Elena is both."""
    campaign = visit(at(1, "Elena, where is Bob?"), at(2, "At the mill.", ELENA))
    bob = "npc_bob_001"
    campaign.record(event("bob", "dm", "Bob mills.", participants=[bob], location=MILL, names={bob: "Bob"}))
    MemoryService(engine).on_location_exit(campaign, INN)
    assert list(campaign.npc_memories) == [ELENA]
    (entry,) = campaign.npc_memories[ELENA]
    assert (entry.source, entry.npc_ids, entry.location_id) == (MemorySource.NPC, [ELENA], INN)
    assert entry.tags == ["npc-session", f"location:{INN}", f"npc:{ELENA}"]
    assert campaign.last_npc_message_index == {ELENA: 3}


@pytest.mark.parametrize(
    ("said", "is_meant"),
    [
        ("Ann, come here.", True),
        ("It is ANN!", True),
        ("Ann's cloak is wet.", True),
        ("Anne and Annabel and the annals.", False),
        ("The planner can plan.", False),
        ("Hermann and Joann sing.", False),
        ("ann_001", False),
    ],
)
def test_an_npc_is_mentioned_by_whole_word(said: str, is_meant: bool) -> None:  # noqa: FBT001
    """In any case, with a possessive; never inside another word."""
    assert bool(around_mentions([at(1, said)], ANN, ["Ann"])) is is_meant


def test_an_npc_memory_has_one_message_either_side_of_each_mention(engine: Counting) -> None:
    """No more, in order, and none twice where mentions are close."""
    said = ["a", "b", "Elena?", "d", "e", "f", "g", "Elena!", "Elena.", "j", "k"]
    everybody = [THROK, ZARA, ELENA]
    campaign = visit(
        *(at(n, text, participants=[THROK], witnesses=everybody) for n, text in enumerate(said, 1))
    )
    MemoryService(engine).on_location_exit(campaign)
    (task,) = [task for task in engine.tasks if task.kind == "npc"]
    assert [one.event_id for one in task.entries] == [f"m{n:03d}" for n in (2, 3, 4, 7, 8, 9, 10)]


def test_a_name_in_the_metadata_is_a_mention(engine: Counting) -> None:
    """`npcs_mentioned` counts, by name or uid, where the words do not say it."""
    for named in ("Ann", ANN):
        campaign = visit(
            at(1, "x"), at(2, "x"), at(3, "That girl there.", witnesses=[ANN], npcs_mentioned=[named])
        )
        MemoryService(engine).on_location_exit(campaign)
        assert campaign.npc_memories[ANN][0].sources[-1] == "m003"


def test_an_npc_remembers_only_what_it_perceived(engine: Counting) -> None:
    """Elena's memory has nothing of what is said behind her back, or of what Ann hears."""
    campaign = visit(
        at(1, "Elena, a word.", witnesses=[ELENA]),
        at(2, "Elena is a spy.", participants=[THROK], witnesses=[ZARA]),
        at(3, "Ann, is Elena a spy?", told_to=[ANN], participants=[THROK]),
        at(4, "Ann says Elena is.", ANN, told_to=[THROK], participants=[]),
    )
    MemoryService(engine).on_location_exit(campaign)
    read = {task.agent: [one.event_id for one in task.entries] for task in engine.tasks if task.kind == "npc"}
    assert read == {ELENA: ["m000", "m001"], ANN: ["m000", "m003", "m004"]}
    assert_perspective(campaign, lambda table, viewer: table.memories(viewer))


def test_a_failed_memory_of_a_place_skips_nothing_else(
    caplog: pytest.LogCaptureFixture, inn: Campaign
) -> None:
    """The NPC's is made all the same; of the failed one there is a warning, no entry and no cursor."""
    engine = Counting(failing=["dm"])
    MemoryService(engine).on_location_exit(inn)
    assert inn.location_memories == {}
    assert inn.last_location_message_index == {}
    assert list(inn.npc_memories) == [ELENA]
    assert summaries(inn.memories(THROK, source="location"))
    assert [said for said in warnings(caplog) if "dm" in said and INN in said and "no model today" in said]
    assert len([task for task in engine.tasks if task.agent == "dm"]) == 2  # attempts


@pytest.mark.parametrize("answer", ["", "  \n", None])
def test_an_empty_summary_is_no_memory(caplog: pytest.LogCaptureFixture, inn: Campaign, answer: Any) -> None:
    """Asked for twice, warned of; next time everything is in."""

    class Empty:
        waits = False
        asked = 0

        def summarize_location_session(self, _state: Any, _location: str, messages: list[Any]) -> Any:
            self.asked += 1
            return answer if self.asked <= 2 else f"{len(messages)} things about wolves."

        def summarize_npc_interactions(self, _state: Any, npc: Any, _messages: list[Any]) -> str:
            return f"{npc.name} spoke of wolves."

    double = Empty()
    service = MemoryService(double)
    service.on_location_exit(inn)
    assert double.asked == 2
    assert (inn.location_memories, inn.last_location_message_index) == ({}, {})
    assert len(warnings(caplog)) == 1
    assert summaries(inn.npc_memories[ELENA]) == ["Elena spoke of wolves."]
    inn.record(at(5, "Goodbye."))
    service.on_location_exit(inn)
    assert summaries(inn.location_memories[INN]) == ["6 things about wolves."]
    assert inn.location_memories[INN][0].since_timestamp == DAWN


# Whose memory it is.


def test_a_memory_reaches_only_those_who_perceived_every_source(inn: Campaign) -> None:
    """A whisper in the visit: the DM's memory has it, Zara's has not, and no reader sees another's."""
    inn.record(at(5, "The key is under the mat.", ELENA, told_to=[THROK], participants=[]))
    MemoryService().on_location_exit(inn)
    seen = {viewer: inn.memories(viewer, source="location") for viewer in ("dm", THROK, ZARA)}
    assert {viewer: "m005" in entries[0].sources for viewer, entries in seen.items()} == {
        "dm": True,
        THROK: True,
        ZARA: False,
    }
    assert len({entries[0].memory_id for entries in seen.values()}) == 3
    assert seen[ZARA][0].since_message_index is None
    for viewer, entries in seen.items():
        perceived = {one.event_id for one in inn.events(viewer=viewer)}
        assert all(set(entry.sources) <= perceived for entry in entries)
    assert_perspective(inn, lambda table, viewer: table.memories(viewer))


def test_a_split_party_remembers_each_its_own_place() -> None:
    """Two places at once: each character has a memory of where it was, the DM of both."""
    campaign = memory_campaign(
        [
            event("i1", THROK, "I drink.", participants=[THROK], location=INN),
            event("w1", ZARA, "I climb.", participants=[ZARA], location=MILL),
            event("i2", THROK, "I sleep.", participants=[THROK], location=INN),
        ]
    )
    MemoryService().on_location_exit(campaign)
    places = {who: [entry.location_id for entry in campaign.memories(who)] for who in ("dm", THROK, ZARA)}
    assert places == {"dm": [INN, MILL], THROK: [INN], ZARA: [MILL]}


def test_memories_are_saved_with_the_campaign(inn: Campaign) -> None:
    """An exported log has them; what reads it has the same memories and cursors, and asks nobody."""
    MemoryService(Counting()).on_location_exit(inn)
    copy = memory_campaign()
    copy.import_log(inn.export())
    assert copy.location_memories == inn.location_memories
    assert copy.npc_memories == inn.npc_memories
    assert copy.last_npc_message_index == inn.last_npc_message_index
    inn.rebuild()
    assert copy.location_memories == inn.location_memories


def test_game_time_counts_and_no_clock(inn: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory made under another clock is the same, byte for byte; without times it has none."""
    copy = memory_campaign()
    copy.import_log(inn.export())
    MemoryService().on_location_exit(inn)
    for name in ("time", "monotonic", "time_ns"):
        value = getattr(time, name)() + 10**6
        monkeypatch.setattr(time, name, lambda value=value: value)
    MemoryService().on_location_exit(copy)
    assert list(copy.export()) == list(inn.export())
    timeless = memory_campaign([event("e1", THROK, "Hello.", location=INN)])
    MemoryService().on_location_exit(timeless)
    (entry,) = timeless.location_memories[INN]
    assert (entry.created_at, entry.since_timestamp) == (None, None)


def test_two_who_leave_at_once_make_one_memory(inn: Campaign) -> None:
    """The slower writer finds the memory made, and neither doubles it nor fails."""
    slow = Counting()
    slow.then = lambda _task: MemoryService(Counting(then=None)).on_location_exit(inn)
    MemoryService(slow).on_location_exit(inn)
    notes = [one.known.memory for one in inn.events(viewer="dm") if one.event_type is EventType.MEMORY]
    spans = [(note.holder, note.shelf, note.upto) for note in notes if note]
    assert len(spans) == len(set(spans))
    assert len(inn.location_memories[INN]) == 1
    assert inn.verify() == []


# The world.


def step(number: int = 1, **metadata: Any) -> GameEvent:
    return event(
        f"step{number}",
        "dm",
        "A step of the story.",
        kind=EventType.QUEST_UPDATE,
        participants=[THROK],
        **metadata,
    )


def test_a_step_of_the_story_makes_a_world_memory(inn: Campaign, engine: Counting) -> None:
    """The memory covers everything since the last one, with kind, tags and ids; the cursor moves."""
    inn.record(step(quest_id="qst_bell_001", quest_state="completed"))
    related = {"quest_id": "qst_bell_001", "encounter_id": "ambush", "location_id": INN}
    MemoryService(engine).on_world_event(inn, "quest_completed", ["bell"], related)
    (entry,) = inn.world_memories
    assert (entry.source, entry.tags) == (MemorySource.WORLD, ["world:quest_completed", "bell"])
    assert (entry.quest_id, entry.encounter_id, entry.location_id) == ("qst_bell_001", "ambush", INN)
    assert entry.since_message_index == inn.last_world_message_index == 6
    assert entry.since_timestamp == DAWN
    assert [one.event_id for one in engine.tasks[0].entries] == [
        "m000",
        "m001",
        "m002",
        "m003",
        "m004",
        "step1",
    ]
    MemoryService(engine).on_world_event(inn, "quest_completed")
    assert len(inn.world_memories) == 1
    assert summaries(inn.memories(THROK, source="world"))
    assert inn.memories(ZARA, source="world") == []


def test_nothing_new_in_the_world_makes_no_memory(engine: Counting) -> None:
    """An empty campaign has no story to tell."""
    campaign = memory_campaign()
    MemoryService(engine).on_world_event(campaign, "act_progressed")
    assert campaign.world_memories == []


def test_a_failed_world_memory_moves_no_cursor(inn: Campaign, caplog: pytest.LogCaptureFixture) -> None:
    """And the next one has everything in it."""
    engine = Counting(failing=["dm"])
    service = MemoryService(engine)
    service.on_world_event(inn, "act_progressed", related={"act_id": "1"})
    assert (inn.world_memories, inn.last_world_message_index) == ([], -1)
    assert "dm" in warnings(caplog)[0]
    engine.failing.clear()
    service.on_world_event(inn, "act_progressed", related={"act_id": "1"})
    assert inn.world_memories[0].sources == ("m000", "m001", "m002", "m003", "m004")


@pytest.mark.parametrize(
    ("metadata", "kinds"),
    [
        ({"quest_id": "qst_a_001", "objective_id": "find"}, ["objective_completed"]),
        ({"quest_id": "qst_a_001", "objective_id": "find", "objective_state": "open"}, []),
        ({"quest_id": "qst_a_001", "quest_state": "Completed"}, ["quest_completed"]),
        ({"quest_id": "qst_a_001", "quest_state": "accepted"}, []),
        ({"quest_id": "qst_a_001", "quest_state": "failed"}, ["quest_ended"]),
        ({"quest_id": "qst_a_001", "quest_state": "ransomed"}, ["quest_ended"]),
        ({"quest_id": "qst_a_001", "quest_state": "truce"}, ["quest_ended"]),
        ({"quest_id": "qst_a_001", "quest_state": "refused"}, []),
        ({"act_id": "2"}, ["act_progressed"]),
        ({"danger_level": "CLEARED", "location": INN}, ["location_cleared"]),
        ({"danger_level": "low", "location": INN}, []),
        ({"danger_level": "CLEARED"}, []),
        ({"encounter_id": "ambush", "encounter_state": "completed"}, ["encounter_completed"]),
        ({"encounter_id": "ambush", "encounter_state": "begun"}, []),
        ({"encounter_id": "ambush"}, []),
    ],
)
def test_what_is_a_step_of_the_story(metadata: dict[str, Any], kinds: list[str]) -> None:
    """Completed, progressed or cleared; nothing that is merely mentioned, and no defeat called a victory."""
    assert [trigger.kind for trigger in triggers_of(step(**metadata))] == kinds


def test_an_encounter_is_over_with_its_combat() -> None:
    """The end of a fight completes its encounter, unless it says how else it ended."""
    end = event("e", "dm", "x", kind=EventType.COMBAT_END, encounter_id="ambush", location=INN)
    assert [(one.kind, one.related) for one in triggers_of(end)] == [
        ("encounter_completed", {"location_id": INN, "encounter_id": "ambush"})
    ]
    fled = event("e", "dm", "x", kind=EventType.COMBAT_END, encounter_id="ambush", encounter_state="fled")
    assert list(triggers_of(fled)) == []


# Off the log.


def test_the_log_itself_triggers_memories(engine: Counting) -> None:
    """Recording events alone makes the same memories: a place left, a step made, each once."""
    campaign = visit(
        at(1, "A room."), event("go", "dm", "To the mill.", participants=[THROK, ZARA], location=MILL)
    )
    campaign.record(step(act_id="2"))
    service = MemoryService(engine)
    for _ in range(2):
        service.catch_up(campaign)
    MemoryService(engine).catch_up(campaign)
    assert [entry.sources for entry in campaign.location_memories[INN]] == [("m000", "m001")]
    assert [entry.tags for entry in campaign.world_memories] == [["world:act_progressed"]]
    assert list(campaign.location_memories) == [INN]


def test_a_long_log_is_caught_up_with_in_pieces(engine: Counting) -> None:
    """Another process goes on where the last one ended, and makes nothing twice."""
    campaign = visit()
    number = 0
    for turn in range(12):
        place = [INN, MILL][turn % 2]
        for _ in range(25):
            number += 1
            campaign.record(
                event(f"t{number}", THROK, f"Step {number}.", participants=[THROK], location=place)
            )
        if turn % 3 == 2:
            MemoryService(engine).catch_up(campaign)
    told = [
        source
        for entries in campaign.location_memories.values()
        for entry in entries
        for source in entry.sources
    ]
    assert len(told) == len(set(told))
    played = [one.event_id for one in campaign.events(viewer="dm") if not one.is_note]
    assert set(told) == set(played[:-25])
    assert campaign.verify() == []


# Pruning.


def entry(name: str, summary: str, **fields: Any) -> MemoryEntry:
    return MemoryEntry(source=MemorySource.WORLD, summary=summary, memory_id=name, **fields)


def test_what_is_superseded_or_repeated_is_superfluous() -> None:
    """Objectives of a completed quest, a place cleared again, a memory whose words are in a newer one."""
    quest = {"quest_id": "qst_a_001"}
    entries = [
        entry("a", "Found the tower.", tags=["world:objective_completed"], **quest),
        entry("b", "Met the smith.", tags=["world:objective_completed"], quest_id="qst_b_001"),
        entry("c", "Cleared.", tags=["world:location_cleared"], location_id=INN),
        entry("d", "The bell rang once."),
        entry("e", "Wolves came at night."),
        entry("f", "The bell rang once, and then again."),
        entry("g", "Cleared it again.", tags=["world:location_cleared"], location_id=INN),
        entry("h", "The tower fell.", tags=["world:quest_completed"], **quest),
    ]
    assert find_redundant(entries, kept=[]) == ["a", "c", "d"]
    assert find_redundant(entries, kept=["a", "d"]) == ["c"]
    assert find_redundant([entries[3], entries[5]], kept=[]) == ["d"]
    assert find_redundant([entries[3], entries[5]], kept=[], new=1) == ["d"]


def test_a_shelf_has_a_most_of_entries_but_for_what_is_kept() -> None:
    """The oldest go first."""
    entries = [entry(f"e{n}", f"word{n} other{n} third{n}") for n in range(MOST_ENTRIES + 3)]
    assert find_redundant(entries, kept=["e1"]) == ["e0", "e2"]
    assert find_redundant(entries, kept=["e1"], new=0) == ["e0", "e2"]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4), max_size=12))
def test_a_shelf_looked_through_at_each_new_memory_is_as_one_looked_through_whole(
    told: list[list[str]],
) -> None:
    """A new memory need only be compared with those on its shelf."""
    entries = [entry(f"e{n}", " ".join(words)) for n, words in enumerate(told)]
    shelf: list[MemoryEntry] = []
    for one in entries:
        shelf.append(one)
        gone = find_redundant(shelf, kept=["e1"], new=1)
        shelf = [left for left in shelf if left.memory_id not in gone]
        assert find_redundant(shelf, kept=["e1"]) == []
    everything = find_redundant(entries, kept=["e1"])
    assert {left.memory_id for left in shelf} >= {one.memory_id for one in entries} - set(everything)


def repeated(campaign: Campaign) -> None:
    """Two memories of the inn, the older of which says nothing of its own."""

    class Repeating:
        waits = False

        def generate_summary(self, _agent: str, entries: list[str]) -> str:
            return "Wolves came." if len(entries) > 3 else "Wolves came again, said Elena."

    service = MemoryService(Repeating())
    service.on_location_exit(campaign)
    campaign.record_many([at(5, "More wolves?"), at(6, "Elena: wolves again.")])


def test_making_a_memory_prunes_its_shelf_and_never_the_log(inn: Campaign) -> None:
    """The older one is off the shelf, for the DM; it is still in the log."""
    repeated(inn)
    (old,) = inn.location_memories[INN]
    head = inn.head
    MemoryService(_Again()).on_location_exit(inn)
    assert summaries(inn.location_memories[INN]) == ["Wolves came again, said Elena."]
    kept = {one.event_id: one.content for one in inn.events(viewer="dm")}
    assert kept[old.memory_id] == "Wolves came."
    assert inn.head > head
    assert inn.verify() == []


class _Again:
    waits = False

    def generate_summary(self, _agent: str, _entries: list[str]) -> str:
        return "Wolves came again, said Elena."


@pytest.mark.parametrize("gate", ["pin", "lock"])
def test_what_is_pinned_or_locked_is_not_pruned(inn: Campaign, gate: str) -> None:
    """Not by the next memory and not by pruning everything; without the gate, it is."""
    repeated(inn)
    old = inn.location_memories[INN][0].memory_id
    getattr(inn, gate)(old)
    service = MemoryService(_Again())
    service.on_location_exit(inn)
    service.prune(inn)
    assert inn.location_memories[INN][0].memory_id == old
    getattr(inn, gate)(old, on=False)
    service.prune(inn)
    assert summaries(inn.location_memories[INN]) == ["Wolves came again, said Elena."]
    head = inn.head
    service.prune(inn)
    assert inn.head == head


# What the DM reads.


def test_the_three_sections_have_their_titles_and_bullets(inn: Campaign, engine: Counting) -> None:
    """Each entry is one line with date and summary; only NPCs present are listed, by name."""
    service = MemoryService(engine)
    service.on_location_exit(inn)
    service.on_world_event(inn, "act_progressed")
    assert (
        LocationMemoryBuilder().build(inn)
        == "## Recent Location Memory\n- 1492-03-01: 5 things, the last being Thanks.."
    )
    assert (
        NPCMemoryBuilder().build(inn)
        == "## NPC Memory\n- 1492-03-01: Elena: 3 things, the last being Wolves.."
    )
    assert (
        WorldMemoryBuilder().build(inn) == "## World Memory\n- 1492-03-01: 5 things, the last being Thanks.."
    )
    inn.record(event("go", "dm", "To the mill.", participants=[THROK, ZARA], location=MILL))
    assert (LocationMemoryBuilder().build(inn), NPCMemoryBuilder().build(inn)) == ("", "")


def test_sections_show_the_newest_three_oldest_first() -> None:
    """Or as many as asked for; nothing at all where there is nothing."""
    campaign = visit()
    service = MemoryService(Counting())
    for n in range(1, 6):
        campaign.record(at(n, f"Night{n} fell."))
        service.on_location_exit(campaign)
    assert MAX_ENTRIES == 3
    bullets = LocationMemoryBuilder().build(campaign).split("\n")[1:]
    assert [line[-12:-1] for line in bullets] == ["Night3 fell.", "Night4 fell.", "Night5 fell."] or len(
        bullets
    ) == 3
    assert ["Night3" in bullets[0], "Night4" in bullets[1], "Night5" in bullets[2]] == [True] * 3
    assert len(LocationMemoryBuilder(max_entries=1).build(campaign).split("\n")) == 2
    assert WorldMemoryBuilder().build(campaign) == ""
    assert [builder().build(memory_campaign()) for builder in (LocationMemoryBuilder, NPCMemoryBuilder)] == [
        "",
        "",
    ]


def test_a_memory_without_a_date_has_its_session() -> None:
    """Without a time, the session is shown instead of the date."""
    campaign = memory_campaign([event("e1", THROK, "Hello.", location=INN, session="s07")])
    MemoryService().on_location_exit(campaign)
    assert LocationMemoryBuilder().build(campaign).split("\n")[1].startswith("- s07: ")


def test_a_memory_of_forgotten_events_says_nothing() -> None:
    """It stands in no list and makes no empty bullet, and comes back with its events."""
    campaign = memory_campaign([event("e1", THROK, "The mill burns.", location=INN)])
    MemoryService().on_location_exit(campaign)
    campaign.forget("e1")
    assert campaign.memories(THROK) == []
    assert LocationMemoryBuilder().build(campaign) == ""
    campaign.forget("e1", on=False)
    assert "burns" in LocationMemoryBuilder().build(campaign)


def test_what_an_npc_is_to_forget_is_not_in_the_block_of_that_npc() -> None:
    """Decisions for the NPC alone hold where its memory is read for its words, and so do the DM's own."""
    campaign = memory_campaign(
        [event("e1", THROK, "Elena, the mill burns.", location=INN, participants=[ELENA])]
    )
    MemoryService().on_location_exit(campaign)
    for viewer in (ELENA, "dm"):
        assert "burns" in NPCMemoryBuilder().build(campaign)
        note = campaign.memories(ELENA)[0].memory_id
        campaign.forget(note, viewer=viewer)
        assert NPCMemoryBuilder().build(campaign) == ""
        campaign.forget(note, on=False, viewer=viewer)


@pytest.mark.parametrize("known", [False, True])
def test_dealings_with_somebody_who_is_really_another_are_remembered(known: bool) -> None:  # noqa: FBT001
    """A secret of the DM's changes nothing in what others remember, and the DM still sees it."""
    priest, aldwin = "npc_old_priest_001", "npc_aldwin_001"
    secret = {"same_as": {priest: aldwin}} if known else {}
    campaign = memory_campaign(
        [
            event("e1", priest, "The old priest greets you.", participants=[THROK], location=INN),
            event("e2", "dm", "A secret.", witnesses=[], discovered=[aldwin], **secret),
        ]
    )
    MemoryService().on_location_exit(campaign)
    assert [entry.npc_ids for entry in campaign.memories(THROK, source="npc")] == [[priest]]
    assert len(campaign.memories(priest)) == 1
    assert list(campaign.npc_memories) == [priest]
    assert campaign.last_npc_message_index == {priest: 1}
    assert "greets" in NPCMemoryBuilder().build(campaign)
    assert "ldwin" not in "".join(campaign.export(viewer=THROK))


def test_a_shared_memory_does_not_tell_when_somebody_else_saw_something() -> None:
    """The time of an event without words does not reach those who did not perceive it."""
    early, late = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 2, tzinfo=UTC)
    campaign = memory_campaign(
        [
            event("e1", "dm", "", participants=[THROK], location=INN).model_copy(update={"timestamp": early}),
            event("e2", "dm", "The mill burns.", participants=[THROK, ZARA], location=INN).model_copy(
                update={"timestamp": late}
            ),
        ]
    )
    MemoryService().on_location_exit(campaign)
    assert [entry.since_timestamp for entry in campaign.memories(ZARA)] == [late]


# Commands and their handlers.


class Watching:
    """A memory service that notes when it was called, and can be broken."""

    def __init__(self, *, broken: bool = False) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.broken = broken

    def on_location_exit(self, game_state: Any) -> None:
        self._called("exit", game_state.head)

    def on_world_event(self, game_state: Any, event_kind: str, tags: Any = None, related: Any = None) -> None:
        del tags
        self._called(event_kind, game_state.head, dict(related or {}))

    def prune(self, game_state: Any) -> None:
        self._called("prune", game_state.head)

    def _called(self, *call: Any) -> None:
        self.calls.append(call)
        if self.broken:
            raise RuntimeError("no memory today")


def test_a_place_is_remembered_before_the_party_moves(inn: Campaign) -> None:
    """The memory is of the inn, and the party is at the mill afterwards."""
    watching = Watching()
    moved = LocationHandler(None, watching).handle(ChangeLocationCommand(location_id=MILL), inn)
    assert watching.calls == [("exit", 5)]
    assert moved.seq == 6
    assert inn.entity(THROK, viewer="dm").location == MILL
    campaign = visit(at(1, "A room."))
    LocationHandler(LocationService(), MemoryService()).handle(
        ChangeLocationCommand(location_id=MILL), campaign
    )
    assert list(campaign.location_memories) == [INN]
    assert campaign.location_memories[INN][0].since_message_index == 2


def test_a_new_place_can_be_named_in_the_command(inn: Campaign) -> None:
    """Then it need not be known; some characters go, the others stay."""
    command = ChangeLocationCommand(location_id="loc_cave_001", location_name="The Cave", characters=(THROK,))
    LocationHandler(None, Watching()).handle(command, inn)
    assert (
        inn.entity("The Cave", viewer="dm").uid == inn.entity(THROK, viewer="dm").location == "loc_cave_001"
    )
    assert inn.entity(ZARA, viewer="dm").location == INN


def test_what_a_command_records_tells_nobody_a_name_they_do_not_know() -> None:
    """The DM's own name for a place or a quest does not reach those who go there or complete it."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "A room.", participants=[THROK, ZARA], location=INN),
            event("e2", "dm", "The lair.", witnesses=[], names={"loc_cave_001": "Lair of Strahd"}),
            event("e3", "dm", "The plot.", witnesses=[], names={"qst_bell_001": "Elena's Treason"}),
        ]
    )
    locations, quests = LocationHandler(None, Watching()), QuestHandler(Watching())
    locations.handle(ChangeLocationCommand(location_id="loc_cave_001"), campaign)
    locations.handle(UpdateLocationStateCommand(location_id="loc_cave_001", danger_level="CLEARED"), campaign)
    quests.handle(CompleteObjectiveCommand(quest_id="qst_bell_001", objective_id="find"), campaign)
    quests.handle(CompleteQuestCommand(quest_id="qst_bell_001"), campaign)
    heard = [one.content for one in campaign.events(viewer=THROK, last=4)]
    assert heard == [
        "The party goes to Cave.",
        "Cave is cleared.",
        "Bell: find is done.",
        "Bell is completed.",
    ]


def test_a_command_uses_the_name_that_all_know() -> None:
    """The event uses a name that everybody who hears of it knows."""
    names = {"loc_cave_001": "The Howling Cave"}
    campaign = memory_campaign([event("e1", "dm", "A cave.", participants=[THROK, ZARA], names=names)])
    moved = LocationHandler(None, Watching()).handle(
        ChangeLocationCommand(location_id="loc_cave_001"), campaign
    )
    assert moved.content == "The party goes to The Howling Cave."


def test_only_those_in_the_party_move_with_it() -> None:
    """Characters outside the stated party stay where they are."""
    joined = [{"subject": THROK, "op": "in", "object": "fac_party_001"}]
    campaign = memory_campaign(
        [event("e1", "dm", "A room.", participants=[THROK, ZARA], location=INN, facts=joined)]
    )
    command = ChangeLocationCommand(location_id=MILL, location_name="The Mill")
    LocationHandler(None, Watching()).handle(command, campaign)
    assert campaign.entity(THROK, viewer="dm").location == MILL
    assert campaign.entity(ZARA, viewer="dm").location == INN


@pytest.mark.parametrize(
    ("handler", "command"),
    [
        (LocationHandler, ChangeLocationCommand(location_id="loc_nowhere_001")),
        (LocationHandler, ChangeLocationCommand(location_id=ELENA)),
        (LocationHandler, ChangeLocationCommand(location_id=MILL, characters=("pc_nobody_001",))),
        (LocationHandler, UpdateLocationStateCommand(location_id="loc_nowhere_001", danger_level="CLEARED")),
        (LocationHandler, UpdateLocationStateCommand(location_id=INN)),
        (QuestHandler, CompleteQuestCommand(quest_id="qst_unknown_001")),
        (QuestHandler, CompleteObjectiveCommand(quest_id="qst_unknown_001", objective_id="find")),
    ],
)
def test_invalid_ids_fail_first_and_record_nothing(inn: Campaign, handler: Any, command: Any) -> None:
    """Before any memory is made, with an error that says what is wrong."""
    watching = Watching()
    made = handler(watching) if handler is QuestHandler else handler(None, watching)
    with pytest.raises((UnknownEntity, InvalidSetting)):
        made.handle(command, inn)
    assert watching.calls == []
    assert inn.head == 5


@pytest.mark.parametrize("bad", ["", " ", "mill", "LOC_MILL"])
def test_a_command_with_a_broken_id_cannot_be_made(bad: str) -> None:
    """An empty or misspelled id is refused when the command is written."""
    for make in (lambda: ChangeLocationCommand(location_id=bad), lambda: CompleteQuestCommand(quest_id=bad)):
        with pytest.raises((ValueError, InvalidUid)):
            make()


QUEST = {"quest_id": "qst_bell_001"}
COMMANDS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (CompleteQuestCommand(**QUEST), [("quest_completed", 7, QUEST)]),
    (
        CompleteObjectiveCommand(**QUEST, objective_id="find"),
        [("objective_completed", 7, {**QUEST, "objective_id": "find"})],
    ),
    (ProgressActCommand(act_id="2"), [("act_progressed", 7, {"act_id": "2"})]),
    (
        UpdateLocationStateCommand(location_id=INN, danger_level="CLEARED"),
        [("location_cleared", 7, {"location_id": INN})],
    ),
    (
        UpdateLocationStateCommand(location_id=INN, complete_encounter="ambush"),
        [("encounter_completed", 7, {"location_id": INN, "encounter_id": "ambush"})],
    ),
    (
        UpdateLocationStateCommand(location_id=INN, danger_level="cleared", complete_encounter="ambush"),
        [
            ("location_cleared", 7, {"location_id": INN}),
            ("encounter_completed", 7, {"location_id": INN, "encounter_id": "ambush"}),
        ],
    ),
    (UpdateLocationStateCommand(location_id=INN, danger_level="HIGH"), []),
]


def handled(command: Any, campaign: Campaign, service: Any) -> GameEvent:
    if isinstance(command, ChangeLocationCommand | UpdateLocationStateCommand):
        return LocationHandler(None, service).handle(command, campaign)
    return QuestHandler(service).handle(command, campaign)


@pytest.mark.parametrize(("command", "calls"), COMMANDS)
def test_each_step_is_recorded_and_then_remembered(inn: Campaign, command: Any, calls: list[Any]) -> None:
    """With the kind and the ids of the document; what is no step is only recorded."""
    inn.record(step(**QUEST, quest_state="accepted"))
    watching = Watching()
    handled(command, inn, watching)
    assert watching.calls == calls
    assert inn.head == 7


@pytest.mark.parametrize(("command", "calls"), COMMANDS)
def test_each_step_leaves_a_world_memory(inn: Campaign, command: Any, calls: list[Any]) -> None:
    """With its tag and ids, and the log triggers no second one."""
    inn.record(step(**QUEST, quest_state="accepted"))
    service = MemoryService(Counting())
    handled(command, inn, service)
    service.catch_up(inn)
    MemoryService(Counting()).catch_up(inn)
    assert [one.tags for one in inn.world_memories] == [[f"world:{kind}"] for kind, *_ in calls[:1]]
    if calls and "quest_id" in calls[0][2]:
        assert inn.world_memories[0].quest_id == "qst_bell_001"
    assert inn.verify() == []


@pytest.mark.parametrize("command", [ChangeLocationCommand(location_id=MILL), *(one for one, _ in COMMANDS)])
def test_a_broken_memory_stops_no_command(
    inn: Campaign, caplog: pytest.LogCaptureFixture, command: Any
) -> None:
    """The command succeeds, and a warning says that no memory was made."""
    inn.record(step(**QUEST, quest_state="accepted"))
    watching = Watching(broken=True)
    assert handled(command, inn, watching).seq == 7
    assert len(warnings(caplog)) == len(watching.calls)
    assert all("no memory today" in said for said in warnings(caplog))


def test_what_only_the_caller_knows_of_a_step_stays_with_the_dm() -> None:
    """Tags and ids that a host adds to a step of the story reach no character's memory of it."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "The bell is found.", participants=["pc_zara_001"], quest_id="qst_bell_001",
                  quest_state="completed"),
        ]
    )  # fmt: skip
    campaign.memory_service.on_world_event(
        campaign,
        "quest_completed",
        tags=["villain:npc_duke_001"],
        related={"quest_id": "qst_bell_001", "secret_id": "npc_duke_001"},
    )
    assert campaign.world_memories[0].tags == ["world:quest_completed", "villain:npc_duke_001"]
    [hers] = campaign.memories("pc_zara_001")
    assert (hers.tags, hers.quest_id) == (["world:quest_completed"], "qst_bell_001")
    assert "duke" not in "".join(campaign.export(viewer="pc_zara_001"))


def test_nothing_that_is_said_of_a_step_makes_memories_unreadable() -> None:
    """The time of the first message is the engine's to say, and in a foreign log it may be anything."""
    campaign = memory_campaign([event("e1", THROK, "I took the mill.", act_id="2")])
    MemoryService().on_world_event(campaign, "act_progressed", related={"since": "yesterday", "act_id": "2"})
    assert [entry.since_timestamp for entry in campaign.memories(THROK)] == [None]
    lines = [line.replace('"act_id":"2"}', '"act_id":"2","since":"yesterday"}') for line in campaign.export()]
    assert any("yesterday" in line for line in lines)
    copy = memory_campaign()
    copy.import_log(lines)
    assert [entry.since_timestamp for entry in copy.memories(THROK)] == [None]


def test_leaving_a_place_long_ago_does_not_read_what_came_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catching up with a long log looks at each visit by itself: not at all that came after, each time."""
    asked: list[int] = []

    def counting(read: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            found = read(*args, **kwargs)
            asked.append(len(found))
            return found

        return counted

    for name in ("newest_perceived", "newest_mentions", "events", "events_at"):
        monkeypatch.setattr(MemoryStore, name, counting(getattr(MemoryStore, name)))
    log = [at(n, "A room.") for n in range(1, 4)]
    later = [event(f"x{n}", "dm", "Later.", participants=[THROK], location=MILL) for n in range(300)]
    campaign = memory_campaign([*log, *later])
    MemoryService().on_location_exit(campaign, INN, as_of=log[-1].event_id)
    assert max(asked) <= len(log)
    assert campaign.memories(THROK)


def test_who_does_not_notice_a_departure_remembers_the_place_on_its_own() -> None:
    """Throk slips out unseen: Zara gets no memory that would tell her so, and all of hers when she leaves."""
    both, mill = ["pc_throk_001", "pc_zara_001"], "loc_mill_001"
    campaign = memory_campaign(
        [
            event("e1", "dm", "The mill wheel turns at midnight.", location=mill, participants=both),
            event("e2", "dm", "Throk slips out.", location="loc_road_001", participants=["pc_throk_001"]),
        ]
    )
    campaign.memory_service.catch_up(campaign)
    assert len(campaign.memories("pc_throk_001")) == 1
    assert campaign.memories("pc_zara_001") == []
    campaign.record(event("e3", "dm", "Zara leaves.", location="loc_road_001", participants=["pc_zara_001"]))
    campaign.memory_service.catch_up(campaign)
    [hers] = campaign.memories("pc_zara_001")
    assert "midnight" in hers.summary
    assert hers.sources == ("e1",)


def test_an_npc_who_has_moved_remembers_both_places() -> None:
    """The memory includes what the NPC did elsewhere since its last one."""
    elena, zara = "npc_elena_001", "pc_zara_001"
    campaign = memory_campaign(
        [
            event("e1", "dm", "Elena hides the ledger in the mill.", location="loc_mill_001",
                  participants=[elena, "pc_throk_001"], names={elena: "Elena"}),
            event("e2", "dm", "Elena meets Zara at the inn.", location="loc_inn_001",
                  participants=[elena, zara]),
            event("e3", "dm", "Zara leaves.", location="loc_road_001", participants=[zara]),
        ]
    )  # fmt: skip
    campaign.memory_service.catch_up(campaign)
    [memory] = campaign.npc_memories[elena]
    assert set(memory.sources) == {"e1", "e2"}
    assert "ledger" not in "".join(one.summary for one in campaign.memories(zara))


def test_a_command_that_moves_one_gives_no_memory_to_who_stays() -> None:
    """Throk is moved by command: Zara, elsewhere or behind, gets a memory when she leaves herself."""
    campaign = memory_campaign(
        [
            event("e1", "dm", "The mill wheel turns.", location="loc_mill_001",
                  participants=["pc_throk_001", "pc_zara_001"]),
        ]
    )  # fmt: skip
    move = ChangeLocationCommand(
        location_id="loc_road_001", location_name="North Road", characters=("pc_throk_001",)
    )
    LocationHandler(None, campaign.memory_service).handle(move, campaign)
    assert len(campaign.memories("pc_throk_001")) == 1
    assert campaign.memories("pc_zara_001") == []
