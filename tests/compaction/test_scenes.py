"""Scenes: a place and a set of characters until either changes, however the turns come in."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compaction.readers import ELENA, INN, MILL, MIRA, PARTY, THROK, ZARA, Says, event, table, told
from tests.logs import logs, played
from tests.memory.test_laws import some

from dndbots.campaign import Campaign
from dndbots.compaction.agent import CampaignPersistenceAgent
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign

TEXTS = ["Throk looks around.", "Elena says that the bell rings.", "The door is locked.", "Nobody answers."]


def scenes_of(campaign: Campaign) -> list[tuple[Any, ...]]:
    """Place, who was there, turns, and whether it goes on, in the order in which they began."""
    found = campaign.data().scenes.values()
    places = {one.event_id: one.seq or 0 for one in campaign.events(viewer=DM)}
    ordered = sorted(found, key=lambda one: places[one.first])
    return [(one.location, one.participants, one.turns, one.open) for one in ordered]


def compacted(campaign: Campaign, most: int = 250) -> Campaign:
    CampaignPersistenceAgent(Says()).compact(campaign, most=most)
    return campaign


def at(place: str | None, people: list[str], number: int, session: str = "s01", **more: Any) -> GameEvent:
    where = {} if place is None else {"location": place}
    return told(
        f"e{number}", TEXTS[number % 4], participants=people, witnesses=[], session=session, **where, **more
    )


def test_a_scene_ends_when_the_place_changes() -> None:
    campaign = table(*(at(MILL, PARTY, n) for n in range(3)), *(at(INN, PARTY, n) for n in range(3, 5)))
    assert scenes_of(compacted(campaign)) == [
        (MILL, (MIRA, THROK, ZARA, ELENA), 3, False),
        (INN, (MIRA, THROK, ZARA), 2, True),
    ]


def test_a_scene_ends_when_others_are_there() -> None:
    """A silent character stays in the scene; a newcomer starts another one."""
    campaign = memory_campaign([at(MILL, [THROK, ZARA], 0), at(MILL, [THROK], 1), at(MILL, PARTY, 2)])
    assert scenes_of(compacted(campaign)) == [
        (MILL, (THROK, ZARA), 2, False),
        (MILL, (MIRA, THROK, ZARA), 1, True),
    ]


def test_a_split_party_has_a_scene_for_each_part() -> None:
    """They go on side by side, however often the DM turns from one to the other."""
    turns = [at(*((MILL, [THROK]), (INN, [ZARA, MIRA]))[n % 2], n) for n in range(8)]
    assert scenes_of(compacted(memory_campaign(turns))) == [
        (MILL, (THROK,), 4, True),
        (INN, (MIRA, ZARA), 4, True),
    ]


def test_a_new_session_closes_all_scenes() -> None:
    turns = [at(MILL, [THROK], 0), at(INN, [ZARA], 1), at(MILL, [THROK], 2, session="s02")]
    assert [one[3] for one in scenes_of(compacted(memory_campaign(turns)))] == [False, False, True]


def test_a_scene_tells_what_came_of_it_and_how_it_went() -> None:
    """Outcomes and a narrative of its own words, with sources; nothing of a part that others played."""
    turns = [at(MILL, [THROK], n, killed=["mon_wolf_001"] if n == 2 else []) for n in range(4)]
    turns += [at(INN, [ZARA], 9, facts=[]), at(INN, [THROK], 10)]
    campaign = compacted(memory_campaign(turns))
    scene = campaign.data().scenes["e0"]
    assert scene.outcomes == ("Wolf died.",)
    told_of = campaign.data().narratives["e0"]
    assert told_of.scene_id == "e0"
    assert set(told_of.sources) <= {f"e{n}" for n in range(4)}


def test_a_forgotten_turn_is_in_no_narrative() -> None:
    turns = [at(MILL, [THROK], n) for n in range(4)]
    campaign = compacted(memory_campaign([*turns, at(INN, [THROK], 9)]))
    for source in campaign.data().narratives["e0"].sources:
        campaign.forget(source)
    assert "e0" not in campaign.data().narratives


@settings(max_examples=some(25))
@given(logs(most=14), st.integers(0, 3))
def test_batches_of_any_size_give_the_same_scenes_and_narratives(log: list[GameEvent], shift: int) -> None:
    """Batches of one event, of three, or of all give the same scenes."""
    whole = played(memory_campaign(), log)
    said = [
        one
        if one.is_note
        else one.model_copy(
            update={
                "content": TEXTS[(n + shift) % 4],
                "event_type": EventType.DM_NARRATION if one.source == DM else EventType.PLAYER_ACTION,
            }
        )
        for n, one in enumerate(whole.events(viewer=DM))
    ]
    found = []
    for most in (1, 3, 250):
        campaign = memory_campaign()
        campaign.replay(said)
        compacted(campaign, most)
        data = campaign.data()
        found.append((data.scenes, data.narratives))
    assert found[0] == found[1] == found[2]


@settings(max_examples=some(25))
@given(
    st.lists(st.tuples(st.sampled_from([MILL, INN, None]), st.sets(st.sampled_from(PARTY)), st.booleans()))
)
def test_every_turn_that_a_character_heard_is_in_one_scene(turns: list[Any]) -> None:
    """And nobody is in two scenes that are open at once."""
    campaign = memory_campaign()
    session = 1
    for number, (place, people, is_new) in enumerate(turns):
        session += is_new
        campaign.record(at(place, sorted(people), number, session=f"s{session}"))
    compacted(campaign, 2)
    found = campaign.data().scenes.values()
    assert sum(one.turns for one in found) == sum(bool(people) for _, people, _ in turns)
    still_there = [who for one in found if one.open for who in one.participants]
    assert len(still_there) == len(set(still_there))


def test_a_session_that_begins_is_a_scene_of_those_who_are_there() -> None:
    """An event of another kind counts no turn, but says who is where."""
    begun = event("b", DM, "", kind=EventType.SESSION_START, participants=[THROK], location=MILL)
    assert scenes_of(compacted(memory_campaign([begun]))) == [(MILL, (THROK,), 0, True)]
