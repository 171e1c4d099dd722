"""What a module has, by kind, for the checks that look whether a key names something."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from dndbots.game.adventures import values
from dndbots.game.adventures.reading import Path
from dndbots.game.adventures.values import Module, Value
from dndbots.game.adventures.wording import meant

# Where something is wrong, and why.
Found = tuple[Path, str]


def parts(value: Any, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """Every value of a module with its path, the module itself first."""
    if isinstance(value, Value):
        yield path, value
        for name, field in type(value).model_fields.items():
            held = getattr(value, name)
            if held and not isinstance(held, str | int):
                yield from parts(held, (*path, field.alias or name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from parts(inner, (*path, key))
    elif isinstance(value, tuple):
        for number, inner in enumerate(value):
            yield from parts(inner, (*path, number))


class Known:
    """The keys of a module by what they are of, and its topics.

    `also` are the keys of its text, where faults were taken out of its values: what is wrong already is not
    told again as missing.
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
    def parts(self) -> list[tuple[Path, Value]]:
        return list(parts(self.module))

    @cached_property
    def topics(self) -> set[str]:
        """What something brings up, or somebody can be asked about."""
        found = {"news"}
        for _, value in self.parts:
            found.update(getattr(value, "topics", ()))
            if isinstance(value, values.Saying):
                found.update(value.about)
        return found

    def kinds_of(self, key: str, kinds: tuple[str, ...]) -> list[str]:
        return [kind for kind in kinds if key in self._keys[kind]]

    def missing(self, path: Path, key: str, *kinds: str) -> Iterator[Found]:
        """A problem, if nothing of these kinds has the key."""
        if not self.kinds_of(key, kinds):
            known = set().union(*(self._keys[kind] for kind in kinds))
            yield path, f"there is no {' or '.join(kinds)} {key!r}{meant(key, known)}"
