"""Read the words of a typed line: folded, with chat spellings written out, and where each one stands."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dndbots.game.input.vocabulary.lexicon import person_words, word_group, word_lists
from dndbots.text.clean import drop_hidden
from dndbots.text.words import fold_word

_TOKEN: Final = re.compile(
    r"[^\W_]+(?:['\u2019][^\W_]+)*['\u2019]?|'em\b|&|[,.;:!?\u2026\u2014\"\u201c\u201d()]"
)
_MARKS: Final = frozenset(',.;:!?\u2026\u2014"\u201c\u201d()')
ENDS: Final = frozenset(".;!?\u2026\u2014")
# Spellings that are a word of their own further on in a sentence: "its" roof, an "ill" boy.
_ONLY_FIRST: Final = frozenset(("ill", "its", "id", "hes", "n"))
_BEFORE_FIRST: Final = frozenset(("and", "then", "but", "so", "if", "think", "because", "ok", "what", "now"))
# Words that end like adverbs and are none.
_LETS_FLY: Final = re.compile(r"\s+(?:fly|loose)\b", re.IGNORECASE)
_BE: Final = {"i": "am", "you": "are", "we": "are", "they": "are"}
_NEXT: Final = re.compile(r"\s+(\w+)")
_SHORTEST_ADVERB: Final = 5


class TypedWord(NamedTuple):
    """A word or a mark of a line, folded, and its place in the line."""

    text: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        return self.text in _MARKS

    @property
    def is_adverb(self) -> bool:
        return (
            self.text.endswith("ly")
            and len(self.text) > _SHORTEST_ADVERB
            and self.text not in word_group("no_adverb")
        )


def clean_line(text: str) -> str:
    """Return text on one line, word for word, without the characters that nobody sees."""
    return drop_hidden(text).replace("\n", " ").strip()


def read_words(line: str) -> list[TypedWord]:
    """Return the words and marks of a line. A spelling of two words becomes two, in one place."""
    found: list[TypedWord] = []
    for match in _TOKEN.finditer(line):
        found += _spelled_out(match, found)
    return found


def _spelled_out(match: re.Match[str], before: Sequence[TypedWord]) -> Iterator[TypedWord]:
    start, end = match.span()
    word = fold_word(match.group())
    spelled = word_lists().spellings.get(word)
    whole, after = word_lists().spellings_before.get(word, ("", frozenset[str]()))
    following = _NEXT.match(match.string, end) if after else None
    if following is not None and following[1].casefold() in after and (not before or before[-1].is_mark):
        spelled = whole
    if spelled == "is not" and before and before[-1].text in _BE:
        spelled = f"{_BE[before[-1].text]} not"  # "I ain't"
    if word == "lets" and _LETS_FLY.match(match.string, end):
        spelled = None
    is_first = not before or before[-1].is_mark or before[-1].text in _BEFORE_FIRST
    if spelled is not None and (is_first or word not in _ONLY_FIRST):
        for part in spelled.split():
            yield TypedWord(part, start, end)
        return
    word = word.removesuffix("'s").rstrip("'").replace("'", "")
    if word.endswith("s") and word[:-1] in person_words() and word not in person_words():
        word = word[:-1]  # "the landladys keys"
    if word:
        yield TypedWord(word, start, end)


def text_of(words: Sequence[TypedWord]) -> str:
    """Return words as a text to match with patterns: no marks."""
    return " ".join(word.text for word in words if not word.is_mark)
