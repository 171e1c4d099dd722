"""Hostile paths and surroundings: a campaign is the file that its path names, and nothing else is touched."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.calling import program
from tests.storage.writers import IS_LONG, ROOT, WITHOUT_PRIVILEGES
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.cli.play.terminal_input import KeyReader
from dndbots.compaction.data.files import data_path
from dndbots.errors import DndbotsError
from dndbots.storage.files import remove

HOSTILE = [
    "Q",
    "Q?a",
    "Q?b",
    "x?uri=true",
    "x?mode=memory&cache=shared&uri=true",
    "%41",
    "A",
    "%2e%2e%2fescaped",
    "a#b",
    "a b ",
    'it\'s "quoted"',
    "two\nlines",
    "tab\tand\rreturn",
    "Zażółć 龍 🐉",
    "Drache\u0308",
    "-c",
    "--help",
    ":memory:",
    "file:",
    "file:name?mode=ro",
    "dots...",
    "...",
    "sqlite:",
    "postgresql:",
    "~",
    "$HOME",
    "*",
    "back\\slash",
    "\x7f\x1b[31m",
    os.fsdecode(b"not-utf8-\xff\xfe"),
    "n" * 255,
]
PIECES = [
    "?",
    "%",
    "%41",
    "%3f",
    "#",
    "&",
    "=",
    "uri=true",
    "mode=ro",
    "file:",
    ":memory:",
    " ",
    ".",
    "a",
    "é",
]
NAMES = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda n: n not in {".", ".."})
)


def files_in(folder: Path) -> set[Path]:
    return {one.relative_to(folder) for one in folder.rglob("*") if not one.is_dir()}


def write_and_close(where: Path | str, event_id: str) -> None:
    with Campaign.open(where) as campaign:
        campaign.record(event(event_id, "dm", f"Told in {event_id}."))


def events_in(where: Path | str) -> list[str]:
    with Campaign.open(where, create=False) as campaign:
        assert campaign.verify() == []
        return [one.event_id for one in campaign.events(viewer="dm")]


def check_kept_apart(folder: Path, names: list[str]) -> None:
    """Each name keeps its own events, in its own folder, and nothing else appears."""
    for number, name in enumerate(names):
        write_and_close(folder / name, f"e{number}")
    assert {path.parts[0] for path in files_in(folder)} == set(names)
    assert {path.name for path in files_in(folder)} <= {"campaign.db", "campaign.tally"}
    for number, name in enumerate(names):
        assert events_in(folder / name) == [f"e{number}"], name


def test_hostile_folder_names_are_kept_apart(tmp_path: Path) -> None:
    """What was written to a path is read from it, and no other file appears."""
    check_kept_apart(tmp_path, HOSTILE)


def test_hostile_relative_names_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for names relative to where one stands, given as text: SQLite reads some as no file at all."""
    monkeypatch.chdir(tmp_path)
    names = [":memory:", "file:name?mode=ro", "x?uri=true", "-c", "~"]
    for number, name in enumerate(names):
        write_and_close(name, f"e{number}")
    assert {path.parts[0] for path in files_in(tmp_path)} == set(names)
    for number, name in enumerate(names):
        assert events_in(name) == [f"e{number}"], name


@settings(max_examples=300 if IS_LONG else 5)
@given(names=st.lists(NAMES, min_size=2, max_size=3, unique=True))
def test_any_folder_names_are_kept_apart(names: list[str]) -> None:
    """Also for names that are made of pieces that addresses give a meaning to."""
    with TemporaryDirectory() as folder:
        check_kept_apart(Path(folder), names)


@pytest.mark.parametrize("name", ["\0", "a\0b", "\ud800", "n" * 256, "/".join(["n" * 200] * 4)])
def test_impossible_paths_are_refused_in_words(name: str, tmp_path: Path) -> None:
    """A path that no system opens gives an error of ours, and nothing is made."""
    with pytest.raises(DndbotsError):
        Campaign.open(f"{tmp_path}/{name}")
    assert not files_in(tmp_path)


# Links.

LINKED_FOLDERS = [
    "data",
    "data/branches",
    "data/branches/{fork}",
    "data/versions",
    "data/versions/1",
    "typed",
]
LINKED_FILES = [
    "campaign.db",
    "campaign.db-wal",
    "campaign.db-shm",
    "campaign.db-journal",
    "campaign.tally",
    "data/.lock",
    "data/characters.json",
    "data/compaction_state.json",
    "data/.characters.json.new",
    "typed/pc_throk_001.txt",
]
REFUSED = {*LINKED_FOLDERS, *LINKED_FILES} - {
    # What is in the way here is set aside, removed or passed over, as anything else would be.
    "data/versions/1",
    "data/characters.json",
    "data/compaction_state.json",
    "data/.characters.json.new",
}


