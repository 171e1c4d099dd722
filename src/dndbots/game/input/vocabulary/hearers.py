"""Find who hears a line that names nobody: who is called in it, who knows of the matter, who spoke last."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.word_roots import person_roots, root_of, roots_in
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.words import words_of

if TYPE_CHECKING:
    from dndbots.game.input.vocabulary.scene_names import SceneName, SceneNames

_SEVERAL: Final = 2
_HOSTS: Final = ("landlady", "landlord", "innkeeper", "barkeep", "hostess", "pint", "bowl", "price", "inn")
_BEFORE_NOUN: Final = frozenset(
    ("the", "your", "a", "this", "that", "her", "his", "their", "some", "any", "poor")
)
_YOU: Final = frozenset(("you", "your", "yours"))
_HE: Final = frozenset(("he", "him", "his", "hes", "himself"))
_SHE: Final = frozenset(("she", "her", "hers", "shes", "herself"))


def find_hearer(scene: "SceneNames") -> "SceneName | None":
    """Return the person whom a line is to if it names nobody."""
    last = last_speaker(scene)
    said = [*words_of(scene.line.replace("\u2019", "'"))]
    if last is None or len(scene.persons) < _SEVERAL or not said:
        return last
    others = [name for name in scene.persons if not _is_spoken_of(scene, name, said)] or scene.persons
    called = [name for name in others if _is_called(name, said)]
    if len(called) == 1:
        return called[0]
    roots = {root_of(word) for word in said if word not in STOP_WORDS}
    if last in others and (_knows(scene, last, roots) or not roots):
        return last
    return max(others, key=lambda name: (_knows(scene, name, roots), name == scene.host, name is last))


def last_speaker(scene: "SceneNames") -> "SceneName | None":
    """Return the person who spoke last or was spoken to; else the first who is here."""
    persons = {name.key: name for name in scene.persons}
    for event in reversed(scene.table.lately):
        if event.source == scene.who and event.known.participants:
            spoken_to = next((uid for uid in event.known.participants if uid in persons), None)
            if spoken_to is not None:
                return persons[spoken_to]
        if event.source in persons:
            return persons[event.source]
    return scene.persons[0] if scene.persons else None


def _is_called(name: "SceneName", said: Sequence[str]) -> bool:
    """Check that a line calls somebody so young or old: "are you cold, kid?", not "the kid"."""
    people = word_lists().people
    words = {"young": people["young"] | word_group("to_the_young"), "old": people["old"]}.get(name.age)
    return words is not None and any(
        word in words and (not number or said[number - 1] not in _BEFORE_NOUN)
        for number, word in enumerate(said)
    )


def _is_spoken_of(scene: "SceneNames", name: "SceneName", said: Sequence[str]) -> bool:
    """Check that a line is about somebody rather than to them: "how long since he slept?"."""
    texts = {word.partition("'")[0] for word in said}
    for gender, pronouns in (("m", _HE), ("f", _SHE)):
        if texts & pronouns and [one for one in scene.persons if one.gender == gender] == [name]:
            return True
    own = {*words_of(name.label)} if name.label[:1].isupper() else set[str]()
    return bool(own & texts and texts & _YOU) and said[0] not in own and said[-1] not in own


def _knows(scene: "SceneNames", name: "SceneName", roots: set[str]) -> int:
    """Return how many of some words a person alone used, is told of with, or deals in by trade."""
    others = {root for one in scene.persons if one is not name for root in one.speech | one.around}
    looks = roots_in(scene.table.looks.get(name.key, "")) - STOP_WORDS
    own = (name.speech | (name.around - STOP_WORDS)) - others
    own |= looks - person_roots()
    own |= _traded(looks - person_roots())
    if name == scene.host:
        own |= _host_roots()
    return len(own & roots)


@lru_cache(maxsize=256)
def _traded(looks: frozenset[str]) -> frozenset[str]:
    """Return the words of the trades that somebody looks like: wool and needles of a woman who knits."""
    traded = (frozenset(map(root_of, words)) for words in word_lists().trades.values())
    return frozenset[str]().union(*(roots for roots in traded if roots & looks))


@cache
def _host_roots() -> frozenset[str]:
    return frozenset(root_of(word) for word in (*word_lists().trades["innkeeper"], *_HOSTS))
