"""What one value cannot see of itself: whether keys point at something and dice can be rolled.

Each problem is a path into the module and a reason. Nothing is raised here, so that all is told at once.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from dndbots.canon.states import REFUSED, is_over
from dndbots.errors import InvalidDice, UnknownMonster
from dndbots.game.adventures import naming, values
from dndbots.game.adventures.asking import unanswerable
from dndbots.game.adventures.known import Found, Known
from dndbots.game.adventures.reading import Path
from dndbots.game.adventures.values import Module, Value
from dndbots.game.adventures.wording import meant
from dndbots.rules import dice, monsters

# Which fields hold keys, and of what.
_REFERS: Final = {
    (values.Module, "start"): "place",
    (values.Exit, "to"): "place",
    (values.Exit, "locked"): "item",
    (values.Thing, "items"): "item",
    (values.Place, "people"): "person",
    (values.Foes, "items"): "item",
    (values.Foes, "leader"): "person",
    (values.Quest, "giver"): "person",
    (values.Reward, "items"): "item",
    (values.Ending, "by"): "person",
    (values.Ending, "at"): "place",
    (values.Happening, "at"): "place",
}
# Which fields hold dice, and what they may come to.
_ROLLS: Final = {
    (values.Foes, "number"): (1, 500),
    (values.Wanderers, "number"): (1, 500),
    (values.Trap, "damage"): (0, 10_000),
}
# Far more than anybody writes; what is reachable takes longer to find out the more there is.
_MOST_PARTS: Final = 5_000
_FACTS_ARE_OF: Final = ("person", "place", "item", "foes", "quest")


def problems(module: Module, *, also: Mapping[str, set[str]] | None = None) -> Iterator[Found]:
    """Keys name something, conditions can be answered, dice be rolled, and no name is told early."""
    known = Known(module, also=also)
    if len(known.parts) > _MOST_PARTS:
        yield (), f"a module has at most {_MOST_PARTS:,} places, people, things and so on; make two of it"
        return
    for path, value in known.parts:
        yield from _fields(path, value, known)
        yield from _conditions(path, value, known)
        yield from _special(path, value, known)
    for place in module.places.values():
        yield from _ways_back(place, module)
    yield from naming.twice(module)
    yield from naming.names(module)


def _fields(path: Path, value: Value, known: Known) -> Iterator[Found]:
    for name in type(value).model_fields:
        held = getattr(value, name)
        kind = _REFERS.get((type(value), name))
        if kind and isinstance(held, tuple):
            for number, key in enumerate(held):
                yield from known.missing((*path, name, number), key, kind)
        elif kind and held is not None:
            yield from known.missing((*path, name), held, kind)
        limits = _ROLLS.get((type(value), name))
        if limits:
            yield from _rolled((*path, name), held, *limits)


def _conditions(path: Path, value: Value, known: Known) -> Iterator[Found]:
    for name in ("when", "begins"):
        condition = getattr(value, name, None)
        by_itself = isinstance(value, values.Quest) and condition == f"met {value.giver}"
        if isinstance(condition, str) and not by_itself:
            yield from unanswerable((*path, name), condition, known)


def _special(path: Path, value: Value, known: Known) -> Iterator[Found]:
    match value:
        case values.Foes():
            yield from _monster((*path, "monster"), value.monster)
            yield from _guards(path, value, known.module)
        case values.Wanderers():
            yield from _monster((*path, "monster"), value.monster)
        case values.Fact():
            yield from _fact((*path, "about"), value.about, known)
        case values.Happening():
            yield from _happening(path, value, known)
        case values.Ending() if value.state == REFUSED or not is_over(value.state):
            yield (*path, "state"), f"{value.state!r} is no end; say completed, failed, or a word of yours"
        case values.Module():
            lowest, highest = value.level_range
            if not 1 <= lowest <= highest:
                yield (*path, "levels"), f"{value.levels!r} must go from the lower level to the higher"
        case _:
            pass


def _rolled(path: Path, expression: str, least: int, most: int) -> Iterator[Found]:
    try:
        low, high = dice.bounds(expression)
    except InvalidDice as exc:
        yield path, str(exc)
        return
    if low < least or high > most:
        yield path, f"{expression!r} comes to {low} to {high}; it must be between {least} and {most}"


def _monster(path: Path, name: str) -> Iterator[Found]:
    try:
        monsters.monster(name)
    except UnknownMonster as exc:
        known = {one.casefold(): one for one in exc.known}
        yield path, f"the rules have no monster {name!r}{meant(name.casefold(), known)}"


def _guards(path: Path, foes: values.Foes, module: Module) -> Iterator[Found]:
    """What is guarded is a thing or a way of the place where they stand."""
    place = module.places.get(str(path[1] if path[0] == "places" else path[-1]))
    if place is None:
        return
    there = {*place.things, *module.ways[place.key]}
    for number, guarded in enumerate(foes.guards):
        if guarded not in there:
            reason = f"there is no thing or exit {guarded!r} in {place.key!r}{meant(guarded, there)}"
            yield (*path, "guards", number), reason


def _fact(path: Path, key: str, known: Known) -> Iterator[Found]:
    yield from known.missing(path, key, *_FACTS_ARE_OF)
    having = known.kinds_of(key, _FACTS_ARE_OF)
    if len(having) > 1:
        yield path, f"{key!r} is the key of a {' and of a '.join(having)}; give one of them another"


def _happening(path: Path, happening: values.Happening, known: Known) -> Iterator[Found]:
    for who, place in happening.moves.items():
        yield from known.missing((*path, "moves", who), who, "person")
        yield from known.missing((*path, "moves", who), place, "place")
    for place in happening.foes:
        yield from known.missing((*path, "foes", place), place, "place")


def _ways_back(place: values.Place, module: Module) -> Iterator[Found]:
    """A way back is not lost behind another of its label."""
    for label, way in place.exits.items():
        there = module.ways.get(way.to, {})
        back = there.get(way.back or place.name)
        leads_here = any(other.to == place.key for other in there.values())
        if way.back != values.ONE_WAY and back is not None and not leads_here:
            reason = (
                f"the way back, {back.label!r}, is an exit of {way.to!r} that leads elsewhere; say `back`"
            )
            yield ("places", place.key, "exits", label), reason
