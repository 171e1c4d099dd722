"""Weapons, armour and gear with their cost and effect. Sheets name things freely; `recognised` finds them."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal

from dndbots.errors import UnknownThing
from dndbots.rules.tables import DiceText, TableEntry, by_name, find, key_of, table, unique

_BONUS: Final = re.compile(r"\+\s?([1-5])(?![0-9])")
_LONGEST_NAME = 200


class Weapon(TableEntry):
    """A weapon. `reach` is how far it can be thrown or shot, in feet; 0 for hand to hand only."""

    name: str
    price: float
    damage: DiceText
    aliases: tuple[str, ...] = ()
    reach: int = 0
    missile: bool = False
    two_handed: bool = False
    blunt: bool = False
    light: bool = False
    silver: bool = False


class Armor(TableEntry):
    """Armour. `ac` counts down; a shield's `ac` is what it takes off."""

    name: str
    price: float
    ac: int
    weight: Literal["light", "medium", "heavy", "shield"]
    aliases: tuple[str, ...] = ()

    @property
    def shield(self) -> bool:
        return self.weight == "shield"


class Gear(TableEntry):
    """Gear. `radius` and `turns` say how far and how long it gives light."""

    name: str
    price: float
    use: str
    aliases: tuple[str, ...] = ()
    radius: int = 0
    turns: int = 0


Thing = Weapon | Armor | Gear


@lru_cache(maxsize=1)
def _things() -> Mapping[str, Thing]:
    rows = table("equipment")
    things: list[Thing] = [Weapon.model_validate(row) for row in rows["weapon"]]
    things += [Armor.model_validate(row) for row in rows["armor"]]
    things += [Gear.model_validate(row) for row in rows["gear"]]
    return by_name(things)


def all_things() -> tuple[Thing, ...]:
    return unique(_things())


def thing(name: str) -> Thing:
    """Return the thing of exactly that name. Raises UnknownThing if the rules have none."""
    return find(name, _things(), error=UnknownThing)


@lru_cache(maxsize=4_096)
def recognised(name: str) -> Thing | None:
    """Return the thing that a sheet means, such as `Rusty dagger`, `Chain mail +1`, `rope (50 ft)`.

    None if unknown.

    The longest name of the rules that stands in the text as whole words wins; of equals, the last one.
    """
    words = re.findall(r"[\w']+", key_of(name[:_LONGEST_NAME]))
    things = _things()
    for length in range(min(len(words), 4), 0, -1):
        for start in range(len(words) - length, -1, -1):
            found = things.get(" ".join(words[start : start + length]))
            if found:
                return found
    return None


def bonus_of(name: str) -> int:
    """Return the magic bonus in a name: 1 for `Sword +1`, 0 for a plain one."""
    found = _BONUS.search(name)
    return int(found.group(1)) if found else 0


def weapons_in(equipment: Iterable[str]) -> tuple[tuple[str, Weapon], ...]:
    """Return the weapons among some things, each with the name that the sheet gives it."""
    found = ((name, recognised(name)) for name in equipment)
    return tuple((name, weapon) for name, weapon in found if isinstance(weapon, Weapon))
