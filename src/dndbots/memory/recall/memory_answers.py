"""Memories that answer a question: scoped memories, open threads, and quests that were asked for.

They are no lines of play, so the word index does not have them. Each is found by what the question names or
by the kind of thing that it asks for, never by reading all there is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.entities import Entity
from dndbots.events import GameEvent
from dndbots.ids import DM
from dndbots.memory.human_gates import Gates
from dndbots.memory.recall.citations import RecallItem, write_reference
from dndbots.memory.recall.question import QuestionWord, RecallQuestion, find_words
from dndbots.memory.scoped.shelves import WORLD, location_shelf, memories_on, npc_shelf
from dndbots.memory.threads import LeftOpen, find_left_open, find_thread_states
from dndbots.models import MemoryEntry
from dndbots.storage.views.view import View
from dndbots.text.labels import write_telling
from dndbots.text.word_forms import forms_of

# The number of memories that are read of each shelf, of threads that are read, and of each that are shown.
_MOST_READ: Final = 8
_MOST_THREADS: Final = 300
_MOST_SHOWN: Final = 3
_MOST_QUESTS: Final = 6
_LONGEST_MEMORY: Final = 400
_PLACE, _PERSON, _QUEST_PREFIX = "LOC", "NPC", "qst_"


def _all_forms(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in forms_of(word))


# The words by which a question asks for threads of a kind, and for quests.
_THREAD_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "promise": _all_forms("promise vow oath swear"),
    "threat": _all_forms("threat threaten"),
    "debt": _all_forms("debt owe"),
    "mystery": _all_forms("mystery riddle unsolved"),
}
_QUEST_WORDS: Final = _all_forms("quest job task errand mission assignment goal objective reward bounty")


def find_memories(
    view: View, question: RecallQuestion, gates: Gates, lines: Sequence[GameEvent], *, enough: float
) -> list[RecallItem]:
    """Return the scoped memories and open threads that have at least `enough` of a question, best first."""
    found = [
        *_scoped_memories(view, question, gates, enough),
        *_open_threads(view, question, gates, lines, enough),
    ]
    return sorted(found, key=lambda item: -item.score)


def find_asked_quests(view: View, question: RecallQuestion) -> list[str]:
    """Return the quests that a question may mean without naming them, the newest first."""
    if _QUEST_WORDS.isdisjoint(_asked_forms(question)):
        return []
    seen = view.first_seen(view.everybody(_QUEST_PREFIX))
    return sorted(seen, key=lambda uid: (-seen[uid], uid))[:_MOST_QUESTS]


def is_about_quest(question: RecallQuestion, told: str, enough: float) -> bool:
    """Return whether what is told of a quest has enough of the question, beside the words for quests."""
    others = [word for word in question.words if _QUEST_WORDS.isdisjoint(word.forms)]
    return _share(told, others) >= enough


def _asked_forms(question: RecallQuestion) -> set[str]:
    return {form for word in _content(question) for form in word.forms}


def _content(question: RecallQuestion) -> list[QuestionWord]:
    return [word for word in question.words if not word.is_name]


def _scoped_memories(
    view: View, question: RecallQuestion, gates: Gates, enough: float
) -> Iterator[RecallItem]:
    """Yield memories of the people and places that a question names, and of the world.

    As in a context, the DM has the memories of the NPCs themselves.
    """
    content = _content(question)
    named = view.entities([one.uids[0] for one in question.named]).values()
    for entity, holder, shelf in [*_shelves(view, named), (None, view.viewer, WORLD)]:
        entries = memories_on(view, holder, shelf, gates=gates, newest=_MOST_READ)
        words = question.words if entity is None else content
        scored = [(_share(entry.summary, words), entry) for entry in reversed(entries)]
        best = sorted((one for one in scored if one[0] >= enough), key=lambda one: -one[0])
        for share, entry in best[:_MOST_SHOWN]:
            yield _memory_item(entry, share, "of the story" if entity is None else f"of {entity.name}")


def _shelves(view: View, named: Iterable[Entity]) -> Iterator[tuple[Entity, str, str]]:
    for entity in named:
        for uid in (entity.uid, *entity.merged):
            if entity.category == _PLACE:
                yield entity, view.viewer, location_shelf(uid)
            elif entity.category == _PERSON:
                yield entity, uid if view.viewer == DM else view.viewer, npc_shelf(uid)


def _share(text: str, words: Sequence[QuestionWord]) -> float:
    return len(find_words(text, words)) / len(words) if words else 1.0


def _memory_item(entry: MemoryEntry, share: float, whose: str) -> RecallItem:
    text = write_telling(entry.summary)
    sources = tuple(entry.sources) or ((entry.memory_id,) if entry.memory_id else ())
    return RecallItem(
        text=text if len(text) <= _LONGEST_MEMORY else f"{text[:_LONGEST_MEMORY].rsplit(' ', 1)[0]}…",
        tokens=0,
        section="memories",
        reason=f"a memory {whose}",
        sources=sources,
        score=round(share, 4),
        reference=write_reference(sources[0]) if sources else "",
    )


class _AtHand:
    """Looks up what threads need in the view itself."""

    def entities(self, view: View, uids: Collection[str]) -> Mapping[str, Entity]:
        return view.entities(uids)

    def named(self, view: View, uids: Collection[str]) -> Mapping[str, str]:
        return {uid: known.name for uid, known in view.called(uids).items()}

    def states(self, view: View, threads: Collection[str]) -> Mapping[str, JsonValue]:
        return find_thread_states(view, threads)


def _open_threads(
    view: View, question: RecallQuestion, gates: Gates, lines: Sequence[GameEvent], enough: float
) -> Iterator[RecallItem]:
    """Yield the open threads of the kinds that a question asks for.

    They are those of the found lines and, unless the campaign has too many, all others.
    """
    asked = _asked_forms(question)
    kinds = {kind for kind, words in _THREAD_WORDS.items() if not words.isdisjoint(asked)}
    if not kinds:
        return
    events = {event.event_id: event for event in lines}
    if len(view.subjects(claims.THREAD)) <= _MOST_THREADS:
        opened = [
            slots[claims.THREAD][1]
            for slots in view.decided(claims.THREAD).values()
            if claims.THREAD in slots
        ]
        events |= {event.event_id: event for event in view.events_by_seq(opened).values()}
    # The words for the kind ask for all of them; only the other words tell which.
    kind_words = frozenset[str]().union(*(_THREAD_WORDS[kind] for kind in kinds))
    others = [word for word in question.words if kind_words.isdisjoint(word.forms)]
    threads = find_left_open(view, list(events.values()), gates, _AtHand())
    scored = [(_share(thread.text, others), thread) for thread in threads if thread.kind in kinds]
    best = sorted((one for one in scored if one[0] >= enough), key=lambda one: -one[0])
    yield from (_thread_item(share, thread) for share, thread in best[:_MOST_SHOWN])


def _thread_item(share: float, thread: LeftOpen) -> RecallItem:
    return RecallItem(
        text=f"Open {thread.kind}: {thread.text}",
        tokens=0,
        section="memories",
        reason=f"a {thread.kind} that is still open",
        sources=(thread.opened,),
        score=round(share, 4),
        reference=write_reference(thread.opened),
    )
