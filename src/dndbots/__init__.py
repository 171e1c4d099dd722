"""dndbots: a memory for campaigns that language models play.

Every name is loaded when it is first used, so importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.async_campaign import AsyncCampaign
    from dndbots.campaign import Campaign
    from dndbots.errors import DndbotsError
    from dndbots.events import EventType, GameEvent, audience
    from dndbots.memory.documents.builder import MemoryBuilder
    from dndbots.models import Character, Stats
    from dndbots.tokens import count_tokens, estimate_tokens

__version__ = "0.1.0"

__all__ = [
    "AsyncCampaign",
    "Campaign",
    "Character",
    "DndbotsError",
    "EventType",
    "GameEvent",
    "MemoryBuilder",
    "Stats",
    "__version__",
    "audience",
    "count_tokens",
    "estimate_tokens",
]

__getattr__ = _lazy.exports(
    __name__,
    {
        "AsyncCampaign": "dndbots.async_campaign",
        "Campaign": "dndbots.campaign",
        "Character": "dndbots.models",
        "DndbotsError": "dndbots.errors",
        "EventType": "dndbots.events",
        "GameEvent": "dndbots.events",
        "MemoryBuilder": "dndbots.memory.documents.builder",
        "Stats": "dndbots.models",
        "audience": "dndbots.events",
        "count_tokens": "dndbots.tokens",
        "estimate_tokens": "dndbots.tokens",
    },
)
