"""Mutated files of a campaign: it opens as it was, or what is wrong is said. Never other content, unsaid."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.storage.writers import FRIEND, HERO, IS_LONG, STRANGER, opening_scene, scene

from dndbots.campaign import Campaign
from dndbots.compaction.data.files import DATA_FILES, data_path
from dndbots.errors import DndbotsError, StorageError, StoreDamaged
from dndbots.storage.sql.sqlite import FILE
from dndbots.testing import as_text

EXAMPLES = 400 if IS_LONG else 9
PAGE = 4096
BRANCHES = ("main", "fork")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with a fork and data files, closed; tests work on copies."""
    folder = tmp_path_factory.mktemp("mutated") / "campaign"
    rng = random.Random("mutated")
    with Campaign.open(folder) as campaign:
        campaign.record(opening_scene())
        for number in range(12):
            campaign.record_many(scene("main", number, rng))
        with campaign.fork("fork") as fork:
            fork.record_many(scene("fork", 0, rng))
            fork.save_data()
        campaign.save_data()
    return folder


def views(folder: Path) -> Iterator[str]:
    """All that is told of a campaign, as text."""
    for branch in BRANCHES:
        with Campaign.open(folder, create=False, branch=branch, timeout=1) as campaign:
            for viewer in ("dm", HERO, FRIEND, STRANGER):
                yield "\n".join(campaign.export(viewer=viewer))
                yield as_text(campaign.timeline(viewer=viewer, last=5))
                yield as_text(campaign.entities(viewer=viewer))
                yield campaign.context(viewer, budget=800).text
                yield as_text([campaign.history(who, viewer=viewer) for who in (HERO, FRIEND)])


@cache
def views_before(folder: Path) -> tuple[str, ...]:
    return tuple(views(folder))


def problems(folder: Path) -> list[str]:
    """What is told when a campaign is opened, verified, and its branches opened. Other errors go through."""
    try:
        with Campaign.open(folder, create=False, timeout=1) as campaign:
            told = [str(one) for one in campaign.verify()]
        for branch in BRANCHES[1:]:
            Campaign.open(folder, create=False, branch=branch, timeout=1).close()
    except DndbotsError as exc:
        return [str(exc)]
    return told


def check(played: Path, folder: Path, what: object) -> None:
    """Either somebody tells, or nothing is different. No use ends in an error that is not ours."""
    told = problems(folder)
    found: tuple[str, ...] = ()
    with suppress(DndbotsError):
        found = tuple(views(folder))
    assert told or found == views_before(played), f"{what}: other content, or none, and nobody tells"


def mutated(played: Path, place: str, content: bytes) -> Path:
    """A copy of a campaign with another database file."""
    folder = Path(place) / "campaign"
    shutil.copytree(played, folder)
    (folder / FILE).write_bytes(content)
    return folder


# The bytes of the file.

numbers = st.integers(0, 2**20)
flips = st.lists(st.tuples(st.integers(0, 2**30), st.integers(1, 255)), min_size=1, max_size=4)


@settings(max_examples=EXAMPLES)
@given(where=flips, how=st.sampled_from(["near", "far"]))
def test_flipped_bytes(played: Path, where: list[tuple[int, int]], how: str) -> None:
    """Bytes that are others, far from each other or side by side."""
    data = bytearray((played / FILE).read_bytes())
    for n, (place, bits) in enumerate(where):
        data[(where[0][0] + n if how == "near" else place) % len(data)] ^= bits
    with TemporaryDirectory() as place:
        check(played, mutated(played, place, bytes(data)), where)


