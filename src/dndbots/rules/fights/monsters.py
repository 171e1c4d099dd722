"""Monsters: about thirty, from rats to a young dragon. Their attacks and effects are data."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from dndbots.errors import UnknownMonster
from dndbots.rules.characters.classes import char_class
from dndbots.rules.fights.strikes import Strike
from dndbots.rules.saves import ORDINARY, Saves
from dndbots.rules.tables import DiceText, TableEntry, by_name, find, key_of, table, unique

MonsterKind = Literal[
    "beast", "humanoid", "undead", "ooze", "giant", "dragon", "spirit", "plant", "construct"
]


class Monster(TableEntry):
    """A kind of monster. `ac` counts down. `needs` is what wounds it, if plain weapons do not.

    `saves_as` is a class and a level; a level of 0 is an ordinary person.
    """

    name: str
    plural: str
    aliases: tuple[str, ...] = ()
    kind: MonsterKind
    description: str
    ac: int
    hit_dice: DiceText
    level: int
    attack_bonus: int
    strikes: tuple[Strike, ...]
    breath: Strike | None = None
    move: int
    morale: int
    saves_as: tuple[str, int]
    xp: int
    appearing: DiceText
    treasure: str = ""
    purse: DiceText | None = None
    speaks: tuple[str, ...] = ()
    immune: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    needs: Literal["", "silver", "magic"] = ""
    regenerates: int = 0
    regeneration_stopped_by: tuple[str, ...] = ()
    surprises: int = 2
    initiative: int = 0
    infravision: bool = False

    @property
    def undead(self) -> bool:
        return self.kind == "undead"

    @property
    def parleys(self) -> bool:
        """True if the monster can be talked to."""
        return bool(self.speaks)

    @property
    def saves(self) -> Saves:
        who, level = self.saves_as
        return char_class(who).saves_at(level) if level else ORDINARY


@lru_cache(maxsize=1)
def _monsters() -> Mapping[str, Monster]:
    found = by_name(Monster.model_validate(row) for row in table("monsters")["monster"])
    return found | {key_of(one.plural): one for one in found.values()}


def all_monsters() -> tuple[Monster, ...]:
    """Return every monster, the weakest first."""
    return tuple(sorted(unique(_monsters()), key=lambda one: (one.xp, one.name)))


def monster(name: str) -> Monster:
    """Return the monster of that name, singular or plural, in any case. Raises UnknownMonster."""
    return find(name, _monsters(), error=UnknownMonster)
