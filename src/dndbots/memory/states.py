"""Which words for a state say that nothing more comes of a quest or a thread."""

from typing import Final

from pydantic import JsonValue

COMPLETED: Final = frozenset(("completed", "complete", "done", "succeeded"))
_OVER: Final = COMPLETED | {"failed", "abandoned", "resolved", "closed", "rewarded"}


def is_completed(state: JsonValue) -> bool:
    return isinstance(state, str) and state.strip().casefold() in COMPLETED


def is_over(state: JsonValue) -> bool:
    return isinstance(state, str) and state.strip().casefold() in _OVER
