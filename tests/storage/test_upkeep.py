"""Verification finds what was tampered with, and says where."""

import sqlite3
from pathlib import Path

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.storage.sql.sqlite import FILE

BOTH = ["pc_throk_001", "pc_zara_001"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Campaign.open(tmp_path / "c") as campaign:
        campaign.record_many(
            event(
                f"e{n}",
                "dm",
                f"word{n} shared",
                location="loc_mill_001",
                participants=BOTH,
                names={"npc_a_001": f"A{n}"},
                hp_delta={BOTH[0]: -1},
                same_as={"npc_b_001": "npc_c_001"} if n == 3 else {},
                discovered=["npc_b_001", "npc_c_001"],
            )
            for n in range(600)
        )
        campaign.fork("side", at="e5").close()
    return tmp_path / "c"


def problems(folder: Path, *statements: str) -> list[str]:
    with sqlite3.connect(folder / FILE) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    with Campaign.open(folder) as campaign:
        return [str(problem) for problem in campaign.verify()]


def test_a_sound_campaign_has_no_problems(folder: Path) -> None:
    """Nothing wrong, nothing said."""
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE claims SET value = '-2' WHERE seq = 3 AND slot = '+hp'",
            "claims: rows of the events 0 to 511",
        ),
        ("UPDATE claims SET total = total + 1 WHERE seq = 590", "claims: rows of the events 512 to 1023"),
        ("DELETE FROM claims WHERE seq = 7", "claims"),
        ("DELETE FROM lines WHERE seq = 9", "lines"),
        ("DELETE FROM mentions WHERE seq = 9 AND uid = 'pc_throk_001'", "mentions"),
        ("UPDATE mentions SET place = 'loc_moon_001' WHERE seq = 9", "mentions"),
        ("DELETE FROM postings WHERE term = 'word5'", "postings"),
        ("UPDATE postings SET hits = hits || ' 9' WHERE term = 'word5'", "postings"),
        ("DELETE FROM sightings WHERE uid = 'pc_throk_001'", "sightings"),
        ("UPDATE names SET name = 'B' WHERE seq = 4", "names"),
        ("DELETE FROM identities", "identities"),
        ("DELETE FROM slots WHERE slot = '+hp'", "slots"),
        ("UPDATE truth SET value = '\"loc_moon_001\"' WHERE subject = 'pc_zara_001' AND branch = 1", "truth"),
        ("DELETE FROM truth WHERE branch = 2", "branch side: truth"),
        ("INSERT INTO truth VALUES (1, 'npc_x_001', '@', '1', 1, 1)", "truth: npc_x_001"),
        ("UPDATE cursors SET seq = 3 WHERE branch = 1", "cursor: the views stand at 3"),
        ("UPDATE branches SET head = 700 WHERE id = 1", "the head is 700, but the last event is 600"),
        (
            'UPDATE events SET metadata = \'{"participants":["pc_zara_001"]}\' WHERE seq = 5',
            "event e4: its audience",
        ),
        ("UPDATE events SET content = 'other' WHERE seq = 5", "postings"),
        ("UPDATE events SET metadata = 'nonsense' WHERE seq = 5", "event 5 of the log: cannot be read"),
        ("UPDATE events SET source = 'pc_' WHERE seq = 5", "event 5 of the log: cannot be read"),
        ("UPDATE events SET name = 'teleport' WHERE seq = 5", "a newer dndbots wrote it"),
        ("UPDATE events SET version = 2 WHERE seq = 5", "a newer dndbots wrote it"),
        ("DELETE FROM members WHERE member = 'pc_zara_001'", "its audience is not the people"),
        (
            "UPDATE members SET member = 'pc_evil_001' WHERE member = 'pc_zara_001'",
            "members: the members of group",
        ),
        (
            (
                "INSERT INTO events SELECT 2, 7, 'e3', name, version, source, session_id, turn, timestamp,"
                " audience, others, content, metadata FROM events WHERE seq = 4"
            ),
            "event e3: an event before the fork has the same id",
        ),
    ],
)
def test_tampering_is_found(folder: Path, statement: str, said: str) -> None:
    """In any table of the log or of the views, with the place."""
    assert any(said in problem for problem in problems(folder, statement))


def test_a_missing_event_is_found(folder: Path) -> None:
    """A gap in the log is named."""
    found = problems(folder, "DELETE FROM events WHERE seq = 50")
    assert "branch main: log: event 50 is missing; the next one is 51" in found


def test_a_rebuild_mends_the_views(folder: Path) -> None:
    """A rebuild mends the views and does not touch the log."""
    assert problems(folder, "DELETE FROM claims", "DELETE FROM truth", "UPDATE cursors SET seq = 3")
    with Campaign.open(folder) as campaign:
        log = list(campaign.export())
        campaign.rebuild()
        assert campaign.verify() == []
        assert list(campaign.export()) == log


def test_older_views_are_folded_again_when_opened(folder: Path) -> None:
    """A campaign that an older version folded is brought up to date."""
    with sqlite3.connect(folder / FILE) as database:
        database.execute("UPDATE cursors SET version = 0")
        database.execute("DELETE FROM claims")
    database.close()
    with Campaign.open(folder) as campaign:
        assert campaign.verify() == []


def test_a_moved_campaign_is_the_same_campaign(folder: Path) -> None:
    """A folder may be renamed."""
    moved = folder.rename(folder.parent / "elsewhere")
    with Campaign.open(moved, create=False) as campaign:
        assert campaign.head == 600
