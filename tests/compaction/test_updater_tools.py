"""The updater tools: for code they raise, for a model they answer, and both get all of a call or nothing."""

import subprocess
import sys
from typing import Any, get_type_hints

import pytest

from dndbots.compaction import updater_tools
from dndbots.compaction.data.models import CampaignData, CharacterInfo
from dndbots.compaction.scenes import LONGEST_NARRATIVE, NARRATIVE_KINDS
from dndbots.compaction.shared_state import SharedStateManager
from dndbots.compaction.updater_tools import (
    ability_updater_tool,
    character_updater_tool,
    environment_updater_tool,
    item_updater_tool,
    langchain_tools,
    npc_updater_tool,
    quest_updater_tool,
    scene_narrative_updater_tool,
)
from dndbots.errors import InvalidSetting, UpdateRefused
from dndbots.extraction.port import FIELDS, Turn
from dndbots.ids import is_uid

TURNS = [
    Turn("e1", "DM", "dm", "Mirela, the smith of Darkwood, fears wolves and can read the stars."),
    Turn("e2", "DM", "dm", "Darkwood is a quiet village. Mirela offers ten pigs for the lost bell."),
    Turn("e3", "DM", "dm", "Throk is a dwarf. Throk draws Oakbiter, an axe of black iron."),
    Turn("e4", "Throk", "pc", "I charge the wolves and drive them from the village!"),
]
NAMES = [
    "character_updater_tool",
    "npc_updater_tool",
    "environment_updater_tool",
    "quest_updater_tool",
    "ability_updater_tool",
    "item_updater_tool",
    "scene_narrative_updater_tool",
]


@pytest.fixture
def state() -> SharedStateManager:
    throk = CharacterInfo(uid="pc_throk_001", name="Throk")
    return SharedStateManager(CampaignData(characters={throk.uid: throk}), TURNS)


def test_each_tool_updates_its_shelf(state: SharedStateManager) -> None:
    """Every given field is one update of the shared state."""
    assert len(npc_updater_tool(state, name="Mirela", turn="e1", role="smith", fears="wolves")) == 2
    ability_updater_tool(state, name="Mirela", turn="e1", ability="read the stars")
    environment_updater_tool(state, name="Darkwood", turn="e2", description="a quiet village")
    quest_updater_tool(state, name="the lost bell", turn="e2", giver="Mirela", reward="ten pigs")
    item_updater_tool(state, name="Oakbiter", turn="e3", description="axe of black iron", holder="Throk")
    character_updater_tool(state, name="Throk", turn="e3", race="dwarf")
    scene_narrative_updater_tool(
        state, kind="combat", text="Throk drives the wolves away.", turns=["e3", "e4"]
    )
    data = state.snapshot()
    assert data.npcs["npc_mirela_001"].facts["fears"].value == "wolves"
    assert data.npcs["npc_mirela_001"].abilities == ("read the stars",)
    assert data.environments["loc_darkwood_001"].facts["description"].since == "e2"
    assert data.quests["qst_the_lost_bell_001"].facts["giver"].value == ["npc_mirela_001"]
    assert data.items["item_oakbiter_001"].facts["holder"].value == ["pc_throk_001"]
    assert data.characters["pc_throk_001"].facts["race"].value == "dwarf"
    (told,) = data.narratives.values()
    assert (told.kind, told.sources) == ("combat", ("e3", "e4"))


def test_call_is_all_or_nothing(state: SharedStateManager) -> None:
    """A field that the turn does not support refuses the whole call."""
    with pytest.raises(UpdateRefused) as refused:
        npc_updater_tool(state, name="Mirela", turn="e1", role="smith", fears="dragons")
    assert (refused.value.rule, state.version, state.accepted) == ("unsupported", 0, ())
    with pytest.raises(UpdateRefused, match="no field is given"):
        npc_updater_tool(state, name="Mirela", turn="e1")


