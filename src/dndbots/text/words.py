"""Words of a text: folded for comparison, reduced to stems, and without those that carry no content.

There is one stemmer, `stem`, and one folding of words, `fold_word`. Names are folded by `ids.fold_name`: it
keeps accents, because stored names are looked up by it. `fold_word` drops them, because models often do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.ids import drop_accents, fold_case
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.terms import terms_of

WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\uff07]")
_HYPHENS = re.compile("[\u2010\u2011\ufe63\uff0d]")
# Scripts without spaces between words: each character counts as a word.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U000323af]"
)
# Underscores around a uid are emphasis.
_UID = re.compile(r"(?<![^\W_])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![^\W_])")
_ENDING = re.compile(r"(?:ies|ied|(?<=ss)es|ing|edly|ed|ly|es|s|e|y)$")
_SHORTEST_WORD: Final = 2
_SHORTEST_INFLECTED: Final = 4
_SHORTEST_ROOT: Final = 3
Pair = tuple[str, str]


# Folded words


def fold_word(text: str) -> str:
    """Return a text as its words are compared: without case and accents, with one kind of apostrophe."""
    plain = plain_marks(text)
    return plain.lower() if plain.isascii() else drop_accents(fold_case(plain))


def plain_marks(text: str) -> str:
    """Return the text with one kind of apostrophe and one kind of hyphen."""
    return _HYPHENS.sub("-", _APOSTROPHES.sub("'", text))


def words_of(text: str) -> Iterator[str]:
    """Yield every word, folded and without a possessive ending; a hyphenated word in its parts."""
    for match in WORD.finditer(fold_word(text)):
        for part in match.group().split("-"):
            if has_unspaced(part):
                yield from part
            else:
                yield drop_possessive(part)


def drop_possessive(word: str) -> str:
    """Return a folded word without the ending of a possessive."""
    return word[:-2] if word.endswith("'s") else word.rstrip("'")


def has_unspaced(text: str) -> bool:
    """Return True if some of the text is in a script that sets no spaces between words."""
    return _UNSPACED.search(text) is not None


def uids_of(text: str) -> Iterator[str]:
    """Yield everything in a text that has the form of a uid."""
    return (match.group() for match in _UID.finditer(text.lower()))


# Stems and content words


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return one form for goblin and goblins, open, opens and opening. Words that are not English stay."""
    if len(word) < _SHORTEST_INFLECTED or not word.isascii() or word.endswith(("ss", "us", "is")):
        return word
    ending = _ENDING.search(word)
    if not ending or ending.start() < _SHORTEST_ROOT:
        return word
    root = word[: ending.start()]
    if not any(vowel in root for vowel in "aeiouy"):
        return word
    if len(root) > _SHORTEST_ROOT and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    return root


def content_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the content words, each once, in the order of the text."""
    return stems_of(terms_of(text))


def stems_of(terms: Iterable[str]) -> tuple[str, ...]:
    """Return the stems of those terms that carry content, each once."""
    words = (term for term in terms if term not in STOP_WORDS and _is_long_enough(term))
    return tuple(dict.fromkeys(map(stem, words)))


def _is_long_enough(term: str) -> bool:
    return len(term) >= _SHORTEST_WORD or not term.isascii()


class NearWords(NamedTuple):
    """Pairs of words that stand near each other, in the order of the text, and the first index of each."""

    pairs: tuple[Pair, ...]
    places: Mapping[Pair, int]
    known: frozenset[Pair]

    def among(self, others: AbstractSet[Pair]) -> list[Pair]:
        """Return the pairs that are also among the others, in the order of the text."""
        shared = self.known & others
        return sorted(shared, key=self.places.__getitem__) if len(shared) > 1 else list(shared)


# A sentence is weighed again whenever a boundary moves.
@lru_cache(maxsize=1 << 13)
def pair_near_words(stems: tuple[str, ...], reach: int) -> NearWords:
    """Return the pairs of stems at most `reach` apart, each pair sorted whichever word came first."""
    pairs = list(pairwise(stems))
    for distance in range(2, reach + 1):
        pairs += zip(stems, stems[distance:], strict=False)
    ordered = tuple((a, b) if a < b else (b, a) for a, b in pairs)
    return NearWords(ordered, {pair: place for place, pair in enumerate(ordered)}, frozenset(ordered))
