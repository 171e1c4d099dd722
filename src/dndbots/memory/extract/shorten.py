"""Shorter without saying anything else: articles, fillers and discourse markers go.

Never pronouns, prepositions, modals, tense, negation or names: who did what to whom stays as it was said.
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
    )+""",
    re.IGNORECASE | re.VERBOSE,
)
# Here the first word decides what the next one means.
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
_ARTICLES = re.compile(r"\b(?:the|an?)\s+(?=[\w\"\u201c'])", re.IGNORECASE)
_GUYS = re.compile(r"\b(you) (?:guys|all)\b(?!')", re.IGNORECASE)
_TAGS = re.compile(
    r",\s+(?:right|okay|ok|you know|yeah|huh|man|guys|dude)(?=[.?!]*[\"\u201d]?$)", re.IGNORECASE
)
# "Had had" and "that that" are no stutter.
_STUTTER = re.compile(r"\b(?!(?:had|that)\b)(\w+(?:'\w+)?)(?:(?:,|\s*--+|\.\.\.)?\s+\1\b)+", re.IGNORECASE)
_BLANKS = re.compile(r"\s{2,}|\s+(?=[,.;:!?](?:\s|$))")

# "Not just", "hardly a", "what kind of": what follows a negation or a measure belongs to it.
_HOLDING_WORDS = (
    "not no never hardly barely nor neither cannot without what some any this that these those which every "
    "one another each same different all of"
)
_HOLDS: Final = frozenset(_HOLDING_WORDS.split())
_MEASURES: Final = frozenset(("few", "little", "lot", "bit", "couple", "number", "while", "dozen", "hundred"))
_MARKS: Final = str.maketrans(dict.fromkeys(',.-!?;:"\u201c\u201d\u2026', " "))
# A word of each of the fillers.
_FILLER_HEADS = (
    "know mean like guess um umm uh uhh er erm okay yeah well man dude basically actually literally "
    "obviously course essentially kind sort honestly simply really very kinda sorta just quite pretty ahead "
    "which once were enough now bit"
)
_FILLER_WORDS: Final = frozenset(_FILLER_HEADS.split())
_ARTICLE_WORDS: Final = frozenset(("a", "an", "the"))
_LAST_WORD = re.compile(r"([\w'\u2019]+)\W*$")
_NEXT_WORD = re.compile(r"\w+")


def shorten(sentence: str) -> str:
    """The same statement in fewer words."""
    # Most sentences have little that could go, and looking words up is faster than looking for patterns.
    words = sentence.lower().translate(_MARKS).split()
    heard = set(words)
    if not heard or not any(word.isascii() for word in heard):
        return sentence
    text = sentence if _BOUND.match(sentence) else _OPENERS.sub(r"\1", sentence)
    if any(word == following for word, following in pairwise(words)):
        text = _STUTTER.sub(r"\1", text)
    if "you" in heard:
        text = _GUYS.sub(r"\1", text)
    text = _TAGS.sub("", text)
    if not _FILLER_WORDS.isdisjoint(heard):
        text = _FILLERS.sub(_unless_held, text)
    if not _ARTICLE_WORDS.isdisjoint(heard):
        text = _ARTICLES.sub(_unless_bound, text)
    text = _BLANKS.sub(lambda found: " " if _inner(found) else "", text)
    return _capital(text.strip(" ,;-"))


def _inner(found: re.Match[str]) -> bool:
    return found.end() < len(found.string) and found.string[found.end()] not in ",.;:!?"


def _word_before(found: re.Match[str]) -> str:
    before = _LAST_WORD.search(found.string, max(0, found.start() - 40), found.start())
    return before.group(1).replace("\u2019", "'") if before else ""


def _unless_held(found: re.Match[str]) -> str:
    word = _word_before(found).lower()
    if word in _HOLDS or word.endswith("n't"):
        return found.group()
    return " " if found.group().startswith((",", " ")) else ""


def _unless_bound(found: re.Match[str]) -> str:
    """Articles stay in names (Throk the Bold) and measures (a few are not few)."""
    following = _NEXT_WORD.search(found.string, found.end())
    word = following.group() if following else ""
    if word.lower() in _MEASURES:
        return found.group()
    before = _word_before(found)
    if before[:1].isupper() and word[:1].isupper() and found.start() > 0:
        return found.group()
    if found.group().strip() == "A" and found.start() > 0 and not found.string[: found.start()].endswith('"'):
        return found.group()
    return ""


def _capital(text: str) -> str:
    at = 1 if text[:1] in ('"', "\u201c") else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]
