"""A shortener for sentences: it drops fillers and discourse markers, and keeps the meaning.

Articles stay, because people stumble over a text without them and models copy its style. Pronouns,
prepositions, modals, tense, negation and names stay as well: they say who did what to whom.
"""

import re
from itertools import pairwise
from typing import Final

_OPENERS = re.compile(
    r"""^(["\u201c]?)(?:
    (?:and|so|but|then|now|well|okay|ok|alright|all\ right|anyways?|um+|uh+|oh+|ah+|also|actually|basically
    |at\ (?:which|that|this)\ point)
    (?:,\s*|\s*--+\s*|\.\.\.\s*|\s+(?=
    (?:and|so|but|then|now|well|okay|ok|um+|uh+|oh|yeah|I|you|he|she|it|we|they|the|this|that|there|as|at|an?
    |his|her|their|my|your|our|what|who|where|when|how|why|is|are|was|were|do|did|does|can|could|would|will
    |[A-Z][\w'\u2019-]+)\b
    ))
    |(?:yeah|right|hm+|er+m?|I\ mean|you\ know|let's\ see|look|listen|like|honestly)(?:,\s*|\s*--+\s*)
    )+(?!\s*["\u201d])""",
    re.IGNORECASE | re.VERBOSE,
)
# Openings whose first word belongs to the next one ("so that", "now that") and must stay.
_BOUND = re.compile(
    r"^[\"\u201c]?(?:so (?:that|many|much|far|long|as)|now that|look at|right (?:now|here))\b", re.IGNORECASE
)
_FILLERS = re.compile(
    r"""(?:,\s*+|(?<!\s)\s++)?\b(?:you\ know|I\ mean|like|I\ guess|um+|uh+|er+m?|okay|yeah|well|man|dude
    |basically|actually|literally|obviously|of\ course|essentially|kind\ of|sort\ of),(?=\s)
    |\b(?:um+|uh+|basically|actually|literally|obviously|essentially|honestly|simply|really|very|kind\ of
    |sort\ of|kinda|sorta|just|quite|pretty\ much|go\ ahead\ and|goes\ ahead\ and|at\ which\ point|once\ again
    |as\ it\ were|sure\ enough|right\ now|a\ (?:little\ )?bit(?!\ of\b))\ """,
    re.IGNORECASE | re.VERBOSE,
)
_GUYS = re.compile(r"\b(you) (?:guys|all)\b(?!')", re.IGNORECASE)
_TAGS = re.compile(
    r",\s+(?:right|okay|ok|you know|yeah|huh|man|guys|dude)(?=[.?!]*[\"\u201d]?$)", re.IGNORECASE
)
# A repeated word is a stutter, except in "had had" and "that that".
_STUTTER = re.compile(r"\b(?!(?:had|that)\b)(\w+(?:'\w+)?)(?:(?:,|\s*--+|\.\.\.)?\s+\1\b)+", re.IGNORECASE)
_BLANKS = re.compile(r"\s{2,}|\s+(?=[,.;:!?](?:\s|$))")

# "Not just", "hardly a", "what kind of": the word after a negation or a measure belongs to it and stays.
_HOLDING_WORDS = (
    "not no never hardly barely nor neither cannot without what some any this that these those which every "
    "one another each same different all of"
)
_HOLDS: Final = frozenset(_HOLDING_WORDS.split())
_MARKS: Final = str.maketrans(dict.fromkeys(',.-!?;:"\u201c\u201d\u2026', " "))
# One word of each filler, for a quick check before the regular expression runs.
_FILLER_HEADS = (
    "know mean like guess um umm uh uhh er erm okay yeah well man dude basically actually literally "
    "obviously course essentially kind sort honestly simply really very kinda sorta just quite pretty ahead "
    "which once were enough now bit"
)
_FILLER_WORDS: Final = frozenset(_FILLER_HEADS.split())
_LAST_WORD = re.compile(r"([\w'\u2019]+)\W*$")


def shorten(sentence: str) -> str:
    """Return the sentence without filler words."""
    # Most sentences have few fillers, and set lookups are faster than regular expressions.
    words = sentence.lower().translate(_MARKS).split()
    distinct = set(words)
    if not distinct or not any(word.isascii() for word in distinct):
        return sentence
    text = sentence if _BOUND.match(sentence) else _OPENERS.sub(r"\1", sentence)
    if any(word == following for word, following in pairwise(words)):
        text = _STUTTER.sub(r"\1", text)
    if "you" in distinct:
        text = _GUYS.sub(r"\1", text)
    text = _TAGS.sub("", text)
    if not _FILLER_WORDS.isdisjoint(distinct):
        text = _FILLERS.sub(_unless_held, text)
    text = _BLANKS.sub(lambda match: " " if _inner(match) else "", text)
    return _capital(text.strip(" ,;-"))


def _inner(match: re.Match[str]) -> bool:
    return match.end() < len(match.string) and match.string[match.end()] not in ",.;:!?"


def _word_before(match: re.Match[str]) -> str:
    before = _LAST_WORD.search(match.string, max(0, match.start() - 40), match.start())
    return before.group(1).replace("\u2019", "'") if before else ""


def _unless_held(match: re.Match[str]) -> str:
    """Drop a filler, except after a word that needs it (see `_HOLDS`)."""
    word = _word_before(match).lower()
    if word in _HOLDS or word.endswith("n't"):
        return match.group()
    return " " if match.group().startswith((",", " ")) else ""


def _capital(text: str) -> str:
    at = 1 if text[:1] in ('"', "\u201c") else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]