@settings(max_examples=EXAMPLES)
@given(how=st.sampled_from(["swapped", "zeroed", "copied"]), one=numbers, other=numbers)
def test_pages_in_the_wrong_place(played: Path, how: str, one: int, other: int) -> None:
    """Pages that are swapped, empty, or another page once more."""
    data = bytearray((played / FILE).read_bytes())
    pages = len(data) // PAGE
    first, second = ((number % pages) * PAGE for number in (one, other))
    a, b = bytes(data[first : first + PAGE]), bytes(data[second : second + PAGE])
    data[first : first + PAGE] = bytes(PAGE) if how == "zeroed" else b
    if how == "swapped":
        data[second : second + PAGE] = a
    with TemporaryDirectory() as place:
        check(played, mutated(played, place, bytes(data)), (how, first // PAGE, second // PAGE))


@settings(max_examples=EXAMPLES // 3)
@given(length=st.integers(0, 2**20))
def test_a_file_that_ends_early(played: Path, length: int) -> None:
    """A file of any shorter length, an empty one included: that is not taken for a new campaign."""
    data = (played / FILE).read_bytes()
    with TemporaryDirectory() as place:
        check(played, mutated(played, place, data[: length % len(data)]), length % len(data))


# Its rows.

TABLES = {
    "branches": ["id", "campaign", "name", "parent", "forked_at", "head", "seal"],
    "events": ["seq", "event_id", "name", "version", "source", "session_id", "turn", "timestamp", "audience",
               "others", "content", "metadata"],
    "members": ["member", "audience"],
    "audiences": ["digest"],
    "claims": ["subject", "slot", "holders", "certainty", "valid_from", "value", "total", "how", "said_by"],
    "lines": ["audience", "ordinal", "words", "words_total"],
    "mentions": ["uid", "audience", "place"],
    "names": ["uid", "name", "folded", "audience"],
    "postings": ["term", "audience", "block", "events", "hits"],
    "sightings": ["uid", "audience"],
    "slots": ["subject", "slot", "holders"],
    "truth": ["subject", "slot", "value", "valid_from"],
    "cursors": ["seq", "version"],
}  # fmt: skip
VALUES = ["NULL", "0", "-1", "7", "2e99", "''", "'x'", "'{}'", "'[[['", "x'ff00'", "'pc_zara_001'", "'dm'"]


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Something that SQLite takes, and dndbots never wrote."""
    table = draw(st.sampled_from(sorted(TABLES)))
    column = draw(st.sampled_from(TABLES[table]))
    some = "abs(random()) % 3 = 0" if draw(st.booleans()) else "1"
    if draw(st.integers(0, 4)) == 0:
        return f"DELETE FROM {table} WHERE {some}"  # noqa: S608 that is what it is for
    value = draw(st.sampled_from([*VALUES, f"{column} || 'x'", f"{column} + 1", f"upper({column})"]))
    return f"UPDATE OR IGNORE {table} SET {column} = {value} WHERE {some}"  # noqa: S608 the same


@settings(max_examples=EXAMPLES)
@example(sql=["UPDATE OR IGNORE events SET event_id = x'ff00' WHERE 1"])
@example(sql=["UPDATE OR IGNORE branches SET name = 'x' WHERE name = 'fork'"])
@given(sql=st.lists(statements(), min_size=1, max_size=2))
def test_altered_rows(played: Path, sql: list[str]) -> None:
    """Rows that are others, in any table, whatever SQLite lets stand there."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "campaign"
        shutil.copytree(played, folder)
        with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
            for one in sql:
                try:
                    connection.execute(one)
                except sqlite3.Error:
                    continue
        check(played, folder, sql)


# What is declared in it.

DECLARATIONS = [
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq < new.seq - 3; END",
    "CREATE TRIGGER t AFTER UPDATE ON branches BEGIN UPDATE events SET content = 'forged'; END",
    "CREATE TRIGGER t INSTEAD OF DELETE ON v BEGIN SELECT 1; END",
    "CREATE VIEW v AS SELECT * FROM events",
    "CREATE TABLE mine (a)",
    "CREATE TABLE alembic_versions (version_num)",
    "CREATE VIRTUAL TABLE words USING fts5(a)",
    "CREATE INDEX mine ON events (lower(content))",
    "DROP INDEX names_by_name",
    "DROP INDEX events_by_id",
    "DROP TABLE links",
    "DROP TABLE truth",
    "ALTER TABLE events ADD COLUMN extra TEXT",
    "ALTER TABLE events DROP COLUMN turn",
    "ALTER TABLE events RENAME COLUMN content TO said",
    "ALTER TABLE claims RENAME TO old_claims",
    "DROP TABLE alembic_version",
    "UPDATE alembic_version SET version_num = '0001'",
    "UPDATE alembic_version SET version_num = '0002'",
    "DROP TABLE branches; CREATE VIEW branches AS SELECT 1 AS id",
    "DROP TABLE members; CREATE TABLE members (campaign, member, audience)",
]  # fmt: skip


@pytest.mark.parametrize("sql", DECLARATIONS)
def test_what_is_declared_by_others_is_refused(played: Path, tmp_path: Path, sql: str) -> None:
    """Triggers, views, tables and indexes that we never made, or made otherwise: refused before use."""
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        if "ON v" in sql:
            connection.execute("CREATE VIEW v AS SELECT 1")
        connection.executescript(sql)
    before = (folder / FILE).read_bytes()
    with pytest.raises(StorageError):
        Campaign.open(folder)
    assert (folder / FILE).read_bytes() == before


def test_a_trigger_is_named_with_a_remedy(played: Path, tmp_path: Path) -> None:
    """Whoever made it knows what to do; whoever did not is warned. Also in a campaign that is open."""
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    with Campaign.open(folder) as campaign:
        with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
            connection.execute(DECLARATIONS[0])
        (problem,) = campaign.verify()
        assert "the trigger 't' does not belong to dndbots; drop it" in str(problem)
    with pytest.raises(StoreDamaged, match="the trigger 't' does not belong to dndbots; drop it"):
        Campaign.open(folder)


def test_sqlites_own_tables_are_no_strangers(played: Path, tmp_path: Path) -> None:
    """Whoever lets SQLite count, vacuum or index anew has changed nothing."""
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        for sql in ("ANALYZE", "VACUUM", "REINDEX"):
            connection.execute(sql)
    assert problems(folder) == []
    assert tuple(views(folder)) == views_before(played)


# The files beside it.


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pc_throk_001": 7}', b"\xff\xfe", b"[" * 100_000])
def test_broken_data_files_are_told(played: Path, tmp_path: Path, content: bytes, branch: str) -> None:
    """A file that cannot be read is named with its remedy; looking changes nothing."""
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    file = data_path(folder, branch) / "characters.json"
    file.write_bytes(content)
    before = sorted(folder.rglob("*"))
    (told,) = problems(folder)
    assert told.startswith(f"branch {branch}: {file}: ")
    assert "writes it again" in told
    assert sorted(folder.rglob("*")) == before
    with Campaign.open(folder, branch=branch) as campaign:
        campaign.save_data()
        assert campaign.verify() == []


@settings(max_examples=EXAMPLES // 3)
@given(name=st.sampled_from(DATA_FILES), where=flips)
def test_flipped_bytes_of_data_files(played: Path, name: str, where: list[tuple[int, int]]) -> None:
    """They are never read for what a campaign says, and no error but ours comes of them."""
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(played, Path(place) / "campaign"))
        data = bytearray((folder / "data" / name).read_bytes())
        for at, bits in where:
            data[at % len(data)] ^= bits
        (folder / "data" / name).write_bytes(data)
        problems(folder)
        assert tuple(views(folder)) == views_before(played)


@settings(max_examples=EXAMPLES // 3)
@given(where=flips, length=st.integers(0, 2**10))
def test_a_mutated_tally(played: Path, where: list[tuple[int, int]], length: int) -> None:
    """A line that cannot be read says nothing: a sound campaign stays sound."""
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(played, Path(place) / "campaign"))
        data = bytearray((folder / "campaign.tally").read_bytes())
        for at, bits in where:
            data[at % len(data)] ^= bits
        (folder / "campaign.tally").write_bytes(data[: length % (len(data) + 1)])
        assert problems(folder) == []
