"""Memory: contexts, recall, recaps, summaries and scoped memories, each for one viewer.

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.memory.agents.agent_memory import format_character_facts
    from dndbots.memory.agents.manager import (
        DM_CONTEXT_PLAYER_ENTRIES_LIMIT,
        DM_CONTEXT_RECENT_EVENTS_LIMIT,
        MAX_COMPRESSION_PASSES,
        PC_CONTEXT_RECENT_EVENTS_LIMIT,
        RETAIN_AFTER_COMPRESSION,
        MemoryManager,
        context_manager,
    )
    from dndbots.memory.agents.memory_upkeep import MemoryUpkeep
    from dndbots.memory.context.xray import Context, ContextItem
    from dndbots.memory.differences import Difference
    from dndbots.memory.documents.builder import MemoryBuilder
    from dndbots.memory.documents.builder_input import Feed, feed_of
    from dndbots.memory.entries import Entry, Line, SummaryTask
    from dndbots.memory.recall.citations import RecallItem
    from dndbots.memory.recall.search import Recall
    from dndbots.memory.recaps import Recap
    from dndbots.memory.scoped.builders import (
        MAX_ENTRIES,
        LocationMemoryBuilder,
        NPCMemoryBuilder,
        WorldMemoryBuilder,
    )
    from dndbots.memory.scoped.service import IMemoryService, MemoryService
    from dndbots.memory.summaries.janitor import JANITOR_SYSTEM_PROMPT
    from dndbots.memory.summaries.summarizer import Summarizer
    from dndbots.memory.threads import Thread
    from dndbots.models import AgentMemory, CharacterFacts, GameState, MemoryEntry, MemorySource
    from dndbots.tokens import estimate_tokens

_HOMES = {
    "dndbots.memory.documents.builder": ["MemoryBuilder"],
    "dndbots.memory.scoped.builders": [
        "MAX_ENTRIES",
        "LocationMemoryBuilder",
        "NPCMemoryBuilder",
        "WorldMemoryBuilder",
    ],
    "dndbots.memory.agents.agent_memory": ["format_character_facts"],
    "dndbots.memory.recall.citations": ["RecallItem"],
    "dndbots.memory.context.xray": ["Context", "ContextItem"],
    "dndbots.memory.differences": ["Difference"],
    "dndbots.memory.entries": ["Entry", "Line", "SummaryTask"],
    "dndbots.memory.documents.builder_input": ["Feed", "feed_of"],
    "dndbots.memory.agents.manager": [
        "DM_CONTEXT_PLAYER_ENTRIES_LIMIT",
        "DM_CONTEXT_RECENT_EVENTS_LIMIT",
        "MAX_COMPRESSION_PASSES",
        "PC_CONTEXT_RECENT_EVENTS_LIMIT",
        "RETAIN_AFTER_COMPRESSION",
        "MemoryManager",
        "context_manager",
    ],
    "dndbots.memory.recall.search": ["Recall"],
    "dndbots.memory.recaps": ["Recap"],
    "dndbots.memory.scoped.service": ["IMemoryService", "MemoryService"],
    "dndbots.memory.summaries.summarizer": ["Summarizer"],
    "dndbots.memory.agents.memory_upkeep": ["MemoryUpkeep"],
    "dndbots.memory.threads": ["Thread"],
    "dndbots.memory.summaries.janitor": ["JANITOR_SYSTEM_PROMPT"],
    "dndbots.models": ["AgentMemory", "CharacterFacts", "GameState", "MemoryEntry", "MemorySource"],
    "dndbots.tokens": ["estimate_tokens"],
}

__all__ = [
    "DM_CONTEXT_PLAYER_ENTRIES_LIMIT",
    "DM_CONTEXT_RECENT_EVENTS_LIMIT",
    "JANITOR_SYSTEM_PROMPT",
    "MAX_COMPRESSION_PASSES",
    "MAX_ENTRIES",
    "PC_CONTEXT_RECENT_EVENTS_LIMIT",
    "RETAIN_AFTER_COMPRESSION",
    "AgentMemory",
    "CharacterFacts",
    "Context",
    "ContextItem",
    "Difference",
    "Entry",
    "Feed",
    "GameState",
    "IMemoryService",
    "Line",
    "LocationMemoryBuilder",
    "MemoryBuilder",
    "MemoryEntry",
    "MemoryManager",
    "MemoryService",
    "MemorySource",
    "MemoryUpkeep",
    "NPCMemoryBuilder",
    "Recall",
    "RecallItem",
    "Recap",
    "Summarizer",
    "SummaryTask",
    "Thread",
    "WorldMemoryBuilder",
    "context_manager",
    "estimate_tokens",
    "feed_of",
    "format_character_facts",
]

__getattr__ = _lazy.exports(__name__, {name: home for home, names in _HOMES.items() for name in names})
