"""The lines of names: who and what came up, the most salient first, each with an event that says it."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from dndbots.memory.extract.names import Name, Spelling, each_once
from dndbots.memory.story.past import Past
from dndbots.memory.story.values import Told
from dndbots.tokens import count_many

_DECAY: Final = 0.5
_MOST: Final = 400


class Names:
    """Names of one moment, ordered once; as many of them are told as there is room for."""

    def __init__(self, salience: Mapping[str, float], names: Mapping[str, Name], spelling: Spelling) -> None:
        ordered = sorted(salience, key=lambda key: (-salience[key], key))[:_MOST]
        longer = spelling.longer_names()
        self._words = [names[key].word for key in ordered]
        self._names = each_once([longer.of(names[key]) for key in ordered])
        self._said_in = spelling.said_in

    def told(
        self, opening: str, tokens: int, encoding: str, *, whole: bool, without: Iterable[str] = ()
    ) -> tuple[list[str], Told | None]:
        """The names that fit on a line with its newline, and the line; none where none fits.

        `whole` names of several words are more pleasant to read, the words of names are more of them.
        """
        known = {word for name in without for word in name.split()}
        left = [
            name for name in (self._names if whole else self._words) if not known.issuperset(name.split())
        ]
        costs = count_many([f" {name}," for name in left], encoding)
        used, taken = count_many([f"{opening}:\n"], encoding)[0], []
        for name, cost in zip(left, costs, strict=True):
            if used + cost > tokens:
                break
            used += cost
            taken.append(name)
        while taken and count_many([f"{opening}: {', '.join(taken)}.\n"], encoding)[0] > tokens:
            taken.pop()
        if not taken:
            return [], None
        sources = dict.fromkeys(filter(None, (self._said_in.get(tuple(name.split()), "") for name in taken)))
        return taken, Told(f"{opening}: {', '.join(taken)}.", tuple(sources), "names", "came up most often")


def names_before(past: Past) -> Names:
    """The names of all runs before the newest."""
    return Names(_faded(past, past.names), past.names, past.base.spelling)


def names_now(past: Past, spelling: Spelling, names: Mapping[str, Name]) -> Names:
    """The names of all runs, the newest first of all."""
    salience = _faded(past, names)
    for key, name in names.items():
        before = past.names.get(key)
        salience[key] += math.log1p(max(0, name.times - (before.times if before else 0)))
    return Names(salience, names, spelling)


def _faded(past: Past, names: Mapping[str, Name]) -> dict[str, float]:
    salience = dict.fromkeys(names, 0.0)
    for age, heard in past.heard:
        for key, times in heard.items():
            if key in salience:
                salience[key] += _DECAY**age * math.log1p(times)
    return salience
