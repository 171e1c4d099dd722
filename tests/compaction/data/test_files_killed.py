"""Campaign data on disk, and programs that are killed while they save or load, or that do so at once."""

import json
import multiprocessing
import os
import random
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.storage.writers import IS_LONG
from tests.waiting import HANG, wait_until

from dndbots.compaction.data import disk_folder as data_folder
from dndbots.compaction.data.disk_folder import KEPT_VERSIONS, DataFolder, Loaded
from dndbots.compaction.data.files import FILES, STATE_FILE, from_files, to_files
from dndbots.compaction.data.models import CampaignData, NarrativeInfo, NPCInfo, QuestInfo, StatedValue
from dndbots.storage.files import FileRead, hold_lock, read_file

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked, to be fast to start")

KILLS = 1_000 if IS_LONG else 25
SAVES = 400 if IS_LONG else 40
MANY = 30
STRIDE = 1 if IS_LONG else 2


def numbered(number: int) -> dict[str, bytes]:
    """A set that says which one it is. From one to the next, now these files change, now others."""
    rng = random.Random(number)
    mood = [number - number % size for size in (1, 2, 3)]
    people = [
        NPCInfo(
            uid=f"npc_p{n}_001",
            name=f"Person {n}",
            facts={"mood": StatedValue(value=mood[0] if n == 7 else mood[2], since="evt_001_001")},
        )
        for n in range(50)
    ]
    quest = QuestInfo(uid="qst_crown_001", name="The Crown", state=f"at {mood[1]}")
    told = NarrativeInfo(narrative_id="n1", kind="recap", text="word " * rng.choice([1, 2_000]))
    data = CampaignData(
        npcs={one.uid: one for one in people},
        quests={quest.uid: quest},
        narratives={"n1": told},
        cursor=str(number),
    )
    return to_files(data, {"turns": number})


SETS = [numbered(number) for number in range(MANY)]


def number_of(loaded: Loaded) -> int:
    """Return which set was loaded, after checking that it is whole."""
    assert loaded.files is not None, loaded
    number = int(from_files(loaded.files).cursor or "")
    assert loaded.files == SETS[number]
    return number


def check_files(folder: DataFolder, *, told: str) -> None:
    """Every file is there, and is one of those that were saved, whole."""
    for name in FILES:
        content = (folder.path / name).read_bytes()
        json.loads(content)
        assert content in [files[name] for files in SETS], f"{told}: {name}"


def check_history(folder: DataFolder) -> None:
    """Every version is whole, and none is there by half."""
    for version in (folder.path / "versions").glob("[0-9]*"):
        assert {one.name: one.read_bytes() for one in version.iterdir()} in SETS, version


def save_on_and_on(path: Path, first: int, saved: Any) -> None:
    """Saves one set after the other, and says which one is saved."""
    folder = DataFolder(path)
    for number in range(first, 10**9):
        folder.save(SETS[number % MANY])
        saved.value = number
        time.sleep(0.003)  # or nobody else would have a turn


class Program:
    """A function that runs in a process of its own, and a number that it tells."""

    def __init__(self, deed: Callable[..., None], *arguments: object) -> None:
        fork = multiprocessing.get_context("fork")
        self.told = fork.Value("q", -1)
        self.process = fork.Process(target=deed, args=(*arguments, self.told), daemon=True)
        self.process.start()

    def kill(self) -> int:
        """Ends it without any warning (SIGKILL); gives what it told last."""
        self.process.kill()
        self.process.join(HANG)
        return int(self.told.value)

    def wait_for(self, number: int) -> None:
        def has_come() -> bool:
            assert self.process.is_alive() or self.told.value >= number, "a program ended by itself"
            return bool(self.told.value >= number)

        wait_until(has_come, f"a program comes to {number}")


@contextmanager
def running(deed: Callable[..., None], *arguments: object) -> Iterator[Program]:
    program = Program(deed, *arguments)
    try:
        yield program
    finally:
        program.kill()


