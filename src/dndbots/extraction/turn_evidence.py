"""The evidence in a turn: which names and words it contains, and which of them are quoted.

The test is strict and looks at words alone: a fact that the turn only might state is not stated.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from dndbots.ids import fold_name as folded_name
from dndbots.text.english_words import CAPITALISED_WORDS, FUNCTION_WORDS
from dndbots.text.sentences import split_sentences
from dndbots.text.vocabulary import is_everyday
from dndbots.text.word_forms import forms_of
from dndbots.text.words import fold_word, has_unspaced, plain_marks, stem, words_of

# Function words that change the meaning of a value. All others may be added or left out.
_TELLING_WORDS = """
    no not never nobody none nothing nor neither cannot without one two three first last all every both few
    many several most least only against before after until unless
"""
_LINKING_WORDS = "of the de von van du la le al el di da and in at on under by"
_TITLE_WORDS = """
    abbess abbot admiral arcanist archmage aunt baron baroness bishop brother captain chancellor chief
    chieftain colonel commander constable corporal count countess dame deacon doctor don dr duchess duke earl
    elder emperor empress father general governor grandfather grandma grandmaster grandmother grandpa
    guildmaster headman highness inquisitor judge king lady lieutenant lord madam magister magistrate majesty
    marshal master mayor miss mister mistress mother mr mrs ms old patriarch priest priestess prince princess
    professor queen regent saint sergeant sheriff sir sister squire uncle warden warlord widow young
"""
# Families of words: a turn that states a tie between two people contains a word of its family.
_KINSHIPS = """
    brother sister twin sibling / father mother son daughter parent child / husband wife spouse marry wed
    / uncle aunt nephew niece / cousin / grandfather grandmother grandson granddaughter grandchild / friend
    befriend friendship / rival rivalry / enemy foe nemesis hate feud war / ally allied alliance / lover love
    / mentor apprentice student teacher teach master / serves servant serve service sworn / employer employ
    hire work
