"""Campaign data as files: what is written is what is read, and the same data are the same bytes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import HOSTILE, hostile_text, visible_text

from dndbots.compaction.data.files import (
    data_path,
    from_files,
    is_whole,
    state_from,
    to_files,
)
from dndbots.compaction.data.models import (
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
    StatedValue,
)
from dndbots.errors import (
    StoreDamaged,
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
    StatedValue,
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
        "role": StatedValue(value="smith", since="evt_001_001"),
        "wants": StatedValue(value="her brother back", since="evt_001_002", certainty="rumor"),
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


# Data, files, data.


@given(campaigns, states)
def test_data_survive_the_files(data: CampaignData, state: dict[str, Any]) -> None:
    """Data come back unchanged from their files, with any names."""
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
    """An error names the unreadable file and the remedy."""
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
    """Every branch name gives a folder of its own inside the campaign's."""
    found = {name: data_path(Path("c"), name) for name in names}
    folded = {str(path).casefold() for path in found.values()}
    assert len(folded) == len(found)
    for name, path in found.items():
        depth = 2 if name == "main" else 4
        assert len(path.parts) == depth
        assert path.name.isascii()
        assert path.name.replace("_", "").replace("-", "").isalnum()
        assert len(path.name) < 100
