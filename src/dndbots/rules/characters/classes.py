"""The seven classes: what each is good at, level by level."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from pydantic import Field, model_validator

from dndbots.errors import UnknownClass
from dndbots.rules.characters.abilities import Ability
from dndbots.rules.characters.equipment import Armor, Weapon
from dndbots.rules.saves import Saves
from dndbots.rules.tables import TableEntry, by_name, find, key_of, table, unique

SpellList = Literal["cleric", "magic-user"]
ArmorRule = Literal["any", "light", "none"]
WeaponRule = Literal["any", "blunt", "small", "daggers"]


class CharacterClass(TableEntry):
    """A class. Tables by level hold the level from which a row counts; the last row has no end.

    `aliases` are other words for it. `also_plays` are classes that the rules do not have: an existing sheet
    that names one is played by these tables, but no new character can take it.
    """

    name: str
    aliases: tuple[str, ...] = ()
    also_plays: tuple[str, ...] = ()
    about: str
    hit_die: int
    prime: tuple[Ability, ...]
    needs: Mapping[Ability, int] = Field(default_factory=dict)
    titles: tuple[str, ...]
    xp: tuple[int, ...]
    attack: tuple[tuple[int, int], ...]
    saves: tuple[tuple[int, int, int, int, int, int], ...]
    armor: ArmorRule
    shield: bool
    weapons: WeaponRule
    spells: SpellList | None = None
    slots: tuple[tuple[int, ...], ...] = ()
    skills: Mapping[str, tuple[int, ...]] = Field(default_factory=dict)
    abilities: tuple[str, ...] = ()
    listen: int = 1
    search: int = 1
    infravision: int = 0
    initiative: int = 0
    missiles: int = 0
    backstab: int = 0
    turns_undead: bool = False
    immune: tuple[str, ...] = ()
    outfit: tuple[str, ...]

    @model_validator(mode="after")
    def _rows_for_every_level(self) -> "CharacterClass":
        top = len(self.xp)
        tables = [self.titles, *self.skills.values(), *([self.slots] if self.slots else [])]
        if any(len(rows) != top for rows in tables):
            raise ValueError(f"{self.name}: titles, slots and skills need {top} rows, as xp has")
        if list(self.xp) != sorted(set(self.xp)):
            raise ValueError(f"{self.name}: xp must rise")
        return self

    @property
    def top_level(self) -> int:
        return len(self.xp)

    def _row(self, level: int) -> int:
        return min(max(level, 1), self.top_level) - 1

    def title(self, level: int) -> str:
        return self.titles[self._row(level)]

    def attack_bonus(self, level: int) -> int:
        return max(bonus for start, bonus in self.attack if start <= max(level, 1))

    def saves_at(self, level: int) -> Saves:
        row = max(row for row in self.saves if row[0] <= max(level, 1))
        _, death, wands, paralysis, breath, spells = row
        return Saves(death=death, wands=wands, paralysis=paralysis, breath=breath, spells=spells)

    def slots_at(self, level: int) -> tuple[int, ...]:
        """Return the number of spell slots of the first, second and third level."""
        return self.slots[self._row(level)] if self.slots else ()

    def skill(self, name: str, level: int) -> int | None:
        """Return a skill in percent; None if the class never learns it."""
        rows = self.skills.get(name)
        return rows[self._row(level)] if rows else None

    def may_wear(self, armor: Armor) -> bool:
        if armor.shield:
            return self.shield
        return self.armor == "any" or (self.armor == "light" and armor.weight == "light")

    def may_wield(self, weapon: Weapon) -> bool:
        allowed = {
            "any": True,
            "blunt": weapon.blunt,
            "small": not weapon.two_handed or weapon.name == "short bow",
            "daggers": weapon.name in ("dagger", "silver dagger", "staff", "sling"),
        }
        return allowed[self.weapons]


@lru_cache(maxsize=1)
def _classes() -> dict[str, CharacterClass]:
    return by_name(CharacterClass.model_validate(row) for row in table("classes")["class"])


@lru_cache(maxsize=1)
def _played() -> Mapping[str, CharacterClass]:
    others = {key_of(name): kind for kind in all_classes() for name in kind.also_plays}
    return others | _classes()


def all_classes() -> tuple[CharacterClass, ...]:
    """Return the seven classes, in the order of their table."""
    return unique(_classes())


def find_class(name: str) -> CharacterClass:
    """Find the class for a new character, in any case: a Wizard is a Magic-User, a Bard is unknown."""
    return find(name, _classes(), error=UnknownClass)


def char_class(name: str) -> CharacterClass:
    """Return the class that plays an existing sheet. Raises UnknownClass if there is none."""
    return find(name, _played(), error=UnknownClass)
