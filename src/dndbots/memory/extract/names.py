"""Names, found by how words are spelled: with a capital where no sentence begins.

Statistics of the entries themselves; there is no list of names, and none is needed for other languages.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from dndbots.ids import folded
from dndbots.memory.entries import Entry
from dndbots.memory.extract.clean import spoken_by, visible
from dndbots.memory.extract.words import content
from dndbots.memory.wording import FUNCTION_WORDS

_CAPITAL = r"(?![a-z0-9_])[^\W\d_][\w'\u2019-]*\w"
_RUN = re.compile(rf"(?<=[\w,;] ){_CAPITAL}(?: (?:(?:of|the|de|von|van|du|la|al) )*{_CAPITAL}){{0,3}}")
_LOWER = re.compile(r"(?<![\w'\u2019-])[^\W\d_A-Z][\w'\u2019-]*\w")
_LINKS: Final = frozenset(["of", "the", "de", "von", "van", "du", "la", "al"])
_MORE_OFTEN: Final = 2  # a name is written with a capital this many times as often as without
_NARRATED: Final = 2  # what the DM names counts twice
_SEEN_TWICE: Final = 3
_SPEAKS_MUCH: Final = 100  # one in so many lines
_DECAY: Final = 0.5
_SPOKEN = re.compile(rf"(?<![\w'\u2019-]){_CAPITAL}(?: (?:of |the )*{_CAPITAL}){{0,3}}")
_READ: Final = 4_000  # characters: names of people who matter come early, or again
_MOST_SAID: Final = 40
Run = tuple[str, ...]
_Key = TypeVar("_Key", str, Run)


def names_in(entries: Iterable[Entry]) -> dict[str, str]:
    """The names in the entries, as they are written, by the form that `content` gives them."""
    return {key: name.word for key, name in Spelling(entries).names().items()}


def names_said(text: str) -> tuple[str, ...]:
    """All that may be a name in a text, folded: runs of words with capitals, and every part of them."""
    found: dict[str, None] = {}
    for run in _SPOKEN.findall(text[:_READ]):
        words = [word.removesuffix("'s").removesuffix("\u2019s") for word in run.split()]
        for first in range(len(words)):
            for last in range(len(words), first, -1):
                if words[first][0].isupper() and words[last - 1][0].isupper():
                    found[folded(" ".join(words[first:last]))] = None
        if len(found) >= _MOST_SAID:
            break
    return tuple(name for name in found if name not in FUNCTION_WORDS)[:_MOST_SAID]


def names_by_salience(entries: Iterable[Entry], *, decay: float = _DECAY) -> list[str]:
    """Names, the most salient first: by the logarithm of how often, less for each session since.

    A name that is mostly written as part of a longer one is given as the longer one, once.
    """
    sessions: dict[str, list[Entry]] = {}
    for entry in entries:
        sessions.setdefault(entry.session, []).append(entry)
    spelling = Spelling(entry for session in sessions.values() for entry in session)
    names = spelling.names()
    salience = dict.fromkeys(names, 0.0)
    for age, session in enumerate(reversed(sessions.values())):
        heard = Counter(word for entry in session for word in content(visible(entry.text)))
        for key in salience:
            salience[key] += decay**age * math.log1p(heard[key])
    ordered = sorted(salience, key=lambda key: (-salience[key], key))
    longer = spelling.longer_names()
    return each_once([longer.of(names[key]) for key in ordered])


class Name(NamedTuple):
    """A word that is a name, and how often it was written as one."""

    word: str
    times: int


class LongerNames:
    """For each word the name of several words that it stands in most often."""

    def __init__(self, runs: Iterable[tuple[Run, int]]) -> None:
        self._longest: dict[str, tuple[str, int]] = {}
        several = [item for item in runs if len(item[0]) > 1]
        for run, times in sorted(several, key=lambda item: (-item[1], item[0])):
            for word in run:
                self._longest.setdefault(word, (" ".join(run), times))

    def of(self, name: Name) -> str:
        """The longer name that this one mostly stands in, if there is one."""
        longer, times = self._longest.get(name.word, ("", 0))
        return longer if times >= _SEEN_TWICE and 2 * times >= name.times else name.word


class Spelling:
    """How often words are written with a capital inside a sentence, and how often without.

    Counts, which can be added and taken away again. `said_in` has the newest event for each word and run.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.runs: dict[Run, int] = {}
        self.plain: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.said_in: dict[Run, str] = {}
        for entry in entries:
            self.count(entry)

    def count(self, entry: Entry) -> None:
        """Add what one entry writes."""
        spelled = spelling_of(entry)
        weight = _NARRATED if entry.narrated else 1
        _tally(self.runs, spelled.runs, weight)
        _tally(self.plain, spelled.plain, weight)
        _tally(self.speakers, ((entry.who, 1),), 1)
        for word in words_of_name(entry.who):
            self.said_in[(word,)] = entry.event_id
        for run, _ in spelled.runs:
            self.said_in[run] = entry.event_id
            for word in run if len(run) > 1 else ():
                self.said_in[(word,)] = entry.event_id

    def add(self, other: "Spelling", sign: int = 1) -> None:
        """Together with other counts, which were made later; or without them, for a sign of -1."""
        _tally(self.runs, other.runs.items(), sign)
        _tally(self.plain, other.plain.items(), sign)
        _tally(self.speakers, other.speakers.items(), sign)
        if sign > 0:
            self.said_in.update(other.said_in)

    def speaking(self) -> set[str]:
        """The words of the names of those who speak much, by the form that `content` gives them."""
        least = sum(self.speakers.values()) / _SPEAKS_MUCH
        much = (who for who, times in self.speakers.items() if times >= least)
        return {key for who in much for key in content(spoken_by(who))}

    def longer_names(self) -> LongerNames:
        return LongerNames(self.runs.items())

    def names(self) -> dict[str, Name]:
        """The words that are names, by the form that `content` gives them, the commonest first."""
        capital: dict[str, int] = {}
        for run, times in self.runs.items():
            for word in run:
                if word not in _LINKS:
                    capital[word] = capital.get(word, 0) + times
        found: dict[str, Name] = {}
        for word, times in sorted(capital.items(), key=lambda item: (-item[1], item[0])):
            keys = _keys(word)
            if len(keys) == 1 and len(word) > 1 and times > _MORE_OFTEN * self.plain.get(keys[0], 0):
                found.setdefault(keys[0], Name(word, times))
        for word in (word for who in sorted(self.speakers) for word in words_of_name(who)):
            for key in _keys(word)[:1]:
                found.setdefault(key, Name(word, 1))
        return found


