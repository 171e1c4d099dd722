"""Echoes: sentences that say again what was said before, word for word or nearly so."""

from collections.abc import Iterable, Sequence
from typing import Final

from dndbots.text.sentences import split_sentences
from dndbots.text.words import content_stems, words_of

# Shorter sentences ("Yes, I see.") may come back: everybody says them.
_SHORTEST: Final = 4
_RUN: Final = 3  # words in a row that are compared
_SAME_RUNS: Final = 0.5
_SAME_STEMS: Final = 0.7
_VERBATIM: Final = 0.8
_FEWEST_STEMS: Final = 4


class EchoFilter:
    """Sentences that were told, to compare others with; with `verbatim`, only word for word."""

    def __init__(self, texts: Iterable[str] = (), *, verbatim: bool = False) -> None:
        self._verbatim = verbatim
        self._whole: set[tuple[str, ...]] = set()
        self._told: list[tuple[frozenset[tuple[str, ...]], frozenset[str]]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Note the sentences of a text as told."""
        for sentence in split_sentences(text):
            words = tuple(words_of(sentence))
            if words:
                self._whole.add(words)
                self._told.append((_runs(words), frozenset(content_stems(sentence))))

    def has(self, text: str) -> bool:
        """Check for a text that was told before, in the same or nearly the same words.

        Of several sentences, as in a quotation, those told before must have most of the words.
        """
        sentences = split_sentences(text)
        if len(sentences) < 2:
            return self._has_sentence(text)
        sizes = {sentence: len(list(words_of(sentence))) for sentence in sentences}
        told = sum(size for sentence, size in sizes.items() if self._was_told(sentence))
        return 2 * told > sum(sizes.values()) or self._has_sentence(text)

    def _was_told(self, sentence: str) -> bool:
        return self.has_exactly(sentence) or self._has_sentence(sentence)

    def _has_sentence(self, sentence: str) -> bool:
        words = tuple(words_of(sentence))
        if len(words) < _SHORTEST:
            return False
        if words in self._whole:
            return True
        runs = _runs(words)
        if self._verbatim:
            return any(len(runs & told) >= _VERBATIM * len(runs) for told, _ in self._told)
        stems = frozenset(content_stems(sentence))
        return any(_is_near(runs, stems, *told) for told in self._told)

    def has_exactly(self, sentence: str) -> bool:
        """Check for a sentence that was told before in the same words, however short."""
        return tuple(words_of(sentence)) in self._whole


def share_told(text: str, words: str) -> float:
    """Return how much of a text's content is in other words, from 0 to 1."""
    stems = frozenset(content_stems(text))
    return len(stems & frozenset(content_stems(words))) / len(stems) if stems else 1.0


def _is_near(
    runs: frozenset[tuple[str, ...]],
    stems: frozenset[str],
    told_runs: frozenset[tuple[str, ...]],
    told_stems: frozenset[str],
) -> bool:
    if runs and len(runs & told_runs) >= _SAME_RUNS * len(runs):
        return True
    if len(stems) < _FEWEST_STEMS:
        return False
    return len(stems & told_stems) >= _SAME_STEMS * len(stems | told_stems)


def _runs(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
