"""The words of questions: stems that say what a question is about, and other words for the same."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from dndbots.text.english_words import FUNCTION_WORDS, STOP_WORDS
from dndbots.text.words import stem, words_of

# Words that a question is made of and that say nothing about its subject.
QUESTION_FIRST: Final = frozenset(
    ("who", "what", "where", "when", "why", "how", "which", "whose", "is", "are", "do", "does", "did", "can")
)
_ASKING_TEXT: Final = """
    tell know heard hear think please excuse sir madam lady lord miss friend old man woman anybody anyone
    somebody someone people person around here there exactly really true idea learn find whom whose again
    understand mean story happen call called thing stuff give question answer wonder wondered speak talk
    quietly
"""
_ASKING: Final = frozenset(map(stem, _ASKING_TEXT.split()))
_EMPTY: Final = STOP_WORDS | FUNCTION_WORDS
_BRITISH: Final = re.compile(r"(?<=[a-z]{3})our(?=s?\b|hood|ing\b|ed\b)")


@lru_cache(maxsize=4_096)
def question_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words that say what a question is about."""
    return tuple(one for one in _stems(text) if one not in _ASKING)


@lru_cache(maxsize=8_192)
def all_stems(text: str) -> frozenset[str]:
    """Return the stems of all words but the most common ones."""
    return frozenset(_stems(text))


_KIN_TEXT: Final = """
    wife husband spouse son sons daughter daughters mother mothers father fathers brother brothers sister
    sisters parents child children uncle aunt cousin grandmother grandfather granddaughter grandson
"""
KIN_STEMS: Final = frozenset(map(stem, _KIN_TEXT.split()))
# What people do for others, by what it is about.
_WORK_TEXT: Final = """
    sick ill wounded hurt wounds = healer / graves dead = sexton / bread loaves = baker
    / beer soup supper drink meal = landlady / law taxes village = reeve / boat river = ferryman
    / stones = mason / books notices = clerk / sleep stay bed = landlady
"""
# Everyday words for what an adventure calls by another name.
_SYNONYM_TEXT: Final = """
    kid kids youngster = boy / lass = girl / innkeeper landlord innkeep barkeep publican barmaid = landlady
    / doctor physician medic nurse herbalist = healer / gravedigger undertaker = sexton
    / mayor headman bailiff boss sheriff = reeve warden / pint ale mug = beer
    / boatman = ferryman / scribe secretary = clerk / stonemason stonecutter = mason / brewer = cider maker
    / servant servants = maid / tavern pub = inn / church = chapel / graveyard cemetery = churchyard
"""


def _pairs(text: str) -> dict[str, tuple[str, ...]]:
    """Return the stems of words with those of what they stand for."""
    return {
        stem(word): tuple(map(stem, meant.split()))
        for words, _, meant in (pair.partition("=") for pair in text.split("/"))
        for word in words.split()
    }


_SYNONYMS: Final = _pairs(_SYNONYM_TEXT)
_WORKS: Final = _pairs(_WORK_TEXT)
# After one of these a common word is a thing: the well, a can, this mine.
_DETERMINERS: Final = frozenset(("the", "a", "an", "this", "that", "your", "my", "old", "village"))


def with_synonyms(stems: frozenset[str]) -> frozenset[str]:
    """Return stems together with those of other words for the same."""
    return stems.union(*(_SYNONYMS.get(one, ()) for one in stems))


def with_workers(stems: frozenset[str]) -> frozenset[str]:
    """Return stems together with those of the people whose work they speak of."""
    return stems.union(*(_WORKS.get(one, ()) for one in stems))


def _stems(text: str) -> Iterator[str]:
    """Yield each stem once, with American spelling. A single word always counts."""
    words = [*words_of(text)]
    pairs = zip(["the" if len(words) == 1 else "", *words], words, strict=False)
    said = (word for before, word in pairs if len(word) > 1 and _is_told(word, before))
    yield from dict.fromkeys(stem(_BRITISH.sub("or", word)) for word in said)


def _is_told(word: str, before: str) -> bool:
    """Return whether a word says what a text is about: `well` does so only after an article."""
    return word not in _EMPTY or (word in _NOUNS and before in _DETERMINERS)


# Common words that are also the names of things.
_NOUNS: Final = frozenset(("well", "can", "cans", "mine", "will", "still", "might", "back"))
