"""A run of compaction: whatever reads, whatever it says, and whatever happens meanwhile."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compaction.readers import (
    ELENA,
    MILL,
    PARTY,
    THROK,
    ZARA,
    Says,
    assert_tiled,
    facts,
    said,
    says,
    spans,
    table,
    told,
)
from tests.memory.test_laws import some
from tests.strategies import hostile_text
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.compaction.agent import CampaignPersistenceAgent
from dndbots.compaction.data.models import CampaignData
from dndbots.compaction.run import compact_once
from dndbots.errors import ExtractionFailed, StaleNote
from dndbots.events import EventType
from dndbots.extraction.port import Update
from dndbots.ids import DM
from dndbots.testing import memory_campaign

SMITH = says("a", "Elena", "role", "smith")


def canon(campaign: Campaign) -> list[Any]:
    return campaign.entities(viewer=DM)


# Whoever reads.


def raising(error: BaseException) -> Callable[[], None]:
    def raises() -> None:
        raise error

    return raises


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3), MemoryError(), TimeoutError("late")])
def test_a_reader_that_fails_leaves_everything_as_it_was(error: BaseException) -> None:
    """The turns can be read another time, and play goes on."""
    campaign = table(told("a", "Elena is a smith."))
    before = canon(campaign), campaign.head
    with pytest.raises(ExtractionFailed):
        campaign.compact(extractor=Says(then=raising(error)))
    assert (canon(campaign), campaign.head) == before
    campaign.record(told("b", "Elena sleeps."))
    campaign.compact(extractor=Says(SMITH))
    assert facts(campaign, ELENA) == {"role": ("smith", "fact")}
    assert_tiled(campaign)


def test_a_reader_that_hangs_is_left_alone() -> None:
    """It has so much time; then everything is as before."""
    campaign, ended = table(told("a", "Elena is a smith.")), threading.Event()
    with pytest.raises(ExtractionFailed, match="no answer"):
        compact_once(campaign, Says(SMITH, then=lambda: ended.wait(HANG)), timeout=0.05)
    ended.set()
    assert spans(campaign) == []
    assert campaign.record(told("b", "Elena sleeps.")).seq == 3


class Endless:
    waits = False

    def extract(self, turns: Any, known: Any) -> Iterator[Any]:
        del known
        for n in itertools.count():
            yield says(turns[0].id, "Elena", "role", "smith") if n % 2 else n


class Nothing:
    waits = False

    def extract(self, turns: Any, known: Any) -> Any:
        del turns, known


@pytest.mark.parametrize(
    "reader", [Endless(), Says(*([SMITH] * 10_000)), Says(SMITH, SMITH, 3, None, {}, b"x")]
)
def test_however_much_is_proposed_one_valid_batch_comes_of_it(reader: Any) -> None:
    campaign = table(told("a", "Elena is a smith."))
    (run,) = campaign.compact(extractor=reader)
    assert run.updates == 1
    assert facts(campaign, ELENA) == {"role": ("smith", "fact")}
    assert campaign.verify() == []


def test_a_turn_says_only_so_much() -> None:
    """10,000 different updates of one turn come to a few, and the others are counted."""
    words = [f"word{n}" for n in range(10_000)]
    campaign = table(told("a", f"Elena knows {' '.join(words)}."))
    updates = [says("a", "Elena", "ability", word, kind="ability") for word in words]
    (run,) = campaign.compact(extractor=Says(*updates))
    assert run.updates == 8
    assert run.proposed == 10_000
    assert sum(run.rejected.values()) == 10_000 - 8


def test_a_reader_that_returns_nothing_at_all_fails() -> None:
    with pytest.raises(ExtractionFailed):
        table(told("a", "Elena is a smith.")).compact(extractor=Nothing())


LIES = {
    "another turn": says("b", "Elena", "role", "smith"),
    "no turn": says("evt_999", "Elena", "role", "smith"),
    "a turn before": says("evt_000", "Elena", "role", "smith"),
    "an invented name": says("a", "Gundren", "role", "smith"),
    "a uid": says("a", ELENA, "role", "smith"),
    "a value of its own": says("a", "Elena", "role", "queen"),
    "a field of its own": says("a", "Elena", "hp", "smith"),
    "what the rules decide": says("a", "Elena", "number", "smith"),
    "a new character": says("a", "Gundren", "role", "smith", kind="character"),
    "another kind": says("a", "Elena", "description", "smith", kind="environment"),
    "somebody's word": says("a", "Elena", "role", "smith", said_by="Gundren"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_the_turn_does_not_say_is_rejected_and_kept_with_a_reason(lie: Update) -> None:
    campaign = table(told("a", "Elena is a smith."), said("b", ZARA, "Well."))
    before = canon(campaign)
    reader = type("Lies", (), {"waits": False, "extract": lambda _self, _turns, _known: [lie]})()
    (run,) = campaign.compact(extractor=reader)
    assert canon(campaign) == before
    assert sum(run.rejected.values()) == 1
    (kept,) = campaign.rejections()
    assert kept.reason
    assert kept.rule in run.rejected


proposed = st.dictionaries(
    st.sampled_from(["kind", "name", "field", "value", "turn", "said_by", "sure", "ended", "x"]),
    st.one_of(hostile_text, st.sampled_from(["npc", "role", "Elena", "smith", "a", "fact"]), st.integers()),
)


@settings(max_examples=some(100))
@given(hostile_text.filter(lambda text: "\x00" not in text and "\ud800" not in text), st.lists(proposed))
def test_hostile_text_breaks_nothing(text: str, updates: list[Any]) -> None:
    """With any turns and any proposals, the run ends and the log stays sound."""
    try:
        turn = told("a", f"Elena is a smith. {text}")
    except ValueError:
        return
    campaign = table(turn)
    valid = [{"kind": "npc", "name": "Elena", "field": "role", "value": text or "x", "turn": "a"}, *updates]
    campaign.compact(extractor=Says(*valid))
    assert campaign.compaction().turns_waiting == 0
    assert campaign.verify() == []


@pytest.mark.parametrize("reader", [Says(then=raising(RuntimeError("no"))), Nothing()])
def test_logs_without_a_campaign_give_the_data_as_it_was_if_nothing_can_be_read(reader: Any) -> None:
    data = CampaignData()
    agent = CampaignPersistenceAgent(reader)
    assert asyncio.run(agent.compact_logs(["[DM]: Elena is a smith."], data)) is data


def test_logs_without_a_campaign_take_no_more_of_a_turn_than_a_campaign_does() -> None:
    """Neither endless proposals nor 10,000 of them make anything but one small batch."""
    agent = CampaignPersistenceAgent(Endless())
    data = asyncio.run(agent.compact_logs([told("a", "Elena is a smith.")]))
    assert [info.name for info in data.npcs.values()] == ["Elena"]
    words = [f"word{n}" for n in range(10_000)]
    reader = Says(*(says("a", "Elena", "ability", word, kind="ability") for word in words))
    agent = CampaignPersistenceAgent(reader)
    data = asyncio.run(agent.compact_logs([told("a", f"Elena knows {' '.join(words)}.")]))
    assert 0 < len(next(iter(data.npcs.values())).abilities) <= 40


def read_in_turn(*calls: Sequence[Any]) -> CampaignData:
    """The data after some calls, each with the data of the one before."""
    data = CampaignData()
    for logs in calls:
        data = asyncio.run(CampaignPersistenceAgent().compact_logs(logs, data))
    return data


A_SMITH, A_FARMER = "[DM]: Garth is a smith.", "[DM]: Garth is a farmer."
NOTHING = "[DM]: It rains."


@pytest.mark.parametrize(
    ("calls", "role", "before"),
    [
        ([[NOTHING, NOTHING, A_SMITH], [A_FARMER]], "farmer", ["smith"]),
        ([[NOTHING, A_SMITH], [NOTHING, A_FARMER]], "farmer", ["smith"]),
        ([[NOTHING, A_SMITH], [A_FARMER, NOTHING]], "farmer", ["smith"]),
        ([[NOTHING, A_SMITH + "\ud800"], [A_FARMER, NOTHING]], "farmer", ["smith"]),
        ([[A_SMITH], [A_FARMER], [A_SMITH]], "smith", ["farmer"]),
        ([[A_SMITH, A_FARMER], [A_SMITH, A_FARMER]], "farmer", ["smith"]),
        ([[NOTHING, A_SMITH, A_FARMER], [A_FARMER, NOTHING]], "farmer", ["smith"]),
        ([[A_SMITH], [A_SMITH, NOTHING, A_FARMER], [NOTHING, A_FARMER]], "farmer", ["smith"]),
        ([[{"speaker": "DM", "text": "Garth is a smith."}], [A_FARMER]], "farmer", ["smith"]),
        (
            [[NOTHING, A_SMITH], [{"id": "turn_1", "speaker": "DM", "text": A_FARMER[6:]}]],
            "farmer",
            ["smith"],
        ),
    ],
)
def test_logs_without_ids_are_newer_than_those_of_calls_before(
    calls: list[list[Any]], role: str, before: list[str]
) -> None:
    """The newest word counts, whatever its number in its call; lines that are sent again change nothing."""
    garth = next(iter(read_in_turn(*calls).npcs.values()))
    assert garth.facts["role"].value == role
    assert [one.value for one in garth.facts["role"].earlier] == before


def test_a_line_that_is_said_twice_in_one_log_is_two_turns() -> None:
    """Smith, farmer, smith again: what was said last counts, also if it was said before."""
    garth = next(iter(read_in_turn([A_SMITH, A_FARMER, A_SMITH]).npcs.values()))
    assert garth.facts["role"].value == "smith"


# Whatever the turns are.


def test_long_turns_are_read_in_runs_that_the_log_can_hold() -> None:
    """However much was said, no figure of a run is too large to be kept."""
    campaign = table(*(told(f"e{n}", "Die Wölfe heulen 龍 " * 5_000) for n in range(12)))
    campaign.compact(extractor=Says())
    assert campaign.compaction().turns_waiting == 0
    assert_tiled(campaign)


def test_ids_of_any_length_are_compacted() -> None:
    """An imported line may have an id that is longer than a name may be."""
    campaign = memory_campaign()
    for n in range(4):
        campaign.record(told(f"{n}" * 500, "Throk waits.", names={THROK: "Throk"}))
    campaign.compact(extractor=Says())
    assert campaign.compaction().turns_waiting == 0
    (scene,) = campaign.data().scenes.values()
    assert (scene.first, scene.last) == ("0" * 500, "3" * 500)


# What happens meanwhile.


def meanwhile(campaign: Campaign, deed: Callable[[Campaign], object]) -> Says:
    """A reader while which something happens."""
    once = iter([True])
    reader = Says(SMITH, says("b", "Joss Voss", "fears", "wolves"), says("c", "Elena", "wants", "gold"))
    reader.then = lambda: deed(campaign) if next(once, False) else None
    return reader


def named_twice(campaign: Campaign) -> None:
    campaign.record(told("m", "Another Elena.", names={"npc_elena_002": "Elena"}))


def introduced(campaign: Campaign) -> None:
    campaign.record(told("m", "Somebody.", participants=["npc_joss_voss_001"]))


def named_like_the_new_one(campaign: Campaign) -> None:
    campaign.record(told("m", "A place.", names={"loc_joss_voss_001": "Joss Voss"}))


def forgotten(campaign: Campaign) -> None:
    campaign.forget("a")


def stated(campaign: Campaign) -> None:
    campaign.record(told("m", "x", facts=[{"subject": ELENA, "key": "role", "value": "queen"}]))


def merged(campaign: Campaign) -> None:
    campaign.record(told("m", "x", participants=["npc_maid_001"], same_as={ELENA: "npc_maid_001"}))


@pytest.mark.parametrize(
    "deed",
    [named_twice, introduced, named_like_the_new_one, forgotten, stated, merged, lambda _campaign: None],
)
def test_what_changes_while_it_reads_blocks_nothing(deed: Callable[[Campaign], object]) -> None:
    """Updates that no longer hold are left out and reported; the rest goes in, and the cursor moves on."""
    campaign = table(
        told("a", "Elena is a smith."), told("b", "Joss Voss fears wolves."), told("c", "Elena wants gold.")
    )
    campaign.compact(extractor=meanwhile(campaign, deed))
    assert campaign.compaction().turns_waiting == 0 or campaign.compact(extractor=Says()) is not None
    assert_tiled(campaign)
    assert campaign.verify() == []
    wants = [one for one in campaign.entities(viewer=THROK) for fact in one.facts if fact.key == "wants"]
    assert bool(wants) == (deed is not named_twice)
    fears = [one for one in campaign.entities(viewer=THROK) for fact in one.facts if fact.key == "fears"]
    assert bool(fears) == (deed is not named_like_the_new_one)


def test_what_the_log_refuses_is_left_out_and_reported() -> None:
    """An event that the log refuses costs neither the others nor the cursor."""
    campaign = table(told("a", "Elena is a smith."), told("b", "Elena fears wolves."))
    refuse_extractions_of(campaign, "a")
    (run,) = campaign.compact(extractor=Says(SMITH, says("b", "Elena", "fears", "wolves")))
    assert run.rejected == {"refused": 1}
    assert facts(campaign, ELENA) == {"fears": ("wolves", "fact")}
    assert [one.rule for one in campaign.rejections()] == ["refused"]
    assert_tiled(campaign)


def refuse_extractions_of(campaign: Campaign, turn: str) -> None:
    """The log takes an event of the id that would be made, before the run comes to record it."""
    twin = table(*(one for one in campaign.events(viewer=DM) if one.event_id != "evt_000"))
    twin.compact(extractor=Says(*(one for one in [SMITH] if one.turn == turn)))
    (made,) = [one for one in twin.events(viewer=DM) if one.event_type is EventType.EXTRACTION]
    campaign.record(told(made.event_id, "Taken.", session="s00"))


def test_a_run_that_another_overtook_says_so_and_the_next_goes_on() -> None:
    """Another run moved the cursor meanwhile: nothing is told twice, and nothing skipped."""
    campaign = table(told("a", "Elena is a smith."), told("b", "Joss Voss fears wolves."))
    reader = meanwhile(campaign, lambda one: one.compact(extractor=Says(SMITH)))
    with pytest.raises(StaleNote):
        compact_once(campaign, reader)
    assert CampaignPersistenceAgent(reader).compact(campaign) == []
    assert_tiled(campaign)
    assert facts(campaign, ELENA) == {"role": ("smith", "fact")}


def test_whoever_is_overtaken_again_and_again_does_not_fail() -> None:
    """It is no error if other processes compact first, however often."""
    campaign = table(*(told(f"e{n}", "Throk waits.") for n in range(40)))
    agent = CampaignPersistenceAgent(Says(then=lambda: compact_once(campaign, Says(), most=1)))
    agent.compact(campaign, most=2)
    while CampaignPersistenceAgent(Says()).compact(campaign):
        pass
    assert_tiled(campaign)
    assert campaign.compaction().turns_waiting == 0


# Time.


def test_what_was_so_again_is_so_in_one_run_as_in_three() -> None:
    """Smith, then spy, then smith again: the last turn counts, although it says what was known before."""
    campaign = table(told("a", "Elena is a smith."))
    campaign.compact(extractor=Says(SMITH))
    campaign.record_many([told("b", "Elena is a spy now."), told("c", "Elena is a smith again.")])
    campaign.compact(extractor=Says(says("c", "Elena", "role", "smith"), says("b", "Elena", "role", "spy")))
    assert facts(campaign, ELENA) == {"role": ("smith", "fact")}
    stated = campaign.data().npcs[ELENA].facts["role"]
    assert (stated.since, stated.earlier[0].value, stated.earlier[0].since) == ("c", "spy", "b")


def test_old_turns_that_are_read_late_do_not_beat_newer_truth() -> None:
    """A proposal of an old turn that is accepted late is kept with its time, below what is newer."""
    campaign = table(told("a", "Elena is a smith, tall and old and grey and wise."))
    campaign.compact(review=True, extractor=Says(SMITH, says("a", "Elena", "description", "tall and old")))
    campaign.record(told("b", "She is queen.", facts=[{"subject": ELENA, "key": "role", "value": "queen"}]))
    campaign.record(told("c", "Elena is small."))
    campaign.compact(extractor=Says(says("c", "Elena", "description", "small")))
    for one in campaign.proposals():
        campaign.accept(one.id)
    assert facts(campaign, ELENA) == {"role": ("queen", "fact"), "description": ("small", "fact")}
    shown = campaign.data().npcs[ELENA].facts
    assert [(one.value, one.since) for one in shown["role"].earlier] == [("smith", "a")]
    assert [(one.value, one.since) for one in shown["description"].earlier] == [("tall and old", "a")]


def test_what_a_turn_states_by_more_than_words_beats_what_is_read_out_of_them() -> None:
    """Also under another uid of the same person."""
    queen = {"subject": "npc_maid_001", "key": "role", "value": "queen"}
    campaign = table(told("m", "x", participants=["npc_maid_001"], same_as={"npc_maid_001": ELENA}))
    campaign.record(told("a", "Elena is a smith.", facts=[queen]))
    (run,) = campaign.compact(extractor=Says(SMITH))
    assert run.rejected == {"structured": 1}
    assert facts(campaign, ELENA) == {"role": ("queen", "fact")}


def test_what_is_over_ends_only_what_was_so() -> None:
    """The end of one value does not end another value of the same field."""
    campaign = table(told("a", "Elena is the mayor."), told("b", "Elena is no longer a smith."))
    over = says("b", "Elena", "role", "smith", ended=True)
    (run,) = campaign.compact(extractor=Says(says("a", "Elena", "role", "mayor"), over))
    assert run.rejected == {"ended": 1}
    assert facts(campaign, ELENA) == {"role": ("mayor", "fact")}
    campaign.record(told("c", "Elena is mayor no longer."))
    campaign.compact(extractor=Says(says("c", "Elena", "role", "mayor", ended=True)))
    assert facts(campaign, ELENA) == {}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_is_over_and_what_came_instead_stand_in_one_turn(order: tuple[int, int]) -> None:
    campaign = table(told("a", "Elena is a smith."))
    campaign.compact(extractor=Says(SMITH))
    campaign.record(told("b", "Elena is no longer a smith. Elena is the mayor."))
    both = [says("b", "Elena", "role", "smith", ended=True), says("b", "Elena", "role", "mayor")]
    (run,) = campaign.compact(extractor=Says(*(both[n] for n in order)))
    assert run.rejected == {}
    assert facts(campaign, ELENA) == {"role": ("mayor", "fact")}


# What it may not touch.


def test_words_never_change_what_the_rules_say() -> None:
    """Return places, lives, wounds and witnesses, which no extraction may change."""
    begun = [
        told("k", "The wolf falls.", killed=["mon_wolf_001"], location=MILL, participants=PARTY),
        told("d", "Throk bleeds.", hp_delta={THROK: -3}, participants=PARTY, location=MILL),
        told(
            "a", "Wolf is alive. Wolf is at Old Inn. Throk is dead. Throk is unhurt. Elena left for Old Inn."
        ),
    ]
    reader = Says(
        says("a", "Wolf", "status", "alive"),
        says("a", "Wolf", "place", "Old Inn"),
        says("a", "Throk", "status", "dead", kind="character"),
        says("a", "Elena", "place", "Old Inn"),
    )
    plain, read = table(*begun), table(*begun)
    (run,) = read.compact(extractor=reader)
    assert run.updates == 4
    for who in ("mon_wolf_001", THROK, ELENA):
        ours, theirs = read.entity(who, viewer=DM), plain.entity(who, viewer=DM)
        assert (ours.alive, ours.location, ours.conditions) == (
            theirs.alive,
            theirs.location,
            theirs.conditions,
        )
        assert ours.properties.get("hp_change") == theirs.properties.get("hp_change")
    for campaign in (plain, read):
        campaign.record(told("n", "A noise.", location=MILL, witnesses=None))
    heard = [list(one.events(viewer=DM))[-1].known.witnesses for one in (plain, read)]
    assert heard[0] == heard[1]


def test_notes_of_compaction_stand_in_nothing_that_is_told() -> None:
    """In no timeline, buffer, count of turns, recall or scene."""
    campaign = table(told("a", "Elena is a smith."), told("b", "Throk waits."))
    before = campaign.timeline(viewer=THROK), campaign.memory(THROK), campaign.data().scenes
    campaign.compact(extractor=Says(SMITH))
    assert campaign.timeline(viewer=THROK) == before[0]
    assert campaign.memory(THROK).short_term_buffer == before[1].short_term_buffer
    found = campaign.recall(THROK, "What is Elena? Is she a smith?", budget=400).items
    assert {one for item in found for one in item.sources} <= {"evt_000", "a", "b"}
    (scene,) = campaign.data().scenes.values()
    assert scene.turns == 2
    assert not any(one.is_note for one in campaign.events(viewer=THROK, last=50))
    campaign.compact(extractor=Says())
    assert len(spans(campaign)) == 1


def test_somebody_may_have_several_brothers() -> None:
    """Another brother does not end the first, and what is over is over for one of them alone."""
    campaign = table(
        told("a", "Elena's brother Garth is a smith."),
        told("b", "Elena's brother Tom is a baker."),
    )
    tom, garth = says("b", "Elena", "brother", "Tom"), says("a", "Elena", "brother", "Garth")
    campaign.compact(extractor=Says(garth, tom))
    assert "- Elena: brother: Garth; brother: Tom." in campaign.context(THROK, 600).text
    campaign.record(told("c", "Garth is no longer the brother of Elena."))
    campaign.compact(extractor=Says(says("c", "Elena", "brother", "Garth", ended=True)))
    assert "- Elena: brother: Tom." in campaign.context(THROK, 600).text


def test_a_family_name_that_is_heard_later_is_theirs_unless_they_have_another() -> None:
    """Garth Stonehand is the Garth whom all know; Garth Miller, who comes after, is not."""
    campaign = table(told("a", "Garth is a smith."))
    campaign.compact(extractor=Says(says("a", "Garth", "role", "smith")))
    campaign.record(told("b", "Garth Stonehand is missing."))
    campaign.compact(extractor=Says(says("b", "Garth Stonehand", "status", "missing")))
    assert facts(campaign, "Garth")["status"] == ("missing", "fact")
    other = table(told("a", "Garth Stonehand is a smith."))
    other.compact(extractor=Says(says("a", "Garth Stonehand", "role", "smith")))
    other.record(told("b", "Garth Miller is a baker."))
    other.compact(extractor=Says(says("b", "Garth Miller", "role", "baker")))
    known = other.data().npcs.values()
    roles = {info.name: info.facts["role"].value for info in known if "role" in info.facts}
    assert roles == {"Garth Stonehand": "smith", "Garth Miller": "baker"}
