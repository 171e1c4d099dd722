"""Views: what each reader is given to remember. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.memory.builder import MemoryBuilder
    from dndbots.memory.builders import (
        MAX_ENTRIES,
        LocationMemoryBuilder,
        NPCMemoryBuilder,
        WorldMemoryBuilder,
    )
    from dndbots.memory.carrying import format_character_facts
    from dndbots.memory.cited import RecallItem
    from dndbots.memory.context.values import Context, ContextItem
    from dndbots.memory.differing import Difference
    from dndbots.memory.entries import Entry, Line, SummaryTask
    from dndbots.memory.feeding import Feed, feed_of
    from dndbots.memory.janitor import JANITOR_SYSTEM_PROMPT
    from dndbots.memory.manager import (
        DM_CONTEXT_PLAYER_ENTRIES_LIMIT,
        DM_CONTEXT_RECENT_EVENTS_LIMIT,
        MAX_COMPRESSION_PASSES,
        PC_CONTEXT_RECENT_EVENTS_LIMIT,
        RETAIN_AFTER_COMPRESSION,
        MemoryManager,
        context_manager,
    )
    from dndbots.memory.recalling import Recall
    from dndbots.memory.recap import Recap
    from dndbots.memory.service import IMemoryService, MemoryService
    from dndbots.memory.summarizer import Summarizer
    from dndbots.memory.tending import Tending
    from dndbots.memory.threads import Thread
    from dndbots.models import AgentMemory, CharacterFacts, GameState, MemoryEntry, MemorySource
    from dndbots.tokens import estimate_tokens

_HOMES = {
    "dndbots.memory.builder": ["MemoryBuilder"],
    "dndbots.memory.builders": [
        "MAX_ENTRIES",
        "LocationMemoryBuilder",
        "NPCMemoryBuilder",
        "WorldMemoryBuilder",
    ],
    "dndbots.memory.carrying": ["format_character_facts"],
    "dndbots.memory.cited": ["RecallItem"],
    "dndbots.memory.context.values": ["Context", "ContextItem"],
    "dndbots.memory.differing": ["Difference"],
    "dndbots.memory.entries": ["Entry", "Line", "SummaryTask"],
    "dndbots.memory.feeding": ["Feed", "feed_of"],
    "dndbots.memory.manager": [
        "DM_CONTEXT_PLAYER_ENTRIES_LIMIT",
        "DM_CONTEXT_RECENT_EVENTS_LIMIT",
        "MAX_COMPRESSION_PASSES",
        "PC_CONTEXT_RECENT_EVENTS_LIMIT",
        "RETAIN_AFTER_COMPRESSION",
        "MemoryManager",
        "context_manager",
    ],
    "dndbots.memory.recalling": ["Recall"],
    "dndbots.memory.recap": ["Recap"],
    "dndbots.memory.service": ["IMemoryService", "MemoryService"],
    "dndbots.memory.summarizer": ["Summarizer"],
    "dndbots.memory.tending": ["Tending"],
    "dndbots.memory.threads": ["Thread"],
    "dndbots.memory.janitor": ["JANITOR_SYSTEM_PROMPT"],
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
    "NPCMemoryBuilder",
    "Recall",
    "RecallItem",
    "Recap",
    "Summarizer",
    "SummaryTask",
    "Tending",
    "Thread",
    "WorldMemoryBuilder",
    "context_manager",
    "estimate_tokens",
    "feed_of",
    "format_character_facts",
]

__getattr__ = _lazy.exports(__name__, {name: home for home, names in _HOMES.items() for name in names})
