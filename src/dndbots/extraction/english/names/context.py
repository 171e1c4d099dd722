"""The words around a mention of a name, and the kinds of things that common nouns mean."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dndbots.extraction.english.names.spans import NameSpan, Token
from dndbots.extraction.english.word_tables import (
    ANIMALS,
    FACTION_WORDS,
    FOLK,
    ITEM_WORDS,
    KIN,
    LOOKS,
    NAMED_THINGS,
    PEOPLE_WORDS,
    PLACE_KINDS,
    PLACE_WORDS,
    RACES,
    ROLE_ENDINGS,
    ROLES,
    TEMPERS,
    TITLES,
)
from dndbots.text.english_words import EVERYDAY_WORDS, FUNCTION_WORDS

PERSON: Final = "person"
PLACE: Final = "place"
OTHER: Final = "other"

PLACES: Final = PLACE_WORDS | PLACE_KINDS
THINGS: Final = FACTION_WORDS | ITEM_WORDS | NAMED_THINGS
OWNERS: Final = frozenset(["my", "our", "his", "her", "their", "your"])
ARTICLES: Final = frozenset(["a", "an", "the", "some", "one", "this", "that", "another"])
ENDS: Final = frozenset([",", ".", ";", "!", "?", "", "\u201d"])
_REACH: Final = 8  # words
_STOPS: Final = frozenset('.;:!?"\u201c\u201d')
_PEOPLE: Final = (ROLES | RACES | FOLK | ANIMALS | KIN.keys() | TITLES | PEOPLE_WORDS) - {"old", "high"}
_WORKERS: Final = ("er", "or", "ist", "ian", "eer", "man", "woman", "ess", "wife", "smith", *ROLE_ENDINGS)
_SHORTEST_WORKER: Final = 5
_HOUSES: Final = ("house", "yard", "works", "shop", "hall")
_SHORTEST_HOUSE: Final = 7


class NameCue(NamedTuple):
    """A cue of a sentence for the kind of a name, and its weight."""

    cue: str
    kind: str
    weight: float


class NameContext:
    """The words around a name in a sentence. If the name is one of a list, the words around the list."""

    def __init__(self, tokens: Sequence[Token], span: NameSpan, first: int, last: int) -> None:
        self._tokens, self.span = tokens, span
        self._first, self._last = first, last

    def before(self, steps: int = 1) -> str:
        """Return the word or mark so many steps before the name; "" before the sentence."""
        at = self._first - steps
        return self._tokens[at].low if at >= 0 else ""

    def after(self, steps: int = 1) -> str:
        """Return the word or mark so many steps after the name; "" after the sentence."""
        at = self._last + steps - 1
        return self._tokens[at].low if at < len(self._tokens) else ""

    def is_word_after(self, steps: int = 1) -> bool:
        """Return whether a word without a capital stands so many steps after the name."""
        at = self._last + steps - 1
        return at < len(self._tokens) and self._tokens[at].text[0].islower()

    def is_name_before(self, steps: int) -> bool:
        """Return whether a word with a capital stands so many steps before the name."""
        at = self._first - steps
        return at >= 0 and self._tokens[at].text[0].isupper()

    def words_before(self, reach: int) -> Iterator[str]:
        """Yield the words before the name, the nearest first, up to a mark that ends a clause."""
        for at in range(self._first - 1, max(-1, self._first - 1 - reach), -1):
            if self._tokens[at].text in _STOPS:
                return
            yield self._tokens[at].low

    @property
    def is_owned(self) -> bool:
        """True if the word before the name is in the genitive: the sorcerer's Rite."""
        return self._first > 0 and self._tokens[self._first - 1].owns

    @property
    def owns(self) -> bool:
        """True if the name is in the genitive."""
        return self._tokens[self._last - 1].owns

    @property
    def is_alone(self) -> bool:
        """True if the name is all that its sentence says."""
        return not self.before() and self.after() in ENDS and not self.after(2)

    def noun_phrase(self, start: int) -> str | None:
        """Return the kind of the noun phrase that begins there: "one-eyed old dwarf" is a person."""
        head, ends = "", ""
        for steps in range(start, start + _REACH):
            word = self.after(steps)
            if word in ("who", "whose", "himself", "herself"):
                return PERSON
            if word == "where":
                return PLACE
            if not word[:1].isalpha() or word in FUNCTION_WORDS or word in ("called", "named"):
                ends = word
                break
            head = word
        return kind_of_noun(head, workers=ends != "of") if head else None


def kind_of_noun(word: str, *, workers: bool = True) -> str | None:
    """Return the kind of thing that a common noun means, or None if that is not known.

    `workers` are nouns that only end as words for people do: a cataloguer, but also a cluster.
    """
    if word in _PEOPLE:
        return PERSON
    if word in PLACES:
        return PLACE
    if word in THINGS:
        return OTHER
    if word.removesuffix("s") in _PEOPLE or (workers and _is_worker(word)):
        return PERSON
    return PLACE if word.endswith(_HOUSES) and len(word) >= _SHORTEST_HOUSE else None


def nearest_kind(words: Iterator[str]) -> str | None:
    """Return the kind of the first word that is a noun of a known kind."""
    return next((kind for word in words if (kind := kind_of_noun(word, workers=False))), None)


def _is_worker(word: str) -> bool:
    is_compared = word.removesuffix("er") in LOOKS | TEMPERS or word.removesuffix("r") in LOOKS | TEMPERS
    is_long = len(word) >= _SHORTEST_WORKER and word.endswith(_WORKERS)
    return is_long and word not in EVERYDAY_WORDS and not is_compared
