"""Terms of a text for the index that recall reads: words in any script, without the commonest.

Terms are stored. They follow rules of their own, since a change here would hide old lines from new questions:
accents stay, words are not stemmed (a question asks for all forms of a word), and only `INDEX_STOP_WORDS` are
left out.
"""

import re
from typing import Final

from dndbots.ids import fold_case
from dndbots.text.english_words import INDEX_STOP_WORDS

LONGEST_TERM: Final = 40
_QUOTE: Final = "\u2019"
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# Everything in ASCII that is no part of a word becomes a space.
_SPACED: Final = {code: chr(code) if chr(code).isalnum() else " " for code in range(128)}
# Scripts without spaces between words: their terms are pairs of characters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


def terms_of(text: str) -> dict[str, int]:
    """Return each term of a text with the number of times it occurs."""
    folded = fold_case(text)
    if not text.isascii():
        found = _WORD.findall(folded)
        words = [part for word in found for part in _split_unspaced(_drop_apostrophe(word))]
    elif "'" in text:
        words = [_drop_apostrophe(word) for word in _WORD.findall(folded)]
    else:
        words = folded.translate(_SPACED).split()  # what the pattern finds, ten times faster
    counts: dict[str, int] = {}
    counted = counts.get
    for word in words:
        if word not in INDEX_STOP_WORDS:
            term = word[:LONGEST_TERM]
            counts[term] = counted(term, 0) + 1
    return counts


def _drop_apostrophe(word: str) -> str:
    """Return a word without its apostrophes, and without a possessive ending."""
    if "'" in word or _QUOTE in word:
        word = word.replace(_QUOTE, "'").removesuffix("'s").replace("'", "")
    return word


def _split_unspaced(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word]
    spaced = _UNSPACED.split(word)
    runs = _UNSPACED.findall(word)
    pairs = [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
    return [part for part in spaced if part] + pairs
