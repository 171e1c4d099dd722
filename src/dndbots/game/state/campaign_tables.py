"""The tables of a campaign, folded from its log."""

from collections.abc import Callable

from dndbots.campaign import Campaign
from dndbots.events import EventType
from dndbots.game.state.table import Table, deliver_event
from dndbots.ids import DM


def has_story(campaign: Campaign) -> bool:
    """Check that something happened in a campaign. Introductions alone are no story."""
    with campaign.view(DM) as view:
        return any(not event.is_note and event.event_type is not EventType.SYSTEM for event in view.events())


def fold_tables(campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> dict[str, Table]:
    """Return everybody's table, folded from the log."""
    tables: dict[str, Table] = {DM: Table()}
    with campaign.view(DM) as view:
        head = view.head
        for event in view.events():
            deliver_event(event, tables)
            if progress is not None and event.seq is not None:
                progress(event.seq, head)
    tables[DM].at = head
    seats = tables[DM].seats
    return {who: table for who, table in tables.items() if who == DM or who in seats}
