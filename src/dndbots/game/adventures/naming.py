"""Keys and names of a module: none twice where one must do, and nobody's name told by a look at a place."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from dndbots.game.adventures.known import Found
from dndbots.game.adventures.reading import Path
from dndbots.game.adventures.values import Module

# What may stand before a name without being one.
_TITLES: Final = frozenset(
    {"old", "young", "the", "captain", "sergeant", "lord", "lady", "sir", "dame", "king", "queen", "master"}
    | {"mistress", "mother", "father", "brother", "sister", "uncle", "aunt", "granny", "widow"}
)
_SHORTEST_NAME: Final = 3


def twice(module: Module) -> Iterator[Found]:
    """Keys that conditions name stand for one thing, and a person stands in one place."""
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
        yield ("people", key), f"the foes {key!r} have the same key; `killed {key}` could be either"


def names(module: Module) -> Iterator[Found]:
    """No two of a kind have one name, and what the eye alone tells has no name of a person."""
    for kind, field in (("place", "places"), ("person", "people"), ("item", "items")):
        named = getattr(module, field).values()
        yield from _repeated(kind, ((value.name, (field, value.key, "name")) for value in named))
    spoken = [name for person in module.people.values() for name in _spoken(person.name)]
    if not spoken:
        return
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, spoken))})\b")
    for path, text in _seen(module):
        if told := pattern.search(text):
            yield path, f"the name {told[0]!r} would be known at a glance; use what the person is seen as"


def _keys_in(module: Module, field: str) -> Iterator[tuple[str, Path]]:
    for place in module.places.values():
        for key in getattr(place, field):
            yield key, ("places", place.key, field, key)


def _repeated(kind: str, keys: Iterable[tuple[str, Path]]) -> Iterator[Found]:
    seen: set[str] = set()
    for key, path in keys:
        if key in seen:
            yield path, f"the {kind} {key!r} is there already, elsewhere in the module"
        seen.add(key)


def _spoken(name: str) -> Iterator[str]:
    """A name as it may stand in a text: whole, and its first word unless that is a title."""
    yield name
    first = name.split(maxsplit=1)[0]
    if len(first) >= _SHORTEST_NAME and first.casefold() not in _TITLES:
        yield first


def _seen(module: Module) -> Iterator[tuple[Path, str]]:
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
