"""Turning undead."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from dndbots.models import Character
from dndbots.rules.characters.classes import char_class
from dndbots.rules.dice import roll
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.outcomes import Outcome

_EVEN: Final = 7
_STEP: Final = 2
_OUT_OF_REACH: Final = 3
_DESTROYS: Final = -3


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning(Outcome):
    """Uids of the undead who flee and of those who are destroyed."""

    turned: tuple[str, ...]
    destroyed: tuple[str, ...]


def needed(level: int, hit_dice: int) -> int | None:
    """Return the number to reach on 2d6: 7 at equal hit dice, 2 more for each above; None if out of reach.

    Undead with fewer hit dice than the level always turn, which is 0; three fewer are destroyed.
    """
    above = max(1, hit_dice) - level
    if above >= _OUT_OF_REACH:
        return None
    return 0 if above < 0 else _EVEN + _STEP * above


def turn_undead(who: Character, foes: Sequence[Combatant], *, rng: Random) -> Turning:
    """Roll 2d6 against each kind, then affect 2d6 hit dice of them, the weakest first, at least one."""
    undead = sorted((foe for foe in foes if foe.undead and foe.hp > 0), key=lambda foe: foe.level)
    if not char_class(who.char_class).turns_undead:
        return Turning(rolls=(), text=f"{who.name} has no power over the dead", turned=(), destroyed=())
    made, reach = roll("2d6", rng=rng), roll("2d6", rng=rng)
    turned: list[Combatant] = []
    left = reach.total
    for foe in undead:
        number = needed(who.level, foe.level)
        cost = max(1, foe.level)
        if number is None or made.total < number or (turned and cost > left):
            break
        turned.append(foe)
        left -= cost
    dust = [foe for foe in turned if max(1, foe.level) - who.level <= _DESTROYS]
    fled = [foe for foe in turned if foe not in dust]
    told = f"{_names(fled)} turned, {_names(dust)} destroyed" if turned else "nobody heeds it"
    return Turning(
        rolls=(made, reach),
        text=f"{who.name} turns undead: 2d6 {made.total}, {reach.total} hit dice: {told}",
        turned=tuple(foe.uid for foe in fled),
        destroyed=tuple(foe.uid for foe in dust),
    )


def _names(foes: Sequence[Combatant]) -> str:
    return ", ".join(foe.name for foe in foes) or "none"
