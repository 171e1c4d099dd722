"""Memory upkeep round by round: what it notes, when and for whom, and that a restart changes nothing."""

import logging
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines import Counting, Dying, Killed
from tests.logs import EVERYTHING, PCS, logs
from tests.memory.test_laws import some
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import EventRefused, InvalidSetting, UnknownViewer
from dndbots.events import EventType, GameEvent
from dndbots.memory import MAX_COMPRESSION_PASSES, MemoryService, MemoryUpkeep, Summarizer
from dndbots.memory.agents.manager import RETAIN_AFTER_COMPRESSION
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import retell_events
from dndbots.storage.in_memory import MemoryStore

THROK, ZARA, MIRA = PCS
AGENTS = ["dm", *PCS]
INN, MILL = "loc_inn_001", "loc_mill_001"
WORDS = "the wolf ran over the cold hill and nobody followed it into the night"


def line(number: int, content: str = WORDS, source: str = THROK, **metadata: Any) -> GameEvent:
    metadata = {"location": INN, "participants": [THROK, ZARA]} | metadata
    return event(f"m{number:03d}", source, content, **metadata)


def table(store: MemoryStore | None = None, **given: Any) -> Campaign:
    campaign = Campaign(store or MemoryStore(), **given)
    if not campaign.head:
        campaign.record(event("evt_cast", "dm", "The cast.", witnesses=[], discovered=EVERYTHING))
    return campaign


def log_of(campaign: Campaign) -> list[str]:
    return list(campaign.export())


def summaries(campaign: Campaign) -> list[str]:
    """Return the holders of recorded summaries, in order."""
    notes = (one.known.memory for one in campaign.events(viewer="dm") if one.event_type is EventType.SUMMARY)
    return [note.holder for note in notes if note is not None]


def tending_on(
    campaign: Any, limit: int, agents: Iterable[str] = AGENTS, summarizer: Any = None
) -> MemoryUpkeep:
    return MemoryUpkeep(
        campaign,
        agents,
        token_limit=limit,
        service=MemoryService(summarizer),
        summarizer=Summarizer.of(summarizer),
    )


# What is due.


def test_a_place_that_was_left_is_remembered_in_the_round_it_was_left() -> None:
    """Leaving makes the memories of the place, for the DM and for those who left; nobody is compressed."""
    campaign = table()
    tending = campaign.tending(AGENTS)
    campaign.record_many([line(1), line(2)])
    assert tending.tend() == []
    assert not campaign.memories(THROK)
    campaign.record(line(3, kind=EventType.LOCATION_CHANGE, location=MILL))
    assert tending.tend() == []
    assert [one.location_id for one in campaign.memories(THROK)] == [INN]
    assert list(campaign.location_memories) == [INN]


def test_a_step_of_the_story_is_remembered_once() -> None:
    """A completed quest makes one world memory, however often memory is tended."""
    campaign = table()
    tending = campaign.tending(AGENTS)
    campaign.record(line(1, quest_id="qst_bell_001", quest_state="completed"))
    for _ in range(3):
        tending.tend()
    assert len(campaign.world_memories) == 1


def test_nothing_new_notes_nothing() -> None:
    """A round in which nothing is due leaves the log as it is."""
    campaign = table()
    tending = campaign.tending(AGENTS)
    campaign.record_many(line(n) for n in range(20))
    tending.tend()
    before = log_of(campaign)
    tending.tend()
    assert log_of(campaign) == before


def test_a_buffer_is_compressed_when_it_is_full_and_not_before() -> None:
    """Twenty entries alone are no reason; four fifths of the limit are. The newest stay as they are."""
    campaign = table()
    tending = campaign.tending(AGENTS, token_limit=500)
    campaign.record_many(line(n) for n in range(20))
    assert tending.tend() == []
    campaign.record_many(line(n) for n in range(20, 28))
    assert tending.tend() == ["dm", THROK, ZARA]
    assert set(summaries(campaign)) == {"dm", THROK, ZARA}
    for who in ("dm", THROK, ZARA):
        assert len(campaign.memory(who).short_term_buffer) == RETAIN_AFTER_COMPRESSION
    assert tending.tend() == []


