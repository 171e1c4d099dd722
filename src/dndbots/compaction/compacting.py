"""The part of a campaign that compacts: on demand, in the background, and what comes of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict

from dndbots.compaction.agent import CampaignPersistenceAgent
from dndbots.compaction.background import EVERY_TURNS, EVERY_WORDS, Compactor, Job, shared_worker
from dndbots.compaction.data import CampaignData
from dndbots.compaction.files import FILES, data_path
from dndbots.compaction.folder import DataFolder, Saved
from dndbots.compaction.folding import campaign_data
from dndbots.compaction.keeping import DataKeeper, Renamed, data_files
from dndbots.compaction.reviewing import Proposal, accept, proposals_of, reject
from dndbots.compaction.running import Run, cursor_of, last_runs, run_of, totals_of, waiting_after
from dndbots.compaction.turns import is_spoken
from dndbots.errors import InvalidSetting, StorageError
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.storage.disk import MISSING
from dndbots.storage.opening import address_of
from dndbots.storage.queue import COMPACT, open_queue
from dndbots.storage.reader import View
from dndbots.storage.upkeep import Problem, Progress

_LAST: Final = 10
_REMEDY: Final = "the next compaction sets it aside and writes it anew from the log"


class CompactionStatus(BaseModel):
    """How far compaction has come, what it did so far, and its last runs, oldest first."""

    model_config = ConfigDict(frozen=True)

    cursor: str | None
    turns_waiting: int
    proposals_waiting: int
    totals: dict[str, int]
    runs: tuple[Run, ...]


class Refused(BaseModel):
    """A proposal that was rejected, with the reason, and the run that did."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    rule: str
    reason: str
    update: dict[str, Any]


