"""The lines of names: who and what came up, the most salient first, each with an event that says it."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from dndbots.memory.extract.names import Name, Spelling
from dndbots.memory.extract.words import content
from dndbots.memory.story.past import Past
from dndbots.memory.story.values import Told
from dndbots.tokens import count_many

_MOST: Final = 400
_NO_NAMES = (
    "mr mrs ms dr st monday tuesday wednesday thursday friday saturday sunday january february march april "
    "may june july august september october november december"
)
_NONE: Final = frozenset(_NO_NAMES.split())


class Names:
    """Names of one moment, ordered once; as many of them are told as there is room for."""

    def __init__(self, salience: Mapping[str, float], names: Mapping[str, Name], spelling: Spelling) -> None:
        speaking = spelling.speaking()
        worth = [key for key in salience if key not in speaking and not _is_none(names[key].word)]
        worth.sort(key=lambda key: (-salience[key], key))
        self._names = {key: names[key] for key in worth[:_MOST]}
        self._longer = spelling.longer_names()
        self._said_in = spelling.said_in

    def told(self, opening: str, tokens: int, encoding: str, *, without: Iterable[str] = ()) -> Told | None:
        """A line of the names that fit, with its newline; none where none fits.

        `without` are the words of names that need not be told.
        """
        names = self._each_once(set(without))
        costs = count_many([f" {name}," for name in names], encoding)
        used, taken = count_many([f"{opening}:\n"], encoding)[0], []
        for name, cost in zip(names, costs, strict=True):
            if used + cost > tokens:
                break
            used += cost
            taken.append(name)
        while taken and count_many([f"{opening}: {', '.join(taken)}.\n"], encoding)[0] > tokens:
            taken.pop()
        if not taken:
            return None
        sources = dict.fromkeys(filter(None, (self._said_in.get(tuple(name.split()), "") for name in taken)))
        return Told(f"{opening}: {', '.join(taken)}.", tuple(sources), "names", "came up most often")

    def _each_once(self, known: set[str]) -> list[str]:
        """The names that say anything new.

        A name of several words is told as a whole where its words go together and none of them is known.
        """
        found = []
        for key, name in self._names.items():
            if key in known:
                continue
            longer = self._longer.of(name)
            keys = content(longer)
            whole = longer != name.word and all(k in self._names and k not in known for k in keys)
            found.append(longer if whole else name.word)
            known.update(keys if whole else (key,))
        return found


def _is_none(word: str) -> bool:
    """Abbreviations, titles and days are written like names."""
    return word.isupper() or word.rstrip(".").casefold().removesuffix("s") in _NONE


def names_now(past: Past, spelling: Spelling, names: Mapping[str, Name]) -> Names:
    """The names of all runs, the newest first of all."""
    salience: dict[str, float] = {}
    for key, name in names.items():
        before = past.names.get(key)
        new = max(0, name.times - (before.times if before else 0))
        salience[key] = past.heard.get(key, 0.0) + math.log1p(new)
    return Names(salience, names, spelling)
