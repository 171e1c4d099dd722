"""Faults of a campaign in a folder: killed programs, full disks, crowds, locks and damaged files."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from tests.storage.writers import (
    FRIEND,
    HERO,
    IS_LONG,
    WITHOUT_PRIVILEGES,
    Child,
    at_once,
    check_sound,
    opening_scene,
    scene,
)
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import (
    DndbotsError,
    StorageError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from dndbots.events import GameEvent
from dndbots.storage.sql.schema import metadata
from dndbots.storage.sql.seal_file import TALLY

KILLS = 200 if IS_LONG else 8
KILLS_OF_A_CAMPAIGN = 20  # then a new one, as every look at a campaign takes longer than the last
FLIPS = 4_000 if IS_LONG else 60
FILE = "campaign.db"
IS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with a fork, closed; tests work on copies."""
    folder = tmp_path_factory.mktemp("played") / "campaign"
    rng = random.Random("played")
    with Campaign.open(folder) as campaign:
        campaign.record(opening_scene())
        for number in range(25):
            campaign.record_many(scene("main", number, rng))
        with campaign.fork("fork") as fork:
            fork.record_many(scene("fork", 0, rng))
    assert {one.name for one in folder.iterdir()} == {FILE, TALLY}
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "campaign"))


def statement(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Runs a statement on a campaign's file, past dndbots."""
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        return connection.execute(sql).fetchall()


def some_scene(name: str) -> list[GameEvent]:
    return scene(name, 0, random.Random(name))


# Programs that die.


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """An event that was recorded is there after SIGKILL, once, and the campaign goes on from there."""
    promised: list[str] = []
    for seed in range(KILLS):
        rng = random.Random(seed)
        where = tmp_path / str(seed // KILLS_OF_A_CAMPAIGN)
        if seed % KILLS_OF_A_CAMPAIGN == 0:
            promised = []
        with at_once(("write", where, f"kill{seed}", 10**6)) as (child,):
            if seed % 4:  # else it may be killed while it opens the campaign
                child.wait_for_lines(1)
            time.sleep(rng.uniform(0, 0.3))
            promised += child.kill()
        with Campaign.open(where) as campaign:
            check_sound(campaign, promised, told=f"seed {seed}")
            promised += [one.event_id for one in campaign.record_many(some_scene(f"after{seed}"))]
            assert campaign.verify() == [], f"seed {seed}"


def test_a_kill_while_a_campaign_is_made_leaves_one_that_can_be_used(tmp_path: Path) -> None:
    """However far the making of a campaign got, opening it again finishes it."""
    for seed in range(max(3, KILLS // 4)):
        where = tmp_path / str(seed)
        with at_once(("look", where)) as (child,):
            time.sleep(random.Random(seed).uniform(0, 0.35))
            child.kill()
        with Campaign.open(where) as campaign:
            campaign.record(opening_scene())
            assert [branch.name for branch in campaign.branches()] == ["main"], f"seed {seed}"
            check_sound(campaign, [], told=f"seed {seed}")


# Programs at the same time.


def test_four_writers_at_once(tmp_path: Path) -> None:
    """Everything that four programs write is there, in one sequence, and each one's in its own order."""
    with Campaign.open(tmp_path) as campaign:
        with at_once(*(("write", tmp_path, f"writer{n}", 20) for n in range(4))) as children:
            promised = [child.finish() for child in children]
        check_sound(campaign, [one for own in promised for one in own])
        ids = [one.event_id for one in campaign.events(viewer="dm")]
        assert [[one for one in ids if one in set(own)] for own in promised] == promised
        assert len(ids) == sum(map(len, promised))


def test_a_writer_goes_on_after_others_wrote(tmp_path: Path) -> None:
    """A writer's caches are never older than what somebody else wrote meanwhile."""
    rng = random.Random("turns")
    with Campaign.open(tmp_path) as one, Campaign.open(tmp_path) as other:
        one.record(opening_scene())
        for number in range(30):
            rng.choice([one, other]).record_many(scene("turn", number, rng))
        check_sound(other, [])


def test_four_programs_make_one_campaign(tmp_path: Path) -> None:
    """A campaign that four programs open at the same moment, before it is there, is made once."""
    # After the first one, everything is loaded, and they arrive at the others closer together.
    places = [tmp_path / str(number) for number in range(50 if IS_LONG else 8)]
    with at_once(*(("look", *places) for _ in range(4))) as children:
        assert [child.finish() for child in children] == [["main 0"] * len(places)] * 4
    for where in places:
        with Campaign.open(where) as campaign:
            check_sound(campaign, [])


def test_branches_are_written_and_read_at_once(folder: Path) -> None:
    """Two branches grow side by side, and whoever reads meanwhile sees whole scenes and no error."""
    writers = [("write", folder, f"on-{branch}", 40, branch) for branch in ("main", "fork")]
    readers = [("read", folder, "main", "dm"), ("read", folder, "fork", FRIEND)]
    with at_once(*writers, *readers) as (on_main, on_fork, *reading):
        promised = [on_main.finish(), on_fork.finish()]
        heard = [child.stop() for child in reading]
    assert [len(lines) for lines in heard] == [1, 1], heard
    for branch, own in zip(("main", "fork"), promised, strict=True):
        with Campaign.open(folder, branch=branch) as campaign:
            check_sound(campaign, own)


# No room.


def test_a_full_database_takes_nothing_by_half(folder: Path) -> None:
    """Without room a record fails whole and says what to do; with room again, it works."""
    with Campaign.open(folder) as campaign:
        cursor = campaign._store._db.cursor  # type: ignore[attr-defined]
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + 3}")
        failed = _record_until_full(campaign)
        head = campaign.head
        assert failed not in {one.event_id for one in campaign.events(viewer="dm")}
        with pytest.raises(StoreFull, match="make room"):
            campaign.record_many(_long_scene(9_999))
        assert campaign.head == head
        cursor.execute("PRAGMA max_page_count = 1000000")
        assert campaign.verify() == []
        assert campaign.record(event("afterwards", "dm", "There is room.")).seq == head + 1
        check_sound(campaign, ["afterwards"])


def _long_scene(number: int) -> list[GameEvent]:
    rng = random.Random(number)
    content = " ".join(f"{rng.getrandbits(64):x}" for _ in range(150))
    return [event(f"full-{number}-{part}of2", HERO, content) for part in (1, 2)]


def _record_until_full(campaign: Campaign) -> str:
    """Gives the id of the event that was one too many."""
    for number in range(2_000):
        events = _long_scene(number)
        try:
            campaign.record_many(events)
        except StoreFull as exc:
            assert "make room" in str(exc)  # noqa: PT017
            return events[0].event_id
    pytest.fail("it never was full")


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of four megabytes."""
    if not IS_ROOT or sys.platform != "linux":
        pytest.skip("only root on Linux can mount a small tmpfs")
    place = tempfile.mkdtemp(prefix="dndbots-disk-")
    mount = shutil.which("mount") or "/bin/mount"
    command = [mount, "-t", "tmpfs", "-o", "size=4m", "tmpfs", place]
    done = subprocess.run(command, check=False, capture_output=True)
    try:
        if done.returncode:
            pytest.skip(f"a small tmpfs cannot be mounted: {done.stderr.decode().strip()}")
        yield Path(place)
    finally:
        if done.returncode == 0:
            subprocess.run([shutil.which("umount") or "/bin/umount", "-l", place], check=True)
        Path(place).rmdir()


def _fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return ballast


def test_a_full_disk_takes_nothing_by_half(small_disk: Path) -> None:
    """A disk that is full in the middle of play loses nothing, and play goes on once there is room."""
    with Campaign.open(small_disk / "campaign") as campaign:
        campaign.record(opening_scene())
        ballast = _fill(small_disk)
        failed = _record_until_full(campaign)
        head = campaign.head
        assert failed not in {moment.event_id for moment in campaign.timeline(viewer="dm", last=10_000)}
        ballast.unlink()
        assert campaign.verify() == []
        campaign.record_many(some_scene("afterwards"))
        assert campaign.head > head
        check_sound(campaign, [])


def test_a_failed_commit_is_not_taken_for_anothers_write(small_disk: Path) -> None:
    """A failed commit is forgotten, even if somebody else then writes as many events."""
    with Campaign.open(small_disk / "campaign") as one, Campaign.open(small_disk / "campaign") as other:
        one.record(opening_scene())
        ballast = _fill(small_disk)
        _record_until_full(one)
        ballast.unlink()
        other.record_many(event(f"other{n}", FRIEND, "In between.", hp_delta={HERO: 1}) for n in range(2))
        one.record(event("afterwards", HERO, "And on.", hp_delta={HERO: 1}))
        assert one.verify() == []


class _FullAtCommit:
    """A cursor that finds the disk full when it is to commit, as a log-structured write does."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return self._cursor.execute(sql, *arguments)


def test_a_failed_commit_shows_a_secret_to_nobody_else(tmp_path: Path) -> None:
    """The number of an audience that was never committed is not taken for that of another audience."""
    with Campaign.open(tmp_path) as one, Campaign.open(tmp_path) as other:
        one.record(opening_scene())
        db = one._store._db  # type: ignore[attr-defined]
        cursor = db._cursor
        db._cursor = _FullAtCommit(cursor)
        secret = {"participants": ["npc_priest_001", FRIEND]}
        with pytest.raises(StoreUnavailable):
            one.record(event("lost", FRIEND, "A secret.", **secret))
        db._cursor = cursor
        other.record(event("other", HERO, "A sword.", participants=["npc_smith_001", HERO]))
        one.record(event("secret", FRIEND, "A secret.", **secret))
        assert [moment.event_id for moment in one.timeline(viewer=HERO)] == ["opening-0-1of1", "other"]
        check_sound(one, ["other", "secret"])


def test_a_campaign_cannot_be_made_on_a_full_disk(small_disk: Path) -> None:
    """A campaign that has no room is refused in plain words; with room, the same call makes it."""
    ballast = _fill(small_disk)
    with pytest.raises(StoreUnavailable, match="space"):
        Campaign.open(small_disk / "campaign")
    ballast.unlink()
    with Campaign.open(small_disk / "campaign") as campaign:
        campaign.record(opening_scene())
        check_sound(campaign, ["opening-0-1of1"])


# No way in.


def test_a_locked_campaign_is_busy_and_can_be_read(folder: Path) -> None:
    """While another program writes, recording fails in time, reading works, and later all works."""
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with Campaign.open(folder, timeout=0.2) as campaign:
            head, begun = campaign.head, time.monotonic()
            with pytest.raises(StoreBusy, match="try again"):
                campaign.record(event("busy", "dm", "Too early."))
            assert time.monotonic() - begun > 0.1
            assert campaign.head == head
            assert len(campaign.timeline(viewer="dm")) == 20
            holder.execute("ROLLBACK")
            assert campaign.record(event("busy", "dm", "Now.")).seq == head + 1
            check_sound(campaign, ["busy"])


def test_a_campaign_that_somebody_is_making_is_busy(tmp_path: Path) -> None:
    """Opening a campaign that another program is making fails with a clear error if it does not wait."""
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as holder:
        holder.execute("PRAGMA journal_mode = WAL")
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            Campaign.open(tmp_path, timeout=0.2)
        holder.execute("ROLLBACK")
    with Campaign.open(tmp_path) as campaign:
        assert campaign.head == 0


@contextmanager
def _only(permissions: int, place: Path) -> Iterator[None]:
    place.chmod(permissions)
    try:
        yield
    finally:
        place.chmod(0o755)


def _attempted(where: Path) -> list[str]:
    """Return what a program without privileges managed to do."""
    if sys.platform != "linux" and IS_ROOT:
        pytest.skip("permissions do not bind root here")
    with Child("attempt", where, first=WITHOUT_PRIVILEGES) as child:
        try:
            child.wait_until_ready()
        except AssertionError:
            if "PermissionError" in child.errors or "No module named" in child.errors:
                pytest.skip("without privileges, the programs of the tests cannot be read here")
            raise
        child.go()
        return child.finish()


def test_a_read_only_folder_is_said_to_be_so(folder: Path) -> None:
    """A campaign that cannot be written to gives a plain error, and stays as it is."""
    file = folder / FILE
    before = file.read_bytes()
    with _only(0o444, file), _only(0o555, folder):
        *_, last = [line for line in _attempted(folder) if line.startswith(("open", "record"))]
    assert last.split()[1] == StoreReadOnly.__name__, last
    assert "permissions" in last
    assert file.read_bytes() == before
    assert {one.name for one in folder.iterdir()} == {FILE, TALLY}


def test_a_read_only_file_is_said_to_be_so(folder: Path) -> None:
    """The same, if only the file is protected."""
    file = folder / FILE
    before = file.read_bytes()
    with _only(0o444, file):
        *_, last = [line for line in _attempted(folder) if line.startswith(("open", "record"))]
    assert last.split()[1] == StoreReadOnly.__name__, last
    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_looked_into_is_said_to_be_so(folder: Path) -> None:
    """Without the right to look inside, there is a plain error."""
    with _only(0o000, folder):
        (line,) = _attempted(folder)
    _, kind, *words = line.split()
    assert kind in {StoreReadOnly.__name__, StoreUnavailable.__name__}, line
    assert "permi" in " ".join(words)


def test_a_folder_that_cannot_be_made_is_said_to_be_so(folder: Path) -> None:
    """A campaign cannot be made where no folder can be."""
    with _only(0o555, folder):
        (line,) = _attempted(folder / "new")
    assert line.split()[:2] == ["open", StoreReadOnly.__name__]


def test_a_file_in_the_way_is_said_to_be_so(tmp_path: Path) -> None:
    """A file where the folder should be, and a folder where the file should be, give plain errors."""
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError):
        Campaign.open(tmp_path / "file")
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    with pytest.raises(StorageError):
        Campaign.open(tmp_path / "folder")


# Damage.


def _use(folder: Path) -> Iterator[Callable[[], object]]:
    """Yield the uses of a campaign; one that fails does not stop the others."""
    with Campaign.open(folder, timeout=0.2) as campaign:
        yield campaign.verify
        yield lambda: campaign.timeline(viewer="dm", last=1_000)
        yield lambda: campaign.timeline(viewer=HERO)
        yield lambda: campaign.entity(HERO, viewer=FRIEND)
        yield lambda: campaign.record_many(some_scene("damaged"))
    with Campaign.open(folder, branch="fork", timeout=0.2) as fork:
        yield lambda: list(fork.events(viewer="dm"))
        yield lambda: fork.record(event("damaged", HERO, "On a fork."))


def _outcomes(folder: Path) -> list[DndbotsError | object]:
    """Return the result of each use, or its error. Only our own errors are caught."""
    found: list[DndbotsError | object] = []
    try:
        for use in _use(folder):
            try:
                found.append(use())
            except DndbotsError as exc:
                found.append(exc)
    except DndbotsError as exc:
        found.append(exc)
    return found


def _complaints(outcomes: list[DndbotsError | object]) -> list[str]:
    """The errors of damage, and the findings of verify, which is the first use."""
    told = [str(one) for one in outcomes if isinstance(one, StoreDamaged)]
    return told + [str(one) for one in (outcomes[0] if isinstance(outcomes[0], list) else [])]


def _check_told(outcomes: list[DndbotsError | object], told: str) -> None:
    complaints = _complaints(outcomes)
    assert complaints, f"{told}: nobody complains: {outcomes}"
    advice = ("restore", "rebuild")
    assert [one for one in complaints if not any(word in one for word in advice)] == [], told


def _header_overwritten(data: bytearray) -> None:
    data[:100] = random.Random(1).randbytes(100)


def _header_fields_overwritten(data: bytearray) -> None:
    data[16:100] = random.Random(2).randbytes(84)


def _middle_zeroed(data: bytearray) -> None:
    pages = len(data) // 4096
    first, last = pages // 3 * 4096, 2 * pages // 3 * 4096
    data[first:last] = bytes(last - first)


def _truncated(data: bytearray) -> None:
    del data[len(data) // 2 :]


def _truncated_within_a_page(data: bytearray) -> None:
    del data[len(data) - 1_000 :]


def _first_page_only(data: bytearray) -> None:
    del data[4096:]


def _text(data: bytearray) -> None:
    data[:] = b"Session one. They meet in the hall.\n" * 300


def _short_text(data: bytearray) -> None:
    data[:] = b"hello"


@pytest.mark.parametrize(
    "damage",
    [
        _header_overwritten,
        _header_fields_overwritten,
        _middle_zeroed,
        _truncated,
        _truncated_within_a_page,
        _first_page_only,
        _text,
        _short_text,
    ],
)
def test_damage_is_told_with_a_remedy(folder: Path, damage: Callable[[bytearray], None]) -> None:
    """A broken file is called broken, with what to do about it, and never passes for a sound one."""
    data = bytearray((folder / FILE).read_bytes())
    damage(data)
    (folder / FILE).write_bytes(data)
    _check_told(_outcomes(folder), damage.__name__)


def test_no_page_can_be_lost_silently(played: Path, tmp_path: Path) -> None:
    """Any page of zeros is found: by whoever stumbles on it, or by verify."""
    data = (played / FILE).read_bytes()
    pages = range(0, len(data), 4096)
    for start in pages if IS_LONG else random.Random(3).sample(pages, 8):
        folder = tmp_path / str(start)
        folder.mkdir()
        (folder / FILE).write_bytes(data[:start] + bytes(4096) + data[start + 4096 :])
        _check_told(_outcomes(folder), f"page at {start}")


def test_flipped_bytes_give_no_foreign_error(played: Path, tmp_path: Path) -> None:
    """Wrong bytes in a file lead to errors of dndbots only."""
    data = (played / FILE).read_bytes()
    folder = tmp_path / "campaign"
    foreign: dict[str, list[int]] = {}
    for seed in range(FLIPS):
        rng = random.Random(seed)
        damaged = bytearray(data)
        start = rng.randrange(len(data))
        for _ in range(rng.choice([1, 1, 4, 40])):
            place = min(len(data) - 1, start + rng.randrange(200))
            damaged[place] ^= rng.choice([1 << rng.randrange(8), rng.randrange(1, 256)])
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / FILE).write_bytes(damaged)
        try:
            _outcomes(folder)
        except Exception as exc:  # noqa: BLE001 all of them are told at once, with their seeds
            foreign.setdefault(_place_of(exc), []).append(seed)
    told = [f"{place}: seeds {seeds[:3]}, {len(seeds)} times" for place, seeds in sorted(foreign.items())]
    assert not told, "\n".join(told)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE events SET metadata = 'x' WHERE seq = 5",
        "UPDATE events SET metadata = '[]' WHERE seq = 5",
        "UPDATE events SET metadata = '{\"facts\": 7}' WHERE seq = 5",
        "UPDATE events SET metadata = x'ff00' WHERE seq = 5",
        "UPDATE events SET content = x'ff00' WHERE seq = 5",
        "UPDATE events SET content = CAST(x'ff' AS TEXT) WHERE seq = 5",
        "UPDATE events SET audience = 999 WHERE seq = 5",
        "UPDATE events SET seq = 999 WHERE seq = 5",
        "UPDATE events SET timestamp = 'noon' WHERE seq = 5",
        "UPDATE events SET timestamp = 5 WHERE seq = 5",
        "UPDATE events SET source = 'Nobody at all' WHERE seq = 5",
        "DELETE FROM events WHERE seq = 5",
        "DELETE FROM events",
        "DELETE FROM members",
        "DELETE FROM audiences",
        "UPDATE claims SET value = 'x'",
        "UPDATE claims SET total = 'x' WHERE total IS NOT NULL",
        "UPDATE truth SET value = 'x'",
        "UPDATE mentions SET place = 5",
        "UPDATE names SET name = 5",
        "UPDATE cursors SET seq = 'x'",
        "UPDATE branches SET head = 'x'",
        "UPDATE branches SET head = head + 1",
        "UPDATE branches SET forked_at = 'x' WHERE name = 'fork'",
        "UPDATE branches SET parent = 99 WHERE name = 'fork'",
        "UPDATE branches SET name = 5 WHERE name = 'fork'",
    ],
)
def test_rows_that_make_no_sense_are_told(folder: Path, sql: str) -> None:
    """A database that SQLite finds sound, with rows that no dndbots wrote: verify tells, and nothing else
    than an error of dndbots comes out of any use.
    """
    statement(folder, sql)
    outcomes = _outcomes(folder)
    told = [one for one in outcomes if isinstance(one, StorageError)]
    assert told or outcomes[0], f"nobody complains: {outcomes}"


