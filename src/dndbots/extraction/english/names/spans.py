"""Finds the spans of a sentence that may be names: capitalised words, with what joins them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dndbots.extraction.english.word_tables import (
    ASKING,
    BRANDS,
    FACTION_WORDS,
    FOLK,
    ITEM_WORDS,
    NICKNAMES,
    NOT_PEOPLE,
    OPENERS,
    PLACE_KINDS,
    PLACE_OPENERS,
    PLACE_WORDS,
    RACES,
    ROLES,
    TITLES,
    read_phrases,
)
from dndbots.text.english_words import CAPITALISED_WORDS, FUNCTION_WORDS
from dndbots.text.vocabulary import is_everyday
from dndbots.text.words import drop_possessive, fold_word

LONGEST_SPAN: Final = 6  # words
_LONGEST_WORD: Final = 30
_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*['\u2019]?|[^\w\s]|_")
_JOINS: Final = frozenset(
    ["of", "the", "de", "von", "van", "der", "du", "la", "le", "al", "da", "do", "dos", "di"]
)
_ABBREVIATED: Final = frozenset(["mr", "mrs", "ms", "dr", "st", "sgt", "lt", "capt", "prof"])
_HEADS: Final = PLACE_WORDS | PLACE_KINDS | FACTION_WORDS | ITEM_WORDS
_WORDS_FOR_PEOPLE: Final = ROLES | RACES | FOLK | TITLES
_OPENING: Final = FUNCTION_WORDS | OPENERS | ASKING
_NO_NAME: Final = read_phrases("no_name_endings")
_PLAIN_ENDINGS: Final = ("ing", "ous", "able", "ible", "ful", "ness", "less", "ment", "tion", "ology", "ical")
_LONGEST_ENDED: Final = 4
_QUOTE_MARKS: Final = frozenset("\"'\u2018\u2019\u201c\u201d(-*_[\u2026.:;!?")


class Token(NamedTuple):
    """A word or a mark of a sentence."""

    text: str
    low: str  # folded, without a genitive
    start: int
    end: int  # without a genitive
    owns: bool  # in the genitive

    @property
    def is_capital(self) -> bool:
        """True if it is written like a name."""
        word = self.text
        return word[0].isupper() and len(word) <= _LONGEST_WORD and (len(word) == 1 or not word.isupper())


class NameSpan(NamedTuple):
    """A name in a sentence, from token `first` up to token `last`."""

    name: str
    first: int
    last: int
    opens: bool  # its capital may only be that of the sentence
    plain: bool  # all its words are everyday words


def tokens_of(sentence: str) -> list[Token]:
    """Return the words and marks of a sentence."""
    found: list[Token] = []
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        folded = fold_word(text)
        low = _bare(folded.replace("\u2019", "'")) if text[0].isalnum() else text
        owns = low != folded.replace("\u2019", "'")
        end = match.end() - (len(text) - len(low) if owns else 0)
        found.append(Token(text, low, match.start(), end, owns))
    return found


def _bare(word: str) -> str:
    """Return a word without its genitive; "that's" and "name's" have none."""
    bare = drop_possessive(word)
    return word if bare in FUNCTION_WORDS or bare == "name" else bare


def find_spans(sentence: str, tokens: Sequence[Token]) -> list[NameSpan]:
    """Return the spans of a sentence that may be names, in order, without overlap."""
    found: list[NameSpan] = []
    at = 0
    while at < len(tokens):
        if not tokens[at].is_capital:
            at += 1
            continue
        last = _end_of_run(sentence, tokens, at)
        found += _names_in(sentence, tokens, at, last)
        at = last
    return found


def _end_of_run(sentence: str, tokens: Sequence[Token], first: int) -> int:
    """Return the end of the capitalised words from here on that may be one name."""
    last, words = first + 1, 1
    while last < len(tokens) and words < LONGEST_SPAN:
        before, here = tokens[last - 1], tokens[last]
        ahead = tokens[last + 1] if last + 1 < len(tokens) else None
        beyond = tokens[last + 2] if last + 2 < len(tokens) else None
        if here.text == "." and ahead and ahead.is_capital and before.low in _ABBREVIATED:
            last += 2
        elif sentence[tokens[last - 1].start + len(before.text) : here.start] != " " or (
            before.owns and not (here.is_capital and here.low in _HEADS | {"end", "rest"})
        ):
            break
        elif here.is_capital and here.text != "I":
            last += 1
        elif here.text in _JOINS and ahead and ahead.is_capital and ahead.text != "I":
            last += 2
        elif here.text in _JOINS and ahead and ahead.text in _JOINS and beyond and beyond.is_capital:
            last += 3
        else:
            break
        words += 1
    return last


def _names_in(sentence: str, tokens: Sequence[Token], first: int, last: int) -> Iterator[NameSpan]:
    """Yield the names in a run of capitalised words."""
    opens = all(token.text in _QUOTE_MARKS for token in tokens[max(0, first - 1) : first])
    start = first
    while start < last and _only_opens(tokens, start, last, opens=opens and start == first):
        start += 1
    opens = opens and start == first
    while start < last and tokens[start].text in _JOINS:
        start += 1
    if start >= last:
        return
    for at in range(start + 1, last):
        if tokens[at].text == "of" and not _is_one_name(tokens, start, at):
            yield from _name(sentence, tokens, start, at, opens=opens)
            yield from _names_in(sentence, tokens, at + 1, last)
            return
    yield from _name(sentence, tokens, start, last, opens=opens)


def _only_opens(tokens: Sequence[Token], at: int, last: int, *, opens: bool) -> bool:
    """Return whether a word has its capital only from the sentence, or is no part of a name."""
    low, rest = tokens[at].low, last - at - 1
    bare, mark, _ = low.replace("\u2019", "'").partition("'")
    if low in FUNCTION_WORDS or low in CAPITALISED_WORDS or (mark and bare in FUNCTION_WORDS | OPENERS):
        return True
    # No everyday word has an accent; and titles open names.
    if not opens or not tokens[at].text.isascii() or (rest and low in TITLES | NICKNAMES | PLACE_OPENERS):
        return False
    if rest == 0:
        return low.endswith(_NO_NAME) or all(map(_may_open, low.split("-")))
    others = [
        token.low for token in tokens[at + 1 : last] if token.text not in _JOINS and token.text.isalpha()
    ]
    return low in OPENERS | ASKING or (is_plain_word(low) and not all(map(is_plain_word, others)))


def _may_open(word: str) -> bool:
    return word in _OPENING or is_everyday(word)


def _is_one_name(tokens: Sequence[Token], first: int, at: int) -> bool:
    """Return whether "of" joins a name: Isle of Venn, but Aldwin of Oakhurst."""
    head = tokens[at - 1].low
    after_the = first > 0 and tokens[first - 1].low == "the"
    return head in _HEADS or (after_the and head not in _WORDS_FOR_PEOPLE and at - first == 1)


def _name(
    sentence: str, tokens: Sequence[Token], first: int, last: int, *, opens: bool
) -> Iterator[NameSpan]:
    words = [token.low for token in tokens[first:last] if token.text not in _JOINS and token.text != "."]
    if (
        not words
        or words[-1].endswith(("-like", "-style"))
        or len(words[0]) < 2
        or any(map(str.isdigit, words[0]))
    ):
        return
    if all(
        word in _WORDS_FOR_PEOPLE or word in NOT_PEOPLE or word.removesuffix("s") in NOT_PEOPLE
        for word in words
    ):
        return
    if words[0] in BRANDS:
        return
    name = " ".join(sentence[tokens[first].start : tokens[last - 1].end].split())
    plain = name.isascii() and all(map(is_plain_word, words))
    if len(words) == 1 and (
        words[0] in OPENERS or words[0] in _HEADS or words[0].removesuffix("s") in _HEADS
    ):
        return
    # The second word of a name has its capital from nowhere else.
    yield NameSpan(name, first, last, opens and (len(words) == 1 or is_plain_word(words[0])), plain)


def is_plain_word(word: str) -> bool:
    """Return whether a word is an everyday word, or has an ending that no name has."""
    is_known = (
        word in _HEADS or word.removesuffix("s") in _HEADS or word in _WORDS_FOR_PEOPLE or word in OPENERS
    )
    return is_known or is_everyday(word) or (len(word) > _LONGEST_ENDED and word.endswith(_PLAIN_ENDINGS))
