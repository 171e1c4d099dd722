"""Marks: index keys of an event beside its people, for sessions, steps of the story and open threads.

Marks are in the same index as uids. They contain a space, which no uid does.
"""

from collections.abc import Iterable
from typing import Final

from dndbots.canon.claims import THREAD, Claim, session_subject
from dndbots.events import EventType, GameEvent

OUTCOME: Final = "an outcome"
LEFT_OPEN: Final = "left open"
READ_OUT: Final = "was read out"
_OUTCOMES: Final = frozenset(
    ("killed", "revived", "discovered", "quest_state", "objective_id", "act_id", "danger_level", "reputation")
)


def session_mark(session: str) -> str:
    """Return the mark of the first event of a session."""
    return session_subject(session)


def left_open_with(uid: str) -> str:
    """Return the mark of open promises, threats, debts and mysteries that involve somebody."""
    return f"{LEFT_OPEN} {uid}"


def marks_of(event: GameEvent, claims: Iterable[Claim]) -> list[str]:
    """Return the marks of an event, without that of its session."""
    if event.event_type is EventType.EXTRACTION:
        return [READ_OUT]
    marks = [] if _OUTCOMES.isdisjoint(event.metadata) else [OUTCOME]
    for claim in claims:
        if claim.slot == THREAD and isinstance(claim.value, dict):
            about = claim.value.get("about")
            marks += [
                LEFT_OPEN,
                *(left_open_with(str(uid)) for uid in (about if isinstance(about, list) else ())),
            ]
    return list(dict.fromkeys(marks))
