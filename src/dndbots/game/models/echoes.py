"""Echoes: sentences that say again what was said before, word for word or nearly so.

What was said before is what somebody in a scene perceived of the last rounds, in the order of the telling;
`texts_told` is the one place that says so, for every guard.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from dndbots.events import audience
from dndbots.game.state.table import Table
from dndbots.text.sentences import split_sentences
from dndbots.text.words import content_stems, words_of

_ROUNDS: Final = 4  # what was told longer ago may be told again
# Shorter sentences ("Yes, I see.") may come back: everybody says them.
_SHORTEST: Final = 4
_RUN: Final = 3  # words in a row that are compared
_SAME_RUNS: Final = 0.5
_SAME_STEMS: Final = 0.7
_VERBATIM: Final = 0.8
_FEWEST_STEMS: Final = 4
# A shortened retelling: nearly all of its content stands in one sentence, of which it is a good part.
_SAME_CONTENT: Final = 0.8
_FEWEST_IN_SHORT: Final = 5
# The same words with another filler or two: nothing new in them, or a single word.
_SAME_WORDS: Final = 0.8
_ALL_BUT_ONE: Final = 0.9
# Words that make no short sentence another one: "Well, it's still there!"
_SMALL: Final = "ah again am and are but hey hm is just look now oh really so then too was well yes"
_FILLERS: Final = frozenset(_SMALL.split())
_FEWEST_IN_FORM: Final = 2


def texts_told(
    table: Table,
    *,
    hearers: Collection[str] | None = None,
    without: Collection[str] = (),
    by: str | None = None,
) -> list[str]:
    """Return the texts of the last rounds, and of the step in the making, in the order of the telling.

    With `hearers`, only those that one of them perceived; a text in the ids `without` will be replaced. With
    `by`, only what one of them told or said.
    """
    return [
        event.content
        for event in table.told_lately
        if (event.turn or 0) >= table.round - _ROUNDS
        and event.event_id not in without
        and by in (None, event.source)
        and (hearers is None or not audience(event).isdisjoint(hearers))
    ]


class _Sentence(NamedTuple):
    """A sentence to compare: its words, its runs of words, and the stems of its content."""

    words: tuple[str, ...]
    runs: frozenset[tuple[str, ...]]
    stems: frozenset[str]


class EchoFilter:
    """Sentences that were told, to compare others with; with `verbatim`, only word for word."""

    def __init__(self, texts: Iterable[str] = (), *, verbatim: bool = False) -> None:
        self._verbatim = verbatim
        self._whole: set[tuple[str, ...]] = set()
        self._forms: set[tuple[str, ...]] = set()
        self._told: list[_Sentence] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Note the sentences of a text as told."""
        for sentence in split_sentences(text):
            words = tuple(words_of(sentence))
            if words:
                self._whole.add(words)
                self._forms.add(_form(words))
                self._told.append(_Sentence(words, _runs(words), frozenset(content_stems(sentence))))

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
            return any(len(runs & told.runs) >= _VERBATIM * len(runs) for told in self._told)
        own = _Sentence(words, runs, frozenset(content_stems(sentence)))
        return any(_is_near(own, told) for told in self._told)

    def has_exactly(self, sentence: str) -> bool:
        """Check for a sentence that was told before in the same words, however short."""
        return tuple(words_of(sentence)) in self._whole

    def has_short(self, sentence: str) -> bool:
        """Check for a sentence of a few words that was told before, but for fillers and other spelling.

        What somebody simply does ("I wait.") may be done again.
        """
        form = _form(tuple(words_of(sentence)))
        fewest = _FEWEST_IN_FORM + (form[:1] == ("i",))
        return len(form) >= fewest and form in self._forms


def _form(words: Sequence[str]) -> tuple[str, ...]:
    plain = (word.partition("'")[0] for word in words)
    return tuple(word for word in plain if word not in _FILLERS)


def share_told(text: str, words: str) -> float:
    """Return how much of a text's content is in other words, from 0 to 1."""
    stems = frozenset(content_stems(text))
    return len(stems & frozenset(content_stems(words))) / len(stems) if stems else 1.0


def _is_near(own: _Sentence, told: _Sentence) -> bool:
    if own.runs and len(own.runs & told.runs) >= _SAME_RUNS * len(own.runs):
        return True
    same = len(own.stems & told.stems)
    new = len(own.stems) - same
    if new < 2 and _share_of_words(own.words, told.words) >= (_ALL_BUT_ONE if new else _SAME_WORDS):
        return True
    if len(own.stems) >= _FEWEST_IN_SHORT and same >= _SAME_CONTENT * len(own.stems):
        return True
    return len(own.stems) >= _FEWEST_STEMS and same >= _SAME_STEMS * len(own.stems | told.stems)


def _share_of_words(words: Sequence[str], others: Sequence[str]) -> float:
    """Return how many of the words of two sentences stand in both, from 0 to 1."""
    return 2 * (Counter(words) & Counter(others)).total() / (len(words) + len(others))


def _runs(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
