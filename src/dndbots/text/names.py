"""Names in a text, found by their capitals where no sentence begins.

The spelling of the entries themselves decides; there is no list of names, so it works in other languages.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar

from dndbots.ids import fold_name
from dndbots.text.clean import drop_hidden
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.labels import short_label
from dndbots.text.words import WORD, content_stems, plain_marks

_CAPITAL = r"(?![a-z0-9_])[^\W\d_][\w'\u2019-]*\w"
_RUN = re.compile(rf"(?<=[\w,;] ){_CAPITAL}(?: (?:(?:of|the|de|von|van|du|la|al) )*{_CAPITAL}){{0,3}}")
_LOWER = re.compile(r"(?<![\w'\u2019-])[^\W\d_A-Z][\w'\u2019-]*\w")
_LINKS: Final = frozenset(["of", "the", "de", "von", "van", "du", "la", "al"])
# Between the end of one sentence and the first word of the next.
_SENTENCE_START = re.compile(
    r"""(?:^|[.!?\u2026:;\u3002\uff01\uff1f])["'\u2018\u201c\u201d\u00ab\u00bb()\[\]\s\u2013\u2014-]*$"""
)
_NEAR: Final = 12
_MORE_OFTEN: Final = 2  # a name is written with a capital this many times as often as without
_NARRATED: Final = 2  # a name in the DM's telling counts twice
_SEEN_TWICE: Final = 3
_SPEAKS_MUCH: Final = 100  # one in so many lines
_DECAY: Final = 0.5
_ANYWHERE = re.compile(rf"(?<![\w'\u2019-]){_CAPITAL}(?: (?:of |the )*{_CAPITAL}){{0,3}}")
_READ: Final = 4_000  # characters: names of people who matter come early, or again
_MOST_POSSIBLE: Final = 40
Run = tuple[str, ...]
_Key = TypeVar("_Key", str, Run)


class Utterance(Protocol):
    """Something said or told: its text, the speaker's name, its event and session, and its outcomes."""

    @property
    def text(self) -> str: ...
    @property
    def who(self) -> str: ...
    @property
    def event_id(self) -> str: ...
    @property
    def session(self) -> str: ...
    @property
    def narrated(self) -> bool: ...
    @property
    def outcomes(self) -> tuple[str, ...]: ...
    def __hash__(self) -> int: ...


# Names in one text


def possible_names(text: str) -> tuple[str, ...]:
    """Return everything in a text that may be a name, folded: runs of capitalised words, and their parts."""
    names: dict[str, None] = {}
    for run in _ANYWHERE.findall(text[:_READ]):
        words = [word.removesuffix("'s").removesuffix("\u2019s") for word in run.split()]
        for first in range(len(words)):
            for last in range(len(words), first, -1):
                if words[first][0].isupper() and words[last - 1][0].isupper():
                    names[fold_name(" ".join(words[first:last]))] = None
        if len(names) >= _MOST_POSSIBLE:
            break
    return tuple(name for name in names if name not in FUNCTION_WORDS)[:_MOST_POSSIBLE]


