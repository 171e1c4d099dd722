"""A viewer's part of a log is a log of its own: exported, it can be imported again."""

from hypothesis import given
from tests.logs import event, logs, played

from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign, perceivers


@given(log=logs())
def test_every_viewers_export_comes_back_in(log: list[GameEvent]) -> None:
    """Export and import agree, even if the log refers to events that the viewer never saw."""
    campaign = played(memory_campaign(), log)
    for viewer in perceivers(campaign):
        lines = list(campaign.export(viewer=viewer))
        copy = memory_campaign()
        assert copy.import_log(lines) == len(lines) - 1
        assert list(copy.export(viewer=viewer)) == lines
        assert copy.verify() == []
        again = memory_campaign()
        again.import_log(copy.export(viewer=DM))
        assert list(again.export(viewer=viewer)) == lines


def test_late_news_of_an_event_that_others_saw_too_comes_back_in() -> None:
    """A viewer's log does not say who else perceived an event, so nobody is asked whether they did."""
    campaign = memory_campaign()
    campaign.record(event("evt_1", "dm", "The bell.", witnesses=["npc_priest_001", "pc_zara_001"]))
    late = event("evt_2", "pc_zara_001", "It was at noon.", kind="whisper", told_to=["npc_priest_001"])
    campaign.record(late.model_copy(update={"metadata": {**late.metadata, "valid_from": "evt_1"}}))
    lines = list(campaign.export(viewer="npc_priest_001"))
    assert memory_campaign().import_log(lines) == 2
