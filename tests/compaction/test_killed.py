"""Compaction survives kills at any moment, and several processes that compact at once."""

import random
import time
from pathlib import Path

from tests.compaction.readers import assert_tiled, facts, spans
from tests.postgres import PostgresServer
from tests.storage.writers import IS_LONG, TALK, at_once, check_sound, opening_scene

from dndbots.campaign import Campaign
from dndbots.compaction.data.disk_folder import DataFolder
from dndbots.compaction.data.files import data_path
from dndbots.compaction.data.keeper import data_files
from dndbots.ids import DM

KILLS = 150 if IS_LONG else 6
KILLS_OF_A_CAMPAIGN = 3


def begun(where: Path | str) -> Campaign:
    campaign = Campaign.open(where)
    campaign.record(opening_scene())
    return campaign


def check_compacted(campaign: Campaign, promised: list[str], *, noted: str) -> None:
    """Sound, every promised run there, every turn gone over once, and as many facts as there should be."""
    check_sound(campaign, promised, told=noted)
    assert_tiled(campaign)
    counted = sum(turns for _, _, turns in spans(campaign))
    assert campaign.compaction().totals.get("turns", 0) == counted, noted


def check_files(campaign: Campaign, where: Path) -> None:
    """The files are whole, and after a save those of the log."""
    loaded = DataFolder(data_path(where, campaign.branch)).load()
    assert loaded.damaged == loaded.edited == ()
    saved = campaign.save_data()
    assert saved is not None
    assert saved.damaged == saved.edited == ()
    with campaign.view(DM) as view:
        assert DataFolder(data_path(where, campaign.branch)).load().files == data_files(view)


def test_a_kill_at_any_moment_of_a_compaction_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """No turn is compacted twice or skipped, no file is half written, and the next compaction goes on."""
    runs = 0
    promised: list[str] = []
    for seed in range(KILLS):
        rng = random.Random(seed)
        where = tmp_path / str(seed // KILLS_OF_A_CAMPAIGN)
        if seed % KILLS_OF_A_CAMPAIGN == 0:
            promised = []
            begun(where).close()
        with at_once(("talk", where, f"talk{seed}"), ("compact", where, rng.choice([1, 2, 7]))) as children:
            talks, compacts = children
            if seed % 4:  # else it may be killed while it opens the campaign
                compacts.wait_for_lines(1)
            time.sleep(rng.uniform(0, 0.3))
            done = compacts.kill()
            promised += [*done, *talks.kill()]
        with Campaign.open(where) as campaign:
            check_compacted(campaign, promised, noted=f"seed {seed}")
            if seed % 3 == 2:  # else the next one goes on where this one was killed
                campaign.compact()
                check_compacted(campaign, promised, noted=f"seed {seed}, gone on")
                assert campaign.compaction().turns_waiting == 0
                check_files(campaign, where)
        runs += len(done)
    assert runs > 0, "nothing was ever compacted, so that nothing was tried"


def test_two_programs_that_compact_at_once_read_every_turn_once(tmp_path: Path) -> None:
    """The second process goes on with the next turns."""
    begun(tmp_path).close()
    programs = [("talk", tmp_path, "talk", 60), ("compact", tmp_path, 2), ("compact", tmp_path, 3)]
    with at_once(*programs) as (talks, *compact):
        promised = talks.finish()
        promised += [line for child in compact for line in child.stop()]
    with Campaign.open(tmp_path) as campaign:
        check_compacted(campaign, promised, noted="two at once")
        assert campaign.compaction().turns_waiting == 0
        assert len([one for one in promised if one.startswith("compaction")]) == len(spans(campaign))
        check_files(campaign, tmp_path)


def test_two_at_a_server_read_every_turn_once(postgres: PostgresServer) -> None:
    """The same on PostgreSQL, where each has a connection of its own; and what was read is there."""
    where = postgres.url("compacted")
    begun(where).close()
    programs = [("talk", where, "talk", 40), ("compact", where, 2), ("compact", where, 3)]
    with at_once(*programs) as (talks, *compact):
        promised = talks.finish()
        promised += [line for child in compact for line in child.stop()]
    with Campaign.open(where) as campaign, Campaign.open(where) as other:
        check_compacted(campaign, promised, noted="two at a server")
        assert campaign.compaction().turns_waiting == 0
        assert facts(other, "Joss Voss")
        assert campaign.compact() == other.compact() == []
        assert other.data() == campaign.data()
        copy = Campaign.open(postgres.url("copied"))
        copy.import_log(campaign.export())
        assert copy.data() == campaign.data()
        copy.close()


def test_a_campaign_on_a_server_is_compacted_in_the_background(postgres: PostgresServer) -> None:
    """By another process, which opens it by its address."""
    with begun(postgres.url("background")) as campaign:
        with campaign.compacting(every=2) as compactor:
            for number, text in enumerate(TALK):
                told = opening_scene().model_copy(update={"event_id": f"t{number}", "content": text})
                campaign.record(told)
        assert compactor.error is None
        assert campaign.compaction().turns_waiting == 0
        assert facts(campaign, "Joss Voss")