def test_a_kill_leaves_the_old_set_or_the_new(tmp_path: Path) -> None:
    """After SIGKILL at any moment every file is whole, the last set or the next is loaded, saving goes on."""
    folder = DataFolder(tmp_path / "data")
    folder.save(SETS[0])
    last = 0
    for seed in range(KILLS):
        with running(save_on_and_on, folder.path, last + 1) as program:
            program.wait_for(last + 1)
            time.sleep(random.Random(seed).uniform(0, 0.08))
            last = max(last, program.kill())
        check_files(folder, told=f"seed {seed}")
        loaded = folder.load()
        assert number_of(loaded) in (last % MANY, (last + 1) % MANY), f"seed {seed}"
        assert (loaded.damaged, loaded.edited) == ((), ()), f"seed {seed}"
        assert folder.load().version is None, f"seed {seed}: a mix is still there"
        last += 2
        saved = folder.save(SETS[last % MANY])
        assert (saved.damaged, saved.edited) == ((), ()), f"seed {seed}"
        assert number_of(folder.load()) == last % MANY, f"seed {seed}"
        assert len(list((folder.path / "versions").iterdir())) <= KEPT_VERSIONS, f"seed {seed}"


# Death at every step.

CALLS = ["open", "fsync", "mkdir", "rename", "replace", "link", "unlink", "rmdir"]


def die_at(step: int, deed: Callable[[], object]) -> None:
    """Does something, and dies in place of its call number `step` to the disk, amid what it writes."""
    calls = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*arguments: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == step:
                if call.__name__ == "fsync" and stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                    os.ftruncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
                os._exit(9)
            return call(*arguments, **more)

        return dying

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    deed()
    os._exit(0)


def survivors(deed: Callable[[], object], step: int) -> bool:
    """Return whether a program that should die at a step ends before that step."""
    process = multiprocessing.get_context("fork").Process(target=die_at, args=(step, deed), daemon=True)
    process.start()
    process.join(HANG)
    assert process.exitcode in (0, 9), process.exitcode
    return process.exitcode == 0


def every_step(
    deed: Callable[[DataFolder], object], path: Path, prepare: Callable[[DataFolder], None]
) -> Iterator[DataFolder]:
    """Folders in which a deed was broken off, each at a later one of its calls to the disk."""
    before = DataFolder(path / "before")
    for number in range(KEPT_VERSIONS + 1):
        before.save(SETS[number])
    for step in range(1, 1_000, STRIDE):
        folder = DataFolder(shutil.copytree(before.path, path / str(step)))
        prepare(folder)
        is_done = survivors(lambda folder=folder: deed(folder), step)  # type: ignore[misc]
        yield folder
        if is_done:
            assert step > 20, "there was little to die of"
            return


OLD, NEW = KEPT_VERSIONS, KEPT_VERSIONS + 1


def test_death_at_every_step_of_a_save(tmp_path: Path) -> None:
    """Whichever call to the disk is the last one: every file is whole, old or new, and life goes on."""
    seen = set()
    for folder in every_step(lambda folder: folder.save(SETS[NEW]), tmp_path, lambda _: None):
        check_files(folder, told=str(folder.path))
        check_history(folder)
        loaded = folder.load()
        assert (loaded.damaged, loaded.edited) == ((), ())
        seen.add((number_of(loaded), loaded.version is None))
        assert folder.save(SETS[NEW]).damaged == ()
        folder.save(SETS[NEW + 1])
        assert number_of(folder.load()) == NEW + 1
        leftovers = {one.name for one in folder.path.iterdir()} - {*FILES, "versions", ".lock"}
        assert leftovers == set()
        assert len(list((folder.path / "versions").iterdir())) == KEPT_VERSIONS
    assert seen == {(OLD, True), (NEW, False), (NEW, True)}


EDITED = b'{"npc_p7_001": {"name": "Edited"}}'


