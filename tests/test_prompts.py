"""The system prompts of players, the DM and NPCs."""

import pytest
from tests.table import character, event

from dndbots.ids import is_hidden
from dndbots.memory import MemoryBuilder
from dndbots.prompts import (
    DCML_GUIDE,
    DM_PRINCIPLES,
    DM_TOOLS,
    NPC_PRINCIPLES,
    PLAYER_PRINCIPLES,
    RULES_SHORTHAND,
    build_dm_prompt,
    build_npc_prompt,
    build_player_prompt,
    format_character_sheet,
)
from dndbots.tokens import ENCODINGS, count_tokens

THROK = character("Throk", "Fighter", level=3, equipment=["longsword", "rope, 50 ft"])


def memory() -> str:
    return MemoryBuilder(dense=True).build_memory_document(
        "pc_throk_001", THROK, [THROK], [event("evt_1_1", "pc_throk_001", "I open the door.")]
    )


def test_a_player_is_told_who_it_is_the_rules_and_its_sheet() -> None:
    """Name, level and class, rules, principles, sheet; no guide to a memory it does not have."""
    prompt = build_player_prompt(THROK)
    assert prompt.startswith("You are Throk, a level 3 Fighter")
    for part in (RULES_SHORTHAND, PLAYER_PRINCIPLES, format_character_sheet(THROK)):
        assert part in prompt
    assert "LEXICON" not in prompt


def test_a_memory_comes_last_with_its_guide() -> None:
    """The memory stands behind the fixed parts, so that a provider can cache those."""
    prompt = build_player_prompt(THROK, memory=memory())
    assert prompt == f"{build_player_prompt(THROK)}\n\n{DCML_GUIDE}\n\n{memory()}"


def test_the_guide_explains_the_marks_and_forbids_inventing_ids() -> None:
    """In fewer than 120 tokens."""
    for said in ("LEXICON", "MEMORY", "`!`", "`?`", "rumor", "remember", "Use only ids", "never invent"):
        assert said in DCML_GUIDE
    assert all(count_tokens(DCML_GUIDE, encoding) < 120 for encoding in ENCODINGS)


def test_the_sheet_is_data_on_its_own_lines() -> None:
    """Names and things cannot break a line: a sheet that tries is refused before it is one."""
    sheet = format_character_sheet(THROK)
    assert "Equipment: longsword, rope, 50 ft" in sheet
    assert len(sheet.splitlines()) == 6
    assert "STR 17, DEX 12, CON 15, INT 8, WIS 10, CHA 9" in sheet


def test_the_dm_is_told_the_scenario_and_the_party() -> None:
    """And never a player's principles."""
    prompt = build_dm_prompt("A mill by a river.", [THROK], memory="## STATIC_RELATIONS")
    for part in (DM_PRINCIPLES, "A mill by a river.", "- Throk, level 3 Fighter", DCML_GUIDE):
        assert part in prompt
    assert PLAYER_PRINCIPLES not in prompt
    assert prompt.endswith("## STATIC_RELATIONS")


def test_a_prompt_without_memory_is_short() -> None:
    """The fixed parts of a prompt cost a few hundred tokens."""
    assert count_tokens(build_player_prompt(THROK)) < 400
    assert count_tokens(build_dm_prompt("x", [THROK])) < 400


# What every question of a role pays for, before anything of the moment. It is cached, but not for nothing.
STABLE = {"player": 260, "dm": 420, "npc": 140}


def stable_part(role: str) -> str:
    """The part of a prompt that stays the same until a character gains a level."""
    if role == "player":
        return build_player_prompt(THROK).partition("YOUR CHARACTER:")[0]
    if role == "dm":
        return build_dm_prompt("x", [THROK], tools=True).partition("THE PARTY:")[0]
    return build_npc_prompt("Elena")


@pytest.mark.parametrize("role", STABLE)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_stable_part_of_each_role_is_short(role: str, encoding: str) -> None:
    """By exact count, in both vocabularies."""
    assert count_tokens(stable_part(role), encoding) <= STABLE[role]


def test_what_never_changes_stands_first() -> None:
    """A wound later, a player's prompt has changed only behind its rules."""
    later = THROK.model_copy(update={"hp": 1})
    for sheet, memory in ((THROK, "a"), (later, "b")):
        assert build_player_prompt(sheet, memory=memory).startswith(stable_part("player"))
    for party in ([THROK], [later, THROK]):
        assert build_dm_prompt("x", party, memory="m", tools=True).startswith(stable_part("dm"))


def test_a_person_is_told_what_is_its_own_and_no_rules() -> None:
    """An NPC gets its goals and secrets, and no rules."""
    prompt = build_npc_prompt("Elena", ["wants: to be left alone"], memory="## STATIC_RELATIONS")
    assert prompt.startswith("You are Elena")
    assert NPC_PRINCIPLES in prompt
    assert "- wants: to be left alone" in prompt
    assert RULES_SHORTHAND not in prompt
    assert prompt.endswith("## STATIC_RELATIONS")


def test_the_texts_are_files_without_anything_hidden() -> None:
    """Plain lines of our own, each within the width of a page of source."""
    for text in (RULES_SHORTHAND, PLAYER_PRINCIPLES, DM_PRINCIPLES, DM_TOOLS, NPC_PRINCIPLES):
        assert text == text.strip()
        assert not any(is_hidden(char) for char in text if char != "\n")
        assert all(line.startswith("- ") for line in text.splitlines())
