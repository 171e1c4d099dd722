"""What an event is found by beside the people in it: its session, a step of the story, something left open.

Marks stand in the index where uids do. They have a space in them, which no uid has.
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
    """Found by its first event only: where a session begins."""
    return session_subject(session)


def left_open_with(uid: str) -> str:
    """The mark of promises, threats, debts and mysteries that somebody has to do with."""
    return f"{LEFT_OPEN} {uid}"


def marks_of(event: GameEvent, claims: Iterable[Claim]) -> list[str]:
    """The marks of an event, the session's aside."""
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
