"""A log that lost its tail, or was changed, is not called sound."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.postgres import PostgresServer
from tests.storage.writers import at_once, check_sound
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import StoreDamaged
from dndbots.storage.seals import Seal
from dndbots.storage.sql.seal_file import TALLY
from dndbots.storage.sql.sqlite import FILE

JOURNAL = f"{FILE}-wal"


def record(campaign: Campaign, first: int, last: int) -> None:
    for number in range(first, last):
        campaign.record(event(f"e{number}", "dm", f"Deed {number}."))


def statement(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute(sql)


def told(folder: Path) -> str:
    with Campaign.open(folder, create=False) as campaign:
        return "\n".join(map(str, campaign.verify()))


@pytest.fixture
def copies(tmp_path: Path) -> Callable[..., Path]:
    """Copies some files of a campaign while it is open, some of its events being in the journal only."""
    with Campaign.open(tmp_path / "first") as campaign:
        record(campaign, 0, 20)
    # Begun anew: so that the file has the events of before, and the journal the rest.
    campaign = Campaign.open(tmp_path / "first")
    record(campaign, 20, 50)

    def copy(*names: str) -> Path:
        folder = tmp_path / "copy"
        folder.mkdir()
        for name in names:
            shutil.copy(tmp_path / "first" / name, folder)
        return folder

    yield copy  # type: ignore[misc]
    assert campaign.verify() == []
    campaign.close()
    assert told(tmp_path / "first") == ""


def test_a_copy_without_its_journal_is_told(copies: Callable[..., Path]) -> None:
    """The file alone, copied while somebody plays: it says itself that it is not all."""
    folder = copies(FILE)
    assert "without its journal" in told(folder)
    with Campaign.open(folder) as campaign:
        assert campaign.head == 20
        record(campaign, 100, 103)
    assert "without its journal" in told(folder), "it is still told once somebody played on"
    with Campaign.open(folder) as campaign:
        campaign.rebuild()
        assert campaign.verify() == []
    assert told(folder) == ""


def test_a_folder_without_its_journal_is_told(copies: Callable[..., Path]) -> None:
    """With the tally, how much is lost is known, and nothing is recorded on top of it."""
    folder = copies(FILE, TALLY)
    assert "50 events were recorded, but only 20 are left" in told(folder)
    with Campaign.open(folder) as campaign:
        with pytest.raises(StoreDamaged, match="50 events were recorded, but only 20 are left"):
            record(campaign, 100, 101)
        assert len(list(campaign.export())) == 21, "what is left can be exported"
        campaign.rebuild()
        record(campaign, 100, 101)
        assert campaign.verify() == []
    assert told(folder) == ""


def test_a_torn_journal_is_told(copies: Callable[..., Path]) -> None:
    """A journal of which the end is missing: what it had is there, and the rest is missed."""
    folder = copies(FILE, TALLY, JOURNAL)
    with (folder / JOURNAL).open("r+b") as file:
        file.truncate((folder / JOURNAL).stat().st_size * 2 // 3)
    assert "50 events were recorded" in told(folder)


@pytest.mark.parametrize("names", [(FILE, JOURNAL), (FILE, JOURNAL, TALLY)])
def test_a_copy_with_its_journal_is_sound(copies: Callable[..., Path], names: tuple[str, ...]) -> None:
    """Nothing is wrong with a whole copy, however often it is opened."""
    folder = copies(*names)
    assert [told(folder) for _ in range(3)] == [""] * 3
    with Campaign.open(folder) as campaign:
        assert campaign.head == 50


@pytest.mark.parametrize("names", [(FILE,), (FILE, TALLY)])
def test_a_copy_of_a_closed_campaign_is_sound(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Once it is closed, the file has all."""
    with Campaign.open(tmp_path / "first") as campaign, campaign.another() as other:
        record(campaign, 0, 3)
        record(other, 3, 6)
    (tmp_path / "copy").mkdir()
    for name in names:
        shutil.copy(tmp_path / "first" / name, tmp_path / "copy")
    assert told(tmp_path / "copy") == ""


def test_a_campaign_that_nobody_closed_is_sound(tmp_path: Path) -> None:
    """After a kill too, also if somebody else than dndbots takes the journal in."""
    with at_once(("write", tmp_path / "c", "killed", 10**6)) as (child,):
        child.wait_for_lines(5)
        promised = child.kill()
    statement(tmp_path / "c", "PRAGMA wal_checkpoint(TRUNCATE)")
    with Campaign.open(tmp_path / "c") as campaign:
        check_sound(campaign, promised)