def capitalised_words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word with a capital, and True if that says nothing: it opens a sentence, or shouts."""
    plain = unicodedata.normalize("NFKC", plain_marks(text))
    for match in WORD.finditer(plain):
        word = match.group()
        if any(part[0].isupper() for part in re.split("['-]", word)):
            opening = _SENTENCE_START.search(plain, max(0, match.start() - _NEAR), match.start())
            yield word, bool(opening) or word.isupper()


# Names in many


def names_in(entries: Iterable[Utterance]) -> dict[str, str]:
    """Return the names in the entries as they are written, by their stem."""
    return {key: name.word for key, name in Spelling(entries).names().items()}


def names_by_salience(entries: Iterable[Utterance], *, decay: float = _DECAY) -> list[str]:
    """Return names, the most salient first: by the logarithm of how often, less for each session since.

    A name that mostly occurs as part of a longer one is returned as the longer one, once.
    """
    sessions: dict[str, list[Utterance]] = {}
    for entry in entries:
        sessions.setdefault(entry.session, []).append(entry)
    spelling = Spelling(entry for session in sessions.values() for entry in session)
    names = spelling.names()
    salience = dict.fromkeys(names, 0.0)
    for age, session in enumerate(reversed(sessions.values())):
        heard = Counter(stem for entry in session for stem in content_stems(drop_hidden(entry.text)))
        for key in salience:
            salience[key] += decay**age * math.log1p(heard[key])
    ordered = sorted(salience, key=lambda key: (-salience[key], key))
    longer = spelling.longer_names()
    return _prefer_longer([longer.of(names[key]) for key in ordered])


def _prefer_longer(names: list[str]) -> list[str]:
    """Return the names, each word that is part of a longer name in the list replaced by that name."""
    within: dict[str, str] = {}
    for name in names:
        if " " in name:
            for word in name.split():
                within.setdefault(word, name)
    return list(dict.fromkeys(within.get(name, name) for name in names))


class Name(NamedTuple):
    """A word that is a name, and how often it was written as one."""

    word: str
    times: int


class LongerNames:
    """For each word, the name of several words that it is part of most often."""

    def __init__(self, runs: Iterable[tuple[Run, int]]) -> None:
        self._longest: dict[str, tuple[str, int]] = {}
        several = [item for item in runs if len(item[0]) > 1]
        for run, times in sorted(several, key=lambda item: (-item[1], item[0])):
            for word in run:
                self._longest.setdefault(word, (" ".join(run), times))

    def of(self, name: Name) -> str:
        """Return the longer name that this one is mostly part of, or else the name itself."""
        longer, times = self._longest.get(name.word, ("", 0))
        return longer if times >= _SEEN_TWICE and 2 * times >= name.times else name.word


class Spelling:
    """Counts of words with a capital inside a sentence, of words without, and of speakers.

    Counts can be added and taken away again. `said_in` has the newest event for each word and run.
    """

    def __init__(self, entries: Iterable[Utterance] = ()) -> None:
        self.runs: dict[Run, int] = {}
        self.plain: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.said_in: dict[Run, str] = {}
        for entry in entries:
            self.count(entry)

    def count(self, entry: Utterance) -> None:
        """Add the words of one entry."""
        spelled = _spelling_of(entry)
        weight = _NARRATED if entry.narrated else 1
        _add_counts(self.runs, spelled.runs, weight)
        _add_counts(self.plain, spelled.plain, weight)
        _add_counts(self.speakers, ((entry.who, 1),), 1)
        for word in _words_of_speaker(entry.who):
            self.said_in[(word,)] = entry.event_id
        for run, _ in spelled.runs:
            self.said_in[run] = entry.event_id
            for word in run if len(run) > 1 else ():
                self.said_in[(word,)] = entry.event_id

    def add(self, other: "Spelling", sign: int = 1) -> None:
        """Add other counts, which were made later; with a sign of -1, take them away."""
        _add_counts(self.runs, other.runs.items(), sign)
        _add_counts(self.plain, other.plain.items(), sign)
        _add_counts(self.speakers, other.speakers.items(), sign)
        if sign > 0:
            self.said_in.update(other.said_in)

    def frequent_speakers(self) -> set[str]:
        """Return the stems of the names of those who speak much."""
        least = sum(self.speakers.values()) / _SPEAKS_MUCH
        frequent = (who for who, times in self.speakers.items() if times >= least)
        return {key for who in frequent for key in content_stems(short_label(who))}

    def longer_names(self) -> LongerNames:
        """Return the names of several words that were counted."""
        return LongerNames(self.runs.items())

    def names(self) -> dict[str, Name]:
        """Return the words that are names, by their stem, the commonest first."""
        capital: dict[str, int] = {}
        for run, times in self.runs.items():
            for word in run:
                if word not in _LINKS:
                    capital[word] = capital.get(word, 0) + times
        names: dict[str, Name] = {}
        for word, times in sorted(capital.items(), key=lambda item: (-item[1], item[0])):
            keys = _stems_of_word(word)
            if len(keys) == 1 and len(word) > 1 and times > _MORE_OFTEN * self.plain.get(keys[0], 0):
                names.setdefault(keys[0], Name(word, times))
        for word in (word for who in sorted(self.speakers) for word in _words_of_speaker(who)):
            for key in _stems_of_word(word)[:1]:
                names.setdefault(key, Name(word, 1))
        return names


class _EntrySpelling(NamedTuple):
    """The runs of capitalised words in one entry, and its words without a capital, with their counts."""

    runs: tuple[tuple[Run, int], ...]
    plain: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1 << 13)
def _spelling_of(entry: Utterance) -> _EntrySpelling:
    runs: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for text in map(drop_hidden, (entry.text, *entry.outcomes)):
        runs.update(run for run in _RUN.findall(text) if run[0].isupper())
        plain.update(key for word in _LOWER.findall(text) for key in _stems_of_word(word))
    return _EntrySpelling(tuple(_drop_possessives(runs).items()), tuple(plain.items()))


def _words_of_speaker(who: str) -> list[str]:
    """Return the words of a speaker's name that are written like names."""
    return [word for word in short_label(who).split() if word[0].isupper()]


@lru_cache(maxsize=1 << 16)
def _stems_of_word(word: str) -> tuple[str, ...]:
    return content_stems(word)


def _add_counts(counts: dict[_Key, int], more: Iterable[tuple[_Key, int]], sign: int) -> None:
    for key, times in more:
        total = counts.get(key, 0) + sign * times
        if total:
            counts[key] = total
        else:
            counts.pop(key, None)


def _drop_possessives(runs: Counter[str]) -> Counter[Run]:
    """Return runs of capitalised words without possessives; a run ends at a word that has one."""
    bare: Counter[Run] = Counter()
    for run, times in runs.items():
        words: list[str] = []
        for word in run.split():
            if word[0].isupper() or word in _LINKS:
                words.append(word.removesuffix("'s").removesuffix("\u2019s").rstrip("'\u2019-"))
            if word not in _LINKS and words and words[-1] != word:
                bare[tuple(words)] += times
                words = []
        if words:
            bare[tuple(words)] += times
    return bare
