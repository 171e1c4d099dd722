"""The campaign that is compacted does not depend on the working directory."""

from pathlib import Path

import pytest
from tests.table import event

from dndbots import Campaign, EventType


def test_a_relative_path_means_the_same_to_the_process_that_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two campaigns of the same name in two folders are each compacted where they are."""
    for number, name in enumerate(("Elena", "Mira")):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        with Campaign.open("mill") as campaign, campaign.compacting(every=1) as compactor:
            words = f"You meet {name}, the priest of Oakhurst."
            campaign.record(event("e1", "dm", words, kind=EventType.DM_NARRATION, witnesses=["pc_zara_001"]))
        assert compactor.error is None
        assert name in (folder / "mill" / "data" / "npcs.json").read_text("utf-8")
