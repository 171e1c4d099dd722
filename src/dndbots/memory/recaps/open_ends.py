"""Open ends of a viewer's story, in sentences: quests with goals, promises, threats, debts, riddles."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dndbots.events import ThreadKind
from dndbots.ids import DM
from dndbots.memory.deeds import as_sentence
from dndbots.memory.threads import Thread, find_threads
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.tenses import infinitive_of

_KINDS: Final = ("quest", "promise", "threat", "debt", "mystery")
_OPENINGS: Final[Mapping[ThreadKind, str]] = {
    "promise": "A promise",
    "threat": "A threat",
    "debt": "A debt",
    "mystery": "A riddle",
}
_PROMISED: Final = "promised "


class OpenEnd(NamedTuple):
    """An open thread, and how a recap tells it."""

    text: str
    thread: Thread


def find_open_ends(view: View) -> list[OpenEnd]:
    """Return what is open for the viewer, the best to come back to first. A quest stands for its promise."""
    threads = [thread for thread in find_threads(view) if thread.kind in _KINDS]
    quests = {thread.id for thread in threads if thread.kind == "quest"}
    names = [thread.text.casefold() for thread in threads if thread.kind == "quest"]
    goals = _goals(view, sorted(quests))
    ends = []
    for thread in threads:
        if thread.kind == "quest":
            ends.append(OpenEnd(_quest(thread, goals.get(thread.id)), thread))
        elif quests.isdisjoint(thread.about) and not _names_any(thread.text, names):
            ends.append(OpenEnd(_stated(thread), thread))
    return ends


def _names_any(text: str, names: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(name in folded for name in names)


def _goals(view: View, quests: list[str]) -> dict[str, str]:
    """Return the goals of quests. A goal that somebody was told is no fact, but the DM knows of it."""
    beliefs = view.beliefs_of(quests) if view.viewer == DM else []
    told = {belief.fact.subject: belief.fact.value for belief in beliefs if belief.fact.key == "goal"}
    known = {uid: quest.properties.get("goal") for uid, quest in view.entities(quests).items()}
    goals = {uid: known.get(uid) or told.get(uid) for uid in quests}
    return {uid: one_line(goal) for uid, goal in goals.items() if isinstance(goal, str)}


def _quest(thread: Thread, goal: str | None) -> str:
    return as_sentence(thread.text if goal is None else f"{thread.text}: {infinitive_of(goal) or goal}")


def _stated(thread: Thread) -> str:
    """Return a thread as a sentence: in the words that were said, or as it was noted."""
    text = thread.text if thread.text.count('"') % 2 == 0 else thread.text.replace('"', "").strip()
    if text.startswith(_PROMISED):
        return as_sentence(text)
    return as_sentence(f"{_OPENINGS[thread.kind]}: {text}")
