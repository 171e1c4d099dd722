"""Campaign data on disk: the same data are the same bytes, a set is whole or not there, no edit is lost."""

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
from tests.strategies import HOSTILE, hostile_text, visible_text

from dndbots.compaction.data import (
    Believed,
    CampaignData,
    CharacterInfo,
    Earlier,
    EnvironmentInfo,
    FactionInfo,
    ItemInfo,
    NarrativeInfo,
    NPCInfo,
    QuestInfo,
    SceneInfo,
    Stated,
)
from dndbots.compaction.disk import locked
from dndbots.compaction.edits import Edit
from dndbots.compaction.files import (
    FILES,
    STATE_FILE,
    data_path,
    from_files,
    is_whole,
    state_from,
    to_files,
)
from dndbots.compaction.folder import KEPT_VERSIONS, DataFolder
from dndbots.errors import (
    InvalidSetting,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

# Data of any kind.

# Mostly short and hostile: a set of files has hundreds of texts.
words = st.one_of(st.sampled_from(["", "npc_mira_001", "evt_001_001", *HOSTILE]), hostile_text)
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        words,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)
certainties = st.sampled_from(["fact", "belief", "rumor"])
texts = st.lists(words, max_size=3).map(tuple)
maybe = st.one_of(st.none(), words)
stated = st.builds(
    Stated,
    value=json_values,
    since=words,
    certainty=certainties,
    earlier=st.lists(st.builds(Earlier, value=json_values, since=words), max_size=2).map(tuple),
)
believed = st.builds(
    Believed,
    key=words,
    value=json_values,
    by=texts,
    said_by=maybe,
    since=words,
    certainty=certainties,
)
info = {
    "uid": words,
    "name": words,
    "aliases": texts,
    "facts": st.dictionaries(words, stated, max_size=3),
    "believed": st.lists(believed, max_size=2).map(tuple),
}
creature = {
    **info,
    "alive": st.booleans(),
    "location": maybe,
    "conditions": texts,
    "inventory": st.dictionaries(words, st.integers(), max_size=2),
    "abilities": texts,
}
scenes = st.builds(
    SceneInfo,
    scene_id=words,
    session=words,
    location=maybe,
    participants=texts,
    first=words,
    last=words,
    turns=st.integers(),
    seconds=st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    outcomes=texts,
    open=st.booleans(),
)
narratives = st.builds(
    NarrativeInfo,
    narrative_id=words,
    kind=words,
    text=words,
    scene_id=maybe,
    sources=texts,
)


@st.composite
def shelves(draw: st.DrawFn, values: st.SearchStrategy[Any], id_field: str = "uid") -> dict[str, Any]:
    """By their ids, or by anything else."""
    found = draw(st.one_of(st.just([]), st.lists(values, max_size=2)))
    keys = [getattr(one, id_field) if draw(st.booleans()) else draw(words) for one in found]
    return dict(zip(keys, found, strict=True))


campaigns = st.builds(
    CampaignData,
    characters=shelves(st.builds(CharacterInfo, **creature)),
    npcs=shelves(st.builds(NPCInfo, **creature)),
    environments=shelves(st.builds(EnvironmentInfo, **info, danger=maybe)),
    quests=shelves(
        st.builds(QuestInfo, **info, state=maybe, objectives=st.dictionaries(words, json_values, max_size=2))
    ),
    items=shelves(st.builds(ItemInfo, **info)),
    factions=shelves(st.builds(FactionInfo, **info)),
    scenes=shelves(scenes, "scene_id"),
    narratives=shelves(narratives, "narrative_id"),
    sessions=texts,
    cursor=maybe,
)
states = st.dictionaries(words, json_values, max_size=3)


def person(name: str = "Mira", **more: Any) -> NPCInfo:
    facts = {
        "role": Stated(value="smith", since="evt_001_001"),
        "wants": Stated(value="her brother back", since="evt_001_002", certainty="rumor"),
    }
    return NPCInfo(uid="npc_mira_001", name=name, **{"facts": facts, "location": "loc_hall_001", **more})


def campaign(number: int = 1, **more: Any) -> CampaignData:
    quest = QuestInfo(uid="qst_crown_001", name="The Crown", state="accepted", objectives={"find it": "open"})
    return CampaignData(
        npcs={"npc_mira_001": person()},
        quests={"qst_crown_001": quest},
        items={"item_crown_001": ItemInfo(uid="item_crown_001", name="Crown")},
        sessions=("s01",),
        cursor=f"evt_001_{number:03d}",
        **more,
    )


def sets(number: int = 1, **more: Any) -> dict[str, bytes]:
    return to_files(campaign(number, **more), {"turns": number})


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


# Data, files, data.


@given(campaigns, states)
def test_data_survive_the_files(data: CampaignData, state: dict[str, Any]) -> None:
    """What is written is what is read, whatever people call themselves."""
    files = to_files(data, state)
    assert from_files(files) == data
    assert state_from(files) == state
    assert is_whole(files)
    for content in files.values():
        assert content.endswith(b"}\n")
        json.loads(content.decode("utf-8"))


