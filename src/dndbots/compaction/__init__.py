"""Raw logs become campaign data. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.compaction.agent import CampaignPersistenceAgent
    from dndbots.compaction.asking import ModelExtractor
    from dndbots.compaction.background import Compactor
    from dndbots.compaction.data import (
        CampaignData,
        CharacterInfo,
        EnvironmentInfo,
        NarrativeInfo,
        NPCInfo,
        QuestInfo,
        SceneInfo,
    )
    from dndbots.compaction.folder import DataFolder
    from dndbots.compaction.reviewing import Proposal
    from dndbots.compaction.rules import RuleExtractor
    from dndbots.compaction.running import Run
    from dndbots.compaction.state import SharedStateManager
    from dndbots.compaction.tools import (
        ability_updater_tool,
        character_updater_tool,
        environment_updater_tool,
        item_updater_tool,
        langchain_tools,
        npc_updater_tool,
        quest_updater_tool,
        scene_narrative_updater_tool,
    )
    from dndbots.compaction.values import Extractor, Known, Turn, Update

_HOMES = {
    "dndbots.compaction.agent": ["CampaignPersistenceAgent"],
    "dndbots.compaction.asking": ["ModelExtractor"],
    "dndbots.compaction.background": ["Compactor"],
    "dndbots.compaction.data": [
        "CampaignData",
        "CharacterInfo",
        "EnvironmentInfo",
        "NPCInfo",
        "NarrativeInfo",
        "QuestInfo",
        "SceneInfo",
    ],
    "dndbots.compaction.folder": ["DataFolder"],
    "dndbots.compaction.reviewing": ["Proposal"],
    "dndbots.compaction.rules": ["RuleExtractor"],
    "dndbots.compaction.running": ["Run"],
    "dndbots.compaction.state": ["SharedStateManager"],
    "dndbots.compaction.tools": [
        "ability_updater_tool",
        "character_updater_tool",
        "environment_updater_tool",
        "item_updater_tool",
        "langchain_tools",
        "npc_updater_tool",
        "quest_updater_tool",
        "scene_narrative_updater_tool",
    ],
    "dndbots.compaction.values": ["Extractor", "Known", "Turn", "Update"],
}

__all__ = [
    "CampaignData",
    "CampaignPersistenceAgent",
    "CharacterInfo",
    "Compactor",
    "DataFolder",
    "EnvironmentInfo",
    "Extractor",
    "Known",
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
