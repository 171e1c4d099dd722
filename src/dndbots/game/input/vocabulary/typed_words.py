"""Read the words of a typed line: folded, with chat spellings written out, and where each one stands."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dndbots.game.input.vocabulary.lexicon import person_words, verb_lexicon, word_group, word_lists
from dndbots.text.clean import drop_hidden
from dndbots.text.english_words import EVERYDAY_WORDS
from dndbots.text.words import fold_word

_TOKEN: Final = re.compile(
    r"[^\W_]+(?:['\u2019][^\W_]+)*['\u2019]?|'em\b|&|[,.;:!?\u2026\u2014\"\u201c\u201d()]"
)
_MARKS: Final = frozenset(',.;:!?\u2026\u2014"\u201c\u201d()')
ENDS: Final = frozenset(".;!?\u2026\u2014")
# Spellings that are a word of their own further on in a sentence: "its" roof, an "ill" boy.
_ONLY_FIRST: Final = frozenset(("ill", "its", "id", "n"))
_BEFORE_FIRST: Final = frozenset(("and", "then", "but", "so", "if", "think", "because", "ok", "what", "now"))
# Words that end like adverbs and are none.
_LETS_FLY: Final = re.compile(r"\s+(?:fly|loose)\b", re.IGNORECASE)
_BE: Final = {"i": "am", "you": "are", "we": "are", "they": "are"}
_CONSONANT: Final = re.compile(r"[bcdfgjklmnpqrstvwz]\w")  # an hour, an NPC: these say nothing
_NEXT: Final = re.compile(r"\s+(\w+)")
_SHORTEST_ADVERB: Final = 5
_SHORTEST_CLIPPED: Final = 5  # "gettin"
_BEFORE_NORTH: Final = frozenset(("go", "head", "walk", "run", "to", "move", "travel"))


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
    return [read for number in range(len(found)) for read in _in_context(found, number)]


def _in_context(words: Sequence[TypedWord], number: int) -> Iterator[TypedWord]:
    """Yield a word as it is meant beside its neighbours: "one n run", "ill lite one of them torches"."""
    word = words[number]
    before = words[number - 1].text if number else ""
    after = words[number + 1].text if number + 1 < len(words) else ""
    if word.text == "ill" and verb_lexicon().is_plain(after) and before not in word_group("before_ill"):
        yield from (word._replace(text="i"), word._replace(text="will"))
        return
    if not number and after.isalpha() and word.text in word_lists().commands:
        yield word._replace(text=word_lists().commands[word.text])
    elif word.text == "n" and before.isalpha() and after.isalpha() and before not in _BEFORE_NORTH:
        yield word._replace(text="and")
    elif word.text == "an" and before.isalpha() and _CONSONANT.match(after):
        yield word._replace(text="and")  # "lob a rock an leg it"
    elif word.text == "threw" and before in word_group("before_through"):
        yield word._replace(text="through")
    elif word.text == "them" and before not in word_group("to_them") and _is_noun(after):
        yield word._replace(text="those")
    elif _is_clipped(word.text):
        yield word._replace(text=f"{word.text}g")
    else:
        yield word


def _is_noun(text: str) -> bool:
    """Check for what may stand behind "them" in place of "those": "them tiny marks", "them torches"."""
    is_plural = text.endswith("s") and len(text) > _SHORTEST_ADVERB - 1 and text not in word_group("no_noun")
    return is_plural or text in word_group("easy") | {"big", "red", "green", "gray", "grey", "black", "white"}


def _is_clipped(text: str) -> bool:
    """Check for a verb that lost its last letter: "gettin", "lookin"."""
    if not text.endswith("in") or len(text) < _SHORTEST_CLIPPED or text in EVERYDAY_WORDS:
        return False
    return verb_lexicon().has(f"{text}g") and not verb_lexicon().has(text)


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
