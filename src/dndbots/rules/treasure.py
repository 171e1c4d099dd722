"""Treasure: hoards in lairs, and purses that people and goblins carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from dndbots.errors import UnknownThing
from dndbots.rules.dice import Roll, roll
from dndbots.rules.fights.monsters import Monster
from dndbots.rules.outcomes import Outcome
from dndbots.rules.tables import DiceText, TableEntry, table

Chance = tuple[int, DiceText]


class HoardKind(TableEntry):
    """The chance in a hundred and the dice for each sort of wealth."""

    name: str
    about: str
    copper: Chance | None = None
    silver: Chance | None = None
    gold: Chance | None = None
    gems: Chance | None = None
    jewellery: Chance | None = None
    magic: Chance | None = None


class Gem(TableEntry):
    """A gem. `upto` is the highest d100 roll that finds it."""

    name: str
    value: int
    upto: int


class Jewel(TableEntry):
    name: str
    value: DiceText


class MagicItem(TableEntry):
    name: str
    power: str


class TreasureTables(TableEntry):
    kinds: tuple[HoardKind, ...]
    gems: tuple[Gem, ...]
    jewellery: tuple[Jewel, ...]
    magic: tuple[MagicItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hoard(Outcome):
    """A hoard. Gems and jewellery have their worth in gold; `value` is everything but the magic, in gold."""

    kind: str
    copper: int
    silver: int
    gold: int
    gems: tuple[tuple[str, int], ...]
    jewellery: tuple[tuple[str, int], ...]
    magic: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse(Outcome):
    """A purse, in silver pieces."""

    silver: int


@lru_cache(maxsize=1)
def tables() -> TreasureTables:
    return TreasureTables.model_validate(table("treasure"))


@lru_cache(maxsize=1)
def _kinds() -> Mapping[str, HoardKind]:
    return {kind.name: kind for kind in tables().kinds}


def hoard(kind: str, *, rng: Random) -> Hoard:
    """Roll the treasure of a lair, by the letter of its kind. Raises UnknownThing for another letter."""
    found = _kinds().get(kind.strip().upper())
    if found is None:
        raise UnknownThing(kind, known=_kinds())
    finder = _Finder(rng)
    copper, silver, gold = (finder.number(one) for one in (found.copper, found.silver, found.gold))
    gems = tuple(finder.gem() for _ in range(finder.number(found.gems)))
    jewellery = tuple(finder.jewel() for _ in range(finder.number(found.jewellery)))
    magic = tuple(finder.item() for _ in range(finder.number(found.magic)))
    worth = sum(value for _, value in (*gems, *jewellery))
    return Hoard(
        rolls=tuple(finder.rolls),
        text=f"hoard {found.name}: {_told(copper, silver, gold, gems, jewellery, magic)}",
        kind=found.name,
        copper=copper,
        silver=silver,
        gold=gold,
        gems=gems,
        jewellery=jewellery,
        magic=magic,
        value=worth + gold + silver // 10 + copper // 100,
    )


def purse(monster: Monster, *, rng: Random) -> Purse:
    """Roll what a monster carries. Beasts carry nothing."""
    if not monster.purse:
        return Purse(rolls=(), text=f"{monster.name}: no purse", silver=0)
    made = roll(monster.purse, rng=rng)
    return Purse(rolls=(made,), text=f"{monster.name}: {made.text} silver pieces", silver=made.total)


class _Finder:
    """Rolls on the tables, and remembers the rolls."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.rolls: list[Roll] = []

    def number(self, chance: Chance | None) -> int:
        if chance is None or self._roll("1d100") > chance[0]:
            return 0
        return self._roll(chance[1])

    def gem(self) -> tuple[str, int]:
        shown = self._roll("1d100")
        found = next(gem for gem in tables().gems if shown <= gem.upto)
        return found.name, found.value

    def jewel(self) -> tuple[str, int]:
        found = tables().jewellery[self._roll(f"1d{len(tables().jewellery)}") - 1]
        return found.name, self._roll(found.value)

    def item(self) -> str:
        return tables().magic[self._roll(f"1d{len(tables().magic)}") - 1].name

    def _roll(self, expression: str) -> int:
        made = roll(expression, rng=self.rng)
        self.rolls.append(made)
        return made.total


def _told(
    copper: int,
    silver: int,
    gold: int,
    gems: tuple[tuple[str, int], ...],
    jewellery: tuple[tuple[str, int], ...],
    magic: tuple[str, ...],
) -> str:
    coins = ((copper, "copper"), (silver, "silver"), (gold, "gold"))
    parts = [f"{number} {metal}" for number, metal in coins if number]
    parts += [f"{name} ({value} gold)" for name, value in (*gems, *jewellery)]
    return ", ".join([*parts, *magic]) or "nothing"