def test_death_at_every_step_loses_no_edit(tmp_path: Path) -> None:
    """A file that a person edited is in its place or set aside, whenever a save was killed."""

    def edit(folder: DataFolder) -> None:
        (folder.path / "npcs.json").write_bytes(EDITED)
        (folder.path / "quests.json").write_bytes(b"{")

    for folder in every_step(lambda folder: folder.save(SETS[NEW]), tmp_path, edit):
        assert number_of(folder.load()) in (OLD, NEW)
        folder.save(SETS[NEW])
        kept = [one.read_bytes() for one in (folder.path / "edited").iterdir()]
        assert set(kept) == {EDITED}
        assert {one.read_bytes() for one in (folder.path / "damaged").iterdir()} == {b"{"}
        assert number_of(folder.load()) == NEW


def test_death_at_every_step_of_a_load(tmp_path: Path) -> None:
    """A load that is killed while it repairs leaves what the next one can repair."""

    def damage(folder: DataFolder) -> None:
        (folder.path / "npcs.json").write_bytes(b"{")
        (folder.path / "quests.json").unlink()
        (folder.path / STATE_FILE).write_bytes(b"")

    for folder in every_step(DataFolder.load, tmp_path, damage):
        assert number_of(folder.load()) == OLD
        assert folder.load() == Loaded(files=SETS[OLD])
        folder.save(SETS[NEW])
        assert number_of(folder.load()) == NEW


# Several at once.


def test_two_who_save_at_once_never_mix(tmp_path: Path) -> None:
    """While two programs save, whoever loads gets a whole set, waits for nobody, and sees no damage."""
    folder = DataFolder(tmp_path / "data")
    folder.save(SETS[0])
    with (
        running(save_on_and_on, folder.path, 0) as one,
        running(save_on_and_on, folder.path, MANY // 2) as two,
    ):
        loads = 0
        while min(one.told.value, two.told.value - MANY // 2) < SAVES:
            assert one.process.is_alive()
            assert two.process.is_alive()
            loaded = folder.load()
            number_of(loaded)
            assert (loaded.damaged, loaded.edited) == ((), ())
            loads += 1
    assert loads > 10
    number_of(folder.load())
    assert folder.save(SETS[3]).edited == ()
    assert number_of(folder.load()) == 3


def overtaken(
    monkeypatch: pytest.MonkeyPatch, folder: DataFolder, at: int, saves: list[list[int]]
) -> Callable[[], bool]:
    """Has others save before a reader's look at a file, and before the next; says whether they did."""
    looks, other = 0, DataFolder(folder.path)

    def read_late(path: Path) -> FileRead:
        nonlocal looks
        looks += 1
        if 0 <= looks - at < len(saves):
            with monkeypatch.context() as undisturbed:
                undisturbed.setattr(data_folder, "read_file", read_file)
                for number in saves[looks - at]:
                    other.save(SETS[number])
        return read_file(path)

    monkeypatch.setattr(data_folder, "read_file", read_late)
    return lambda: looks >= at


@pytest.mark.parametrize(
    "saves",
    [[[1]], [[1, 2]], [list(range(1, 2 * KEPT_VERSIONS))], [[1], [], list(range(2, 2 * KEPT_VERSIONS))]],
)
def test_a_reader_who_is_overtaken_sees_no_damage(tmp_path: Path, saves: list[list[int]]) -> None:
    """Whenever others save while somebody reads, a whole set is read, and nobody is said to have edited."""
    for at in range(1, 200):
        folder = DataFolder(tmp_path / str(at))
        folder.save(SETS[0])
        with pytest.MonkeyPatch.context() as patched:
            is_overtaken = overtaken(patched, folder, at, saves)
            assert folder.edited() == [], f"look {at}"
            if not is_overtaken():
                assert at > len(FILES)
                return
            loaded = folder.load()
            number_of(loaded)
            assert (loaded.damaged, loaded.edited) == ((), ()), f"look {at}"


def hold(path: Path, told: Any) -> None:
    with hold_lock(path / ".lock", timeout=0):
        told.value = 1
        time.sleep(HANG)


def test_the_lock_of_the_dead_is_free(tmp_path: Path) -> None:
    """A program that dies while it saves keeps nobody else from saving."""
    folder = DataFolder(tmp_path / "data", timeout=HANG)
    folder.save(SETS[0])
    with running(hold, folder.path) as program:
        program.wait_for(1)
        program.kill()
        folder.save(SETS[1])
    assert number_of(folder.load()) == 1
