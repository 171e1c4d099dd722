"""Sentences of what was said, and clauses where a sentence runs on. Nothing is reworded here."""

import re
from collections.abc import Iterator
from typing import Final

from dndbots.memory.extract.clean import visible

LONG_WORDS: Final = 16  # beyond this a sentence is taken apart, where it has clauses of its own
LONGEST_CHARS: Final = 600  # beyond this it is cut: no reader gets through it, and it may have no spaces
SHORTEST_CLAUSE: Final = 5

_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["\u201d\u2019')\]]*+(?=\s|$)"""
    r"""|[\u3002\uff01\uff1f\u0964\u06d4\u061f]+["\u201d\u300d\u300f)]*"""
    r"""|\n+|(?:(?<!\s)\s++|(?<=\n)[^\S\n]++)(?:--++|\u2014|\u2013)\s++(?=["\u201c]?[A-Z])"""
)
_ABBREVIATED = re.compile(r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|lt|sgt|capt|vs|[a-z]|\d{1,2})\.$", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_NOISE = re.compile(
    r"[(\[*](?:[^()\[\]*]{0,40}\b)?(?:laugh|chuckl|giggl|cheer|applau|clap|sigh|groan|gasp|cough|snort|scream"
    r"|yell|shout|music|crosstalk|inaudible|indistinct|sing|hum|whistl|mumbl|gibberish|scoff|cackl|beep"
    r"|silence|pause|squeal|roar|impression|voice|sound|noise)[^()\[\]*]{0,40}[)\]*]",
    re.IGNORECASE,
)
# Only a pronoun surely begins a clause: after "and", a name or a noun may be one more thing in a list.
_SUBJECT = r"(?:I|you|he|she|it|we|they|there)(?:'\w+)?\b"
_JOINT = re.compile(
    r";\s++|(?:(?<!\s)\s++)?--\s*+|(?<!\s)\s++\u2014\s++"
    rf"|(?:,|(?<![\s,]))\s++(?:and|but|so|as|while|until)\s++(?:then\s++)?(?={_SUBJECT})|,\s++(?={_SUBJECT})"
)
# A condition or a report rules over what follows it: such a sentence keeps together.
_RULES = re.compile(
    r"\b(?:if|unless|whether|suppose|or|nor|neither|either|not|never|nobody|nothing|none|without|\w+n't"
    r"|said|says|say|told|tells|think|thinks|thought|believe|believes|claims?|claimed|promised?|swore|swears)\b",
    re.IGNORECASE,
)


def sentences(text: str, *, clauses: bool = True) -> Iterator[str]:
    """The sentences of one entry, in order, each of bounded length and without stage noise.

    One that runs on is taken apart, unless `clauses` says to leave it whole.
    """
    text = _BLANKS.sub(" ", visible(text))
    if any(mark in text for mark in "([*"):
        text = _NOISE.sub(" ", text)
    inside = False
    for piece in _pieces(text):
        marks = piece.count('"') + piece.count("\u201c") + piece.count("\u201d")
        bare = piece.strip()
        opened, inside = inside, inside ^ (marks % 2 == 1)
        whole = _closed(bare, opened=opened, inside=inside)
        if whole:
            # Somebody in the story says what stands in quotes: it is not taken apart.
            yield from _clauses(whole) if clauses and not (marks or opened) else _bounded(whole)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        until = end.end()
        if _is_no_end(text, end, start):
            continue
        yield text[start:until]
        start = until
    if start < len(text):
        yield text[start:]


def _is_no_end(text: str, end: re.Match[str], start: int) -> bool:
    mark = end.group()
    if mark == ".":
        return bool(_ABBREVIATED.search(text, max(start, end.start() - 8), end.end()))
    # A pause, or a quotation inside a sentence, where that goes on after it.
    inner = mark[0] in ".\u2026" or mark[-1] in "\"\u201d'\u2019"
    return inner and text[end.end() : end.end() + 2].strip()[:1].islower()


def _closed(text: str, *, opened: bool, inside: bool) -> str:
    """A part of a longer quotation, in quotes of its own."""
    if opened and text and text[0] not in '"\u201d':
        text = '"' + text
    elif opened:
        text = text[1:].strip()
    if inside and text:
        text = text[:-1].rstrip() if text[-1] in '"\u201c' else text + '"'
    return text


def _clauses(sentence: str) -> Iterator[str]:
    if len(sentence) < 5 * LONG_WORDS or sentence.count(" ") < LONG_WORDS or _RULES.search(sentence):
        yield from _bounded(sentence)
        return
    parts, start = [], 0
    for joint in _JOINT.finditer(sentence):
        before = sentence.count(" ", start, joint.start()) + 1
        after = sentence.count(" ", joint.end(), joint.end() + LONGEST_CHARS) + 1
        if min(before, after) >= SHORTEST_CLAUSE:
            parts.append(sentence[start : joint.start()])
            start = joint.end()
    parts.append(sentence[start:])
    for part in parts:
        yield from _bounded(part)


def _bounded(sentence: str) -> Iterator[str]:
    """Cut at a word where there is one; a text of 100 KB without a space is cut anyway."""
    while len(sentence) > LONGEST_CHARS:
        at = sentence.rfind(" ", LONGEST_CHARS // 2, LONGEST_CHARS)
        at = at if at > 0 else LONGEST_CHARS
        yield sentence[:at]
        sentence = sentence[at:].lstrip()
    if sentence:
        yield sentence