def test_a_branch_that_descends_from_itself_is_told(folder: Path) -> None:
    """No damage makes a call run for ever."""
    statement(folder, "UPDATE branches SET parent = id WHERE name = 'fork'")
    with at_once(("attempt", folder)) as (child,):
        lines = child.finish()
    assert any(StoreDamaged.__name__ in line for line in lines), lines


def _place_of(exc: Exception) -> str:
    """Return the kind of an error, and the line of our code that raised it."""
    frames = [frame for frame in traceback.extract_tb(exc.__traceback__) if "/dndbots/" in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-2:]]
    return f"{type(exc).__name__} at {' '.join(places)}"


def test_a_foreign_database_stays_as_it_is(tmp_path: Path) -> None:
    """A database of another program, with a table in our way, is refused and not touched."""
    statement(tmp_path, "CREATE TABLE names (whatever TEXT)")
    with pytest.raises(StorageError):
        Campaign.open(tmp_path)
    assert statement(tmp_path, "SELECT name FROM sqlite_master") == [("names",)]


# Versions.


def test_a_newer_schema_is_too_new(folder: Path) -> None:
    """A database that a newer dndbots migrated is left alone."""
    statement(folder, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreTooNew, match="upgrade dndbots"):
        Campaign.open(folder)
    assert statement(folder, "SELECT version_num FROM alembic_version") == [("9999",)]


