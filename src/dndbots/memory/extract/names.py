"""Names, found by how words are spelled: with a capital where no sentence begins.

Statistics of the entries themselves; there is no list of names, and none is needed for other languages.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from dndbots.memory.entries import Entry
from dndbots.memory.extract.clean import spoken_by, visible
from dndbots.memory.extract.words import content

_CAPITAL = r"(?![a-z0-9_])[^\W\d_][\w'\u2019-]*\w"
_RUN = re.compile(rf"(?<=[\w,;] ){_CAPITAL}(?: (?:(?:of|the|de|von|van|du|la|al) )*{_CAPITAL}){{0,3}}")
_LOWER = re.compile(r"(?<![\w'\u2019-])[^\W\d_A-Z][\w'\u2019-]*\w")
_LINKS: Final = frozenset(["of", "the", "de", "von", "van", "du", "la", "al"])
_MORE_OFTEN: Final = 4  # a name is written with a capital this many times as often as without
_SEEN_TWICE: Final = 2
_DECAY: Final = 0.5


def names_in(entries: Iterable[Entry]) -> dict[str, str]:
    """The names in the entries, as they are written, by the form that `content` gives them."""
    return {key: name.word for key, name in _Spelling(entries).names.items()}


def names_by_salience(entries: Iterable[Entry], *, decay: float = _DECAY) -> list[str]:
    """Names, the most salient first: by the logarithm of how often, less for each session since.

    A name that is mostly written as part of a longer one is given as the longer one, once.
    """
    sessions: dict[str, list[Entry]] = {}
    for entry in entries:
        sessions.setdefault(entry.session, []).append(entry)
    spelling = _Spelling(entry for session in sessions.values() for entry in session)
    salience = dict.fromkeys(spelling.names, 0.0)
    for age, session in enumerate(reversed(sessions.values())):
        heard = Counter(word for entry in session for word in content(visible(entry.text)))
        for key in salience:
            salience[key] += decay**age * math.log1p(heard[key])
    ordered = sorted(salience, key=lambda key: (-salience[key], key))
    return _each_once([spelling.whole(spelling.names[key]) for key in ordered])


class _Name(NamedTuple):
    word: str
    times: int


class _Spelling:
    """How often each word is written with a capital inside a sentence, and how often without."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        runs: Counter[str] = Counter()
        lower: Counter[str] = Counter()
        speakers: dict[str, None] = {}
        for entry in entries:
            for text in map(visible, (entry.text, *entry.outcomes)):
                runs.update(run for run in _RUN.findall(text) if run[0].isupper())
                lower.update(_LOWER.findall(text))
            speakers.setdefault(entry.who)
        self._runs = _bare_runs(runs)
        self._longest = self._longer_names()
        self.names = self._found(lower, speakers)

    def whole(self, name: _Name) -> str:
        """The longer name that this one mostly stands in, if there is one."""
        longer, times = self._longest.get(name.word, ("", 0))
        return longer if times >= _SEEN_TWICE and 2 * times >= name.times else name.word

    def _found(self, lower: Counter[str], speakers: Iterable[str]) -> dict[str, _Name]:
        capital: Counter[str] = Counter()
        for run, times in self._runs.items():
            for word in run:
                if word not in _LINKS:
                    capital[word] += times
        plain: Counter[str] = Counter()
        for word, times in lower.items():
            for key in content(word):
                plain[key] += times
        found: dict[str, _Name] = {}
        for word, times in sorted(capital.items(), key=lambda item: (-item[1], item[0])):
            keys = content(word)
            if len(keys) == 1 and len(word) > 1 and times > _MORE_OFTEN * plain[keys[0]]:
                found.setdefault(keys[0], _Name(word, times))
        for word in (word for who in speakers for word in spoken_by(who).split() if word[0].isupper()):
            for key in content(word)[:1]:
                found.setdefault(key, _Name(word, 1))
        return found

    def _longer_names(self) -> dict[str, tuple[str, int]]:
        """For each word the name of several words that it stands in most often."""
        longest: dict[str, tuple[str, int]] = {}
        for run, times in sorted(self._runs.items(), key=lambda item: (-item[1], item[0])):
            for word in run if len(run) > 1 else ():
                longest.setdefault(word, (" ".join(run), times))
        return longest


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


def _each_once(names: list[str]) -> list[str]:
    """A single word that is part of a longer name in the list gives way to it."""
    within: dict[str, str] = {}
    for name in names:
        if " " in name:
            for word in name.split():
                within.setdefault(word, name)
    return list(dict.fromkeys(within.get(name, name) for name in names))