def _shuffled(value: Any) -> Any:
    """The same, with every mapping in another order."""
    if isinstance(value, dict):
        return {key: _shuffled(value[key]) for key in reversed(value)}
    return [_shuffled(one) for one in value] if isinstance(value, list | tuple) else value


@given(campaigns, states)
def test_same_data_same_bytes(data: CampaignData, state: dict[str, Any]) -> None:
    """In which order things became known leaves no trace in the files."""
    again = CampaignData.model_validate(_shuffled(data.model_dump()))
    assert again == data
    assert to_files(again, _shuffled(state)) == to_files(data, state)


def test_a_person_can_read_the_files() -> None:
    """Files say what is known and no more: each id once, no defaults, letters as they are."""
    data = CampaignData(
        npcs={"npc_mira_001": person("Míra 龍", aliases=("the smith",), facts={})}, cursor="e"
    )
    assert to_files(data, {})["npcs.json"].decode() == (
        "{\n"
        '  "npc_mira_001": {\n'
        '    "name": "Míra 龍",\n'
        '    "aliases": [\n'
        '      "the smith"\n'
        "    ],\n"
        '    "location": "loc_hall_001"\n'
        "  }\n"
        "}\n"
    )


def test_the_campaign_file_counts() -> None:
    """Somebody who opens one file sees how much there is in the others."""
    counts = json.loads(sets()["campaign_data.json"])["counts"]
    assert (counts["npcs"], counts["quests"], counts["items"], counts["scenes"]) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"x": 1}', b'{"x": {"name": 3}}', b'{"x": {"nom": "y"}}', b"[" * 99_999],
)
@pytest.mark.parametrize("name", ["npcs.json", "scenes.json"])
def test_files_that_are_no_data_are_told(name: str, content: bytes) -> None:
    """Who reads something else is told in which file, and what to do."""
    with pytest.raises(StoreDamaged, match=rf"{name}.*from the log"):
        from_files({**sets(), name: content})


def test_a_missing_file_is_told() -> None:
    """A set without one of its files is no data."""
    files = sets()
    del files["quests.json"]
    with pytest.raises(StoreDamaged, match=r"quests\.json: it is missing"):
        from_files(files)


@given(
    st.lists(st.one_of(visible_text, hostile_text, st.sampled_from(["A", "a", "..", "/", "CON", "main", ""])))
)
def test_every_branch_has_a_folder_of_its_own(names: list[str]) -> None:
    """Whatever a branch is called, its folder is inside the campaign's, and nobody else's."""
    found = {name: data_path(Path("c"), name) for name in names}
    folded = {str(path).casefold() for path in found.values()}
    assert len(folded) == len(found)
    for name, path in found.items():
        depth = 2 if name == "main" else 4
        assert len(path.parts) == depth
        assert path.name.isascii()
        assert path.name.replace("_", "").replace("-", "").isalnum()
        assert len(path.name) < 100


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
    """Which file is which on the disk, and when it was written."""
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
    """Where a disk knows no hard links, versions are copies, and edits are moved."""

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
    """What a person changed comes out as corrections, each with what was written before."""
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
    """Who edits at the very moment of a save finds the edit set aside, not lost."""
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
    """Whatever a person writes into a file, it is found again, and data are whole."""
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
    """Whatever happens to any bytes of any file is noticed, and the last good version is loaded."""
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
    """What is damaged in one version is never the next version's file, though nothing changed in it."""
    kept = folder.path / "versions" / "2" / "npcs.json"
    scribble(kept)
    folder.save(sets(3))
    (folder.path / "npcs.json").unlink()
    assert folder.load().files == sets(3)


def test_without_any_good_version_there_is_nothing_but_the_damage(folder: DataFolder) -> None:
    """Where nothing can be trusted, nothing is given, and what is there stays for a person to look at."""
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
    with pytest.raises(StoreUnavailable, match=f"{name}.*look what is there"):
        folder.save(sets(3))
    loaded = folder.load()
    assert loaded.files == (None if name == "versions" else sets(2))
    assert sorted(outside.rglob("*")) == before


# Others who save, and disks that refuse.


def test_who_waits_too_long_is_told(folder: DataFolder) -> None:
    """While somebody else saves, saving fails in time, and reading does not wait."""
    with locked(folder.path / ".lock", timeout=0):
        begun = time.monotonic()
        with pytest.raises(StoreBusy, match="try again"):
            folder.save(sets(3))
        assert 0.2 < time.monotonic() - begun < 5
        begun = time.monotonic()
        assert folder.load().files == sets(2)
        (folder.path / "npcs.json").write_bytes(b"{")
        loaded = folder.load()
        assert time.monotonic() - begun < 0.2
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
        (errno.EIO, StoreUnavailable, "another place"),
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
    """Where the data folder cannot be, there is a plain error, and loading finds nothing."""
    (tmp_path / "data").write_text("not a folder")
    folder = DataFolder(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="look what is there"):
        folder.save(sets())
    assert folder.load().files is None
    assert (tmp_path / "data").read_text() == "not a folder"
