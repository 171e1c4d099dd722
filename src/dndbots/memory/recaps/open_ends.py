"""Open ends of a viewer's story, in sentences: quests with goals, promises, threats, debts, riddles."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dndbots.events import ThreadKind
from dndbots.ids import DM
from dndbots.memory.deeds import as_sentence, join_names
from dndbots.memory.retold_events import speakers_of
from dndbots.memory.threads import Thread, find_threads
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import ENGINE, label_of
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
    """Return what is open for the viewer: quests, then the rest, each with the best to come back to first.

    A quest stands for what was said about it, and ends that, too.
    """
    every = [thread for thread in find_threads(view, resolved=True) if thread.kind in _KINDS]
    quests = {thread.id for thread in every if thread.kind == "quest"}
    names = [thread.text.casefold() for thread in every if thread.kind == "quest"]
    goals = _goals(view, sorted(quests))
    threads = [
        thread
        for thread in every
        if thread.state != "resolved"
        and (
            thread.id in goals
            if thread.kind == "quest"
            else not (quests & {*thread.about} or _names_any(thread.text, names))
        )
    ]
    threads.sort(key=lambda thread: thread.kind != "quest")
    speakers = _speakers(view, threads)
    return [
        OpenEnd(
            _quest(thread, goals.get(thread.id))
            if thread.kind == "quest"
            else _stated(thread, speakers.get(thread.id, "")),
            thread,
        )
        for thread in threads
    ]


def _names_any(text: str, names: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(name in folded for name in names)


def _speakers(view: View, threads: Iterable[Thread]) -> dict[str, str]:
    """Return who said the words of each thread, under the name that the viewer knows; not for notes."""
    stated = {thread.opened: thread for thread in threads if thread.kind != "quest"}
    events = view.by_id(list(stated))
    said = {
        event_id: speakers_of(event, event.known)
        for event_id, event in events.items()
        if stated[event_id].text in one_line(event.content)
    }
    uids = {uid for speaking in said.values() for uid in speaking} - ENGINE.keys()
    called = {uid: known_as.name for uid, known_as in view.called(sorted(uids)).items()}
    return {
        stated[event_id].id: join_names(label_of(uid, called[uid]) for uid in speaking)
        for event_id, speaking in said.items()
        if called.keys() >= {*speaking}
    }


def _goals(view: View, quests: list[str]) -> dict[str, str | None]:
    """Return the goals of quests that somebody offered, took or was told of; None for one without a goal.

    A goal that somebody was told is no fact, but the DM knows of it.
    """
    beliefs = view.beliefs_of(quests) if view.viewer == DM else []
    told = {belief.fact.subject: belief.fact.value for belief in beliefs if belief.fact.key == "goal"}
    goals = {}
    for uid, quest in view.entities(quests).items():
        goal = quest.properties.get("goal") or told.get(uid)
        if isinstance(goal, str) or quest.properties.get("state") is not None:
            goals[uid] = one_line(goal) if isinstance(goal, str) else None
    return goals


def _quest(thread: Thread, goal: str | None) -> str:
    return as_sentence(thread.text if goal is None else f"{thread.text}: {infinitive_of(goal) or goal}")


def _stated(thread: Thread, who: str) -> str:
    """Return a thread as a sentence: in the words that `who` said, or as it was noted."""
    if who:
        words = as_sentence(thread.text.replace('"', "").strip())
        return f'{_OPENINGS[thread.kind]}, in the words of {who}: "{words}"'
    text = thread.text if thread.text.count('"') % 2 == 0 else thread.text.replace('"', "").strip()
    if text.startswith(_PROMISED):
        return as_sentence(text)
    return as_sentence(f"{_OPENINGS[thread.kind]}: {text}")
