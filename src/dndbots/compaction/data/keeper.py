"""Keeps the campaign data files in step with the log, and offers edits made by hand as corrections."""

import logging
from collections.abc import Callable, Iterable, Mapping

from pydantic import JsonValue

from dndbots.compaction.data.disk_folder import DataFolder, Saved
from dndbots.compaction.data.edits import Edit
from dndbots.compaction.data.files import to_files
from dndbots.compaction.data.fold import campaign_data, update_campaign_data
from dndbots.compaction.data.models import CampaignData
from dndbots.compaction.data.run_history import cursor_of, totals_of
from dndbots.ids import DM
from dndbots.storage.campaign_log import CampaignLog
from dndbots.storage.views.view import View

log = logging.getLogger("dndbots.compaction")


def data_files(view: View, data: CampaignData | None = None) -> dict[str, bytes]:
    """Return the campaign's data files by name, made from its log alone."""
    return to_files(campaign_data(view) if data is None else data, compaction_state(view))


def compaction_state(view: View) -> Mapping[str, JsonValue]:
    """Return the compaction cursor, the last run, and the totals of all runs."""
    shelf = cursor_of(view)
    return {
        "cursor": shelf.cursor if shelf else None,
        "last_run": shelf.last if shelf else None,
        **dict(sorted(totals_of(view).items())),
    }


class Renamed(Exception):
    """The branch was renamed meanwhile, so its files belong in another folder."""


class DataKeeper:
    """Writes one branch's files. It keeps the data it wrote last, so that a save folds only newer events.

    `offer_edits` records edits made by hand as proposals, and returns those it cannot offer.
    `has_same_name` says whether the branch still has the name that the folder is for. It is asked under the
    folder's lock, so that a renamed branch never overwrites the branch that took its old name.
    """

    def __init__(
        self,
        campaign_log: CampaignLog,
        folder: DataFolder,
        offer_edits: Callable[[CampaignLog, Iterable[Edit]], list[Edit]],
        *,
        has_same_name: Callable[[], bool] = lambda: True,
    ) -> None:
        self._campaign_log, self._folder = campaign_log, folder
        self._offer_edits, self._has_same_name = offer_edits, has_same_name
        self._data: CampaignData | None = None
        self._head = 0

    def save(self) -> Saved:
        """Write the files of this moment; return what was saved, and what was edited or damaged before."""
        saved = self._folder.save(self._files)
        edits = [edit for file in saved.edited for edit in file.edits]
        for edit in self._offer_edits(self._campaign_log, edits):
            about = f"{edit.uid}: {edit.field}" if edit.uid else edit.field
            log.warning("%s: %s was edited by hand, but cannot be offered as a correction", edit.file, about)
        for damage in saved.damaged:
            log.warning("%s was damaged (%s); it is rewritten from the log", damage.file, damage.wrong)
        return saved

    def _files(self) -> dict[str, bytes]:
        if not self._has_same_name():
            raise Renamed
        with self._campaign_log.view(DM) as view:
            return data_files(view, self._current_data(view))

    def _current_data(self, view: View) -> CampaignData:
        if self._data is None or view.head < self._head:
            self._data = campaign_data(view)
        else:
            self._data = update_campaign_data(self._data, view, after=self._head)
        self._head = view.head
        return self._data
