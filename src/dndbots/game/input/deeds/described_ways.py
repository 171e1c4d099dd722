"""Find the way to a place that is only described: by what it is for, what it is like, what was told of it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.scene_names import PRONOUNS, SceneName, SceneNames
from dndbots.game.input.vocabulary.word_roots import (
    SHORTEST_MISTYPED,
    alike_groups,
    is_near,
    root_of,
    roots_in,
)
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.words import words_of

_NAMED, _ALIKE, _DESCRIBED, _TOLD = 1.0, 0.7, 0.5, 0.2
_ENOUGH: Final = 0.5
_MOST_MISSED: Final = 3  # words that fit nothing for each one that fits
# Kinds that tell one way from another only by more words: most ways are doors or roads.
_COMMON: Final = frozenset(("door", "road", "village"))
_PLAIN: Final = frozenset(
    ("place", "thing", "bit", "part", "side", "way", "called", "looking", "got", "has", "next")
)


def find_described(scene: SceneNames, texts: Sequence[str]) -> SceneName | None:
    """Return the way that some words describe better than any other; None if they fit none, or two alike."""
    content = _content(texts)
    if not content:
        return None
    scored = sorted(((_score(scene, way, content), way) for way in scene.ways), key=lambda pair: -pair[0])
    if not scored or scored[0][0] < _ENOUGH or (len(scored) > 1 and scored[1][0] == scored[0][0]):
        return None
    return scored[0][1]


def _content(texts: Sequence[str]) -> list[str]:
    described = _described_words()
    return [
        text
        for text in texts
        if text in described
        or not (text in STOP_WORDS or text in PRONOUNS or text in _PLAIN or text in word_group("wayless"))
    ]


def _score(scene: SceneNames, way: SceneName, content: Sequence[str]) -> float:
    kinds = _kinds_of(f"{way.label} {' '.join(sorted(way.words))}")
    told = _told_of(scene, way)
    worths = [_worth(way, kinds, told, text) for text in content]
    fitting = sum(worth > 0 for worth in worths)
    return sum(worths) if fitting * (1 + _MOST_MISSED) >= len(content) else 0.0


def _worth(way: SceneName, kinds: frozenset[str], told: frozenset[str], text: str) -> float:
    root = root_of(text)
    if root in way.roots:
        return _NAMED
    if len(text) >= SHORTEST_MISTYPED and any(is_near(text, word) for word in way.words):
        return _NAMED
    if kinds & (alike_groups(text) - _COMMON):
        return _ALIKE
    places = word_lists().places
    if any(text in places[kind] for kind in kinds if kind in places):
        return _DESCRIBED
    return _TOLD if root in told and text not in _described_words() else 0.0


@lru_cache(maxsize=512)
def _kinds_of(words: str) -> frozenset[str]:
    """Return the kinds of place that words name: groups of synonyms, and places of our list."""
    texts = [*words_of(words)]
    named = {kind for kind in word_lists().places for text in texts if root_of(kind) == root_of(text)}
    return frozenset(named.union(*map(alike_groups, texts)) - _COMMON)


def _told_of(scene: SceneNames, way: SceneName) -> frozenset[str]:
    """Return the roots of the words that were told here in one sentence with a way, and with no other."""
    found: set[str] = set()
    for sentence in scene.told:
        roots = roots_in(sentence)
        named = [one for one in scene.ways if one.roots and one.roots <= roots]
        if named == [way]:
            found |= {root_of(word) for word in words_of(sentence) if word not in STOP_WORDS}
    return frozenset(found)


@lru_cache(maxsize=1)
def _described_words() -> frozenset[str]:
    return frozenset().union(*word_lists().places.values())
