"""Undo: what was taken back is gone from every view, as if the log never had it."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logs import EVERYTHING, PCS, logs
from tests.table import event
from tests.views import ASKED, NEWCOMER, WORD, all_views

from dndbots.campaign import Campaign
from dndbots.compaction.data.files import data_path
from dndbots.errors import EventRefused
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign


def recorded(campaign: Campaign, events: list[GameEvent]) -> list[GameEvent]:
    """Records those that could have happened, and says which these are."""
    kept = []
    for one in events:
        try:
            kept.append(campaign.record(one))
        except EventRefused:
            continue
    return kept


# Somebody of whom nobody had heard before, met in what is taken back.
ENTERS = event(
    "enters",
    DM,
    f"Mirabel {WORD} comes in, and promises to pay what she owes.",
    participants=[*PCS, NEWCOMER],
    location="loc_quagmire_001",
    names={NEWCOMER: f"Mirabel {WORD}", "loc_quagmire_001": f"the {WORD}"},
    facts=[{"subject": NEWCOMER, "key": "role", "value": "smith"}],
    loot=[{"item": "item_quagmire_001", "to": PCS[0]}],
    quest_id="qst_quagmire_001",
    quest_state="accepted",
    threads=[{"id": "quagmire", "kind": "debt", "text": f"{WORD} owes us", "about": [NEWCOMER]}],
)


def _later(events: list[GameEvent]) -> list[GameEvent]:
    return [one.model_copy(update={"event_id": f"later_{one.event_id}"}) for one in events]


def _first(cast: list[str]) -> GameEvent:
    return event("evt_cast", DM, "The cast.", witnesses=[], participants=PCS, discovered=cast)


@settings(max_examples=max(1, settings().max_examples // 8))
@given(
    cast=st.lists(st.sampled_from(EVERYTHING), unique=True),
    before=logs(most=6),
    after=logs(most=6),
    reads=st.booleans(),
)
def test_what_is_undone_is_in_no_view(
    cast: list[str], before: list[GameEvent], after: list[GameEvent], *, reads: bool
) -> None:
    """Every view of every viewer is that of a log that ends before it, and of a fork there, byte for byte."""
    campaign, twin = memory_campaign(), memory_campaign()
    kept = recorded(campaign, [_first(cast), *before])
    recorded(twin, kept)
    recorded(campaign, [ENTERS, *_later(after)])
    if reads:
        all_views(campaign)  # so that all of it is at hand
    fork = campaign.fork("before", at=kept[-1].event_id)
    campaign.undo(to=kept[-1].event_id)
    told = all_views(campaign)
    assert told == all_views(twin)
    assert told == all_views(fork)
    assert [name for name, view in told.items() if WORD in view and not name.startswith(ASKED)] == []
    assert campaign.verify() == []


@settings(max_examples=max(1, settings().max_examples // 20))
@given(before=logs(most=5), after=logs(most=5))
def test_what_is_undone_is_in_no_file(before: list[GameEvent], after: list[GameEvent]) -> None:
    """The files of campaign data are those of before, also in a newly opened campaign."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "c"
        with Campaign.open(home) as campaign:
            kept = recorded(campaign, [_first(EVERYTHING[:9]), *before])
            campaign.compact()
            head, files, views = campaign.head, _files(home), all_views(campaign)
            recorded(campaign, [ENTERS, *_later(after)])
            campaign.compact()
            assert any(WORD.encode() in content for content in _files(home).values())
            last = next(one.event_id for one in campaign.events(viewer=DM) if one.seq == head)
            campaign.undo(to=last)
            assert kept
            assert _files(home) == files
            assert all_views(campaign) == views
        with Campaign.open(home, create=False) as campaign:
            assert all_views(campaign) == views
            assert campaign.verify() == []


def _files(home: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in data_path(home).iterdir() if one.suffix == ".json"}
