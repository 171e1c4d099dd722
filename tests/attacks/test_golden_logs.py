"""Campaigns of released versions open, verify and replay to the same bytes."""

from pathlib import Path

import pytest
from tests.attacks.golden_views import branches_of, golden_folders, golden_log, texts_of, unpack, viewer_texts

from dndbots.campaign import Campaign

GOLDEN = golden_folders()


@pytest.fixture(params=GOLDEN, ids=lambda golden: f"{golden.parent.name}-{golden.name}")
def golden(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def folder(golden: Path, tmp_path: Path) -> Path:
    return unpack(golden, tmp_path / "campaign")


def expected_texts(golden: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (golden / "views").iterdir()}


def test_there_are_golden_campaigns() -> None:
    """Version 0.1.0 left three; none of them may get lost."""
    assert {golden.name for golden in GOLDEN if golden.parent.name == "0.1.0"} == {
        "bridge",
        "orchard",
        "told",
    }


def test_a_golden_campaign_opens_and_verifies(folder: Path) -> None:
    with Campaign.open(folder, create=False) as campaign:
        assert campaign.verify() == []


def test_a_golden_log_is_exported_as_it_was_written(golden: Path, folder: Path) -> None:
    """Opening an old campaign changes no byte of its log."""
    for branch in branches_of(golden):
        with Campaign.open(folder, create=False, branch=branch) as campaign:
            assert list(campaign.export()) == golden_log(golden, branch)


def test_golden_views_are_the_same_bytes(golden: Path, folder: Path) -> None:
    """Each viewer reads the recorded text; `python -m tests.attacks.golden_views` records it anew."""
    assert texts_of(folder, branches_of(golden)) == expected_texts(golden)


def test_golden_views_survive_a_rebuild(golden: Path, folder: Path) -> None:
    with Campaign.open(folder, create=False) as campaign:
        campaign.rebuild()
    assert texts_of(folder, branches_of(golden)) == expected_texts(golden)


def test_a_golden_log_replays_to_the_same_views(golden: Path, tmp_path: Path) -> None:
    """The log alone, imported elsewhere, gives every viewer the same texts."""
    with Campaign.open(tmp_path / "replayed") as campaign:
        campaign.import_log(golden_log(golden, "main"))
        texts = {f"main.{viewer}.txt": text for viewer, text in viewer_texts(campaign)}
    expected = expected_texts(golden)
    assert texts == {name: expected[name] for name in texts}
