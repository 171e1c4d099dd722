"""Views: what each reader is given to remember. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.memory.builder import MemoryBuilder
    from dndbots.models import AgentMemory, CharacterFacts, GameState
    from dndbots.tokens import estimate_tokens

__all__ = ["AgentMemory", "CharacterFacts", "GameState", "MemoryBuilder", "estimate_tokens"]

__getattr__ = _lazy.exports(
    __name__,
    {
        "AgentMemory": "dndbots.models",
        "CharacterFacts": "dndbots.models",
        "GameState": "dndbots.models",
        "MemoryBuilder": "dndbots.memory.builder",
        "estimate_tokens": "dndbots.tokens",
    },
)
