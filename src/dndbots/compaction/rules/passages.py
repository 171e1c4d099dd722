"""A turn as sentences, each with whose words it is: the speaker's own, or somebody's that is quoted."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dndbots.memory.extract.clean import visible
from dndbots.memory.extract.sentences import sentences

_QUOTED = re.compile('"[^"]*"|\u201c[^\u201c\u201d]*\u201d|\u00ab[^\u00ab\u00bb]*\u00bb')
_STAGE = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]|[*_`#<>|~{}\\^=+]+")
_BLANKS = re.compile(r"\s+")
# Blanks are only looked at from where they begin: each is read once, however many there are.
_DASHES = re.compile(r"(?:(?<!\s)\s++)?(?:--++|\u2014)\s*+|(?<!\s)\s++\u2013\s++")
_CLOSED = re.compile(r"\.\W$")
_OPENS = re.compile(r"\s+[A-Z]")
QUOTE: Final = "\u201c\u201d"  # stands for what was quoted, in the words around it


class Passage(NamedTuple):
    """One sentence. `quoted` is the number of the quotation it stands in, or none."""

    text: str
    quoted: int | None = None
    asks: bool = False


def passages(text: str) -> Iterator[Passage]:
    """The sentences of a turn in order: those around quotations, and those in them."""
    for paragraph in visible(text).split("\n"):
        yield from _of_paragraph(paragraph)


def _of_paragraph(text: str) -> Iterator[Passage]:
    around: list[str] = []
    inside: list[str] = []
    at = 0
    for quote in _QUOTED.finditer(text):
        # A whole sentence in quotes is one of its own, if another begins after it.
        closed = _CLOSED.search(quote.group()) and _OPENS.match(text, quote.end())
        around += [text[at : quote.start()], f"{QUOTE}." if closed else QUOTE]
        inside.append(quote.group()[1:-1])
        at = quote.end()
    rest = text[at:]
    # A quotation that is never closed: nobody knows where it ends.
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
            yield from (one._replace(quoted=number) for one in _split(words))
            number += 1


def _split(text: str) -> Iterator[Passage]:
    text = _BLANKS.sub(" ", _DASHES.sub(" ; ", _STAGE.sub(" ", text)))
    for piece in sentences(text, clauses=False):
        yield Passage(piece, asks=piece.rstrip("\"'\u201d\u2019)] ").endswith("?"))