class Spelled(NamedTuple):
    """What one entry writes: runs of capitalised words, and words without a capital."""

    runs: tuple[tuple[Run, int], ...]
    plain: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1 << 12)
def spelling_of(entry: Entry) -> Spelled:
    runs: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for text in map(visible, (entry.text, *entry.outcomes)):
        runs.update(run for run in _RUN.findall(text) if run[0].isupper())
        plain.update(key for word in _LOWER.findall(text) for key in _keys(word))
    return Spelled(tuple(_bare_runs(runs).items()), tuple(plain.items()))


def words_of_name(who: str) -> list[str]:
    """The words of a speaker's name that are written like names."""
    return [word for word in spoken_by(who).split() if word[0].isupper()]


@lru_cache(maxsize=1 << 16)
def _keys(word: str) -> tuple[str, ...]:
    return content(word)


def _tally(counts: dict[_Key, int], more: Iterable[tuple[_Key, int]], sign: int) -> None:
    for key, times in more:
        total = counts.get(key, 0) + sign * times
        if total:
            counts[key] = total
        else:
            counts.pop(key, None)


def _bare_runs(runs: Counter[str]) -> Counter[tuple[str, ...]]:
    """Runs of capitalised words without possessives; one ends where its word has one."""
    bare: Counter[tuple[str, ...]] = Counter()
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


def each_once(names: list[str]) -> list[str]:
    """A single word that is part of a longer name in the list gives way to it."""
    within: dict[str, str] = {}
    for name in names:
        if " " in name:
            for word in name.split():
                within.setdefault(word, name)
    return list(dict.fromkeys(within.get(name, name) for name in names))
