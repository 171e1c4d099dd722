"""Splits a turn into sentences, and tells the speaker's own words from quotations."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.text.clean import drop_hidden
from dndbots.text.sentences import spoken_sentences

_QUOTED = re.compile('"[^"]*"|\u201c[^\u201c\u201d]*\u201d|\u00ab[^\u00ab\u00bb]*\u00bb')
_STAGE = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]|[*_`#<>|~{}\\^=+]+")
_BLANKS = re.compile(r"\s+")
# A match starts only at the first blank of a run, so that each blank is read once.
_DASHES = re.compile(r"(?:(?<!\s)\s++)?(?:--++|\u2014)\s*+|(?<!\s)\s++\u2013\s++")
_CLOSED = re.compile(r"\.\W$")
_OPENS = re.compile(r"\s+[A-Z]")
QUOTE: Final = "\u201c\u201d"  # replaces a quotation in the words around it


class Passage(NamedTuple):
    """A sentence. `quoted` is the number of the quotation it belongs to, or None."""

    text: str
    quoted: int | None = None
    asks: bool = False


def passages(text: str) -> Iterator[Passage]:
    """Yield the sentences of a turn in order, both around and inside quotations."""
    for paragraph in drop_hidden(text).split("\n"):
        yield from _of_paragraph(paragraph)


def _of_paragraph(text: str) -> Iterator[Passage]:
    around: list[str] = []
    inside: list[str] = []
    at = 0
    for quote in _QUOTED.finditer(text):
        # A quotation that ends a sentence is a sentence of its own, if another begins after it.
        closed = _CLOSED.search(quote.group()) and _OPENS.match(text, quote.end())
        around += [text[at : quote.start()], f"{QUOTE}." if closed else QUOTE]
        inside.append(quote.group()[1:-1])
        at = quote.end()
    rest = text[at:]
    # Drop the text after a quotation mark that is never closed: its end is unknown.
    opened = re.search('["\u201c\u00ab]', rest)
    around.append(rest[: opened.start()] if opened else rest)
    number = 0
    for sentence in _split("".join(around)):
        yield sentence
        last = min(number + sentence.text.count(QUOTE), len(inside))
        while number < last:
            words = inside[number]
            # "Find my ring," says Elena, "and I'll pay you."
            while number + 1 < last and words.rstrip().endswith(",") and inside[number + 1][:1].islower():
                number += 1
                words = f"{words} {inside[number]}"
            yield from (passage._replace(quoted=number) for passage in _split(words))
            number += 1


def _split(text: str) -> Iterator[Passage]:
    text = _BLANKS.sub(" ", _DASHES.sub(" ; ", _STAGE.sub(" ", text)))
    for piece in spoken_sentences(text, clauses=False):
        yield Passage(piece, asks=piece.rstrip("\"'\u201d\u2019)] ").endswith("?"))
