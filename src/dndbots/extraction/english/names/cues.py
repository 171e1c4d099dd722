"""The cues around a name for what bears it: a person, a place, or something else.

Every cue looks at a few words to the left and to the right, so that its cost does not depend on the sentence.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dndbots.extraction.english.names.spans import NameSpan, Token
from dndbots.extraction.english.word_tables import (
    ANIMALS,
    ANIMATE_STATES,
    FACTION_WORDS,
    FOLK,
    GAZE_WORDS,
    GIVEN_TO,
    GREETINGS,
    IRREGULAR_PASTS,
    ITEM_WORDS,
    KIN,
    LOOKS,
    MOTION_WORDS,
    NAMED_THINGS,
    NICKNAMES,
    NOT_PEOPLE,
    OWN_PARTS,
    PEOPLE_WORDS,
    PERSON_ACTS,
    PLACE_ENDINGS,
    PLACE_KINDS,
    PLACE_OPENERS,
    PLACE_WORDS,
    RACES,
    REAL_WORLD,
    ROLE_ENDINGS,
    ROLES,
    SURNAMES,
    TEMPERS,
    TITLES,
    TOLD_PEOPLE,
    TOWN_PARTS,
)
from dndbots.text.english_words import EVERYDAY_WORDS, FUNCTION_WORDS

PERSON: Final = "person"
PLACE: Final = "place"
OTHER: Final = "other"

_REACH: Final = 6  # words
_STOPS: Final = frozenset('.;:!?"\u201c\u201d')
_PLACES: Final = PLACE_WORDS | PLACE_KINDS
_THINGS: Final = FACTION_WORDS | ITEM_WORDS | NAMED_THINGS
_PEOPLE: Final = (ROLES | RACES | FOLK | ANIMALS | KIN.keys() | TITLES | PEOPLE_WORDS) - {"old", "high"}
_WORKERS: Final = ("er", "or", "ist", "ian", "eer", "man", "woman", "ess", "wife", "smith", *ROLE_ENDINGS)
_ACTS: Final = frozenset(
    f"{root}{ending}"
    for act in PERSON_ACTS
    for root, endings in (
        (act, ("", "s", "es", "d", "ed")),
        (f"{act}{act[-1]}", ("ed",)),
        (f"{act[:-1]}i", ("es", "ed") if act[-1] == "y" else ()),
    )
    for ending in endings
)
_OWNERS: Final = frozenset(["my", "our", "his", "her", "their", "your"])
_ARTICLES: Final = frozenset(["a", "an", "the", "some", "one", "this", "that", "another"])
_HELPERS: Final = frozenset(
    [
        "can",
        "could",
        "will",
        "would",
        "must",
        "should",
        "might",
        "may",
        "did",
        "does",
        "do",
        "can't",
        "couldn't",
    ]
    + [
        "won't",
        "wouldn't",
        "didn't",
        "doesn't",
        "never",
        "always",
        "just",
        "only",
        "still",
        "already",
        "also",
    ]
    + ["has", "had", "hasn't", "hadn't", "shouldn't", "mustn't", "isn't", "wasn't", "himself", "herself"]
)
_ALONG: Final = frozenset(["through", "across", "along", "down", "up", "over", "past", "north", "south"]) | {
    "east",
    "west",
    "far",
    "close",
    "leads",
    "led",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
}
_ENDS: Final = frozenset([",", ".", ";", "!", "?", "", "\u201d"])
_CALM: Final = frozenset(
    ["lies", "lay", "stands", "stood", "sits", "sat", "burns", "burned", "falls", "fell"]
)
_PREPOSITIONS: Final = {
    "in": (PLACE, 2.4),
    "into": (PLACE, 1.8),
    "inside": (PLACE, 1.8),
    "outside": (PLACE, 1.8),
    "through": (PLACE, 1.8),
    "throughout": (PLACE, 2.0),
    "across": (PLACE, 1.6),
    "around": (PLACE, 0.8),
    "near": (PLACE, 1.5),
    "beyond": (PLACE, 1.5),
    "at": (PLACE, 1.2),
    "from": (PLACE, 1.2),
    "toward": (PLACE, 0.8),
    "towards": (PLACE, 0.8),
    "past": (PLACE, 0.6),
    "above": (PLACE, 0.6),
    "below": (PLACE, 0.6),
    "via": (PLACE, 2.0),
    "with": (PERSON, 1.6),
    "without": (PERSON, 1.4),
    "by": (PERSON, 0.9),
    "for": (PERSON, 0.6),
    "about": (PERSON, 0.6),
    "beside": (PERSON, 0.8),
    "behind": (PERSON, 0.7),
    "against": (PERSON, 0.6),
    "than": (PERSON, 0.8),
    "on": (OTHER, 0.8),
}


class NameCue(NamedTuple):
    """A cue of a sentence for the kind of a name, and its weight."""

    cue: str
    kind: str
    weight: float


class NameContext:
    """The words around a name in a sentence."""

    def __init__(self, tokens: Sequence[Token], span: NameSpan, first: int, last: int) -> None:
        self._tokens, self.span = tokens, span
        self._first, self._last = first, last  # of the whole list, if the name is one of several

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

    @property
    def is_owned(self) -> bool:
        """Whether the word before the name is in the genitive: the sorcerer's Rite."""
        return self._first > 0 and self._tokens[self._first - 1].owns

    def is_name_before(self, steps: int) -> bool:
        """Return whether a word with a capital stands so many steps before the name."""
        at = self._first - steps
        return at >= 0 and self._tokens[at].text[0].isupper()

    @property
    def is_alone(self) -> bool:
        """Whether the name is all that its sentence says."""
        return not self.before() and self.after() in _ENDS and not self.after(2)

    @property
    def owns(self) -> bool:
        """Whether the name is in the genitive."""
        return self._tokens[self._last - 1].owns

    def words_before(self, reach: int = _REACH) -> Iterator[str]:
        """Yield the words before the name, the nearest first, up to a mark that ends a clause."""
        for at in range(self._first - 1, max(-1, self._first - 1 - reach), -1):
            if self._tokens[at].text in _STOPS:
                return
            yield self._tokens[at].low


