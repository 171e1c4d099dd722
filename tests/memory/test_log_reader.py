"""`LogReader`: each holder gets what its own view would give."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logs import EVERYBODY, PLACES, event, logs, played
from tests.memory.test_laws import some

from dndbots.events import GameEvent
from dndbots.memory import log_reader
from dndbots.memory.human_gates import gates_of
from dndbots.memory.log_reader import LogReader
from dndbots.memory.retold_events import retell_events
from dndbots.testing import memory_campaign

VIEWERS = ["dm", *EVERYBODY]


def ids(events: list[GameEvent]) -> list[str]:
    return [event.event_id for event in events]


@pytest.mark.parametrize("near_by", [500, 3])
@settings(max_examples=some(30))
@given(log=logs(), data=st.data())
def test_each_is_given_what_its_own_view_gives(
    near_by: int, log: list[GameEvent], data: st.DataObject
) -> None:
    """Play, mentions of a place and retold entries are the same, in any order of viewers."""
    campaign = played(memory_campaign(), log)
    told = data.draw(st.sampled_from(log)).event_id
    if told in {event.event_id for event in campaign.events(viewer="dm") if not event.is_note}:
        campaign.correct(told, "Nobody was there.")
        campaign.forget(data.draw(st.sampled_from(["evt_cast", told])))
    upto = data.draw(st.one_of(st.none(), st.integers(0, campaign.head)))
    with pytest.MonkeyPatch.context() as patch, campaign.view("dm") as view:
        patch.setattr(log_reader, "_NEAR_BY", near_by)
        shared = LogReader(view, upto)
        for viewer in data.draw(st.permutations(VIEWERS)):
            after = data.draw(st.integers(0, campaign.head))
            place = data.draw(st.sampled_from(PLACES))
            own = view.of(viewer)
            alone = [event for _, event in own.play(after=after, upto=upto)]
            together = shared.play(viewer, after)
            assert ids(together) == ids(alone)
            assert shared.retold(own, together, gates_of(own)) == retell_events(own, alone, gates_of(own))
            until = own.until(upto)
            mentioned = until.at(until.seqs_after(after, about=[place]))
            assert ids(shared.mentions(viewer, place, after)) == ids(mentioned)
            assert ids(shared.newest(viewer, place)) == ids(
                until.at(until.newest_seqs(limit=256, about=[place]))
            )


def test_a_name_that_only_some_learn_makes_an_event_about_them_for_those_alone() -> None:
    """Zara learns the name of the mill, Throk does not: for him the event is not about the mill."""
    campaign = memory_campaign()
    place = {"loc_mill_001": "the mill"}
    named = {"names": place, "introduced_to": {"loc_mill_001": ["pc_zara_001"]}}
    campaign.record(event("evt_1", "dm", "A name.", witnesses=["pc_zara_001", "pc_throk_001"], **named))
    with campaign.view("dm") as view:
        shared = LogReader(view)
        for viewer, about in (("dm", ["evt_1"]), ("pc_zara_001", ["evt_1"]), ("pc_throk_001", [])):
            assert ids(shared.mentions(viewer, "loc_mill_001", 0)) == about
            assert ids(shared.newest(viewer, "loc_mill_001")) == about
