"""The folder with campaign data: a set is whole or not there, damage is told, and no edit is lost."""

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.compaction.data.test_files import json_values, sets
from tests.waiting import HANG

from dndbots.compaction.data.disk_folder import KEPT_VERSIONS, DataFolder
from dndbots.compaction.data.edits import Edit
from dndbots.compaction.data.files import FILES, STATE_FILE
from dndbots.errors import InvalidSetting, StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable
from dndbots.storage.files import hold_lock


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A folder with two versions of a campaign."""
    made = DataFolder(tmp_path / "campaign" / "data", timeout=0.3)
    made.save(sets(1))
    made.save(sets(2))
    return made


def on_disk(folder: DataFolder) -> dict[str, bytes]:
    return {name: (folder.path / name).read_bytes() for name in FILES}


def edit(folder: DataFolder, name: str, change: Callable[[Any], None]) -> bytes:
    """Changes a file as a person would; gives what it then holds."""
    file = folder.path / name
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content, indent=4), "utf-8")
    return file.read_bytes()


def scribble(file: Path) -> None:
    """Writes into a file as it is."""
    with file.open("r+b") as opened:
        opened.write(b"scribble")


# Saving and loading.


def test_what_was_saved_is_loaded(folder: DataFolder) -> None:
    """A save puts all files in place, and a load gives them back, with nothing to tell."""
    loaded = folder.load()
    assert loaded.files == sets(2) == on_disk(folder)
    assert (loaded.version, loaded.edited, loaded.damaged) == (None, (), ())


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    """Looking for data makes none."""
    loaded = DataFolder(tmp_path / "data").load()
    assert (loaded.files, loaded.damaged, loaded.edited) == (None, (), ())
    assert list(tmp_path.iterdir()) == []


def _traces(folder: DataFolder) -> dict[str, tuple[int, int]]:
    """Return the inode and the time of writing of each file."""
    found = [one for one in folder.path.rglob("*") if one.is_file()]
    return {str(one): (one.stat().st_ino, one.stat().st_mtime_ns) for one in found}


def test_the_same_set_is_not_written_again(folder: DataFolder) -> None:
    """Saving what is there touches no file."""
    before = _traces(folder)
    saved = folder.save(sets(2))
    assert (saved.version, saved.written) == (2, ())
    assert _traces(folder) == before


def test_only_what_changed_is_written(folder: DataFolder) -> None:
    """A file that did not change stays the file it was, and is kept only once in the history."""
    before = _traces(folder)
    saved = folder.save(sets(3))
    assert set(saved.written) == {"campaign_data.json", STATE_FILE}
    after = _traces(folder)
    npcs = str(folder.path / "npcs.json")
    assert after[npcs] == before[npcs]
    kept = [(folder.path / "versions" / str(number) / "npcs.json").stat() for number in (1, 2, 3)]
    assert len({one.st_ino for one in kept}) == 1
    assert kept[0].st_nlink == 3


def test_history_never_shares_a_file_with_the_present(folder: DataFolder) -> None:
    """An editor that writes into a file as it is changes no version."""
    folder.save(sets(3))
    for name in FILES:
        assert (folder.path / name).stat().st_nlink == 1
        scribble(folder.path / name)
    for number in (1, 2, 3):
        kept = {name: (folder.path / "versions" / str(number) / name).read_bytes() for name in FILES}
        assert kept == sets(number)


def test_history_works_where_files_have_one_name_only(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk without hard links, versions are copies, and edits are moved."""

    def refused(*_arguments: object, **_more: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    text = edit(folder, "npcs.json", lambda npcs: npcs["npc_mira_001"].update(name="Mora"))
    saved = folder.save(sets(3))
    assert saved.edited[0].moved_to is not None
    assert saved.edited[0].moved_to.read_bytes() == text
    assert folder.load().files == sets(3)
    (folder.path / "npcs.json").write_bytes(b"{")
    assert folder.load().version == 3


def test_history_is_bounded(folder: DataFolder) -> None:
    """Only the newest versions stay, whole, and their numbers grow."""
    for number in range(3, 14):
        assert folder.save(sets(number)).version == number
    versions = sorted(int(one.name) for one in (folder.path / "versions").iterdir())
    assert versions == list(range(14 - KEPT_VERSIONS, 14))
    for number in versions:
        kept = {one.name: one.read_bytes() for one in (folder.path / "versions" / str(number)).iterdir()}
        assert kept == sets(number)


def test_a_set_that_is_not_whole_is_refused(folder: DataFolder) -> None:
    """Files that do not belong together, or have other names, are not saved."""
    for files in (
        {**sets(3), "npcs.json": b"{}\n"},
        {**sets(3), "../evil.json": b"{}\n"},
        {name: content for name, content in sets(3).items() if name != "npcs.json"},
        {**sets(3), STATE_FILE: b"{}\n"},
    ):
        with pytest.raises(InvalidSetting, match="to_files"):
            folder.save(files)
    assert folder.load().files == sets(2)


# People who edit.


def _changed_everywhere(npcs: Any) -> None:
    mira = npcs["npc_mira_001"]
    mira["name"] = "Mira Ironhand"
    mira["alive"] = False
    mira["aliases"] = ["the smith"]
    del mira["location"]
    mira["facts"]["role"]["value"] = "baker"
    mira["facts"]["home"] = "Dunmere"
    del mira["facts"]["wants"]
    mira["inventory"] = {"hammer": 2}
    npcs["npc_tam_001"] = {"name": "Tam", "facts": {"age": {"value": 9, "since": "me"}}}


def test_edits_are_told_field_by_field(folder: DataFolder) -> None:
    """Edits by hand come back as corrections, each with the old value."""
    edit(folder, "npcs.json", _changed_everywhere)
    told = [(one.uid, one.field, one.old, one.new) for file in folder.edited() for one in file.edits]
    mira, tam = "npc_mira_001", "npc_tam_001"
    assert sorted(told, key=str) == sorted(
        [
            (mira, "name", "Mira", "Mira Ironhand"),
            (mira, "alive", True, False),
            (mira, "aliases", [], ["the smith"]),
            (mira, "location", "loc_hall_001", None),
            (mira, "facts.role", "smith", "baker"),
            (mira, "facts.home", None, "Dunmere"),
            (mira, "facts.wants", "her brother back", None),
            (mira, "inventory.hammer", None, 2),
            (tam, "name", None, "Tam"),
            (tam, "facts.age", None, 9),
        ],
        key=str,
    )


def test_edits_of_other_files_are_told_too(folder: DataFolder) -> None:
    """Quests and their objectives, things, what is known only by hearsay, and who is taken out."""

    def change_campaign(content: Any) -> None:
        content["items"]["item_crown_001"]["name"] = "Iron Crown"
        content["sessions"] = ["s01", "s02"]

    def change_npcs(content: Any) -> None:
        content["npc_mira_001"]["facts"]["wants"]["certainty"] = "fact"

    edit(folder, "campaign_data.json", change_campaign)
    edit(folder, "npcs.json", change_npcs)
    edit(folder, "quests.json", dict.clear)
    edit(folder, STATE_FILE, lambda content: content["state"].update(turns=99))
    told = {file.file: [tuple(one)[1:] for one in file.edits] for file in folder.edited()}
    assert told == {
        "npcs.json": [("npc_mira_001", "facts.wants.certainty", "rumor", "fact")],
        "quests.json": [("qst_crown_001", "", "The Crown", None)],
        "campaign_data.json": [
            (None, "sessions", ["s01"], ["s01", "s02"]),
            ("item_crown_001", "name", "Crown", "Iron Crown"),
        ],
        STATE_FILE: [(None, "state", {"turns": 2}, {"turns": 99})],
    }


def test_an_edit_between_two_saves_is_kept(folder: DataFolder) -> None:
    """A file edited by hand is moved where it can be found, told, and replaced by what the log says."""
    text = edit(folder, "npcs.json", lambda npcs: npcs["npc_mira_001"].update(name="Mora"))
    saved = folder.save(sets(3))
    (edited,) = saved.edited
    assert edited.moved_to == folder.path / "edited" / "npcs.1.json"
    assert edited.moved_to.read_bytes() == text
    assert edited.edits == (Edit("npcs.json", "npc_mira_001", "name", "Mira", "Mora"),)
    assert on_disk(folder) == sets(3)
    assert folder.edited() == []


def test_edits_are_kept_beside_each_other(folder: DataFolder) -> None:
    """A second edit of a file never takes the place of the first, nor of what somebody put there."""
    (folder.path / "edited").mkdir()
    (folder.path / "edited" / "npcs.2.json").write_text("mine")
    texts = []
    for name in ("Mora", "Moira", "Maura"):
        texts.append(
            edit(folder, "npcs.json", lambda npcs, name=name: npcs["npc_mira_001"].update(name=name))
        )
        folder.save(sets(2))
    kept = {one.name: one.read_bytes() for one in (folder.path / "edited").iterdir()}
    assert kept == dict(
        zip(
            ["npcs.1.json", "npcs.2.json", "npcs.3.json", "npcs.4.json"],
            [texts[0], b"mine", *texts[1:]],
            strict=True,
        )
    )


def test_an_edit_stays_in_place_when_data_are_loaded(folder: DataFolder) -> None:
    """Loading does not take a file away from the person who edits it, and does not believe it."""
    text = edit(folder, "npcs.json", lambda npcs: npcs["npc_mira_001"].update(name="Mora"))
    loaded = folder.load()
    assert loaded.files == sets(2)
    assert [one.file for one in loaded.edited] == ["npcs.json"]
    assert loaded.damaged == ()
    assert (folder.path / "npcs.json").read_bytes() == text


def test_an_older_version_put_back_by_hand_is_an_edit(folder: DataFolder) -> None:
    """A file from the history in place of the present one is noticed, though it was ours once."""
    older = sets(3, scenes={})["campaign_data.json"]
    folder.save(sets(3))
    folder.save(sets(4))
    (folder.path / "campaign_data.json").write_bytes(older)
    assert [one.edits for one in folder.edited()] == [
        (Edit("campaign_data.json", None, "cursor", "evt_001_004", "evt_001_003"),)
    ]


def test_an_edit_while_a_save_goes_on_is_kept(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit made during a save is set aside, not lost."""
    rename, texts = os.rename, []

    def rename_and_edit(*arguments: Any) -> None:
        rename(*arguments)
        texts.append(edit(folder, "npcs.json", lambda npcs: npcs["npc_mira_001"].update(name="Mora")))

    monkeypatch.setattr(os, "rename", rename_and_edit)
    saved = folder.save(sets(3))
    assert [one.file for one in saved.edited] == ["npcs.json"]
    assert (folder.path / "edited" / "npcs.1.json").read_bytes() == texts[0]
    assert folder.load().files == sets(3)


@pytest.mark.parametrize(
    "text", [b"[]", b"3", b'"x"', b'{"npc_mira_001": 3}', b'{"npc_mira_001": {"alive": "?"}}']
)
def test_an_edit_of_the_wrong_shape_is_told_as_such(folder: DataFolder, text: bytes) -> None:
    """Valid JSON that is no campaign data is kept as an edit, with what is wrong with it."""
    (folder.path / "npcs.json").write_bytes(text)
    saved = folder.save(sets(3))
    assert [(one.file, bool(one.problem)) for one in saved.edited] == [("npcs.json", True)]
    assert (folder.path / "edited" / "npcs.1.json").read_bytes() == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(FILES), value=json_values)
def test_any_json_is_kept_as_it_is(folder: DataFolder, name: str, value: Any) -> None:
    """Any edit of a file is kept, and the data stay whole."""
    text = json.dumps(value).encode()
    (folder.path / name).write_bytes(text)
    saved = folder.save(sets(2))
    (moved,) = [one.moved_to for one in (*saved.edited, *saved.damaged)]
    assert moved is not None
    assert moved.read_bytes() == text
    assert on_disk(folder) == sets(2)
    moved.unlink()


# Damage.


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _deleted(file: Path) -> None:
    file.unlink()


def _made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "inside").write_text("kept")


def _linked(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parents[2] / "outside.json")


def _linked_to_nothing(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parents[2] / "nothing.json")


def _made_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _nested(file: Path) -> None:
    file.write_bytes(b"[" * 99_999)


def _not_text(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00\x01")


def _with_a_number_too_large(file: Path) -> None:
    file.write_bytes(b'{"x": 1e999}')


DAMAGES = [
    _emptied,
    _truncated,
    _deleted,
    _made_a_folder,
    _linked,
    _linked_to_nothing,
    _made_a_pipe,
    _nested,
    _not_text,
    _with_a_number_too_large,
]


@pytest.mark.parametrize("name", ["npcs.json", STATE_FILE])
@pytest.mark.parametrize("damage", DAMAGES)
def test_load_repairs_damage(folder: DataFolder, damage: Callable[[Path], None], name: str) -> None:
    """A damaged file is told and set aside, and the last good version takes its place."""
    outside = folder.path.parents[1] / "outside.json"
    outside.write_bytes(sets(1)[name])
    damage(folder.path / name)
    loaded = folder.load()
    assert loaded.files == sets(2)
    assert loaded.version == 2
    assert [one.file for one in loaded.damaged] == [name]
    assert on_disk(folder) == sets(2)
    assert not (folder.path / name).is_symlink()
    assert outside.read_bytes() == sets(1)[name]
    assert folder.load().damaged == ()


@pytest.mark.parametrize("name", ["npcs.json", STATE_FILE])
@pytest.mark.parametrize("damage", DAMAGES)
def test_save_repairs_damage(folder: DataFolder, damage: Callable[[Path], None], name: str) -> None:
    """A save over a damaged file tells it and sets it aside; the data are the log's."""
    outside = folder.path.parents[1] / "outside.json"
    outside.write_bytes(sets(1)[name])
    damage(folder.path / name)
    saved = folder.save(sets(3))
    assert [one.file for one in saved.damaged] == [name]
    assert saved.edited == ()
    assert on_disk(folder) == sets(3) == folder.load().files
    assert outside.read_bytes() == sets(1)[name]
    moved = saved.damaged[0].moved_to
    assert (moved is None) == (damage is _deleted)
    if damage is _made_a_folder:
        assert moved is not None
        assert (moved / "inside").read_text() == "kept"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_byte_can_be_lost_silently(folder: DataFolder, data: st.DataObject) -> None:
    """Damage to any byte of any file is noticed, and the last good version is loaded."""
    name = data.draw(st.sampled_from(FILES))
    content = sets(2)[name]
    start = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(0, len(content) - start))
    instead = data.draw(st.one_of(st.binary(max_size=20), st.just(bytes(length))))
    damaged = content[:start] + instead + content[start + length :]
    if damaged == content:
        return
    (folder.path / name).write_bytes(damaged)
    loaded = folder.load()
    assert loaded.files == sets(2)
    assert [one.file for one in (*loaded.edited, *loaded.damaged)] == [name]
    folder.save(sets(2))
    assert on_disk(folder) == sets(2)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_version_is_skipped(folder: DataFolder, name: str) -> None:
    """If the newest version is damaged as well, the one before it is loaded; the next save starts anew."""
    folder.save(sets(3))
    kept = folder.path / "versions" / "3" / name
    kept.unlink()
    kept.write_bytes(b"{}")
    (folder.path / "npcs.json").write_bytes(b"{")
    loaded = folder.load()
    assert (loaded.files, loaded.version) == (sets(2), 2)
    assert on_disk(folder) == sets(2)
    assert folder.save(sets(3)).version == 4
    assert folder.load().files == sets(3)
    (folder.path / "npcs.json").write_bytes(b"{")
    assert folder.load().files == sets(3)


def test_a_damaged_version_is_not_passed_on(folder: DataFolder) -> None:
    """A damaged file of a version is never shared with the next one, even if its data did not change."""
    kept = folder.path / "versions" / "2" / "npcs.json"
    scribble(kept)
    folder.save(sets(3))
    (folder.path / "npcs.json").unlink()
    assert folder.load().files == sets(3)


def test_without_any_good_version_there_is_nothing_but_the_damage(folder: DataFolder) -> None:
    """If no version is good, nothing is loaded, and the files stay for a person to look at."""
    for number in ("1", "2"):
        (folder.path / "versions" / number / STATE_FILE).write_bytes(b"")
    (folder.path / STATE_FILE).write_bytes(b"{")
    loaded = folder.load()
    assert (loaded.files, loaded.version) == (None, None)
    assert STATE_FILE in [one.file for one in loaded.damaged]
    assert (folder.path / STATE_FILE).read_bytes() == b"{"
    folder.save(sets(3))
    assert folder.load().files == sets(3)


@pytest.mark.parametrize("name", ["versions", "edited", "damaged"])
def test_nothing_is_written_through_a_link(folder: DataFolder, name: str) -> None:
    """A link in place of one of our folders leads no write elsewhere: saving refuses, loading goes on."""
    outside = folder.path.parents[1] / "outside"
    ours = folder.path / name
    if ours.exists():
        ours.rename(outside)
    else:
        outside.mkdir()
    ours.symlink_to(outside, target_is_directory=True)
    before = sorted(outside.rglob("*"))
    (folder.path / "npcs.json").write_bytes(b"{" if name == "damaged" else b"{}")
    with pytest.raises(StoreUnavailable, match=f"{name}.*links are not followed"):
        folder.save(sets(3))
    loaded = folder.load()
    assert loaded.files == (None if name == "versions" else sets(2))
    assert sorted(outside.rglob("*")) == before


def test_a_link_in_place_of_a_version_is_no_version(folder: DataFolder) -> None:
    """A file behind a link is neither loaded nor shared, and stays in place."""
    version, outside = folder.path / "versions" / "2", folder.path.parents[1] / "outside"
    version.rename(outside)
    version.symlink_to(outside, target_is_directory=True)
    (folder.path / "npcs.json").unlink()
    assert folder.load().files == sets(1)
    for number in range(3, 3 + KEPT_VERSIONS):
        assert folder.save(sets(number)).version == number
    assert not version.is_symlink()
    assert {one.name: one.read_bytes() for one in outside.iterdir()} == sets(2)
    assert (outside / "npcs.json").stat().st_nlink == 1


# Others who save, and disks that refuse.


def test_who_waits_too_long_is_told(folder: DataFolder) -> None:
    """While somebody else saves, saving fails in time, and reading does not wait."""
    with hold_lock(folder.path / ".lock", timeout=0):
        begun = time.monotonic()
        with pytest.raises(StoreBusy, match="try again"):
            folder.save(sets(3))
        assert time.monotonic() - begun > 0.2
        patient = DataFolder(folder.path, timeout=HANG)  # if it waited, it would do so for ever
        assert patient.load().files == sets(2)
        (folder.path / "npcs.json").write_bytes(b"{")
        loaded = patient.load()
        assert loaded.files == sets(2)
        assert [one.file for one in loaded.damaged] == ["npcs.json"]
        assert (folder.path / "npcs.json").read_bytes() == b"{"
    assert folder.save(sets(3)).version == 3


CALLS = ["open", "fsync", "mkdir", "rename", "replace", "link"]


class FailingDisk:
    """Refuses the call number `at` of those that change a disk, and all that follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, code: int) -> None:
        self.calls, self._at, self._code = 0, at, code
        for name in CALLS:
            monkeypatch.setattr(os, name, self._checked(getattr(os, name)))

    def _checked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any, **more: Any) -> Any:
            is_reading = call.__name__ == "open" and not arguments[1] & os.O_CREAT
            self.calls += not is_reading
            if self.calls >= self._at and not is_reading:
                named = [] if isinstance(arguments[0], int) else [str(arguments[0])]
                raise OSError(self._code, os.strerror(self._code), *named)
            return call(*arguments, **more)

        return checked


@pytest.mark.parametrize(
    ("code", "error", "remedy"),
    [
        (errno.ENOSPC, StoreFull, "make room"),
        (errno.EDQUOT, StoreFull, "make room"),
        (errno.EACCES, StoreReadOnly, "permissions"),
        (errno.EROFS, StoreReadOnly, "permissions"),
        (errno.EIO, StoreUnavailable, "another folder"),
    ],
)
def test_a_disk_that_fails_at_any_step_loses_nothing(
    tmp_path: Path, code: int, error: type[StoreUnavailable], remedy: str
) -> None:
    """Wherever a disk gives up, the error says what to do, a whole set is loaded, and the next save works."""
    at, is_done = 1, False
    while not is_done:
        folder = DataFolder(tmp_path / str(at) / "data", timeout=0.3)
        folder.save(sets(1))
        text = edit(folder, "quests.json", dict.clear)
        with pytest.MonkeyPatch.context() as patched:
            FailingDisk(patched, at, code)
            try:
                folder.save(sets(2))
                is_done = True
            except error as exc:
                assert remedy in str(exc)  # noqa: PT017
                assert str(tmp_path) in str(exc)  # noqa: PT017
            assert folder.load().files in (sets(1), sets(2)), f"step {at}"
        folder.save(sets(3))
        assert on_disk(folder) == sets(3) == folder.load().files, f"step {at}"
        assert text in [one.read_bytes() for one in (folder.path / "edited").iterdir()], f"step {at}"
        at += 1
    assert at > 15


def test_a_save_that_fails_before_it_counts_leaves_the_old_set(tmp_path: Path) -> None:
    """As long as the new version is not whole, the old set is the one that is there."""
    folder = DataFolder(tmp_path / "data")
    folder.save(sets(1))
    with pytest.MonkeyPatch.context() as patched:
        FailingDisk(patched, 8, errno.ENOSPC)
        with pytest.raises(StoreFull):
            folder.save(sets(2))
    assert on_disk(folder) == sets(1) == folder.load().files
    assert sorted(one.name for one in folder.path.iterdir()) == sorted([*FILES, "versions", ".lock"])


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    """A data folder that cannot be made gives a plain error, and loading finds nothing."""
    (tmp_path / "data").write_text("not a folder")
    folder = DataFolder(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="check what is there"):
        folder.save(sets())
    assert folder.load().files is None
    assert (tmp_path / "data").read_text() == "not a folder"
