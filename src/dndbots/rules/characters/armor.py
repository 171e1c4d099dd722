"""Armour class, both ways of counting: down from 9 as on the sheet, or up from 10."""

from collections.abc import Iterable
from typing import Final

from dndbots.rules.characters.equipment import Armor, bonus_of, recognised

UNARMORED: Final = 9
_SUM: Final = 19


def ascending(ac: int) -> int:
    """Return the number to reach on a d20: 9 is 10, 5 is 14."""
    return _SUM - ac


def descending(ac: int) -> int:
    """Return the number on the sheet: 10 is 9, 14 is 5."""
    return _SUM - ac


def armor_class(equipment: Iterable[str], *, dexterity: int = 0) -> int:
    """Return the descending armour class of a character who wears the best of these things.

    `dexterity` is the modifier, not the score. Things that are not in the rules do not protect.
    """
    suits, shields = [UNARMORED], [0]
    for name in equipment:
        found = recognised(name)
        if isinstance(found, Armor):
            worn = bonus_of(name)
            (shields if found.shield else suits).append(found.ac + worn if found.shield else found.ac - worn)
    return min(suits) - max(shields) - dexterity