def find_cues_of(context: NameContext) -> Iterator[NameCue]:
    """Yield the cues for one mention of a name."""
    yield from _own_shape(context)
    yield from _before(context)
    yield from _after(context)


def kind_of_noun(word: str, *, workers: bool = True) -> str | None:
    """Return the kind of thing that a common noun means, or None if that is not known.

    `workers` are nouns that only end as words for people do: a cataloguer, but also a cluster.
    """
    if word in _PEOPLE:
        return PERSON
    if word in _PLACES:
        return PLACE
    if word in _THINGS:
        return OTHER
    singular = word.removesuffix("s")
    if singular in _PEOPLE:
        return PERSON
    is_compared = word.removesuffix("er") in LOOKS | TEMPERS or word.removesuffix("r") in LOOKS | TEMPERS
    if (
        workers
        and word.endswith(_WORKERS)
        and len(word) > 4
        and word not in EVERYDAY_WORDS
        and not is_compared
    ):
        return PERSON
    if word.endswith(("house", "yard", "works", "shop", "hall")) and len(word) > 6:
        return PLACE
    return None


def _own_shape(context: NameContext) -> Iterator[NameCue]:
    words = [part.casefold().strip(".") for part in context.span.name.replace("\u2019", "'").split()]
    head = words[words.index("of") - 1] if "of" in words[1:] else words[-1]
    if len(words) > 1:
        if words[0] in TITLES and words[0] not in ("old", "high"):
            yield NameCue("title", PERSON, 3.0)
        elif words[0] in NICKNAMES | {"old"} and head not in _PLACES:
            yield NameCue("title", PERSON, 1.5)
        elif words[0] == "house":
            yield NameCue("thing word", OTHER, 2.0)
        elif head in _PLACES and not (len(words) == 2 and head in SURNAMES):
            yield NameCue("place word", PLACE, 1.6 if context.span.plain else 3.0)
        elif words[0] in PLACE_OPENERS:
            yield NameCue("place word", PLACE, 2.5)
        elif head in _THINGS:
            yield NameCue("thing word", OTHER, 2.5)
        elif "of" in words or context.span.plain:
            yield NameCue("no name's shape", OTHER, 0.8)
        else:
            is_either = head in SURNAMES or words[0] in PLACE_OPENERS or "'s" in words[0]
            yield NameCue("two words", PERSON, 0.6 if is_either else 1.2)
            if is_either:
                yield NameCue("shape", PLACE, 1.4)
    else:
        if context.span.plain:
            yield NameCue("everyday word", OTHER, 2.0)
        else:
            yield NameCue("one word", PERSON, 0.6)
        if words[0].endswith(PLACE_ENDINGS) and len(words[0]) > 6:
            yield NameCue("shape", PLACE, 1.4)
    if words[0] in REAL_WORLD:
        yield NameCue("real world", PLACE, 0.6)
    if words[-1].endswith(("ian", "ish", "ese", "ean")) and context.is_word_after() and not context.owns:
        yield NameCue("of a people", OTHER, 1.5)
    if words[0] in NOT_PEOPLE:
        yield NameCue("no people", OTHER, 1.5)


