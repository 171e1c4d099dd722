"""Somebody else's summarizer as an engine: each kind of summary is asked for by the method it has for it.

It is called with what the source documents promise it, and with nothing of ours beside that.
"""

from typing import Any, Final

from dndbots.llm.waiting import Refused
from dndbots.memory.entries import Line, SummaryTask

GENERAL: Final = "generate_summary"
SPECIAL: Final = {
    "location": "summarize_location_session",
    "npc": "summarize_npc_interactions",
    "world": "summarize_world_update",
}


def is_foreign(given: object) -> bool:
    return any(callable(getattr(given, name, None)) for name in (GENERAL, *SPECIAL.values()))


class Npc(str):
    """A uid that also knows its name: some summarizers look people up, others only write about them."""

    uid: str
    name: str

    @classmethod
    def called(cls, uid: str, name: str) -> "Npc":
        self = cls(uid)
        self.uid, self.name = uid, name
        return self


class Foreign:
    """The engine around it."""

    def __init__(self, given: Any) -> None:
        self._given = given
        waits = getattr(given, "waits", True)
        # What does not say is asked as if it took time: so one that hangs holds nobody up.
        self.waits: bool = waits if isinstance(waits, bool) else True

    def summarize(self, task: SummaryTask) -> list[Line]:
        return [Line(self._asked(task))]

    def _asked(self, task: SummaryTask) -> Any:
        """Whatever it answers; that it is text is for the checks to find out."""
        messages = list(task.entries)
        special = getattr(self._given, SPECIAL.get(task.kind, ""), None)
        if not callable(special):
            if not callable(getattr(self._given, GENERAL, None)):
                raise Refused(f"the summarizer has no {GENERAL}")
            return self._given.generate_summary(task.agent, [str(entry) for entry in messages])
        match task.kind:
            case "npc":
                npc = task.related.get("npc") or Npc.called(task.about, task.name)
                return special(task.game_state, npc, messages)
            case "world":
                return special(task.game_state, task.about, messages, dict(task.related))
            case _:
                return special(task.game_state, task.about, messages)
