"""What somebody perceived of a log is a log of its own: exported, it comes back in."""

from hypothesis import given
from tests.logs import logs, played

from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign, perceivers


@given(log=logs())
def test_every_viewers_export_comes_back_in(log: list[GameEvent]) -> None:
    """Whatever their log speaks of that they never saw: what goes in is what comes out."""
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
