"""Compaction: turns raw logs into campaign data. Names are loaded on first use."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.compaction.agent import CampaignPersistenceAgent
    from dndbots.compaction.background import Compactor
    from dndbots.compaction.data.disk_folder import DataFolder
    from dndbots.compaction.data.models import (
        CampaignData,
        CharacterInfo,
        EnvironmentInfo,
        NarrativeInfo,
        NPCInfo,
        QuestInfo,
        SceneInfo,
    )
    from dndbots.compaction.data.run_history import Run
    from dndbots.compaction.review import Proposal
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
    from dndbots.extraction.english import RuleExtractor
    from dndbots.extraction.model_extractor import ModelExtractor
    from dndbots.extraction.port import Extractor, KnownNames, Turn, Update

_HOMES = {
    "dndbots.compaction.agent": ["CampaignPersistenceAgent"],
    "dndbots.extraction.model_extractor": ["ModelExtractor"],
    "dndbots.compaction.background": ["Compactor"],
    "dndbots.compaction.data.models": [
        "CampaignData",
        "CharacterInfo",
        "EnvironmentInfo",
        "NPCInfo",
        "NarrativeInfo",
        "QuestInfo",
        "SceneInfo",
    ],
    "dndbots.compaction.data.disk_folder": ["DataFolder"],
    "dndbots.compaction.review": ["Proposal"],
    "dndbots.extraction.english": ["RuleExtractor"],
    "dndbots.compaction.data.run_history": ["Run"],
    "dndbots.compaction.shared_state": ["SharedStateManager"],
    "dndbots.compaction.updater_tools": [
        "ability_updater_tool",
        "character_updater_tool",
        "environment_updater_tool",
        "item_updater_tool",
        "langchain_tools",
        "npc_updater_tool",
        "quest_updater_tool",
        "scene_narrative_updater_tool",
    ],
    "dndbots.extraction.port": ["Extractor", "KnownNames", "Turn", "Update"],
}

__all__ = [
    "CampaignData",
    "CampaignPersistenceAgent",
    "CharacterInfo",
    "Compactor",
    "DataFolder",
    "EnvironmentInfo",
    "Extractor",
    "KnownNames",
    "ModelExtractor",
    "NPCInfo",
    "NarrativeInfo",
    "Proposal",
    "QuestInfo",
    "RuleExtractor",
    "Run",
    "SceneInfo",
    "SharedStateManager",
    "Turn",
    "Update",
    "ability_updater_tool",
    "character_updater_tool",
    "environment_updater_tool",
    "item_updater_tool",
    "langchain_tools",
    "npc_updater_tool",
    "quest_updater_tool",
    "scene_narrative_updater_tool",
]

__getattr__ = _lazy.exports(__name__, {name: home for home, names in _HOMES.items() for name in names})
