"""The vocabulary of a source, by which a check finds invented names and nonsense. No dictionary is needed.

English words are known by a list of the commonest. Every other language is known by its source alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from dndbots.text.english_words import CAPITALISED_WORDS, EVERYDAY_WORDS, FUNCTION_WORDS
from dndbots.text.names import capitalised_words
from dndbots.text.word_forms import forms_of
from dndbots.text.words import WORD, drop_possessive, fold_word, stem, uids_of, words_of

_EVERYDAY_STEMS: Final = frozenset(map(stem, EVERYDAY_WORDS))
_ENDINGS: Final = ("ing", "edly", "ed", "ly", "ies", "es", "s", "er")
_PLAIN_ENDINGS: Final = ("ing", "ly", "tion", "tions", "ment", "ments", "ness", "less")
_SHORT: Final = 2
_SHORT_VERBS: Final = frozenset(("be", "do", "go"))
_SHORTEST_PLAIN: Final = 8  # shorter ones may be names: Emily, Sterling
_FEW_WORDS: Final = 20
_LEAST_FUNCTIONAL: Final = 0.2  # in English nearly half of all words
_MOST_CAPITALS: Final = 0.15  # in English one word of twenty, in German one of four


class Vocabulary:
    """The words, names and uids of a source."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        counts: Counter[str] = Counter()
        self._uids: set[str] = set()
        for text in self._texts:
            counts.update(words_of(text))
            self._uids.update(uids_of(text))
        self._words = frozenset(counts)
        self._stems = frozenset(map(stem, counts))
        functional = sum(counts[word] for word in FUNCTION_WORDS & counts.keys())
        # A few words may be English without a function word among them.
        self._english = counts.total() < _FEW_WORDS or functional >= _LEAST_FUNCTIONAL * counts.total()

    def has_uid(self, uid: str) -> bool:
        """Return True if the source names the uid."""
        return uid in self._uids

    def has_name(self, word: str) -> bool:
        """Return True if the source has a folded word, exactly or with an `s` more or less."""
        return bool({word, f"{word}s", word.removesuffix("s"), word.removesuffix("es")} & self._words)

    def known_share(self, text: str) -> tuple[int, float]:
        """Return the number of words in a text, and the share that the source or English grammar has."""
        words = list(words_of(text))
        known = sum(word in FUNCTION_WORDS or self._has_form(word) for word in words)
        return len(words), known / len(words) if words else 0.0

    def plausible_share(self, text: str) -> tuple[int, float]:
        """Return the number of words in a text, and the share that the source or everyday English has."""
        words = list(words_of(text))
        known = sum(stem(word) in _EVERYDAY_STEMS or self._has_form(word) for word in words)
        return len(words), known / len(words) if words else 0.0

    def unknown_names(self, text: str) -> Iterator[str]:
        """Yield capitalised words that the source does not have and that do not merely open a sentence.

        Which words may open a sentence is known for English only. Where a language gives capitals to more
        than names, as German does, they say nothing, and no word is yielded.
        """
        if not self._english and self._capitals > _MOST_CAPITALS:
            return
        for word, is_opening in capitalised_words(text):
            is_plain = is_opening and (not self._english or is_everyday(fold_word(word)))
            if not is_plain and not self._knows(word):
                yield word

    def _has_form(self, word: str) -> bool:
        return stem(word) in self._stems or not self._words.isdisjoint(forms_of(word))

    @cached_property
    def _capitals(self) -> float:
        """The share of the words that have a capital inside a sentence."""
        inside = sum(not is_opening for text in self._texts for _, is_opening in capitalised_words(text))
        return inside / max(1, sum(len(WORD.findall(text)) for text in self._texts))

    def _knows(self, word: str) -> bool:
        if self._has_name_or_plain(word):
            return True
        return all(self._has_name_or_plain(part) for part in word.split("-") if part[0].isupper())

    def _has_name_or_plain(self, word: str) -> bool:
        name = drop_possessive(fold_word(word))
        return self.has_name(name) or name in FUNCTION_WORDS or name in CAPITALISED_WORDS


def is_everyday(word: str) -> bool:
    """Return True for an everyday English word in any form, or one whose ending shows that it is no name."""
    return all(
        part in EVERYDAY_WORDS
        or not EVERYDAY_WORDS.isdisjoint(_base_forms(part))
        or (len(part) >= _SHORTEST_PLAIN and part.endswith(_PLAIN_ENDINGS))
        for part in (drop_possessive(part.partition("'")[0]) for part in word.split("-"))
    )


def _base_forms(word: str) -> Iterator[str]:
    """Yield words that this one may be a form of: stopp and stop for stopped, us and use for using."""
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        if root != word and len(root) > 1:
            # Of the words of two letters only verbs have forms: "goes", but no "ines".
            if len(root) > _SHORT or root in _SHORT_VERBS:
                yield root
            yield f"{root}e"
            if root[-1] == "i" or ending == "ies":
                yield f"{root.removesuffix('i')}y"
            if root[-1] == root[-2]:
                yield root[:-1]
