"""Keeps the files of campaign data as the log has it, and offers what was edited there as corrections."""

import logging
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from dndbots.compaction.data import CampaignData
from dndbots.compaction.files import to_files
from dndbots.compaction.folder import DataFolder, Saved
from dndbots.compaction.folding import brought_up, campaign_data
from dndbots.compaction.reviewing import hold_edits
from dndbots.compaction.running import cursor_of, totals_of
from dndbots.ids import DM
from dndbots.memory.notes import Table
from dndbots.storage.reader import View

log = logging.getLogger("dndbots.compaction")


def data_files(view: View, data: CampaignData | None = None) -> dict[str, bytes]:
    """The files of a campaign at this moment, by name: a function of its log."""
    return to_files(campaign_data(view) if data is None else data, state_of(view))


def state_of(view: View) -> Mapping[str, JsonValue]:
    """How far compaction has come, and what it did so far."""
    shelf = cursor_of(view)
    return {
        "cursor": shelf.cursor if shelf else None,
        "last_run": shelf.last if shelf else None,
        **dict(sorted(totals_of(view).items())),
    }


class Renamed(Exception):
    """The branch is called otherwise by now, so that its files belong elsewhere."""


class DataKeeper:
    """Writes one branch's files, and keeps at hand what it wrote last, so that little is read again.

    `still` says whether the branch has the name that the folder is for: asked when nobody else saves, so
    that a branch that was renamed never writes over the one that has its name now.
    """

    def __init__(self, table: Table, folder: DataFolder, *, still: Callable[[], bool] = lambda: True) -> None:
        self._table, self._folder, self._still = table, folder, still
        self._data: CampaignData | None = None
        self._at = 0

    def save(self) -> Saved:
        saved = self._folder.save(self._files)
        edits = [edit for file in saved.edited for edit in file.edits]
        for edit in hold_edits(self._table, edits):
            about = f"{edit.uid}: {edit.field}" if edit.uid else edit.field
            log.warning("%s: %s was edited by hand, and cannot be offered as a correction", edit.file, about)
        for damage in saved.damaged:
            log.warning("%s was damaged (%s) and is written anew", damage.file, damage.wrong)
        return saved

    def _files(self) -> dict[str, bytes]:
        if not self._still():
            raise Renamed
        with self._table.view(DM) as view:
            return data_files(view, self._now(view))

    def _now(self, view: View) -> CampaignData:
        if self._data is None or view.head < self._at:
            self._data = campaign_data(view)
        else:
            self._data = brought_up(self._data, view, after=self._at)
        self._at = view.head
        return self._data
