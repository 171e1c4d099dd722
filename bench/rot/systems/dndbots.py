"""dndbots through its facade: lines are imported as a transcript, with witnesses."""

from collections.abc import Sequence
from pathlib import Path

from bench.rot.memory import Line, Memory, Reply

from dndbots.campaign import Campaign

TITLE = "dndbots"
REQUIRES: tuple[str, ...] = ()  # what is checked out
ABOUT = "import_transcript, recall and context; perspective by witnesses; no model"


class _Dndbots:
    def __init__(self, folder: Path) -> None:
        self._campaign = Campaign.open(folder / "campaign")

    def add(self, lines: Sequence[Line]) -> None:
        self._campaign.import_transcript([dict(line) for line in lines])

    def context(self, viewer: str, budget: int) -> str:
        return self._campaign.context(viewer, budget=budget).text

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        found = self._campaign.recall(viewer, question, budget=budget)
        return Reply(text=found.text, refused=found.no_record)

    def close(self) -> None:
        self._campaign.close()


def open_memory(folder: Path) -> Memory:
    """A new campaign in the folder."""
    return _Dndbots(folder)