"""
_TELLING: Final = frozenset(_TELLING_WORDS.split())
_LINKS: Final = frozenset(_LINKING_WORDS.split())
_TITLES: Final = frozenset(_TITLE_WORDS.split())
_RELATING: Final = {
    word: family for family in (tuple(group.split()) for group in _KINSHIPS.split("/")) for word in family
}
_FIRST_PERSON = re.compile(r"(?<![\w'-])(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)(?![\w-])")
# A capitalised word right before a name, in the middle of a sentence.
_NAMED_BEFORE = re.compile(r"(?<=[a-z,] )(?P<word>[A-Z][\w'-]*\w) $")
_LONGEST_BEFORE: Final = 60
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Quoted speech. The same kind of mark opens and closes it; an open quote runs to the end of its line.
_QUOTED = re.compile(
    '"[^"\n]*(?:"|$)|\u201c[^\u201d\n]*(?:\u201d|$)|\u201e[^\u201c\u201d\n]*(?:[\u201c\u201d]|$)'
    "|\u00ab[^\u00bb\n]*(?:\u00bb|$)|\u300c[^\u300d\n]*(?:\u300d|$)|\u300e[^\u300f\n]*(?:\u300f|$)"
    r"|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w))*[.,!?\u2026]'(?!\w)",
    re.MULTILINE,
)
_SENTENCE_MARK = re.compile("[.,!?;:\u2026]")
_LONGEST_TITLE: Final = 6
_LONGEST_PHRASE: Final = 8
_DENIED = re.compile(
    r"\b(?:is|was|are|were|am|be)(?:n't|\s+not|\s+never)\b|\bno\s+longer\b|\bnot\s+(?:the|an?|my|his|her)\b",
    re.IGNORECASE,
)
_PAUSE = re.compile("[,;:\u2013\u2014]")
_TAGGED = re.compile(r",\s+(?:remember|right|you know|see|okay|\w+n't\s+\w+)\?$", re.IGNORECASE)
_REPORTED = re.compile(
    r"(?<!can )(?<!could )"
    r"\b(?:say|claim|insist|swear|boast|believe|think|suspect|suggest|tell|told|said|swore|thought)"
    r"(?:s|es|ed|ing)?\b[^.!?]{0,40}?\bthat\b"
    r"|\brumou?rs?\b|\blegends?\b|\b(?:supposed|alleged|reputed|apparent)ly\b"
    r"|\b(?:they|people|some|folk|locals|villagers)\s+(?:say|whisper|claim|believe)\b",
    re.IGNORECASE,
)


class TurnEvidence:
    """The text of a turn, split into sentences and quoted speech once."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._narrated = _QUOTED.sub(_unquoted, self._text)
        self._speech = [found.group() for found in _QUOTED.finditer(self._text) if not _is_title(found)]

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(words_of(self._text))

    @cached_property
    def _sentences(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return tuple((piece, _telling_words(piece)) for piece in _sentences_of(self._text))

    @cached_property
    def _narrated_sentences(self) -> tuple[frozenset[str], ...]:
        return tuple(map(_telling_words, _sentences_of(self._narrated)))

    @cached_property
    def _pairs(self) -> tuple[frozenset[str], ...]:
        return _neighbours([words for _, words in self._sentences])

    @cached_property
    def _narrated_pairs(self) -> tuple[frozenset[str], ...]:
        return _neighbours(self._narrated_sentences)

    @cached_property
    def in_first_person(self) -> bool:
        return _FIRST_PERSON.search(self._text) is not None

    def names(self, name: str, *, exactly: bool, narrated: bool = False, person: bool = False) -> bool:
        """Return whether the text contains a name in whole words.

        `exactly` compares case, `narrated` ignores quoted speech. The name of a `person` does not count as
        the end of a longer name.
        """
        text, wanted = self._narrated if narrated else self._text, _plain(name)
        pattern = _whole(wanted, exactly=exactly)
        found = pattern.finditer(text) if pattern is not None else ()
        return any(not (person and _ends_a_name(text, one.start())) for one in found)

    def says(self, value: str, *, narrated: bool = False) -> bool:
        """Return whether the text has all telling words of a value, near each other and as often."""
        plain, near = _plain(value), self._narrated_pairs if narrated else self._pairs
        if not any(_all_in(plain, words) for words in near):
            return False
        times = Counter(word for word in words_of(plain) if word not in FUNCTION_WORDS)
        return all(count <= max(1, self._counts[word]) for word, count in times.items())

    def relates(self, field: str, *, narrated: bool = False) -> bool:
        """Return whether the text has a word for this kind of tie. True for fields that are not ties."""
        family = _RELATING.get(field)
        return family is None or any(self.says(word, narrated=narrated) for word in family)

    def narrates(self, name: str, value: str) -> bool:
        """Return whether the DM states the value, not only somebody whom the DM quotes.

        If quoted speech contains the value, one sentence outside of it must contain both name and value.
        """
        if not any(_all_in(_plain(value), _telling_words(speech)) for speech in self._speech):
            return True
        return any(_all_in(_plain(f"{name} {value}"), words) for words in self._narrated_sentences)

    def doubt(self, value: str, *, ended: bool, reported: bool) -> str | None:
        """Return why the text does not state the value: it is asked, denied or hearsay. None if it does.

        With `ended` a denial is no objection, with `reported` hearsay is none: the proposal says so itself.
        """
        holding = [piece for piece, words in self._sentences if _all_in(_plain(value), words)]
        if not holding:
            return None
        if all(_is_asked(piece) for piece in holding):
            return "it only asks"
        if not ended and all(_is_denied(piece, _plain(value)) for piece in holding):
            return "it denies it"
        if not reported and all(_REPORTED.search(piece) for piece in holding):
            return "it is hearsay, and the proposal does not say whose"
        return None


def _is_asked(piece: str) -> bool:
    """Return whether a sentence is a question. A statement with a tag (", right?") is none."""
    asked = piece.rstrip("\"')")
    return asked.endswith("?") and _TAGGED.search(asked) is None


def _is_denied(piece: str, value: str) -> bool:
    """Return whether a denial comes before a value, with no pause between them."""
    words = [word for word in words_of(value) if word not in FUNCTION_WORDS]
    at = piece.lower().find(words[0]) if words else -1
    denials = [found for found in _DENIED.finditer(piece) if at < 0 or found.end() <= at]
    return any(at < 0 or not _PAUSE.search(piece, found.end(), at) for found in denials)


@lru_cache(maxsize=64)
def evidence_of(text: str) -> TurnEvidence:
    """Return the evidence in a text, cached."""
    return TurnEvidence(text)


def says_something(value: str, *, beyond: str = "") -> bool:
    """Return whether a value adds a telling word to the name in `beyond`."""
    return bool(_telling_words(_plain(value)) - _telling_words(_plain(beyond)))


def is_phrase(name: str) -> bool:
    """Return whether a name is short enough to be one, and not a sentence."""
    return len(name.split()) <= _LONGEST_PHRASE and len(split_sentences(f"{_plain(name)} ")) == 1


def share_supported(text: str, sources: Iterable[str]) -> float:
    """Return the share, from 0 to 1, of a text's telling words that the sources contain."""
    telling, words = _telling_words(_plain(text)), _telling_words("\n".join(map(_plain, sources)))
    return sum(_all_in(word, words) for word in telling) / max(1, len(telling))


def is_like_a_name(name: str) -> bool:
    """Return whether a text is written like a name: capitalised, and not just a title or an everyday word."""
    words = [word for word in _plain(name).split() if any(char.isalpha() for char in word)]
    telling = [word for word in words if word.lower() not in _LINKS]
    if not telling or any(_first_letter(word).islower() for word in telling):
        return False
    bare = [fold_word(word).strip(".,'") for word in telling]
    if all(word in _TITLES or word in CAPITALISED_WORDS or word in FUNCTION_WORDS for word in bare):
        return False
    if len(telling) == 1:
        shouted = len(bare[0]) > 1 and telling[0].isupper() and telling[0].lower() != telling[0]
        # No everyday word has an accent: Inês is no form of "in".
        return not shouted and not (telling[0].isascii() and is_everyday(bare[0]))
    return True


def untitled(name: str) -> str:
    """Return a name without its titles; a name made of titles alone stays as it is."""
    words = name.split()
    while len(words) > 1 and fold_word(words[0]).strip(".") in _TITLES:
        words = words[1:]
    return " ".join(words)


def is_same_name(name: str, other: str) -> bool:
    """Return whether two names are equal apart from case, spacing and marks."""
    return folded_name(_plain(name)) == folded_name(_plain(other))


def _plain(text: str) -> str:
    lines = unicodedata.normalize("NFKC", plain_marks(text)).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


def _first_letter(word: str) -> str:
    return next(char for char in word if char.isalpha())


def _neighbours(several: Sequence[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Return the words of each sentence joined with those of the next."""
    return tuple(words.union(*several[n + 1 : n + 2]) for n, words in enumerate(several))


def _sentences_of(text: str) -> Iterator[str]:
    return (piece for line in text.splitlines() for piece in split_sentences(line))


def _unquoted(quoted: re.Match[str]) -> str:
    return quoted.group() if _is_title(quoted) else "   "


def _is_title(quoted: re.Match[str]) -> bool:
    """Return whether a quotation is a name in quotation marks, not speech."""
    inside = quoted.group().strip("\"'\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f")
    return (
        not _SENTENCE_MARK.search(inside)
        and len(inside.split()) <= _LONGEST_TITLE
        and any(char.isalpha() for char in inside)
        and is_like_a_name(inside)
    )


def _whole(name: str, *, exactly: bool) -> re.Pattern[str] | None:
    """Return a pattern for the name in whole words: also in the genitive, but not inside a longer word."""
    if not name:
        return None
    before = "" if has_unspaced(name[0]) else r"(?<!\w)(?<!\w['-])"
    # A capitalised word after it makes it another person: Garth is not Garth Stonehand.
    after = "" if has_unspaced(name[-1]) else r"(?!\w)(?!-\w)(?!'(?!s\b)\w)(?!(?-i:\s[A-Z]\w))"
    spaced = r"\s+".join(map(re.escape, name.split()))
    return re.compile(f"{before}{spaced}{after}", re.NOFLAG if exactly else re.IGNORECASE)


def _ends_a_name(text: str, start: int) -> bool:
    """Return whether the word before belongs to the name: Holt is not Garth Holt, but may be Captain Holt."""
    before = _NAMED_BEFORE.search(text, max(0, start - _LONGEST_BEFORE), start)
    if before is None:
        return False
    word = fold_word(before.group("word"))
    return word not in _TITLES and word not in FUNCTION_WORDS and not is_everyday(word)


def _telling_words(text: str) -> frozenset[str]:
    """Return the words that carry the meaning of a text, and its numbers."""
    words = {word for word in words_of(text) if word and (word in _TELLING or word not in FUNCTION_WORDS)}
    return frozenset(words | set(_NUMBER.findall(text)))


def _all_in(value: str, words: frozenset[str]) -> bool:
    stems = _stems(words)
    return all(
        word in words or stem(word) in stems or not words.isdisjoint(forms_of(word))
        for word in _telling_words(value)
    )


@lru_cache(maxsize=512)
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if not word[0].isdigit())