def play(folder: Path) -> None:
    """Makes a campaign with a fork and the files of both."""
    with Campaign.open(folder) as campaign:
        campaign.record(event("e1", "dm", "Throk comes in.", names={"pc_throk_001": "Throk"}))
        campaign.save_data()
        with campaign.fork("fork") as fork:
            fork.record(event("e2", "dm", "He leaves."))
            fork.save_data()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign in which everything was used; tests work on copies."""
    folder = tmp_path_factory.mktemp("played") / "campaign"
    play(folder)
    assert used(folder) == []
    return folder


def used(folder: Path) -> list[str]:
    """Writes to every file that a campaign has; gives the errors."""
    told: list[str] = []
    for branch in ("main", "fork"):
        try:
            with Campaign.open(folder, branch=branch) as campaign:
                name = f"later-{len(list(campaign.events(viewer='dm')))}"
                campaign.record(event(name, "dm", "Zara comes in.", names={"pc_zara_001": "Zara"}))
                campaign.save_data()
                told += [problem.what for problem in campaign.verify()]
        except DndbotsError as exc:
            told.append(str(exc))
    try:
        KeyReader(folder / "typed")._session("pc_throk_001").history.append_string("I hide.")
    except DndbotsError as exc:
        told.append(str(exc))
    return told


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: (folder / path).read_bytes() for path in files_in(folder)}


@pytest.mark.parametrize("target", ["kept", "missing"])
@pytest.mark.parametrize("component", [*LINKED_FOLDERS, *LINKED_FILES])
def test_links_below_a_campaign_are_not_followed(
    played: Path, tmp_path: Path, component: str, target: str
) -> None:
    """Whatever is a link, nothing outside is written, and somebody says which one it is."""
    campaign, outside = tmp_path / "campaign", tmp_path / "outside"
    shutil.copytree(played, campaign)
    link = campaign / component.format(fork=data_path(campaign, "fork").name)
    outside.mkdir()
    if link.exists():
        link.rename(outside / "target")
    elif component in LINKED_FILES:
        (outside / "target").write_bytes(b"kept")
    if target == "missing":
        remove(outside / "target")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "target")
    before = contents(outside)
    told = used(campaign)
    assert contents(outside) == before
    assert [one.name for one in outside.iterdir()] == ([] if target == "missing" else ["target"])
    if component in REFUSED:
        assert any(str(link) in one and "link" in one for one in told), told


def test_a_campaign_folder_may_be_a_link(tmp_path: Path) -> None:
    """What a person names may be a link: it is meant."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    play(tmp_path / "link")
    assert used(tmp_path / "link") == []
    assert (tmp_path / "real" / "campaign.db").is_file()
    assert (tmp_path / "link").is_symlink()


def test_an_export_follows_no_link(tmp_path: Path) -> None:
    """Neither a link under the name of the file, nor one where it might be written meanwhile."""
    play(tmp_path / "campaign")
    victim = tmp_path / "victim"
    victim.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("log.jsonl", "log.jsonl.part", ".log.jsonl.part"):
        (out / name).symlink_to(victim)
    answer = program("export", "log", "-c", str(tmp_path / "campaign"), "--out", str(out / "log.jsonl"))
    assert answer.code == 0, answer.err
    assert victim.read_text() == "kept"
    assert not (out / "log.jsonl").is_symlink()
    assert len((out / "log.jsonl").read_text().splitlines()) == 2
    assert {one.name for one in out.iterdir()} == {"log.jsonl", "log.jsonl.part", ".log.jsonl.part"}


def test_an_export_replaces_no_device(tmp_path: Path) -> None:
    """A pipe or a device under that name is left alone, in words."""
    play(tmp_path / "campaign")
    os.mkfifo(tmp_path / "pipe")
    answer = program("export", "log", "-c", str(tmp_path / "campaign"), "--out", str(tmp_path / "pipe"))
    assert answer.code == 1
    assert "it is not a file" in answer.err
    assert (tmp_path / "pipe").is_fifo()


# Who may read.


def modes_in(folder: Path) -> dict[str, int]:
    found = {str(one.relative_to(folder)): stat.S_IMODE(one.stat().st_mode) for one in folder.rglob("*")}
    return found | {".": stat.S_IMODE(folder.stat().st_mode)}


