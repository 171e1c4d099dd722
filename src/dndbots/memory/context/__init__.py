"""Contexts: the text that an agent reads, in an exact budget, with a reason and sources for every line."""

from dndbots.memory.context.brief import NO_BRIEFING, Briefing, BriefLine
from dndbots.memory.context.prompt_fit import fit_context
from dndbots.memory.context.repetition import ToldBeside
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import Context, ContextItem

__all__ = [
    "NO_BRIEFING",
    "BriefLine",
    "Briefing",
    "Context",
    "ContextItem",
    "ToldBeside",
    "ViewerCache",
    "fit_context",
]
