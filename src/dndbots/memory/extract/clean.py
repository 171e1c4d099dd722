"""Text that may stand in a prompt: one line, visible, and nothing at its start that opens a section.

What is remembered was said by players, models and files: it is never trusted.
"""

import re
import unicodedata
from typing import Final

LONGEST_SPEAKER: Final = 40
_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Joiners belong to words in Persian and Hindi, and to emoji; whatever else is unseen only misleads.
_JOINERS: Final = "\u200c\u200d"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Headings, lists, quotations, rules, tables, fields: in their wide forms, too.
_MARKUP = re.compile(
    r"^[\s!#$%&*+,\-./:;<=>?@\[\\\]^_`{|}~\u00a6\u00b7\u2010-\u2027\u2043\uff01-\uff0f\uff1a-\uff20]+"
)
_FENCE = re.compile(r"`{2,}|~{3,}|<[|/!]?|[|]?>|\[\[|\]\]")
_OPENING: Final = ('"', "\u201c", "\u00ab", "\u300c")
# What a section, a role or a field of a prompt looks like: a word or three, and a colon.
_LABEL = re.compile(r"[^\s:\uff1a]{1,40}(?:\s+[^\s:\uff1a]{1,40}){0,3}\s*[:\uff1a]")


def visible(text: str) -> str:
    """Without control, direction and other unseen characters; line breaks stay, as `\\n`."""
    if text.isprintable():
        return text
    broken = _BREAKS.sub("\n", text)
    return broken if broken.replace("\n", "").isprintable() else "".join(map(_seen, broken))


def _seen(char: str) -> str:
    if char == "\n" or char.isprintable() or char in _JOINERS:
        return char
    return "" if unicodedata.category(char) in _UNSEEN - {"Cc"} else " "


def one_line(text: str) -> str:
    """The text on one line, without what could open a heading, a list, a quotation or a fence."""
    if not text.isprintable():
        text = visible(text).replace("\n", " ")
    text = _FENCE.sub(" ", text) if any(mark in text for mark in "`~<>|[]") else text
    return _MARKUP.sub("", " ".join(text.split())).rstrip()


def spoken_by(who: str) -> str:
    """A speaker's name as it may stand before a colon."""
    name = one_line(who[: 4 * LONGEST_SPEAKER]).replace(":", " ").replace("\uff1a", " ")
    return " ".join(name[:LONGEST_SPEAKER].split())


def as_telling(sentence: str) -> str:
    """A sentence that has no speaker, so that it does not look as if it had one, or were a section."""
    label = _LABEL.match(sentence)
    if not label:
        return sentence
    said = sentence[label.end() :].lstrip()
    if said.startswith(_OPENING):  # The hermit whispers: "..."
        return f"{label.group()[:-1].rstrip()}, {said}"
    return '"' + sentence.replace('"', "'") + '"'
