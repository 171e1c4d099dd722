"""Events that several read: made once, nobody's to change, and never of what was not kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import DuplicateEvent
from dndbots.events import GameEvent
from dndbots.storage.views.event_cache import EventCache
from dndbots.testing import memory_campaign

THROK, ZARA = "pc_throk_001", "pc_zara_001"


@pytest.fixture(params=["folder", "memory"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Campaign]:
    with Campaign.open(tmp_path / "c") if request.param == "folder" else memory_campaign() as campaign:
        yield campaign


def told(n: int, text: str, *people: str) -> GameEvent:
    return event(f"e{n}", "dm", text, participants=[*people])


def test_what_one_read_is_shown_to_those_alone_who_perceived_it(campaign: Campaign) -> None:
    """The DM reads first; of that, each gets its own part, and no places."""
    campaign.record_many([told(1, "For both.", THROK, ZARA), told(2, "For Throk.", THROK)])
    with campaign.view("dm") as view:
        assert [one.seq for one in view.events()] == [1, 2]
    for who, known in ((THROK, ["e1", "e2"]), (ZARA, ["e1"])):
        with campaign.view(who) as view:
            assert [(one.event_id, one.seq) for one in view.events()] == [(name, None) for name in known]
            assert [one.event_id for one in view.at([1, 2])] == known
            assert list(view.by_id(["e1", "e2"])) == known


def test_an_event_is_read_once_for_all(campaign: Campaign) -> None:
    """Two who perceived the same get the same value."""
    campaign.record(told(1, "For both.", THROK, ZARA))
    found = []
    for who in (THROK, ZARA):
        with campaign.view(who) as view:
            found += view.events()
    assert found[0] is found[1]


def test_whoever_is_given_an_event_may_change_it(campaign: Campaign) -> None:
    """Events from the facade belong to the caller alone."""
    campaign.record(told(1, "For both.", THROK, ZARA))
    for given in (*campaign.events(viewer=THROK), *campaign.events(viewer=THROK, last=1)):
        given.metadata["participants"] = [ZARA]
    with campaign.view(THROK) as view:
        (own,) = view.events()
        assert own.metadata["participants"] == own.known.participants == [THROK, ZARA]


def test_what_was_read_while_it_was_written_and_then_undone_is_not_at_hand(campaign: Campaign) -> None:
    """Another event comes to stand at its place, and that one is read there."""

    def read_and_refused() -> Iterator[GameEvent]:
        for n in range(1, 5_000):
            yield told(n, "This never came to be.", THROK)
        with campaign.view(THROK) as view:
            assert view.at([1])
        yield told(1, "This was there before.", THROK)

    with pytest.raises(DuplicateEvent):
        campaign.record_many(read_and_refused())
    campaign.record(told(1, "This did.", THROK))
    with campaign.view(THROK) as view:
        assert [one.content for one in view.events()] == ["This did."]


def test_a_branch_has_its_own_events_at_the_same_places(campaign: Campaign) -> None:
    """Cached events are found by branch and seq."""
    campaign.record_many([told(1, "Before.", THROK), told(2, "Here.", THROK)])
    with campaign.fork("side", at="e1") as side:
        side.record(told(3, "There.", THROK))
        with campaign.view(THROK) as here, side.view(THROK) as there:
            assert [one.content for one in here.events()] == ["Before.", "Here."]
            assert [one.content for one in there.events()] == ["Before.", "There."]
            shared = EventCache()
            for view, text in ((here, "Here."), (there, "There.")):
                found = shared.at(view._store, view._lineage, [1, 2])
                assert found[2].event.content == text


def test_what_is_at_hand_is_bounded(campaign: Campaign) -> None:
    """It forgets what was asked for least recently, and keeps nothing that is larger than all of it."""
    campaign.record_many(told(n, "words " * 100, THROK) for n in range(1, 10))
    campaign.record(told(10, "x" * 90_000, THROK))
    at_hand = EventCache(most=4 * 3_000)
    with campaign.view("dm") as view:
        for seqs in (range(1, 10), [10]):
            assert len(at_hand.at(view._store, view._lineage, seqs)) == len(seqs)
    kept = [place for _, place in at_hand._read]
    assert 1 <= len(kept) <= 4
    assert kept == list(range(10 - len(kept), 10))