def test_agents_are_named_as_they_were_given() -> None:
    """An agent given by name is returned by name."""
    campaign = table()
    campaign.record(line(0, names={THROK: "Throk"}))
    tending = campaign.tending(["DM", "throk"], token_limit=200)
    campaign.record_many(line(n) for n in range(1, 20))
    assert tending.tend() == ["DM", "throk"]


def test_what_stands_in_a_prompt_beside_takes_its_part_of_the_limit() -> None:
    """The more a prompt holds of other things, the sooner a buffer is full."""
    campaign = table()
    tending = campaign.tending(AGENTS, token_limit=1000)
    campaign.record_many(line(n) for n in range(30))
    assert tending.tend({THROK: 100}) == []
    assert tending.tend({THROK: 600}) == [THROK]
    assert set(summaries(campaign)) == {THROK}


@pytest.mark.parametrize("prompts", [{"pc_nobody_001": 3}, {THROK: -1}, {THROK: "much"}])
def test_prompts_that_make_no_sense_are_refused(prompts: Any) -> None:
    """Before anything is noted down."""
    campaign = table()
    with pytest.raises(InvalidSetting, match="prompts"):
        campaign.tending(AGENTS).tend(prompts)


def test_strangers_cannot_be_tended() -> None:
    """An agent that the campaign does not know is refused at once."""
    with pytest.raises(UnknownViewer):
        table().tending(["Nobody"])


def test_summaries_that_are_too_long_become_one() -> None:
    """When a compressed buffer still does not fit beside the summaries, the oldest of them become one."""
    campaign = table()
    tending = campaign.tending([THROK], token_limit=300)
    for n in range(60):
        campaign.record(line(n, f"Wolf number {n} ran over the hill to {'mill' * (n % 7)} and was seen."))
        if n % 5 == 4:
            tending.tend({THROK: 200})
    assert len(campaign.summaries(THROK)) <= MAX_COMPRESSION_PASSES + 1


def test_a_failure_touches_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """A failed summary is logged and tried again; the other agents get theirs."""
    engine = Counting(failing={ZARA})
    campaign = table(summarizer=engine)
    tending = campaign.tending(AGENTS, token_limit=300)
    campaign.record_many(line(n) for n in range(20))
    with caplog.at_level(logging.WARNING, "dndbots.memory"):
        assert tending.tend() == ["dm", THROK]
    assert ZARA in caplog.text
    engine.failing.clear()
    assert tending.tend() == [ZARA]


# Others at the same table.


def test_what_others_compress_is_not_compressed_again() -> None:
    """Somebody else's summary empties the buffer here too."""
    store = MemoryStore()
    campaign = table(store)
    tending = campaign.tending(AGENTS, token_limit=300)
    campaign.record_many(line(n) for n in range(10))
    assert tending.tend() == []
    other = table(store)
    other.record_many(line(n) for n in range(10, 20))
    other.compress(THROK)
    assert tending.tend() == ["dm", ZARA]


def test_two_who_tend_one_campaign_note_nothing_twice() -> None:
    """Two games on one log take turns, and make the memories of one."""
    store = MemoryStore()
    both = [table(store).tending(AGENTS, token_limit=300) for _ in range(2)]
    alone = table()
    single = alone.tending(AGENTS, token_limit=300)
    for n in range(40):
        said = line(n, location=MILL if n % 8 > 3 else INN)
        table(store).record(said)
        alone.record(said)
        for one in (*both, single):
            one.tend()
    assert log_of(table(store)) == log_of(alone)


def test_what_people_remember_by_hand_is_taken_in() -> None:
    """`remember` between two rounds does what was due; nothing is made twice."""
    campaign = table()
    tending = campaign.tending(AGENTS)
    campaign.record_many([line(1), line(2), line(3, location=MILL)])
    campaign.remember()
    tending.tend()
    assert len(campaign.location_memories[INN]) == 1
    campaign.record(line(4, location=INN))
    tending.tend()
    assert list(campaign.location_memories) == [INN, MILL]


# From the log alone.


