"""Sentences of a text, and clauses where a sentence runs on. Nothing is reworded here.

`split_sentences` keeps every character but the blanks between sentences. `spoken_sentences` prepares what
somebody said for a summary: without stage noise, quotations closed, each sentence of bounded length.
"""

import re
from collections.abc import Iterator
from typing import Final

from dndbots.text.clean import drop_emphasis, drop_hidden

LONG_WORDS: Final = 16  # a longer sentence is split into its clauses, where it has any
LONGEST_CHARS: Final = 600  # a longer sentence is cut: nobody reads it, and it may have no spaces
SHORTEST_CLAUSE: Final = 5

_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["\u201d\u2019')\]]*+(?=\s|$)"""
    r"""|[\u3002\uff01\uff1f\u0964\u06d4\u061f]+["\u201d\u300d\u300f)]*"""
    r"""|\n+|(?:(?<!\s)\s++|(?<=\n)[^\S\n]++)(?:--++|\u2014|\u2013)\s++(?=["\u201c]?[A-Z])"""
)
_ABBREVIATED = re.compile(r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|lt|sgt|capt|vs|[a-z]|\d{1,2})\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION: Final = 8
_BLANKS = re.compile(r"[^\S\n]+")
_NOISE = re.compile(
    r"[(\[*](?:[^()\[\]*]{0,40}\b)?(?:laugh|chuckl|giggl|cheer|applau|clap|sigh|groan|gasp|cough|snort|scream"
    r"|yell|shout|music|crosstalk|inaudible|indistinct|sing|hum|whistl|mumbl|gibberish|scoff|cackl|beep"
    r"|silence|pause|squeal|roar|impression|voice|sound|noise)[^()\[\]*]{0,40}[)\]*]"
    # What a transcript notes in brackets; between asterisks it may be a deed.
    r"|[(\[](?:imitates|imitating|clicks tongue)\b[^()\[\]*]{0,40}[)\]]",
    re.IGNORECASE,
)
# A comma before the noise that ended a sentence.
_LEFT_OVER = re.compile(r"(?<![\s,])(?:\s++,?+|,)\s*+([.!?](?=\s|$))")
# Only a pronoun surely begins a clause: after "and", a name or a noun may be one more thing in a list.
_SUBJECT = r"(?:I|you|he|she|it|we|they|there)(?:'\w+)?\b"
_JOINT = re.compile(
    r";\s++|(?:(?<!\s)\s++)?--\s*+|(?<!\s)\s++\u2014\s++"
    rf"|(?:,|(?<![\s,]))\s++(?:and|but|so|as|while|until)\s++(?:then\s++)?(?={_SUBJECT})|,\s++(?={_SUBJECT})"
)
# A condition, a denial or a report changes the meaning of what follows it: such a sentence stays whole.
_BINDING = re.compile(
    r"\b(?:if|unless|whether|suppose|or|nor|neither|either|not|never|nobody|nothing|none|without|\w+n't"
    r"|said|says|say|told|tells|think|thinks|thought|believe|believes|claims?|claimed|promised?|swore|swears)\b",
    re.IGNORECASE,
)


# Sentences that begin or end with a word for something that was named before.
_HANGING = re.compile(
    r"^[\"\u201c]?(?:(?:as|because|however|if|though|when|while)\b[^,.]{0,30}\b(?:he|her|him|his|it|its|she|they|them)"
    r"|(?:nobody|everybody|somebody|most|many|few|some|all)\b[^,.]{0,30}\b(?:them|ones)"
    r"|it|they|he|she|this|that|these|those|his|her|their|its|both|neither|another|here|below|inside|beyond"
    r"|but|and|or|then|so|however|the (?:others?|rest|next))\b|\b(?:one|ones|it|them|him|her|there)[.!?]$"
    r"|\b(?:at|behind|beside|in|inside|of|on|over|under|with) it\b",
    re.IGNORECASE,
)


def is_hanging(sentence: str) -> bool:
    """Return whether a sentence means little without the one before it: "Nine doors have one."."""
    return bool(_HANGING.search(sentence))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text as they stand there. Abbreviations, initials and pauses end none."""
    return [sentence for piece in _pieces(text) if (sentence := piece.strip())]


def spoken_sentences(text: str, *, clauses: bool = True) -> Iterator[str]:
    """Yield the sentences of something said, each of bounded length and without stage noise.

    A long sentence is split into its clauses, unless `clauses` is False.
    """
    text = _BLANKS.sub(" ", drop_hidden(text))
    if any(mark in text for mark in "([*"):
        text = drop_emphasis(_LEFT_OVER.sub(r"\1", _NOISE.sub(" ", text)))
    inside = False
    for piece in _pieces(text):
        marks = piece.count('"') + piece.count("\u201c") + piece.count("\u201d")
        opened, inside = inside, inside ^ (marks % 2 == 1)
        sentence = _close_quotation(piece.strip(), opened=opened, inside=inside)
        if sentence:
            # Quoted words are somebody's in the story, and stay together.
            yield from _clauses(sentence) if clauses and not (marks or opened) else _bounded(sentence)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if not _goes_on(text, end, start):
            yield text[start : end.end()]
            start = end.end()
    if start < len(text):
        yield text[start:]


def _goes_on(text: str, end: re.Match[str], start: int) -> bool:
    """Return True if a mark that may end a sentence does not."""
    mark = end.group()
    if mark == ".":
        near = max(start, end.start() - _LONGEST_ABBREVIATION)
        return bool(_ABBREVIATED.search(text, near, end.end()))
    # A pause, or a quotation inside a sentence, if that goes on after it.
    inner = mark[0] in ".\u2026" or mark[-1] in "\"\u201d'\u2019"
    return inner and text[end.end() : end.end() + 2].strip()[:1].islower()


def _close_quotation(text: str, *, opened: bool, inside: bool) -> str:
    """Return a part of a longer quotation in quotes of its own."""
    if opened and text and text[0] not in '"\u201d':
        text = '"' + text
    elif opened:
        text = text[1:].strip()
    if inside and text:
        text = text[:-1].rstrip() if text[-1] in '"\u201c' else text + '"'
    return text


def _clauses(sentence: str) -> Iterator[str]:
    if len(sentence) < 5 * LONG_WORDS or sentence.count(" ") < LONG_WORDS or _BINDING.search(sentence):
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
    """Yield a sentence in pieces that are short enough, cut between words if there is a space."""
    while len(sentence) > LONGEST_CHARS:
        at = sentence.rfind(" ", LONGEST_CHARS // 2, LONGEST_CHARS)
        at = at if at > 0 else LONGEST_CHARS
        yield sentence[:at]
        sentence = sentence[at:].lstrip()
    if sentence:
        yield sentence
