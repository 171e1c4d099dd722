"""What is public is written down, and what is written down is there."""

import importlib

import pytest

# The names that the source documents use, where somebody who knows them would look.
PROMISED = {
    "dndbots.dcml": [
        "DCMLCategory",
        "DCMLEntity",
        "DCMLOp",
        "Certainty",
        "render_lexicon_entry",
        "render_relation",
        "render_properties",
        "render_fact",
        "parse",
        "render",
        "validate",
        "plain",
        "dense",
    ],
    "dndbots.models": [
        "Character",
        "Stats",
        "AgentMemory",
        "GameState",
        "CharacterFacts",
        "MemoryEntry",
        "MemorySource",
    ],
    "dndbots.events": ["GameEvent", "EventType", "audience"],
    "dndbots.memory": [
        "MemoryBuilder",
        "estimate_tokens",
        "AgentMemory",
        "GameState",
        "CharacterFacts",
        "format_character_facts",
        "MemorySource",
        "MemoryEntry",
        "IMemoryService",
        "MemoryService",
        "LocationMemoryBuilder",
        "NPCMemoryBuilder",
        "WorldMemoryBuilder",
        "MAX_ENTRIES",
        "MemoryManager",
        "Summarizer",
        "JANITOR_SYSTEM_PROMPT",
        "context_manager",
        "RETAIN_AFTER_COMPRESSION",
        "MAX_COMPRESSION_PASSES",
        "DM_CONTEXT_RECENT_EVENTS_LIMIT",
        "DM_CONTEXT_PLAYER_ENTRIES_LIMIT",
        "PC_CONTEXT_RECENT_EVENTS_LIMIT",
    ],
    "dndbots.compaction": [
        "CampaignPersistenceAgent",
        "character_updater_tool",
        "npc_updater_tool",
        "environment_updater_tool",
        "quest_updater_tool",
        "ability_updater_tool",
        "item_updater_tool",
        "scene_narrative_updater_tool",
        "SharedStateManager",
        "CampaignData",
        "CharacterInfo",
        "NPCInfo",
        "EnvironmentInfo",
        "QuestInfo",
        "SceneInfo",
        "NarrativeInfo",
    ],
    "dndbots.game": [
        "ChangeLocationCommand",
        "UpdateLocationStateCommand",
        "CompleteObjectiveCommand",
        "CompleteQuestCommand",
        "ProgressActCommand",
        "LocationHandler",
        "QuestHandler",
    ],
    "dndbots.prompts": [
        "build_player_prompt",
        "build_dm_prompt",
        "DCML_GUIDE",
        "RULES_SHORTHAND",
        "PLAYER_PRINCIPLES",
        "format_character_sheet",
    ],
}


@pytest.mark.parametrize(("module", "name"), [(m, name) for m, names in PROMISED.items() for name in names])
def test_a_promised_name_is_there(module: str, name: str) -> None:
    """Every name under 000 to 004 is found where the source documents put it."""
    assert getattr(importlib.import_module(module), name) is not None


@pytest.mark.parametrize(
    "module",
    ["dndbots", "dndbots.dcml", "dndbots.memory", "dndbots.compaction", "dndbots.game", "dndbots.rules"],
)
def test_all_lists_what_is_exported(module: str) -> None:
    """`__all__` is complete and true, for lazy names too."""
    package = importlib.import_module(module)
    assert len(package.__all__) == len(set(package.__all__))
    assert set(PROMISED.get(module, ())) <= set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = package.no_such_name


def test_the_categories_operators_and_certainties_are_those_of_the_language() -> None:
    """Names and values, as fixed."""
    from dndbots.dcml import Certainty, DCMLCategory, DCMLOp

    assert [category.name for category in DCMLCategory] == [
        "PC",
        "NPC",
        "MON",
        "LOC",
        "FAC",
        "ITEM",
        "QST",
        "EVT",
    ]
    assert {op.name: op.value for op in DCMLOp} == {
        "CONTAINS": ">",
        "PART_OF": "<",
        "AT": "@",
        "IN": "in",
        "LEADS_TO": "->",
        "CAUSED_BY": "<-",
        "ASSOC": "~",
        "DEFINED_AS": ":=",
        "PROPS": "::",
    }
    assert {certainty.name: certainty.value for certainty in Certainty} == {
        "FACT": "",
        "BELIEF": "!",
        "RUMOR": "?",
    }