def _before(context: NameContext) -> Iterator[NameCue]:
    word, second = context.before(), context.before(2)
    if context.is_alone and " " in context.span.name:
        yield NameCue("alone", PERSON, 0.6)
        return
    if word == "the":
        yield NameCue("the", PERSON, -3.0)
        yield NameCue("the", OTHER, 1.0)
        word, second = second, context.before(3)
        if word in (
            "at",
            "in",
            "into",
            "inside",
            "outside",
            "to",
            "near",
            "from",
            "reach",
            "reached",
            "enter",
        ):
            is_inn = word in ("at", "inside", "outside") and " " in context.span.name
            yield NameCue("in the", PLACE, 2.8 if is_inn and not context.is_word_after() else 1.2)
        return
    if word in ("a", "an"):
        yield NameCue("a", OTHER, 2.5)
        return
    called = _called(context, word, second)
    if context.is_owned and word not in KIN:
        return
    if called is not None:
        yield called
    elif word == "," and context.before(3) == "of" and second in ("mine", "ours", "his", "hers", "theirs"):
        yield from _noun_before(context, context.before(4))
    elif word == "," and kind_of_noun(second) and context.after() in _ENDS:
        if _has_article(context, 3):
            yield from _noun_before(context, second)
    elif word in (":", ";") and context.after() in _ENDS:
        yield from _after_colon(context)
    elif word == "from" and context.after() == "to":
        yield NameCue("from to", PLACE, 2.4)
    elif (kind := kind_of_noun(word)) and word not in ("north", "south", "east", "west"):
        is_kin = word in KIN or (second in _OWNERS and kind == PERSON)
        yield NameCue("noun before", kind, 3.0 if is_kin else 2.2)
    elif (
        word in ("old", "young", "poor", "dear", "little", "sweet")
        and kind_of_noun(context.span.name) is None
    ):
        yield NameCue("fondly", PERSON, 2.0)
    elif word == "to":
        yield from _after_to(context)
    elif word == "of":
        yield from _after_of(second)
    elif word == "at" and second in GAZE_WORDS:
        yield NameCue("gaze", PERSON, 2.0)
    elif word == "by" and (second.endswith("ed") or second in IRREGULAR_PASTS):
        yield NameCue("by", PERSON, 1.8)
    elif word == "for" and second in (
        "left",
        "leave",
        "leaves",
        "bound",
        "departed",
        "sail",
        "sailed",
        "off",
    ):
        yield NameCue("bound for", PLACE, 2.6)
    elif word == "from" and second in (
        "letter",
        "word",
        "message",
        "note",
        "news",
        "call",
        "postcard",
        "gift",
    ):
        yield NameCue("letter from", PERSON, 1.5)
    elif word in _PREPOSITIONS:
        kind, weight = _PREPOSITIONS[word]
        if word == "in" and second in ("spoke", "speaks", "speak", "said", "mutters", "muttered", "written"):
            kind, weight = OTHER, 1.5
        yield NameCue(word, kind, weight)
    elif word in ("am", "i'm", "i\u2019m") or (word == "is" and second in ("name", "this", "that")):
        yield NameCue("this is", PERSON, 2.6 if word != "is" or second == "name" else 1.2)
    elif word in ("name's", "name\u2019s", "that's", "here's"):
        yield NameCue("this is", PERSON, 1.8)
    elif word in GREETINGS or (word == "," and second in GREETINGS):
        yield NameCue("greeting", PERSON, 1.6)
    elif word == "you" and second == "thank":
        yield NameCue("greeting", PERSON, 1.6)
    elif word in (
        "reach",
        "reached",
        "reaches",
        "entered",
        "enter",
        "enters",
        "leaving",
        "approach",
        "approached",
    ):
        yield NameCue("reached", PLACE, 1.8)
    elif word in ("leave", "left", "leaves", "visit", "visited"):
        yield NameCue("left", PLACE, 1.0)
    elif word == "to" and second == "welcome":
        yield NameCue("welcome to", PLACE, 3.0)
    elif word in TOLD_PEOPLE:
        yield NameCue("told", PERSON, 1.8)
    elif word in ("thank", "praise", "bless", "damn") or (word == "by" and second in ("", "swear", "swore")):
        yield NameCue("oath", OTHER, 1.5)
    elif word in ("speak", "speaks", "spoke", "understand", "cast", "casts", "casting"):
        yield NameCue("speaks", OTHER, 2.0)