def test_an_older_copy_in_its_place_is_told(tmp_path: Path) -> None:
    """An older file in the folder is reported with what is missing, whatever the file itself says."""
    with Campaign.open(tmp_path / "c") as campaign:
        record(campaign, 0, 3)
    shutil.copy(tmp_path / "c" / FILE, tmp_path / "old")
    with Campaign.open(tmp_path / "c") as campaign:
        record(campaign, 3, 5)
        campaign.fork("fork").close()
        with Campaign.open(tmp_path / "c", branch="fork") as fork:
            record(fork, 5, 7)
    shutil.copy(tmp_path / "old", tmp_path / "c" / FILE)
    assert "5 events were recorded, but only 3 are left" in told(tmp_path / "c")
    assert "branch no. 2 is lost" in told(tmp_path / "c")
    (tmp_path / "c" / TALLY).unlink()
    assert told(tmp_path / "c") == "", "who meant it takes the tally away"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE events SET timestamp = '2020-01-01T00:00:00' WHERE seq = 2",
        "UPDATE events SET session_id = 's99' WHERE seq = 2",
        "UPDATE events SET event_id = 'other' WHERE seq = 2",
        "UPDATE events SET turn = 7 WHERE seq = 5",
    ],
)
def test_a_change_that_no_view_shows_is_told(tmp_path: Path, sql: str) -> None:
    """Views need not know everything of an event; the seal does."""
    with Campaign.open(tmp_path / "c") as campaign:
        record(campaign, 0, 6)
    statement(tmp_path / "c", sql)
    (tmp_path / "c" / TALLY).unlink()
    assert "are not the ones that were recorded" in told(tmp_path / "c")


def test_a_campaign_of_before_is_sealed_with_its_next_event(tmp_path: Path) -> None:
    """A log that an older dndbots wrote, or goes on to write, is sound, and sealed from its beginning."""
    with Campaign.open(tmp_path / "c") as campaign:
        record(campaign, 0, 6)
        with campaign.fork("fork", at="e2") as fork:
            record(fork, 10, 12)
    statement(tmp_path / "c", "UPDATE branches SET seal = ''")
    (tmp_path / "c" / TALLY).unlink()
    assert told(tmp_path / "c") == ""
    for branch in ("main", "fork"):
        with Campaign.open(tmp_path / "c", branch=branch) as campaign:
            campaign.record(event(f"late on {branch}", "dm", "Late."))
            assert campaign.verify() == []
    statement(tmp_path / "c", "UPDATE events SET turn = 7 WHERE seq = 1")
    assert "the first 7 events are not the ones that were recorded" in told(tmp_path / "c")


def test_the_seal_is_the_same_on_every_database(tmp_path: Path, postgres: PostgresServer) -> None:
    """It is of what was recorded, and of nothing that a database adds."""
    seals: set[Seal | None] = set()
    for where in (tmp_path / "one", tmp_path / "two", postgres.url("seals")):
        with Campaign.open(where) as campaign:
            if where == tmp_path / "two":
                campaign.record_many(event(f"e{number}", "dm", f"Deed {number}.") for number in range(5))
            else:
                record(campaign, 0, 5)
            assert campaign.verify() == []
            seals.add(campaign._store.seal(campaign.branches()[0].id))  # type: ignore[arg-type]
    assert len(seals) == 1
    assert None not in seals


def test_verify_tells_of_triggers_and_lost_events_on_a_server(
    postgres: PostgresServer, database: str
) -> None:
    """A server is asked as well: what others declared there, and what they took out."""
    with Campaign.open(postgres.url("c", database=database)) as campaign:
        record(campaign, 0, 5)
        postgres.execute(
            "CREATE FUNCTION f() RETURNS trigger AS 'BEGIN RETURN NULL; END' LANGUAGE plpgsql",
            database=database,
        )
        postgres.execute(
            "CREATE TRIGGER t BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION f()", database=database
        )
        assert "the trigger 't' does not belong to dndbots" in str(campaign.verify())
        postgres.execute("DROP TRIGGER t ON events", database=database)
        assert campaign.verify() == []
        postgres.execute("UPDATE events SET turn = 7 WHERE seq = 3", database=database)
        assert "are not the ones that were recorded" in str(campaign.verify())
