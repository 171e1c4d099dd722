"""The terms of a text, for the index that recall reads: words in any script, without the commonest."""

import re
import unicodedata
from typing import Final

LONGEST_TERM: Final = 40
_QUOTE: Final = "\u2019"
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# Scripts written without spaces between words, whose terms are pairs of characters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_COMMON_WORDS = (
    "a about after again all also am an and any are as at back be because been before being but by can "
    "could did do does down each few for from get go going gonna got had has have he her here hey him "
    "his how i if in into is it its just let like ll m me more most my no not now of off oh ok okay on "
    "one only or other our out over own re s said so some such t than that the their them then there "
    "these they this those through to too under until up us ve very was we well were what when where "
    "which while who why will with would yeah yes you your"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def terms_of(text: str) -> dict[str, int]:
    """How often each term stands in a text."""
    if text.isascii():
        folded = text.lower()
        words = _WORD.findall(folded)
        if "'" in folded:
            words = [_plain(word) for word in words]
    else:
        folded = unicodedata.normalize("NFKC", text).casefold()
        words = [part for word in _WORD.findall(folded) for part in _pairs(_plain(word))]
    found: dict[str, int] = {}
    for word in words:
        if word not in _COMMON:
            term = word[:LONGEST_TERM]
            found[term] = found.get(term, 0) + 1
    return found


def _plain(word: str) -> str:
    """Without the apostrophe, and without what follows it where that is a possessive."""
    if "'" in word or _QUOTE in word:
        word = word.replace(_QUOTE, "'").removesuffix("'s").replace("'", "")
    return word


def _pairs(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    spaced = _UNSPACED.split(word)
    runs = _UNSPACED.findall(word)
    pairs = [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
    return [part for part in spaced if part] + pairs