def test_a_newer_fold_is_too_new(folder: Path) -> None:
    """Views that a newer dndbots folded are not understood by an older one."""
    statement(folder, "UPDATE cursors SET version = version + 1")
    with pytest.raises(StoreTooNew, match="upgrade dndbots"):
        Campaign.open(folder)
    assert statement(folder, "SELECT DISTINCT version FROM cursors") == [(FOLD_VERSION + 1,)]


def test_an_older_fold_is_folded_again(folder: Path) -> None:
    """Views that an older dndbots folded are made new when the campaign is opened."""
    statement(folder, "UPDATE cursors SET version = version - 1")
    statement(folder, "DELETE FROM claims")
    with Campaign.open(folder) as campaign:
        check_sound(campaign, [])


@pytest.mark.parametrize("sql", ["DROP TABLE alembic_version", "DELETE FROM alembic_version"])
def test_a_schema_without_its_version_is_damaged(folder: Path, sql: str) -> None:
    """Tables of an unknown version are not guessed at."""
    statement(folder, sql)
    with pytest.raises(StoreDamaged, match="restore"):
        Campaign.open(folder)


def test_an_empty_file_becomes_a_campaign(tmp_path: Path) -> None:
    """An empty file, as a killed program may leave, is brought to the schema, which is the one we declare."""
    (tmp_path / FILE).touch()
    with Campaign.open(tmp_path) as campaign:
        campaign.record(opening_scene())
        check_sound(campaign, ["opening-0-1of1"])
    engine = create_engine(f"sqlite:///{tmp_path / FILE}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()
