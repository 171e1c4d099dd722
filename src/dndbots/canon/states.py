"""States of quests, objectives and threads: which of them mean that it is over.

An adventure may end a quest with a word of its own: ransomed, truce, hushed. So this module lists the words
for a state that still goes on, and takes any other single word for an end.
"""

import re
from typing import Final

from pydantic import JsonValue

OFFERED: Final = "offered"
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
COMPLETED: Final = frozenset(("completed", "complete", "done", "succeeded"))
_OVER: Final = COMPLETED | {"failed", "abandoned", "resolved", "closed", "rewarded", "over", "ended", REFUSED}
_GOING_ON: Final = frozenset(
    f"""
    {OFFERED} {ACCEPTED} open active begun started underway under_way in_progress ongoing current continued
    known unknown new available undertaken hidden hinted rumored rumoured waiting paused stalled delayed
    postponed dormant blocked on_hold not_started due overdue unsolved unresolved unfinished incomplete
    """.split()
)
_WORD = re.compile(r"\w+")
_DOING: Final = "ing"  # searching, pending


def is_completed(state: JsonValue) -> bool:
    """Return True if a state means success."""
    return isinstance(state, str) and state.strip().casefold() in COMPLETED


def is_over(state: JsonValue) -> bool:
    """Return True if a state is an end, good or bad. A sentence must begin with a word for an end."""
    words = _WORD.findall(state.casefold()) if isinstance(state, str) else []
    if not words or "_".join(words) in _GOING_ON:
        return False
    if len(words) > 1:
        return words[0] in _OVER
    return not words[0].endswith(_DOING)
