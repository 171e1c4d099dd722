"""What a sentence is about: its content words, with a common form for those of one stem."""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from dndbots.storage.terms import terms_of

# Words of the table and of talk, beyond the commonest: frequent in play, and about nothing.
_TALK_WORDS = (
    "able acrobatics action actually ah already alright always another anybody anything arcana around ask "
    "athletics attack away awesome been begin begins bit bonus both came cant charisma check come comes "
    "coming constitution cool course damage damn dc deception dexterity dice didnt dm does doesnt doing "
    "done dont else even ever every everything feel feels feet felt fine first foot fuck fucking gets "
    "getting god goes gone good gotta great guess guy guys hes hit hits hmm huh id ill im initiative "
    "insight intelligence intimidation investigation isnt ive jesus keep kind kinda know lets little look "
    "looked looking looks lot made make many maybe mean means minus modifier much natural need never nice "
    "nope nothing perception persuasion please plus point points pretty probably put puts really right "
    "roll rolled rolling rolls round same save saving say says see she shes shit should someone something "
    "sorry sort sorta start starts stealth still strength sure take tell thank thanks thats theres theyre "
    "thing things think though three throw time try trying turn two uh um use using wanna want wasnt way "
    "went were weve whats wisdom wont wow yep yet youd youll youre youve"
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


class Near(NamedTuple):
    """Pairs of words, in the order of the text, and where each stands first."""

    pairs: tuple[Pair, ...]
    places: Mapping[Pair, int]
    known: frozenset[Pair]

    def among(self, others: AbstractSet[Pair]) -> list[Pair]:
        """Those that are among others, in the order of the text."""
        shared = self.known & others
        return sorted(shared, key=self.places.__getitem__) if len(shared) > 1 else list(shared)


# A sentence is weighed again whenever a boundary moves.
@lru_cache(maxsize=1 << 13)
def near(stems: tuple[str, ...], reach: int) -> Near:
    """Pairs of content words that stand near each other, in one order whichever came first."""
    pairs = list(pairwise(stems))
    for distance in range(2, reach + 1):
        pairs += zip(stems, stems[distance:], strict=False)
    ordered = tuple((a, b) if a < b else (b, a) for a, b in pairs)
    return Near(ordered, {pair: place for place, pair in enumerate(ordered)}, frozenset(ordered))


_ENDING = re.compile(r"(?:ies|ied|(?<=ss)es|ing|edly|ed|ly|es|s|e|y)$")


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