@pytest.mark.parametrize("restarted", [False, True])
def test_who_is_said_to_be_elsewhere_has_not_left_yet(restarted: bool) -> None:  # noqa: FBT001
    """A place is left when somebody is seen elsewhere; until then its memory is still to be made."""
    store = MemoryStore()
    campaign = table(store)
    tending = campaign.tending(AGENTS)
    carried_off = [{"subject": THROK, "op": "@", "object": MILL}]
    quest = {"quest_id": "qst_bell_001", "quest_state": "completed"}
    campaign.record_many(
        [
            line(1),
            event(
                "m002", "dm", "They take Throk to the mill.", witnesses=[THROK], facts=carried_off, **quest
            ),
        ]
    )
    tending.tend()
    assert not campaign.memories(THROK, source="location")
    if restarted:
        campaign = table(store)
        tending = campaign.tending(AGENTS)
    campaign.record(line(3, location=MILL, participants=[THROK]))
    tending.tend()
    assert [one.location_id for one in campaign.memories(THROK, source="location")] == [INN]


rounds = st.lists(st.integers(1, 5), min_size=1, max_size=6)


def play(campaign: Campaign, said: list[GameEvent]) -> None:
    for one in said:
        try:
            campaign.record(one)
        except EventRefused:
            continue


def cut(log: list[GameEvent], sizes: list[int]) -> Iterable[list[GameEvent]]:
    start = 0
    for size in sizes:
        yield log[start : start + size]
        start += size
    yield log[start:]


@settings(max_examples=some(30))
@given(logs(most=16), rounds, st.data())
def test_a_restart_changes_nothing_that_is_noted(
    log: list[GameEvent], sizes: list[int], data: st.DataObject
) -> None:
    """Played through, or with a new campaign and a new tending at any moment: the logs are the same.

    A program may also die at any note that it makes for what the log asks for.
    """
    limit = data.draw(st.sampled_from([25, 60, 200]))
    through = table()
    tending = tending_on(through, limit)
    store = MemoryStore()
    again = table(store)
    tending_again = tending_on(again, limit)
    for said in cut(log, sizes):
        play(through, said)
        play(again, said)
        before = len(log_of(through))
        compressed = tending.tend()
        notes = [one.event_type for one in list(through.events(viewer="dm"))[before:]]
        triggered = next((n for n, kind in enumerate(notes) if kind is EventType.SUMMARY), len(notes))
        if data.draw(st.booleans(), label="restart"):
            again = table(store)
            tending_again = tending_on(again, limit)
        if compressed or triggered:
            dies_at = data.draw(st.integers(0, triggered), label="dies at")
            try:
                tending_on(Dying(again, dies_at), limit, AGENTS[:0]).tend()
            except Killed:
                again = table(store)
                tending_again = tending_on(again, limit)
        tending_again.tend()
        assert log_of(again) == log_of(through)


@settings(max_examples=some(30))
@given(logs(most=16), rounds, st.integers(0, 9))
def test_no_memory_is_lost_or_doubled_by_dying(log: list[GameEvent], sizes: list[int], dies_at: int) -> None:
    """Whichever note a program dies at, all that everybody perceived is summarised once, or still to be."""
    campaign = table()
    for said in cut(log, sizes):
        play(campaign, said)
        try:
            tending_on(Dying(campaign, dies_at), 40).tend()
        except Killed:
            tending_on(campaign, 40).tend()
    for who in AGENTS:
        with campaign.view(who) as view:
            events = [one for _, one in view.play()]
            worth_telling = {entry.event_id for entry in retell_events(view, events, Gates())}
        played = [one.event_id for one in events]
        spans = [
            (played.index(block.after) + 1 if block.after else 0, played.index(block.upto) + 1)
            for block in campaign.summaries(who)
        ]
        told = [name for start, end in spans for name in played[start:end]]
        buffer = campaign.carried(who).ids
        assert [name for name in (*told, *buffer) if name in worth_telling] == [
            name for name in played if name in worth_telling
        ]
    for shelf in campaign.location_memories.values():
        seen = [memory.sources for memory in shelf]
        assert len({source for sources in seen for source in sources}) == sum(map(len, seen))