def test_campaign_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """Whatever the umask says: the database and its journal, data files, what was typed, and exports."""
    before = os.umask(0)
    try:
        play(tmp_path / "campaign")
        with Campaign.open(tmp_path / "campaign") as campaign:
            campaign.record(event("late", "dm", "Zara comes in.", names={"pc_zara_001": "Zara"}))
            assert used(tmp_path / "campaign") == []
            modes = modes_in(tmp_path / "campaign")
            campaign.export_data(tmp_path / "data")
        program("export", "log", "-c", str(tmp_path / "campaign"), "--out", str(tmp_path / "data" / "log"))
        modes |= {f"data: {name}": mode for name, mode in modes_in(tmp_path / "data").items()}
    finally:
        os.umask(before)
    assert {"campaign.db", "campaign.db-wal", "data/characters.json", "data: log", "data: ."} <= modes.keys()
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


# Media that cannot be written to.

READING = """
import sys
from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError
from tests.table import event

with Campaign.open(sys.argv[1]) as campaign:
    print(campaign.verify())
    print(*campaign.export(), sep="\\n")
    print(len(campaign.context("dm", budget=800).text) > 0, campaign.branches()[0].head)
    for deed in (
        lambda: campaign.record(event("late", "dm", "Too late.")),
        lambda: campaign.fork("another"),
        campaign.rebuild,
        campaign.save_data,
    ):
        try:
            deed()
        except DndbotsError as exc:
            print(type(exc).__name__, "permissions" in str(exc))
"""


def read_by(words: str, folder: Path) -> list[str]:
    """What a program without privileges reads there."""
    command = [sys.executable, "-c", f"{words}\n{READING}", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@contextmanager
def write_protected(folder: Path) -> Iterator[None]:
    """Nobody may write to a folder, nor to anything in it."""
    everything = [folder, *folder.rglob("*")]
    modes = {one: one.stat().st_mode for one in everything}
    for one in everything:
        one.chmod(0o555 if one.is_dir() else 0o444)
    try:
        yield
    finally:
        for one, mode in modes.items():
            one.chmod(mode)


def check_read(lines: list[str], exported: list[str]) -> None:
    problems, *log = lines[: len(exported) + 1]
    assert (problems, log) == ("[]", exported)
    assert lines[len(exported) + 1].startswith("True ")
    assert lines[len(exported) + 2 :] == ["StoreReadOnly True"] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="permissions do not bind root elsewhere")
def test_a_folder_that_cannot_be_written_to_is_read(played: Path, tmp_path: Path) -> None:
    """A closed campaign is read, verified and exported; whoever would write is told, and nothing changes."""
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    with Campaign.open(played) as campaign:
        exported = list(campaign.export())
    before = contents(folder)
    with write_protected(folder):
        lines = read_by(WITHOUT_PRIVILEGES, folder)
    check_read(lines, exported)
    assert contents(folder) == before


@pytest.mark.skipif(sys.platform != "linux", reason="permissions do not bind root elsewhere")
@pytest.mark.parametrize("left", [("-wal", "-shm"), ("-wal",)])
def test_a_campaign_that_nobody_closed_is_read_as_well(tmp_path: Path, left: tuple[str, ...]) -> None:
    """What is in its journal only is there, or an error says what to do: it is never left out."""
    play(tmp_path / "first")
    with Campaign.open(tmp_path / "first") as campaign:
        campaign.record(event("late", "dm", "In the journal."))
        exported = list(campaign.export())
        folder = Path(shutil.copytree(tmp_path / "first", tmp_path / "campaign"))
    for ending in {"-wal", "-shm"} - {*left}:
        (folder / f"campaign.db{ending}").unlink()
    before = contents(folder)
    with write_protected(folder):
        lines = read_by(WITHOUT_PRIVILEGES, folder)
    check_read(lines, exported)
    assert contents(folder) == before


def test_a_read_only_disk_is_read(played: Path, tmp_path: Path) -> None:
    """The same on a disk that takes no writes, for root as for anybody."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if sys.platform != "linux" or os.geteuid() != 0 or not (mount and umount):
        pytest.skip("only root on Linux can mount a folder read-only")
    folder = Path(shutil.copytree(played, tmp_path / "campaign"))
    with Campaign.open(played) as campaign:
        exported = list(campaign.export())
    done = subprocess.run([mount, "--bind", folder, folder], check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"a folder cannot be mounted: {done.stderr.decode().strip()}")
    try:
        subprocess.run([mount, "-o", "remount,bind,ro", folder], check=True)
        lines = read_by("", folder)
    finally:
        subprocess.run([umount, "-l", folder], check=True)
    check_read(lines, exported)
