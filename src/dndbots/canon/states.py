"""Which words for a state say that nothing more comes of a quest, an objective or a thread.

An adventure may end a quest in a word of its own: ransomed, truce, hushed. So it is the words for what still
goes on that are known here, and any other single word is an end.
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
    return isinstance(state, str) and state.strip().casefold() in COMPLETED


def is_over(state: JsonValue) -> bool:
    """Whether a state is an end, good or bad. A sentence is one only if it begins like one."""
    words = _WORD.findall(state.casefold()) if isinstance(state, str) else []
    if not words or "_".join(words) in _GOING_ON:
        return False
    if len(words) > 1:
        return words[0] in _OVER
    return not words[0].endswith(_DOING)