def _called(context: NameContext, word: str, second: str) -> NameCue | None:
    """Return the cue of "a dwarf called Harl", from the nearest noun before it."""
    if word == "as" and second == "known":
        word = "called"
    if word == "of" and second == "name" and context.before(3) == "the":
        word = "named"
    if word == "is" and second == "name":
        word = "named"
    if word not in ("called", "named", "nicknamed", "christened", "one"):
        return None
    if word == "one" and second != "," and kind_of_noun(second) is None:
        return None
    for near in context.words_before(10):
        if near in ("he", "she", "him", "her", "his", "who", "whom"):
            return NameCue("called", PERSON, 3.0)
        if near == "it":
            return NameCue("called", OTHER, 0.5)
        if near in ("called", "named", "name") or near in FUNCTION_WORDS:
            continue
        kind = kind_of_noun(near)
        if kind is not None:
            return NameCue("called", kind, 3.2)
    return NameCue("called", PERSON, 0.8 if word != "one" else 0.0)


def _noun_before(context: NameContext, noun: str) -> Iterator[NameCue]:
    """Yield the cue of "my friend, Tomasz" and "a dentist, Mr. Almeida"."""
    kind = kind_of_noun(noun)
    if kind is not None:
        yield NameCue("noun before", kind, 2.6)


def _after_colon(context: NameContext) -> Iterator[NameCue]:
    """Yield the cue of "it was signed: Linnea" and "the last of the three towns: Varn"."""
    for steps in range(2, 12):
        word = context.before(steps)
        if word in ("", "."):
            return
        if word in ("signed", "signs", "sign", "name", "names", "spelled"):
            yield NameCue("signed", PERSON, 2.4)
            return
        kind = kind_of_noun(word, workers=False)
        if kind is not None:
            yield NameCue("noun before", kind, 1.8)
            return


def _after_to(context: NameContext) -> Iterator[NameCue]:
    if context.before(2) == "welcome":
        yield NameCue("welcome to", PLACE, 3.0)
        return
    if context.is_name_before(2) and context.before(3) == "from":
        yield NameCue("from to", PLACE, 2.4)
        return
    for number, word in enumerate(list(context.words_before(5))[1:]):
        if word in GIVEN_TO and number <= 3:
            yield NameCue("given to", PERSON, 2.0)
            return
        if word in MOTION_WORDS or word in _ALONG:
            yield NameCue("way to", PLACE, 2.2)
            return
        if word in _OWNERS and number == 0:
            break
    yield NameCue("to", PLACE, 0.5)


def _after_of(noun: str) -> Iterator[NameCue]:
    if noun in TOWN_PARTS or noun in ("north", "south", "east", "west", "heart"):
        yield NameCue("part of", PLACE, 2.4)
    elif noun in _PLACES:
        yield NameCue("part of", PLACE, 2.6)
    elif noun in KIN:
        yield NameCue("kin of", PERSON, 2.4)
    elif noun in ROLES and noun not in ("daughter", "son"):
        yield NameCue("office of", PLACE, 0.8)
    elif noun in (
        "afraid",
        "front",
        "instead",
        "ahead",
        "because",
        "thinking",
        "thought",
        "fond",
        "proud",
        "sick",
    ):
        yield NameCue("of", PERSON, 1.0)
    elif noun in OWN_PARTS or noun in ("rest", "sight", "picture", "portrait", "care", "memory"):
        yield NameCue("of", PERSON, 0.8)


