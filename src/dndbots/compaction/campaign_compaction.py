"""Compaction of one campaign: run it now or in the background, review proposals, keep the data files.

Most programs that open a campaign never compact it, so each method imports what it needs.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dndbots.compaction.background import EVERY_TURNS, EVERY_WORDS, Compactor, Job, shared_reader
from dndbots.errors import InvalidSetting, StorageError
from dndbots.ids import DM
from dndbots.jobs.queue import COMPACT
from dndbots.storage.address import address_of
from dndbots.storage.campaign_log import BranchLog
from dndbots.storage.files import MISSING
from dndbots.storage.upkeep import Problem, Progress

if TYPE_CHECKING:
    from dndbots.compaction.agent import CampaignPersistenceAgent
    from dndbots.compaction.data.disk_folder import Saved
    from dndbots.compaction.data.keeper import DataKeeper
    from dndbots.compaction.data.models import CampaignData
    from dndbots.compaction.data.run_history import CompactionStatus, RefusedProposal, Run
    from dndbots.compaction.review import Proposal

_LAST: Final = 10
_REMEDY: Final = "the next compaction sets it aside and writes it again from the log"


class CampaignCompaction:
    """Turns the raw log of one branch into campaign data, and keeps its files.

    `extractor` reads facts out of prose: an object with `extract`, or a chat model. None needs no model.
    `address` is where the campaign is stored. If that is a folder, the data files are kept there.
    """

    def __init__(self, log: BranchLog, *, extractor: Any = None, address: str | None = None) -> None:
        self._log = log
        self.extractor = extractor
        self.address = address
        self.home = None if address is None or "://" in address else Path(address)
        # Kept by extractor: an agent remembers how often its extractor failed.
        self._agents: dict[int, tuple[Any, CampaignPersistenceAgent]] = {}
        self._keeper: tuple[str, DataKeeper] | None = None

    # Runs.

    def compact(
        self,
        *,
        review: bool = False,
        extractor: Any = None,
        at_most: int | None = None,
        progress: Progress | None = None,
    ) -> "list[Run]":
        """Extract facts from all turns since the last run, update the data files, and return the runs.

        With `review`, the facts wait for a person instead: see `proposals`. `at_most` limits the number
        of runs; the rest waits for the next call. `progress` gets the turns read and their total.
        """
        agent = self._agent_for(self.extractor if extractor is None else extractor)
        total = self.status(last=1).turns_waiting if progress is not None else 0
        return self._run(agent, review=review, at_most=at_most, progress=progress, total=total)

    def _run(self, agent: "CampaignPersistenceAgent", **options: Any) -> "list[Run]":
        try:
            return agent.compact(self._log, **options)
        finally:
            # Also after a failure: the runs that were finished before it are in the log.
            self.save_data()

    def _agent_for(self, extractor: Any) -> "CampaignPersistenceAgent":
        from dndbots.compaction.agent import CampaignPersistenceAgent

        if id(extractor) not in self._agents:
            self._agents[id(extractor)] = extractor, CampaignPersistenceAgent(extractor)
        return self._agents[id(extractor)][1]

    def compacting(
        self,
        *,
        every: int = EVERY_TURNS,
        words: int = EVERY_WORDS,
        extractor: Any = None,
        queue: bool = False,
    ) -> Compactor:
        """Return a context manager that compacts in the background while it is open.

        It runs every so many turns or words, and at the end of a scene. Without a model another process
        does the reading, so that no turn waits for it. With `queue`, the work is queued for the
        `dndbots worker` processes of the campaign's server.
        """
        from dndbots.compaction.agent import CampaignPersistenceAgent

        extractor = self.extractor if extractor is None else extractor
        if queue:
            return self._queued(extractor, every=every, words=words)
        if extractor is None and self.address is not None:
            # Absolute: the process may run in another folder, and serves other campaigns as well.
            job = Job(str(self.home.absolute()) if self.home else self.address, self._log.branch)
            compactor = Compactor(lambda: shared_reader().compact(job), every=every, words=words)
            return compactor.on_close(first=self._log.listen(compactor.notice))
        agent, log = CampaignPersistenceAgent(extractor), self._log.reopen()
        own = CampaignCompaction(log, extractor=self.extractor, address=self.address)
        compactor = Compactor(lambda: len(own._run(agent)), every=every, words=words)
        return compactor.on_close(first=self._log.listen(compactor.notice), last=log.close)

    def _queued(self, extractor: Any, *, every: int, words: int) -> Compactor:
        if extractor is not None:
            reason = "cannot be combined with an extractor: workers read without a model"
            raise InvalidSetting("queue", extractor, reason=reason)
        from dndbots.jobs.sql_queue import open_queue  # loads the database driver

        queue = open_queue(self.address)
        campaign = address_of(self.address or "").campaign or ""

        def ask() -> int:
            queue.ask(campaign, self._log.branch, COMPACT)
            return 0

        compactor = Compactor(ask, every=every, words=words)
        return compactor.on_close(first=self._log.listen(compactor.notice), last=queue.close)

    def status(self, *, last: int = _LAST) -> "CompactionStatus":
        """Return how far compaction has come, with the last runs."""
        from dndbots.compaction.data import run_history
        from dndbots.compaction.heard_turns import is_spoken
        from dndbots.compaction.review import proposals_of

        with self._log.view(DM) as view:
            shelf = run_history.cursor_of(view)
            waiting = view.play(after=run_history.waiting_after(view))
            return run_history.CompactionStatus(
                cursor=shelf.cursor if shelf else None,
                turns_waiting=sum(1 for _, event in waiting if is_spoken(event)),
                proposals_waiting=len(proposals_of(view)),
                totals=run_history.totals_of(view),
                runs=tuple(map(run_history.run_of, run_history.last_runs(view, last=last))),
            )

    def rejections(self, *, last: int = _LAST) -> "list[RefusedProposal]":
        """Return the proposals that the last runs refused, as far as they are kept."""
        from dndbots.compaction.data.run_history import RefusedProposal, last_runs

        with self._log.view(DM) as view:
            runs = last_runs(view, last=last)
        return [
            RefusedProposal.model_validate({"run_id": event.event_id, **rejection})
            for event in runs
            if event.known.compaction is not None
            for rejection in event.known.compaction.rejections
            if isinstance(rejection, dict)
        ]

    # Review.

    def proposals(self, *, decided: bool = False) -> "list[Proposal]":
        """Return the proposals that wait for a decision, oldest first; with `decided`, all of them."""
        from dndbots.compaction.review import proposals_of

        with self._log.view(DM) as view:
            return proposals_of(view, decided=decided)

    def accept(self, proposal: str, *, value: str | None = None) -> None:
        """Accept a proposal as it is, or with another value."""
        from dndbots.compaction.review import accept_proposal

        accept_proposal(self._log, proposal, value=value)

    def reject(self, proposal: str) -> None:
        """Reject a proposal."""
        from dndbots.compaction.review import reject_proposal

        reject_proposal(self._log, proposal)

    # Campaign data and its files.

    def data(self, *, as_of: str | None = None) -> "CampaignData":
        """Return the campaign data. It is the DM's, and tells every secret."""
        from dndbots.compaction.data.fold import campaign_data

        with self._log.view(DM, as_of) as view:
            return campaign_data(view)

    def export_data(self, folder: Path | str) -> "Saved":
        """Write the campaign data files of this moment into a folder.

        Other files in the folder stay; files with the same names are set aside.
        """
        from dndbots.compaction.data.disk_folder import DataFolder
        from dndbots.compaction.data.keeper import data_files

        _refuse_foreign_versions(Path(folder))
        with self._log.view(DM) as view:
            files = data_files(view)
        return DataFolder(folder).save(files)

    def save_data(self) -> "Saved | None":
        """Bring the campaign data files up to date; return None if the campaign has no folder."""
        from dndbots.compaction.data.keeper import Renamed

        if self.home is None:
            return None
        while True:
            with suppress(Renamed):
                return self._keeper_in(self.home.absolute()).save()

    def _keeper_in(self, home: Path) -> "DataKeeper":
        """Return the keeper of the files under the branch's current name."""
        from dndbots.compaction.data.disk_folder import DataFolder
        from dndbots.compaction.data.files import data_path
        from dndbots.compaction.data.keeper import DataKeeper
        from dndbots.compaction.review import hold_edits

        branch = self._log.branch
        if self._keeper is None or self._keeper[0] != branch:
            folder = DataFolder(data_path(home, branch), home=home)
            keeper = DataKeeper(
                self._log, folder, hold_edits, has_same_name=lambda: self._log.branch == branch
            )
            self._keeper = branch, keeper
        return self._keeper[1]

    def move_data(self, kept: str) -> None:
        """Move the data files after an undo: the old branch, now called `kept`, gets its own."""
        from dndbots.compaction.data.files import data_path

        self._keeper = None
        if self.home is None or not data_path(self.home.absolute(), self._log.branch).is_dir():
            return
        self.save_data()
        log = self._log.reopen(kept)
        try:
            CampaignCompaction(log, address=self.address).save_data()
        finally:
            log.close()

    def data_problems(self, branches: Iterable[str]) -> list[Problem]:
        """Return what is wrong with the data files of some branches, and change nothing.

        A file edited by hand is no problem while it can be read: the edit is offered as a correction.
        Nor is a missing file: an interrupted save leaves one, and the next save writes it.
        """
        from dndbots.compaction.data.disk_folder import DataFolder
        from dndbots.compaction.data.files import data_path

        problems: list[Problem] = []
        if self.home is None:
            return problems
        home = self.home.absolute()
        for branch in branches:
            folder = DataFolder(data_path(home, branch), home=home)
            try:
                state = folder.inspect()
            except StorageError as exc:
                problems.append(Problem(branch, "data", str(exc)))
                continue
            wrong = [(damage.file, damage.wrong) for damage in state.damaged if damage.wrong != MISSING]
            wrong += [(edit.file, f"cannot be read: {edit.problem}") for edit in state.edited if edit.problem]
            problems += [
                Problem(branch, str(folder.path / file), f"{what}; {_REMEDY}") for file, what in wrong
            ]
        return problems


def _refuse_foreign_versions(folder: Path) -> None:
    """Raise `InvalidSetting` if the folder's `versions` are not ours: old versions get deleted in time."""
    from dndbots.compaction.data.files import FILES

    for version in (folder / "versions").glob("[0-9]*"):
        if not version.is_dir() or any(file.name not in FILES for file in version.iterdir()):
            reason = f"has versions of something else ({version.name}); choose another folder"
            raise InvalidSetting("folder", str(folder), reason=reason)
