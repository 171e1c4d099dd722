"""What an agent reads: a view of the log inside an exact budget, with a reason and sources for every line."""

from dndbots.memory.context.building import context_of
from dndbots.memory.context.following import Following
from dndbots.memory.context.values import Context, ContextItem

__all__ = ["Context", "ContextItem", "Following", "context_of"]
