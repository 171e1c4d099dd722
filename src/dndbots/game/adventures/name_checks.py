"""Checks of keys and names: unique where they must be, and no name revealed by a description."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from dndbots.game.adventures.module import Module
from dndbots.game.adventures.module_index import Problem
from dndbots.game.adventures.yaml_lines import Path

# Words before a name that are not part of it.
_TITLES: Final = frozenset(
    {"old", "young", "the", "captain", "sergeant", "lord", "lady", "sir", "dame", "king", "queen", "master"}
    | {"mistress", "mother", "father", "brother", "sister", "uncle", "aunt", "granny", "widow"}
)
_SHORTEST_NAME: Final = 3


def find_repeated_keys(module: Module) -> Iterator[Problem]:
    """Yield a problem for each key that conditions use and two values share."""
    later = (
        (foes.key, ("happenings", number, "foes", place))
        for number, happening in enumerate(module.happenings)
        for place, foes in happening.foes.items()
    )
    yield from _repeated("thing", _keys_in(module, "things"))
    yield from _repeated("foes", chain(_keys_in(module, "foes"), later))
    standing = (
        (key, ("places", place.key, "people", number))
        for place in module.places.values()
        for number, key in enumerate(place.people)
    )
    yield from _repeated("person", standing)
    happenings = enumerate(module.happenings)
    yield from _repeated("happening", ((some.key, ("happenings", number)) for number, some in happenings))
    for key in sorted(set(module.foes) & set(module.people)):
        yield (
            ("people", key),
            f"foes have the same key, so `killed {key}` could mean either; rename one of them",
        )


def check_names(module: Module) -> Iterator[Problem]:
    """Yield a problem for each name used twice, and each description that reveals a name."""
    for kind, field in (("place", "places"), ("person", "people"), ("item", "items")):
        named = getattr(module, field).values()
        yield from _repeated(kind, ((value.name, (field, value.key, "name")) for value in named))
    spoken = [name for person in module.people.values() for name in _spoken(person.name)]
    if not spoken:
        return
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, spoken))})\b")
    for path, text in _seen(module):
        if told := pattern.search(text):
            yield path, f"reveals the name {told[0]!r} at a glance; describe the person as in `seen_as`"


def _keys_in(module: Module, field: str) -> Iterator[tuple[str, Path]]:
    for place in module.places.values():
        for key in getattr(place, field):
            yield key, ("places", place.key, field, key)


def _repeated(kind: str, keys: Iterable[tuple[str, Path]]) -> Iterator[Problem]:
    """Yield a problem for each key that appears again."""
    seen: set[str] = set()
    for key, path in keys:
        if key in seen:
            yield path, f"the {kind} {key!r} appears twice in the module"
        seen.add(key)


def _spoken(name: str) -> Iterator[str]:
    """Yield a name whole, and its first word unless that is a title."""
    yield name
    first = name.split(maxsplit=1)[0]
    if len(first) >= _SHORTEST_NAME and first.casefold() not in _TITLES:
        yield first


def _seen(module: Module) -> Iterator[tuple[Path, str]]:
    """Yield every text that describes what characters see."""
    for key, person in module.people.items():
        yield ("people", key, "seen_as"), person.seen_as
    for key, place in module.places.items():
        for field in ("looks", "again", "sounds"):
            for number, text in enumerate(getattr(place, field)):
                yield ("places", key, field, number), text
        for label, way in place.exits.items():
            yield ("places", key, "exits", label), f"{label} {way.looks or ''}"
        for thing in place.things.values():
            yield ("places", key, "things", thing.key, "looks"), thing.looks
