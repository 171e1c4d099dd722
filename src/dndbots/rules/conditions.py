"""Conditions: what being asleep, blessed or invisible means in numbers.

The caller keeps track of their ends.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

from dndbots.errors import UnknownThing
from dndbots.rules.tables import TableEntry, by_name, find, key_of, table, unique

Number = Literal["attack", "damage", "defence", "saves", "morale", "checks"]
Deed = Literal["acts", "attacks", "casts", "moves"]


class Condition(TableEntry):
    """A condition. `defence` is added to what others need to hit; `seen` says whether it is visible."""

    name: str
    meaning: str
    aliases: tuple[str, ...] = ()
    attack: int = 0
    damage: int = 0
    defence: int = 0
    saves: int = 0
    morale: int = 0
    checks: int = 0
    acts: bool = True
    attacks: bool = True
    casts: bool = True
    moves: bool = True
    helpless: bool = False
    ends_when_hurt: bool = False
    ends_when_attacking: bool = False
    seen: bool = True


@lru_cache(maxsize=1)
def _conditions() -> Mapping[str, Condition]:
    rows = table("conditions")["condition"]
    return by_name(Condition.model_validate(row) for row in rows)


def all_conditions() -> tuple[Condition, ...]:
    """Return every condition that the rules know, in the order of their table."""
    return unique(_conditions())


def condition(name: str) -> Condition:
    """Return the condition of that name. Raises UnknownThing if there is none."""
    return find(name, _conditions(), error=UnknownThing)


def of(names: Iterable[str]) -> tuple[Condition, ...]:
    """Return the known conditions among these names, each once. The game may have others, without rules."""
    known = _conditions()
    found = (known.get(key_of(name)) for name in names)
    return tuple(dict.fromkeys(one for one in found if one))


def sum_of(names: Iterable[str], number: Number) -> int:
    """Return what the conditions together add to a number."""
    return sum(getattr(one, number) for one in of(names))


def can(names: Iterable[str], what: Deed) -> bool:
    """Return whether a character under these conditions can do that. Without acting, nothing is possible."""
    return all(one.acts and getattr(one, what) for one in of(names))


def is_helpless(names: Iterable[str]) -> bool:
    return any(one.helpless for one in of(names))


def is_seen(name: str) -> bool:
    """Return whether a condition is visible. Conditions unknown to the rules are not."""
    return any(one.seen for one in of([name]))
