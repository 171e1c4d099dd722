"""Known faults of such systems, each with a case that would show it."""

from pathlib import Path

import pytest
from tests.compaction.readers import ELENA, Says, facts, says, table, told

from dndbots.campaign import Campaign
from dndbots.compaction.data.disk_folder import DataFolder
from dndbots.compaction.data.files import data_path, from_files
from dndbots.compaction.data.keeper import DataKeeper
from dndbots.compaction.review import hold_edits
from dndbots.errors import ExtractionFailed
from dndbots.events import EventType
from dndbots.ids import DM, mint_heard


class Fails:
    waits = False

    def extract(self, *_: object) -> list[object]:
        raise RuntimeError("no answer")


def test_a_run_that_failed_is_not_taken_for_the_newest() -> None:
    """A failed run leaves cursor, data and log unchanged; the next run reads the turns."""
    campaign = table(told("a", "Elena is a smith."))
    before = [*campaign.export()], campaign.data()
    with pytest.raises(ExtractionFailed):
        campaign.compact(extractor=Fails())
    assert ([*campaign.export()], campaign.data()) == before
    campaign.compact(extractor=Says(says("a", "Elena", "role", "smith")))
    assert facts(campaign, ELENA)["role"] == ("smith", "fact")


def test_the_whole_campaign_is_more_than_its_last_ten_messages() -> None:
    """Everything since the last run is read, however much has piled up."""
    campaign = table(*(told(f"t{n:03d}", f"Elena counts to {n}.") for n in range(400)))
    reader = Says()
    campaign.compact(extractor=reader)
    assert [turn.id for turn in reader.read] == [f"t{n:03d}" for n in range(400)]
    assert campaign.compaction().turns_waiting == 0


def test_a_longer_but_older_description_does_not_beat_the_newer_truth() -> None:
    """The newer turn wins, not the longer one, nor the one that was read last."""
    old = "Elena is a cheerful young woman with red hair and freckles."
    campaign = table(told("a", old), told("b", "Elena is bald."))
    new = says("b", "Elena", "description", "bald")
    campaign.compact(extractor=Says(new, says("a", "Elena", "description", "young woman with red hair")))
    (stated,) = [info.facts["description"] for uid, info in campaign.data().npcs.items() if uid == ELENA]
    assert (stated.value, stated.since) == ("bald", "b")
    assert [one.value for one in stated.earlier] == ["young woman with red hair"]


def test_nobody_invents_ids() -> None:
    """A name that looks like a uid is refused; who is new gets a uid that the engine mints."""
    campaign = table(told("a", "Garth is a smith. They call him npc_king_001."))
    reader = Says(
        says("a", "npc_king_001", "role", "smith"),
        says("a", ELENA, "role", "smith"),
        says("a", "Garth", "role", "smith"),
    )
    campaign.compact(extractor=reader)
    (extracted,) = [one for one in campaign.events(viewer=DM) if one.event_type is EventType.EXTRACTION]
    assert extracted.metadata["names"] == {mint_heard("NPC", "Garth", "a"): ["Garth"]}
    assert sum(campaign.compaction().runs[0].rejected.values()) == 2


def test_a_stale_save_wipes_nothing(tmp_path: Path) -> None:
    """Somebody who looked earlier and saves later writes what the log says then."""
    with Campaign.open(tmp_path / "campaign") as campaign, campaign.another() as other:
        campaign.record(told("a", "Garth is a smith."))
        campaign.compact(extractor=Says(says("a", "Garth", "role", "smith")))
        folder = data_path(tmp_path / "campaign")
        late = DataKeeper(other, DataFolder(folder), hold_edits)
        late.save()
        campaign.record(told("b", "Garth is a baker."))
        campaign.compact(extractor=Says(says("b", "Garth", "role", "baker")))
        late.save()
        loaded = DataFolder(folder).load().files
        assert loaded is not None
        assert from_files(loaded) == campaign.data()
        assert from_files(loaded).npcs[mint_heard("NPC", "Garth", "a")].facts["role"].value == "baker"