class Compacting(ABC):
    """What a campaign can do with its raw logs. `extractor` reads them; None needs no model.

    `home` is the folder that the files of campaign data are kept in, if there is one.
    """

    extractor: Any = None
    home: Path | None = None
    address: str | None = None

    @property
    @abstractmethod
    def branch(self) -> str: ...
    @abstractmethod
    def view(self, viewer: str, as_of: str | None = None) -> AbstractContextManager[View]: ...
    @abstractmethod
    def record(self, event: GameEvent, *, expected: int | None = None) -> GameEvent: ...
    @abstractmethod
    def record_many(self, events: Iterable[GameEvent], *, expected: int | None = None) -> list[GameEvent]: ...
    @abstractmethod
    def listen(self, heard: Callable[[list[GameEvent]], None]) -> Callable[[], None]: ...
    @abstractmethod
    def another(self) -> Self: ...
    @abstractmethod
    def another_branch(self, name: str) -> "Compacting": ...
    @abstractmethod
    def close(self) -> None: ...

    # Doing it.

    def compact(
        self,
        *,
        review: bool = False,
        extractor: Any = None,
        at_most: int | None = None,
        progress: Progress | None = None,
    ) -> list[Run]:
        """Reads facts out of all that was said since the last time, and brings the files up to date.

        With `review`, what is found waits for a person: see `proposals`. `at_most` is after how many runs
        to leave the rest for another time. `progress` is told how many turns of how many were read.
        """
        agent = self._agent(self.extractor if extractor is None else extractor)
        total = self.compaction(last=1).turns_waiting if progress is not None else 0
        return _compacted(self, agent, review=review, at_most=at_most, progress=progress, total=total)

    def compacting(
        self,
        *,
        every: int = EVERY_TURNS,
        words: int = EVERY_WORDS,
        extractor: Any = None,
        queue: bool = False,
    ) -> Compactor:
        """Compacts in the background while it is open: every so many turns or words, and at a scene's end.

        Without a model it is another process that reads, so that no turn waits for it. With `queue`, it is
        whichever `dndbots worker` of the campaign's server has time; this program only asks.
        """
        reads = self.extractor if extractor is None else extractor
        if queue:
            return self._queueing(reads, every=every, words=words)
        if reads is None and self.address is not None:
            # The process that reads may have been started elsewhere, and serves other campaigns as well.
            job = Job(str(self.home.absolute()) if self.home else self.address, self.branch)
            compactor = Compactor(lambda: shared_worker().compact(job), every=every, words=words)
            return compactor.on_close(first=self.listen(compactor.notice))
        # The same one all the while, as it counts how often it failed.
        agent, own = CampaignPersistenceAgent(reads), self.another()
        compactor = Compactor(lambda: len(_compacted(own, agent)), every=every, words=words)
        return compactor.on_close(first=self.listen(compactor.notice), last=own.close)

    def _queueing(self, reads: Any, *, every: int, words: int) -> Compactor:
        if reads is not None:
            raise InvalidSetting("queue", reads, reason="cannot come along: workers read without a model")
        asked = open_queue(self.address)
        name = address_of(self.address or "").campaign or ""

        def ask() -> int:
            asked.ask(name, self.branch, COMPACT)
            return 0

        compactor = Compactor(ask, every=every, words=words)
        return compactor.on_close(first=self.listen(compactor.notice), last=asked.close)

    def _agent(self, extractor: Any) -> CampaignPersistenceAgent:
        """The one that read with this extractor last time: it knows how often that failed."""
        known: dict[int, tuple[Any, CampaignPersistenceAgent]] = self.__dict__.setdefault("_agents", {})
        if id(extractor) not in known:
            known[id(extractor)] = extractor, CampaignPersistenceAgent(extractor)
        return known[id(extractor)][1]

    def save_data(self) -> Saved | None:
        """Brings the files of campaign data up to date; None where the campaign has no folder."""
        if self.home is None:
            return None
        while True:
            with suppress(Renamed):
                return self._keeper_in(self.home.absolute()).save()

    def _keeper_in(self, home: Path) -> DataKeeper:
        """What keeps the files of this branch, by the name that it has now."""
        branch = self.branch
        known: tuple[str, DataKeeper] | None = self.__dict__.get("_keeper")
        if known is None or known[0] != branch:
            folder = DataFolder(data_path(home, branch), home=home)
            keeper = DataKeeper(self, folder, still=lambda: self.branch == branch)
            known = self._keeper = branch, keeper
        return known[1]

    def data_problems(self, branches: Iterable[str]) -> list[Problem]:
        """What is wrong with the files of campaign data of some branches. They stay as they are.

        What a person edited is no problem, as long as it can be read: it is offered as a correction. Nor is
        what is missing, as a save that was interrupted leaves it: the next one goes on.
        """
        found: list[Problem] = []
        if self.home is None:
            return found
        home = self.home.absolute()
        for branch in branches:
            folder = DataFolder(data_path(home, branch), home=home)
            try:
                looked = folder.looked_at()
            except StorageError as exc:
                found.append(Problem(branch, "data", str(exc)))
                continue
            wrong = [(one.file, one.wrong) for one in looked.damaged if one.wrong != MISSING]
            wrong += [(one.file, f"cannot be read: {one.problem}") for one in looked.edited if one.problem]
            found += [Problem(branch, str(folder.path / file), f"{what}; {_REMEDY}") for file, what in wrong]
        return found

    def move_data(self, kept: str) -> None:
        """Where there are files of campaign data, they go along with a branch that got another name.

        `kept` is that name; this campaign goes on under the one that it had.
        """
        self.__dict__.pop("_keeper", None)
        if self.home is None or not data_path(self.home.absolute(), self.branch).is_dir():
            return
        self.save_data()
        other = self.another_branch(kept)
        try:
            other.save_data()
        finally:
            other.close()

    # What comes of it.

    def data(self, *, as_of: str | None = None) -> CampaignData:
        """All that the campaign has come to. It is the DM's, and tells every secret."""
        with self.view(DM, as_of) as view:
            return campaign_data(view)

    def export_data(self, folder: Path | str) -> Saved:
        """Writes the files of campaign data, as they are at this moment, into a folder.

        What else is in the folder stays; what was there under their names is set aside.
        """
        _refuse_others_versions(Path(folder))
        with self.view(DM) as view:
            files = data_files(view)
        return DataFolder(folder).save(files)

    def compaction(self, *, last: int = _LAST) -> CompactionStatus:
        with self.view(DM) as view:
            shelf = cursor_of(view)
            waiting = sum(1 for _, event in view.play(after=waiting_after(view)) if is_spoken(event))
            return CompactionStatus(
                cursor=shelf.cursor if shelf else None,
                turns_waiting=waiting,
                proposals_waiting=len(proposals_of(view)),
                totals=totals_of(view),
                runs=tuple(map(run_of, last_runs(view, last=last))),
            )

    def rejections(self, *, last: int = _LAST) -> list[Refused]:
        """What the last runs rejected, with the reasons, as far as they are kept."""
        with self.view(DM) as view:
            found = last_runs(view, last=last)
        return [
            Refused.model_validate({"run_id": event.event_id, **one})
            for event in found
            if event.known.compaction is not None
            for one in event.known.compaction.rejections
            if isinstance(one, dict)
        ]

    # What waits for a person.

    def proposals(self, *, decided: bool = False) -> list[Proposal]:
        """What waits for a person to decide, oldest first; or everything that ever did."""
        with self.view(DM) as view:
            return proposals_of(view, decided=decided)

    def accept(self, proposal: str, *, value: str | None = None) -> None:
        """Takes a proposal over, as it is or with another value."""
        accept(self, proposal, value=value)

    def reject(self, proposal: str) -> None:
        reject(self, proposal)


def _refuse_others_versions(folder: Path) -> None:
    """Old versions are taken away in time, so they must be ours: a folder of any name may have some."""
    for version in (folder / "versions").glob("[0-9]*"):
        if not version.is_dir() or any(one.name not in FILES for one in version.iterdir()):
            reason = f"has versions of something else ({version.name}); choose another folder"
            raise InvalidSetting("folder", str(folder), reason=reason)


def _compacted(campaign: Compacting, agent: CampaignPersistenceAgent, **how: Any) -> list[Run]:
    try:
        return agent.compact(campaign, **how)
    finally:
        # Also when it failed on the way: whole runs are kept.
        campaign.save_data()
