"""Campaign data is a view of the log: brought up to date or made anew, copied, forked, or of the past."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compaction.readers import ELENA, MIRA, PARTY, THROK, ZARA, Says, facts, said, says, table, told
from tests.compaction.test_perspective import compactions, proposals, read_in_between
from tests.logs import PCS, logs
from tests.memory.test_laws import some
from tests.memory.test_laws import told as remembered_by

from dndbots.campaign import Campaign
from dndbots.compaction.data.fold import campaign_data, update_campaign_data
from dndbots.compaction.data.keeper import data_files
from dndbots.errors import DndbotsError
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign

decisions = st.lists(st.tuples(st.sampled_from(["forget", "correct", "pin"]), st.integers(0, 40)), max_size=3)


def decided(campaign: Campaign, what: list[tuple[str, int]]) -> Campaign:
    """Decisions of people on some of the events, for all who perceived them."""
    for deed, number in what:
        events = list(campaign.events(viewer=DM))
        target = events[number % len(events)].event_id
        with suppress(DndbotsError):
            if deed == "correct":
                campaign.correct(target, f"Elena is a number {number}.")
            else:
                getattr(campaign, deed)(target, on=bool(number % 4))
    return campaign


def files(campaign: Campaign, as_of: str | None = None) -> dict[str, bytes]:
    with campaign.view(DM, as_of) as view:
        return data_files(view)


# Brought up to date.


@settings(max_examples=some(40))
@given(
    logs(most=12), compactions, proposals, decisions, st.lists(st.integers(0, 100), min_size=1, max_size=3)
)
def test_data_that_is_brought_up_to_date_is_data_made_anew(
    log: list[GameEvent], between: list[str], drawn: Any, what: Any, cuts: list[int]
) -> None:
    """Cut anywhere, and as often as one likes: with merges, gates, deaths and names."""
    campaign = decided(read_in_between(memory_campaign(), log, between, drawn), what)
    with campaign.view(DM) as view:
        places = sorted({cut % (view.head + 1) for cut in cuts} | {view.head})
        data, at = campaign_data(view.until(0)), 0
        for place in places:
            data, at = update_campaign_data(data, view.until(place), after=at), place
            assert data == campaign_data(view.until(place))


# The same bytes.


@settings(max_examples=some(12))
@given(logs(most=10), compactions, proposals, decisions)
def test_data_is_the_same_after_a_rebuild_and_in_a_copy(
    log: list[GameEvent], between: list[str], drawn: Any, what: Any
) -> None:
    """Folded again, or from an exported log, it is the same byte for byte; and exported again, too."""
    campaign = decided(read_in_between(memory_campaign(), log, between, drawn), what)
    before, exported = files(campaign), list(campaign.export())
    people = (DM, *PCS[:2])
    seen = {viewer: remembered_by(campaign, viewer) for viewer in people}
    campaign.rebuild()
    assert files(campaign) == before
    copy = memory_campaign()
    copy.import_log(exported)
    assert list(copy.export()) == exported
    assert files(copy) == before
    assert {viewer: remembered_by(copy, viewer) for viewer in people} == seen
    assert campaign.verify() == copy.verify() == []


@settings(max_examples=some(10))
@given(logs(most=10), compactions, proposals, st.integers(0, 60))
def test_the_past_knows_nothing_of_what_was_read_later(
    log: list[GameEvent], between: list[str], drawn: Any, number: int
) -> None:
    """As of an event, in a fork at it, and when the log was there: the same data."""
    campaign = read_in_between(memory_campaign(), log, between, drawn)
    events = list(campaign.events(viewer=DM))
    cut = number % len(events)
    shorter = memory_campaign()
    shorter.replay(events[: cut + 1])
    fork = campaign.fork("then", at=events[cut].event_id)
    assert files(campaign, events[cut].event_id) == files(fork) == files(shorter)


@settings(max_examples=some(10))
@given(logs(most=10), compactions, proposals, st.integers(0, 60))
def test_a_fork_compacts_on_its_own(
    log: list[GameEvent], between: list[str], drawn: Any, number: int
) -> None:
    """A fork compacts the turns that waited at its start, and changes no other branch."""
    campaign = read_in_between(memory_campaign(), log, between, drawn)
    before = files(campaign)
    events = list(campaign.events(viewer=DM))
    fork = campaign.fork("aside", at=events[number % len(events)].event_id)
    fork.record(told("evt_fork", "Elena is a smith. Joss Voss fears wolves.", witnesses=PCS))
    fork.compact()
    assert fork.compaction().turns_waiting == 0
    assert files(campaign) == before
    assert campaign.verify() == fork.verify() == []


def test_data_on_disk_is_the_same_after_export_import_and_export(tmp_path: Path) -> None:
    """The files that a program reads do not depend on how the log came here."""
    with Campaign.open(tmp_path / "one") as one, Campaign.open(tmp_path / "two") as two:
        one.import_log(table(told("a", "Elena is a smith."), told("b", "Tam waits.")).export())
        one.compact(extractor=Says(says("a", "Elena", "role", "smith")))
        two.import_log(one.export())
        for campaign, name in ((one, "x"), (two, "y")):
            campaign.export_data(tmp_path / name)
        for file in (tmp_path / "x").glob("*.json"):
            assert file.read_bytes() == (tmp_path / "y" / file.name).read_bytes()
        assert two.save_data() is not None
        assert two.data() == one.data()


# What is believed, and what was so before.


def test_only_those_who_still_hold_it_are_said_to_believe_it() -> None:
    """Holders who learned better lose the belief; the others keep it."""
    campaign = table(said("a", THROK, "Elena is a spy."), told("b", "Elena is a smith.", witnesses=[ZARA]))
    campaign.compact(extractor=Says(says("a", "Elena", "role", "spy"), says("b", "Elena", "role", "smith")))
    (belief,) = campaign.data().npcs[ELENA].believed
    assert (belief.value, belief.by, belief.said_by) == ("spy", (MIRA,), THROK)
    assert facts(campaign, ELENA, ZARA)["role"] == ("smith", "fact")


def test_a_belief_that_people_of_all_kinds_hold_is_told_once() -> None:
    """Characters and others who heard the same are believers of one thing."""
    campaign = table(said("a", THROK, "Mira is a coward.", witnesses=[ZARA, ELENA]))
    campaign.compact(extractor=Says(says("a", "Mira", "role", "coward", kind="character")))
    (belief,) = campaign.data().characters[MIRA].believed
    assert belief.by == (ELENA, ZARA)


def test_what_was_so_before_is_kept_when_two_turn_out_to_be_one() -> None:
    """Newest first, under whichever uid it was said."""
    maid = "npc_maid_001"
    campaign = table(
        told("a", "Elena is a smith."), told("m", "A maid.", participants=[maid], names={maid: "Berta"})
    )
    campaign.record_many([told("b", "Berta is a cook."), told("c", "Elena is a spy.")])
    reader = Says(
        says("a", "Elena", "role", "smith"),
        says("b", "Berta", "role", "cook"),
        says("c", "Elena", "role", "spy"),
    )
    campaign.compact(extractor=reader)
    campaign.record(told("s", "They are one.", same_as={maid: ELENA}))
    stated = campaign.data().npcs[ELENA].facts["role"]
    assert stated.value == "spy"
    assert [(one.value, one.since) for one in stated.earlier] == [("cook", "b"), ("smith", "a")]


# What people decided.


@pytest.fixture
def campaign() -> Campaign:
    made = table(
        told("a", "Elena is a smith."), told("b", "Elena is a spy."), told("c", "Elena fears wolves.")
    )
    reader = [says("a", "Elena", "role", "smith"), says("b", "Elena", "role", "spy")]
    made.compact(extractor=Says(*reader, says("c", "Elena", "fears", "wolves")))
    return made


def extraction_of(campaign: Campaign, turn: str) -> str:
    return next(
        one.event_id for one in campaign.events(viewer=DM) if one.is_note and one.known.valid_from == turn
    )


def knows(campaign: Campaign, viewer: str, word: str) -> bool:
    """Return whether the data about Elena contain a word, apart from the turns."""
    text = campaign.context(viewer, 2000).text
    stated = [line for line in text.splitlines() if ":" not in line[:4] and "DM:" not in line]
    found = campaign.recall(viewer, f"Is Elena a {word}?", budget=400).items
    return any(word in line for line in stated) or any(
        word in item.text and "Elena is" not in item.text and "Elena fears" not in item.text for item in found
    )


@pytest.mark.parametrize("how", ["turn", "extraction", "correction"])
def test_what_was_read_out_of_a_turn_goes_and_comes_back_with_it(campaign: Campaign, how: str) -> None:
    """Forgetting or correcting the turn, or forgetting what was read, hides that and nothing else."""
    before = campaign.data()
    target = extraction_of(campaign, "c") if how == "extraction" else "c"
    assert knows(campaign, THROK, "wolves")
    if how == "correction":
        campaign.correct(target, "Elena laughs.")
    else:
        campaign.forget(target)
    assert set(campaign.data().npcs[ELENA].facts) == {"role"}
    assert not knows(campaign, THROK, "wolves")
    if how == "correction":
        campaign.correct(target, None)
    else:
        campaign.forget(target, on=False)
    assert campaign.data().npcs == before.npcs
    assert knows(campaign, THROK, "wolves")


def test_what_one_holder_forgets_the_others_still_know(campaign: Campaign) -> None:
    """For exactly those for whom it was forgotten."""
    before = campaign.data()
    campaign.forget("c", viewer=ZARA)
    assert not knows(campaign, ZARA, "wolves")
    assert knows(campaign, THROK, "wolves")
    assert campaign.data().npcs == before.npcs


@pytest.mark.parametrize("how", ["turn", "extraction", "correction"])
def test_what_was_so_before_stands_again_when_what_came_after_is_forgotten(
    campaign: Campaign, how: str
) -> None:
    """A misread turn that is taken out does not take with it what was known before."""
    if how == "correction":
        campaign.correct("b", "Elena laughs.")
    else:
        campaign.forget(extraction_of(campaign, "b") if how == "extraction" else "b")
    assert campaign.data().npcs[ELENA].facts["role"].value == "smith"
    assert knows(campaign, THROK, "smith")
    assert not knows(campaign, THROK, "spy")


def test_who_is_known_from_forgotten_words_alone_is_forgotten_with_them() -> None:
    """Neither the name nor the facts of who came to life in a forgotten turn stand in the data."""
    campaign = table(told("a", "Joss Voss is a smith."))
    campaign.compact(extractor=Says(says("a", "Joss Voss", "role", "smith")))
    assert "Joss" in str(campaign.data().npcs)
    campaign.forget("a")
    assert "Joss" not in str(campaign.data().npcs)
    assert "Joss" not in campaign.context(THROK, 2000).text
    campaign.forget("a", on=False)
    assert "Joss" in str(campaign.data().npcs)


def test_data_tells_who_is_where_and_dead_as_the_rules_have_it() -> None:
    """Words have no say in that."""
    campaign = table(told("k", "Elena falls.", killed=[ELENA], participants=PARTY))
    campaign.record(told("a", "Elena is alive and well."))
    campaign.compact(extractor=Says(says("a", "Elena", "status", "alive")))
    found = campaign.data().npcs[ELENA]
    assert not found.alive
    assert found.facts["status"].value == "alive"
