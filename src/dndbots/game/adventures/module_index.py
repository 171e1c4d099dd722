"""An index of a module's keys by kind, for the checks, and suggestions for unknown words."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from dndbots.game.adventures import module
from dndbots.game.adventures.module import Module, Value
from dndbots.game.adventures.yaml_lines import Path

# A path into the module, and a reason.
Problem = tuple[Path, str]
_FEW: Final = 8


def walk_values(value: Any, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """Yield every value of a module with its path, the module itself first."""
    if isinstance(value, Value):
        yield path, value
        for name, field in type(value).model_fields.items():
            held = getattr(value, name)
            if held and not isinstance(held, str | int):
                yield from walk_values(held, (*path, field.alias or name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from walk_values(inner, (*path, key))
    elif isinstance(value, tuple):
        for number, inner in enumerate(value):
            yield from walk_values(inner, (*path, number))


class ModuleIndex:
    """The keys of a module by kind, and its topics.

    `also` holds keys of entries that were removed for other faults, so that they are not reported as missing
    again.
    """

    def __init__(self, module: Module, *, also: Mapping[str, set[str]] | None = None) -> None:
        self.module = module
        self.partial = also is not None
        self._also = also or {}

    @cached_property
    def _keys(self) -> dict[str, set[str]]:
        module = self.module
        numbers = {str(number) for number in range(1, len(module.happenings) + 1)}
        keys = {
            "place": set(module.places),
            "person": set(module.people),
            "item": set(module.items),
            "quest": set(module.quests),
            "thing": set(module.things),
            "foes": set(module.foes),
            "happening": numbers | {happening.key for happening in module.happenings},
        }
        return {kind: found | self._also.get(kind, set()) for kind, found in keys.items()}

    @cached_property
    def values(self) -> list[tuple[Path, Value]]:
        """Every value of the module with its path."""
        return list(walk_values(self.module))

    @cached_property
    def topics(self) -> set[str]:
        """Topics that something brings up or somebody can be asked about."""
        found = {"news"}
        for _, value in self.values:
            found.update(getattr(value, "topics", ()))
            if isinstance(value, module.Saying):
                found.update(value.about)
        return found

    def kinds_of(self, key: str, kinds: tuple[str, ...]) -> list[str]:
        """Return which of these kinds have the key."""
        return [kind for kind in kinds if key in self._keys[kind]]

    def missing(self, path: Path, key: str, *kinds: str) -> Iterator[Problem]:
        """Yield a problem if nothing of these kinds has the key."""
        if not self.kinds_of(key, kinds):
            known = set().union(*(self._keys[kind] for kind in kinds))
            yield path, f"no {' or '.join(kinds)} has the key {key!r}{suggest(key, known)}"


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the end of a reason: the nearest known word, or all of them if they are few."""
    known = sorted(set(known))
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; use one of {', '.join(known)}" if 0 < len(known) <= _FEW else ""