def test_tools_know_every_field() -> None:
    """A tool's signature has exactly the fields of its kind of update."""
    typed: dict[str, Any] = {
        "character": updater_tools.PersonFields,
        "npc": updater_tools.PersonFields,
        "environment": updater_tools.EnvironmentFields,
        "quest": updater_tools.QuestFields,
        "ability": updater_tools.AbilityFields,
        "item": updater_tools.ItemFields,
    }
    for kind, fields in typed.items():
        assert set(get_type_hints(fields)) - set(get_type_hints(updater_tools.ToolClaim)) == set(FIELDS[kind])  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "text", "turns", "rule"),
    [
        ("romance", "Throk drives the wolves away.", ["e4"], "field"),
        ("combat", "Throk drives the wolves away. " * 20, ["e4"], "text"),
        ("combat", "Throk and Zara drive the wolves away.", ["e4"], "name"),
        ("combat", "They buy three horses and sail to a distant island.", ["e4"], "unsupported"),
        ("combat", "SYSTEM: Throk drives the wolves away.", ["e4"], "text"),
        ("combat", "Throk drives\nthe wolves away.", ["e4"], "text"),
        ("combat", "pc_throk_001 drives the wolves away.", ["e4"], "text"),
        ("combat", "Throk drives the wolves away.", ["e9"], "unknown_turn"),
        ("combat", "Throk drives the wolves away.", [], "unknown_turn"),
    ],
)
def test_narrative_is_told_from_its_turns(
    state: SharedStateManager, kind: Any, text: str, turns: list[str], rule: str
) -> None:
    """A narrative has a known kind, is short, and contains nothing that the cited turns lack."""
    with pytest.raises(UpdateRefused) as refused:
        scene_narrative_updater_tool(state, kind=kind, text=text, turns=turns)
    assert refused.value.rule == rule
    assert state.rejected.counts == {rule: 1}
    assert state.snapshot().narratives == {}


def test_same_narrative_is_kept_once(state: SharedStateManager) -> None:
    """Every kind can be told; telling it again changes nothing."""
    for kind in NARRATIVE_KINDS * 2:
        text = "Throk drives the wolves away."
        assert len(text) <= LONGEST_NARRATIVE
        scene_narrative_updater_tool(state, kind=kind, text=text, turns=["e4"])
    assert len(state.snapshot().narratives) == len(NARRATIVE_KINDS)


# As LangChain tools


def test_langchain_has_all_seven(state: SharedStateManager) -> None:
    """Under their own names, each with a short description and typed arguments."""
    pytest.importorskip("langchain_core")
    found = langchain_tools(state)
    assert [tool.name for tool in found] == NAMES
    for tool in found:
        assert 0 < len(tool.description) < 250
        assert "turn" in "".join(tool.args)
        assert "state" not in tool.args
    described = found[1].args
    assert set(FIELDS["npc"]) < set(described)


def test_langchain_call_answers_in_one_line(state: SharedStateManager) -> None:
    """A tool answers what was kept, or why not; a model's mistake never raises and shows no uid."""
    pytest.importorskip("langchain_core")
    by_name = {tool.name: tool for tool in langchain_tools(state)}
    npc = by_name["npc_updater_tool"]
    answers = [
        npc.invoke({"name": "Mirela", "turn": "e1", "role": "smith", "fears": "wolves"}),
        npc.invoke({"name": "Mirela", "turn": "e1", "role": "queen"}),
        npc.invoke({"name": "Mirela", "turn": "e1"}),
        npc.invoke({"name": "Mirela", "turn": "e1", "uid": "npc_mirela_001", "role": "smith"}),
        npc.invoke({"name": 5}),
        npc.invoke({"name": "Mirela", "turn": "e1", "role": "x" * 9_999}),
        by_name["scene_narrative_updater_tool"].invoke(
            {"kind": "combat", "text": "Zara dies.", "turns": ["e4"]}
        ),
    ]
    assert answers[0] == "kept: role, fears of Mirela"
    for answer in answers[1:]:
        assert answer.startswith("refused: ")
    for answer in answers:
        assert len(answer.splitlines()) == 1
        assert len(answer) < 250
        assert not any(is_uid(word) for word in answer.replace("'", " ").split() if word.startswith("npc"))
    assert len(state.accepted) == 2


def test_langchain_is_not_needed_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools work without it, and asking for it where it is missing says what to install."""
    program = "import sys, dndbots.compaction.updater_tools; print('langchain_core' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "False"
    monkeypatch.setitem(sys.modules, "langchain_core.tools", None)
    with pytest.raises(InvalidSetting, match="pip install langchain-core"):
        langchain_tools(SharedStateManager())
