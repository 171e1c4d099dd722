"""Checks across a module: keys refer to something, dice can be rolled, conditions can be answered.

Each problem is a path into the module and a reason. Nothing is raised, so all problems are reported at once.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from dndbots.canon.states import ACCEPTED, REFUSED, is_over
from dndbots.errors import InvalidDice, UnknownMonster
from dndbots.game.adventures import conditions, module, name_checks
from dndbots.game.adventures.module import ONE_WAY, Module, Value
from dndbots.game.adventures.module_index import ModuleIndex, Problem, suggest
from dndbots.game.adventures.yaml_lines import Path
from dndbots.rules import dice
from dndbots.rules.conditions import all_conditions
from dndbots.rules.fights import monsters

# Fields that hold keys, and their kind.
_REFERS: Final = {
    (module.Module, "start"): "place",
    (module.Exit, "to"): "place",
    (module.Exit, "locked"): "item",
    (module.Thing, "items"): "item",
    (module.Place, "people"): "person",
    (module.Foes, "items"): "item",
    (module.Foes, "leader"): "person",
    (module.ModuleQuest, "giver"): "person",
    (module.Reward, "items"): "item",
    (module.Ending, "by"): "person",
    (module.Ending, "at"): "place",
    (module.Happening, "at"): "place",
}
# Fields that hold dice, and the allowed results.
_ROLLS: Final = {
    (module.Foes, "number"): (1, 500),
    (module.Wanderers, "number"): (1, 500),
    (module.Trap, "damage"): (0, 10_000),
}
# Far more than anybody writes; a limit, since the reachability check slows down with size.
_MOST_PARTS: Final = 5_000
_FACTS_ARE_OF: Final = ("person", "place", "item", "foes", "quest")


def find_problems(module: Module, *, also: Mapping[str, set[str]] | None = None) -> Iterator[Problem]:
    """Yield every problem with keys, conditions, dice and names."""
    known = ModuleIndex(module, also=also)
    if len(known.values) > _MOST_PARTS:
        yield (), f"a module has at most {_MOST_PARTS:,} places, people, things and so on; split it in two"
        return
    for path, value in known.values:
        yield from _fields(path, value, known)
        yield from _conditions(path, value, known)
        yield from _special(path, value, known)
    for place in module.places.values():
        yield from _ways_back(place, module)
    yield from name_checks.find_repeated_keys(module)
    yield from name_checks.check_names(module)


def _fields(path: Path, value: Value, known: ModuleIndex) -> Iterator[Problem]:
    """Yield problems with keys and dice in the fields of a value."""
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


def _conditions(path: Path, value: Value, known: ModuleIndex) -> Iterator[Problem]:
    """Yield problems with the conditions of a value."""
    for name in ("when", "begins"):
        condition = getattr(value, name, None)
        by_itself = isinstance(value, module.ModuleQuest) and condition == f"met {value.giver}"
        if isinstance(condition, str) and not by_itself:
            yield from check_condition((*path, name), condition, known)


def _special(path: Path, value: Value, known: ModuleIndex) -> Iterator[Problem]:
    """Yield problems that only some kinds of values have."""
    match value:
        case module.Foes():
            yield from _monster((*path, "monster"), value.monster)
            yield from _guards(path, value, known.module)
        case module.Wanderers():
            yield from _monster((*path, "monster"), value.monster)
        case module.Item() if value.causes is not None:
            yield from _condition((*path, "causes"), value.causes)
        case module.Reward() if value.most is not None and value.most < value.gold:
            yield (*path, "most"), f"{value.most} is less than the {value.gold} gold of the reward"
        case module.ModuleFact():
            yield from _fact((*path, "about"), value.about, known)
        case module.Happening():
            yield from _happening(path, value, known)
        case module.Ending() if value.state == REFUSED or not is_over(value.state):
            yield (
                (*path, "state"),
                f"{value.state!r} does not end a quest; use completed, failed or a word of your own",
            )
        case module.Module():
            lowest, highest = value.level_range
            if not 1 <= lowest <= highest:
                yield (*path, "levels"), f"{value.levels!r} must go from the lower level to the higher"
        case _:
            pass


def _rolled(path: Path, expression: str, least: int, most: int) -> Iterator[Problem]:
    """Yield a problem if dice cannot be rolled or leave their limits."""
    try:
        low, high = dice.bounds(expression)
    except InvalidDice as exc:
        yield path, str(exc)
        return
    if low < least or high > most:
        yield path, f"{expression!r} gives {low} to {high}; the result must be between {least} and {most}"


def _monster(path: Path, name: str) -> Iterator[Problem]:
    """Yield a problem if the rules lack a monster."""
    try:
        monsters.monster(name)
    except UnknownMonster as exc:
        known = {one.casefold(): one for one in exc.known}
        yield path, f"the rules have no monster {name!r}{suggest(name.casefold(), known)}"


def _condition(path: Path, name: str) -> Iterator[Problem]:
    """Yield a problem if the rules lack a condition."""
    known = [one.name for one in all_conditions()]
    if name not in known:
        yield path, f"the rules have no condition {name!r}{suggest(name, known)}"


def _guards(path: Path, foes: module.Foes, module: Module) -> Iterator[Problem]:
    """Yield a problem for each guarded thing or way that the place does not have."""
    place = module.places.get(str(path[1] if path[0] == "places" else path[-1]))
    if place is None:
        return
    there = {*place.things, *module.ways[place.key]}
    for number, guarded in enumerate(foes.guards):
        if guarded not in there:
            reason = f"there is no thing or exit {guarded!r} in {place.key!r}{suggest(guarded, there)}"
            yield (*path, "guards", number), reason


def _fact(path: Path, key: str, known: ModuleIndex) -> Iterator[Problem]:
    """Yield a problem if a fact's subject is missing or ambiguous."""
    yield from known.missing(path, key, *_FACTS_ARE_OF)
    having = known.kinds_of(key, _FACTS_ARE_OF)
    if len(having) > 1:
        yield path, f"{key!r} is the key of a {' and of a '.join(having)}; give one of them another key"