def _after(context: NameContext) -> Iterator[NameCue]:
    word, second = context.after(), context.after(2)
    if context.owns:
        if word in TOWN_PARTS:
            yield NameCue("town part", PLACE, 1.8)
        elif word in OWN_PARTS or word in KIN or second in OWN_PARTS:
            yield NameCue("own part", PERSON, 1.8)
        else:
            yield NameCue("owns", PERSON, 0.7)
        return
    if word in ("who", "whom", "whose", "himself", "herself") or (
        word == "," and second in ("who", "whom", "whose")
    ):
        yield NameCue("who", PERSON, 2.8)
    elif word == "where" or (word == "," and second == "where"):
        yield NameCue("where", PLACE, 2.8)
    elif word == "," and context.is_word_after(2):
        yield from _apposition(context)
    elif word in ("is", "was", "'s"):
        yield from _copula(context)
    elif word in _HELPERS:
        yield NameCue("helper", PERSON, 1.2)
    elif word == "and" and second in ("i", "me", "my", "his", "her"):
        yield NameCue("and I", PERSON, 1.4)
    elif context.is_word_after() and (act := _act(context, word)):
        yield act
    elif word in TOWN_PARTS and context.is_word_after():
        yield NameCue("town part", PLACE, 1.2)
    elif word in (".", "!", "?", "", "\u201d") and context.before() == ",":
        # "Come here, Ada." calls somebody; "in Aveiro, Portugal." does not.
        yield NameCue("called upon", PERSON, 0.9)
    if (
        word == ","
        and not context.before()
        and second in ("you", "i", "we", "please", "come", "don't", "do", "what")
    ):
        yield NameCue("called upon", PERSON, 1.6)


def _act(context: NameContext, word: str) -> NameCue | None:
    """Return the cue of a verb after a name: people act, and places lie somewhere."""
    if word.endswith("ly") and context.is_word_after(2):
        word = context.after(2)
    if word in FUNCTION_WORDS or word in ("its", "as"):
        return None
    if context.before() in _PREPOSITIONS or context.before() == "to":
        return NameCue("act", PERSON, 0.3) if word in _ACTS else None
    if word in _CALM:
        return NameCue("stands", PERSON, 0.5)
    if word in _ACTS:
        is_form = word.endswith(("s", "ed")) or word in IRREGULAR_PASTS
        return NameCue("act", PERSON, 2.2 if is_form else 0.6)
    if word in IRREGULAR_PASTS or (len(word) > 4 and word.endswith("ed")):
        return NameCue("past", PERSON, 1.5)
    if (
        len(word) > 3
        and word.endswith("s")
        and not word.endswith(("ss", "us"))
        and kind_of_noun(word) is None
    ):
        return NameCue("verb", PERSON, 1.2)
    return None


def _copula(context: NameContext) -> Iterator[NameCue]:
    word = context.after(2)
    if word in _ARTICLES or word in _OWNERS:
        kind = _noun_phrase(context, 3)
        if kind is not None:
            yield NameCue("is a", kind, 3.0)
            return
    elif word in ANIMATE_STATES:
        yield NameCue("is alive", PERSON, 1.8)
    elif word.endswith("ing") and word not in FUNCTION_WORDS:
        yield NameCue("is acting", PERSON, 1.2)
    elif kind_of_noun(word) == PERSON:
        yield NameCue("is a", PERSON, 2.0)
    yield NameCue("is", PERSON, 0.3)


def _apposition(context: NameContext) -> Iterator[NameCue]:
    word = context.after(2)
    if (
        word in _ARTICLES
        or word in _OWNERS
        or word in ("old", "aged", "master", "daughter", "son", "brother")
    ):
        kind = _noun_phrase(context, 3 if word in _ARTICLES or word in _OWNERS else 2)
        if kind is not None:
            yield NameCue("a", kind, 3.0)
    elif kind_of_noun(word) == PERSON and context.after(3) in ("of", "to", "at", "in"):
        yield NameCue("a", PERSON, 3.0)
    elif word.endswith("ing") or word.endswith("ed"):
        yield NameCue("doing", PERSON, 0.5)


def _noun_phrase(context: NameContext, start: int) -> str | None:
    """Return the kind of the head of a noun phrase: "one-eyed old dwarf with a limp" is a person."""
    head, ends = "", ""
    for steps in range(start, start + _REACH + 2):
        word = context.after(steps)
        if not word or not word[0].isalpha() or word in FUNCTION_WORDS or word in ("called", "named"):
            if word in ("who", "whose", "himself", "herself"):
                return PERSON
            if word == "where":
                return PLACE
            ends = word
            break
        head = word
        if kind_of_noun(word) is not None and not context.is_word_after(steps + 1):
            break
    return kind_of_noun(head, workers=ends != "of") if head else None


def _has_article(context: NameContext, steps: int) -> bool:
    """Return whether an article or an owner opens the noun phrase that ends before this step."""
    return any(
        context.before(at) in _ARTICLES or context.before(at) in _OWNERS for at in range(steps, steps + 4)
    )
