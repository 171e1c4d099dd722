"""The roots of words, and what makes two words alike: plurals, synonyms, slips of the keyboard, sizes."""

from functools import cache, lru_cache
from typing import Final

from dndbots.game.input.vocabulary.lexicon import is_mistyped, word_group, word_lists
from dndbots.text.english_words import EVERYDAY_WORDS
from dndbots.text.words import stem, words_of

SHORTEST_MISTYPED: Final = 4
_SHORTEST_SUPERLATIVE: Final = 6
_TELLING_CUES: Final = 2
_IRREGULAR: Final = {
    "wolves": "wolf", "knives": "knife", "men": "man", "women": "woman", "children": "child",
    "thieves": "thief", "feet": "foot", "mice": "mouse", "leaves": "leaf", "shelves": "shelf",
    "loaves": "loaf", "elves": "elf", "dwarves": "dwarf", "stairs": "stair", "rations": "ration",
}  # fmt: skip


@lru_cache(maxsize=8192)
def root_of(word: str) -> str:
    """Return one form for a word and its plural."""
    return stem(_IRREGULAR.get(word, word))


@lru_cache(maxsize=1024)
def roots_in(text: str) -> frozenset[str]:
    """Return the roots of all words of a text: of what is told here, again for each line."""
    return frozenset(root_of(word) for word in words_of(text))


@lru_cache(maxsize=8192)
def root_of_noun(label: str) -> str:
    """Return the root of the noun of a label: "goblin" of "rime goblins of the mill"."""
    return root_of(label.casefold().partition(" of ")[0].split()[-1])


@lru_cache(maxsize=8192)
def alike_groups(word: str) -> frozenset[str]:
    """Return the groups of synonyms that a word is in."""
    root = root_of(word)
    groups = word_lists().alike
    return frozenset(
        name for name, words in groups.items() if word in words or root in {root_of(one) for one in words}
    )


@cache
def person_roots() -> frozenset[str]:
    """Return the roots of words for any person: they tell nobody apart."""
    return frozenset(root_of(word) for words in word_lists().people.values() for word in words)


def is_size(word: str) -> bool:
    """Check for a word that picks one of several: "biggest", "nearest", "mangiest"."""
    is_superlative = word.endswith("est") and len(word) >= _SHORTEST_SUPERLATIVE
    return word in word_group("size") or (is_superlative and word not in word_group("no_superlative"))


@lru_cache(maxsize=8192)
def is_near(word: str, meant: str) -> bool:
    """Check that a word is another one, mistyped. Short words must begin alike."""
    if len(meant) < SHORTEST_MISTYPED or word[0] != meant[0] or word in EVERYDAY_WORDS:
        return False
    return is_mistyped(word, meant)


@lru_cache(maxsize=1024)
def shows_trade(roots: frozenset[str]) -> bool:
    """Check that words about somebody show what their trade is: ink and a notice, a lute and a song."""
    trades = word_lists().trades.values()
    return any(len({root_of(cue) for cue in cues} & roots) >= _TELLING_CUES for cues in trades)