def _happening(path: Path, happening: module.Happening, known: ModuleIndex) -> Iterator[Problem]:
    for who, place in happening.moves.items():
        yield from known.missing((*path, "moves", who), who, "person")
        yield from known.missing((*path, "moves", who), place, "place")
    for place in happening.foes:
        yield from known.missing((*path, "foes", place), place, "place")


def _ways_back(place: module.Place, module: Module) -> Iterator[Problem]:
    """Yield a problem for each way back that collides with another exit."""
    for label, way in place.exits.items():
        there = module.ways.get(way.to, {})
        back = there.get(way.back or place.name)
        leads_here = any(other.to == place.key for other in there.values())
        if way.back != ONE_WAY and back is not None and not leads_here:
            reason = (
                f"the way back, {back.label!r}, is already another exit of {way.to!r};"
                " name the way back with `back`"
            )
            yield ("places", place.key, "exits", label), reason


# Questions of conditions, and the kinds of keys they may name.
_KINDS: Final = {
    "found": ("thing",),
    "has": ("item",),
    "visited": ("place",),
    "at": ("place",),
    "killed": ("foes", "person"),
    "spared": ("foes", "person"),
    "met": ("person",),
}


def check_condition(path: Path, condition: str, known: ModuleIndex) -> Iterator[Problem]:
    """Yield a problem for each question that the module cannot answer."""
    for asked in conditions.list_questions(condition):
        if asked.question in _KINDS:
            yield from known.missing(path, asked.key, *_KINDS[asked.question])
        elif not known.partial:
            yield from _asked(path, asked, known)


def _asked(path: Path, asked: conditions.Asks, known: ModuleIndex) -> Iterator[Problem]:
    match asked.question:
        case "happened":
            yield from known.missing(path, asked.key, "happening")
        case "heard" if asked.key not in known.topics:
            yield path, f"nothing brings up the topic {asked.key!r}{suggest(asked.key, known.topics)}"
        case "quest":
            yield from _state(path, asked, known)
        case "step":
            yield from _step(path, asked, known)


def _state(path: Path, asked: conditions.Asks, known: ModuleIndex) -> Iterator[Problem]:
    yield from known.missing(path, asked.key, "quest")
    quest = known.module.quests.get(asked.key)
    if quest is None or asked.state is None:
        return
    states = {ACCEPTED, REFUSED, *(ending.state for ending in quest.endings.values())}
    if asked.state not in states:
        yield path, f"the quest {quest.key!r} is never {asked.state!r}{suggest(asked.state, states)}"


def _step(path: Path, asked: conditions.Asks, known: ModuleIndex) -> Iterator[Problem]:
    if asked.quest is not None:
        yield from known.missing(path, asked.quest, "quest")
    quests = {key: quest.steps for key, quest in known.module.quests.items() if asked.quest in (None, key)}
    owners = [key for key, steps in quests.items() if asked.key in steps]
    if not owners and (quests or asked.quest is None):
        steps = {step for steps in quests.values() for step in steps}
        yield path, f"there is no step {asked.key!r}{suggest(asked.key, steps)}"
    elif len(owners) > 1:
        ways = " or ".join(f"{owner}.{asked.key}" for owner in owners)
        yield path, f"several quests have a step {asked.key!r}; write {ways}"
