"""The map that a character has learnt so far: ways that were gone, ways that were not, and good guesses."""

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from dndbots.game.acts import Verb
from dndbots.game.table import Table

_OPPOSITES: Final = {
    "north": "south",
    "east": "west",
    "up": "down",
    "in": "out",
    "inside": "outside",
    "northeast": "southwest",
    "northwest": "southeast",
}
_BACK: Final = {**_OPPOSITES, **{there: here for here, there in _OPPOSITES.items()}}


def opened(beat: str) -> str:
    """The way that a beat says was opened."""
    what, _, where = beat.partition(":")
    return where.partition("/")[2] if what == "opened" else ""


class Chart:
    """The map as one table has it."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _named(self) -> dict[str, str]:
        """Places by what they are called; those that share a name are none."""
        found: dict[str, str] = {}
        for place in self._table.sights:
            name = self._table.names.get(place)
            if name is not None:
                key = name.casefold()
                found[key] = "" if key in found else place
        return found

    def untried(self, place: str) -> list[str]:
        """Ways out of a place that nobody was seen to take."""
        sights, known = self._table.sights.get(place), self._table.ways.get(place, {})
        return [label for label in sights.ways if label not in known] if sights is not None else []

    def guess(self, place: str, label: str) -> str | None:
        """Where an untried way most likely leads: to a place that it is named after, or back."""
        text = label.casefold()
        for name, other in self._named.items():
            if other and other != place and name in text:
                return other
        back = _BACK.get(text)
        if back is not None:
            for other, ways in self._table.ways.items():
                if ways.get(back) == place:
                    return other
        return None

    def new(self, place: str) -> list[str]:
        """Untried ways that lead to somewhere new, as far as one can tell."""
        return [label for label in self.untried(place) if self.guess(place, label) is None]

    def shut(self, place: str, label: str) -> bool:
        """Whether somebody tried to open it, and nobody saw it open."""
        tried = (place, Verb.OPEN.value, label) in self._table.tried
        return tried and not any(opened(beat) == label for beat in self._table.beats)

    def ways(self, place: str) -> dict[str, str]:
        """Ways that can be planned with, and where they lead."""
        sights = self._table.sights.get(place)
        known = self._table.ways.get(place, {})
        found = {label: to for label, to in known.items() if sights is None or label in sights.ways}
        for label in self.untried(place):
            to = self.guess(place, label)
            if to is not None and not self.shut(place, label):
                found[label] = to
        return found

    def reach(self, start: str) -> Iterator[tuple[str, str | None]]:
        """Every place that can be reached, the nearest first, each with the first way to take."""
        seen, queue = {start}, deque[tuple[str, str | None]]([(start, None)])
        while queue:
            place, first = queue.popleft()
            yield place, first
            for label, to in self.ways(place).items():
                if to not in seen:
                    seen.add(to)
                    queue.append((to, first or label))
