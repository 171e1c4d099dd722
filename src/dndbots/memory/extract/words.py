"""What a sentence is about: its content words, with a common form for those of one stem."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from dndbots.storage.terms import terms_of

# Words of the table and of talk, beyond the commonest: frequent in play, and about nothing.
_TALK_WORDS = (
    "she should make made take say says see know think thing things way right really good great lot much "
    "many same want need look looks looking looked come comes coming came goes went gets getting put puts "
    "guys guy kind sort little bit around away still even though maybe actually sure mean means try "
    "trying tell ask something anything everything nothing someone anybody im youre hes shes theyre were "
    "weve youve ive ill youll dont doesnt didnt cant wont isnt wasnt thats theres whats lets id youd "
    "first two three point time feel feels felt start starts pretty course guess uh um ah yep nope huh "
    "wow hmm alright fine cool awesome nice please thank thanks sorry does doing done use using able "
    "probably already else ever yet never every always keep gone been both another roll rolls rolled "
    "rolling check dice natural plus minus modifier bonus initiative damage hit hits dc perception "
    "stealth insight save saving throw points turn action attack round begin begins kinda sorta gotta "
    "wanna shit fuck fucking damn god jesus"
)
_TALK: Final = frozenset(_TALK_WORDS.split())
_SHORTEST: Final = 2
Pair = tuple[str, str]


def content(text: str) -> tuple[str, ...]:
    """The stems of the content words, each once, in the order of the text."""
    return stems_of(terms_of(text))


def stems_of(terms: Iterable[str]) -> tuple[str, ...]:
    words = (word for word in terms if word not in _TALK and (len(word) >= _SHORTEST or not word.isascii()))
    return tuple(dict.fromkeys(map(stem, words)))


def neighbours(stems: tuple[str, ...], reach: int) -> list[Pair]:
    """Pairs of content words that stand near each other, in one order whichever came first."""
    pairs = list(pairwise(stems))
    for distance in range(2, reach + 1):
        pairs += zip(stems, stems[distance:], strict=False)
    return [(a, b) if a < b else (b, a) for a, b in pairs]


_ENDING = re.compile(r"(?:ies|ied|sses|ing|edly|ed|ly|es|s|e|y)$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One form for goblin and goblins, open, opens and opening. English; other words stay as they are."""
    if len(word) < 4 or not word.isascii() or word.endswith(("ss", "us", "is")):
        return word
    cut = _ENDING.search(word)
    if not cut or cut.start() < 3:
        return word
    root = word[: cut.start()]
    if not any(vowel in root for vowel in "aeiouy"):
        return word
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    return root
