"""Combatants: characters and monsters as one small value."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Self

from dndbots import ids
from dndbots.errors import CannotAct
from dndbots.models import Character
from dndbots.rules import conditions
from dndbots.rules.characters.abilities import modifier
from dndbots.rules.characters.classes import CharacterClass, char_class
from dndbots.rules.characters.equipment import Weapon, bonus_of, weapons_in
from dndbots.rules.conditions import Deed
from dndbots.rules.dice import bounds, roll
from dndbots.rules.fights.monsters import Monster
from dndbots.rules.fights.strikes import Strike
from dndbots.rules.outcomes import with_bonus
from dndbots.rules.saves import ORDINARY, Saves

_UNARMED = "1d2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combatant:
    """A fighter. `ac` counts down. Without `strikes` there is one plain attack that does `damage`.

    `dexterity` is added to initiative. `morale` is None for those who decide for themselves.
    """

    uid: str
    name: str
    ac: int
    hp: int
    hp_max: int
    level: int = 1
    attack_bonus: int = 0
    damage: str = _UNARMED
    strikes: tuple[Strike, ...] = ()
    saves: Saves = ORDINARY
    dexterity: int = 0
    morale: int | None = None
    undead: bool = False
    immune: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    needs: str = ""
    regenerates: int = 0
    backstab: int = 0
    conditions: tuple[str, ...] = ()

    @classmethod
    def of_character(
        cls, character: Character, *, equipment: Iterable[str] | None = None, conditions: Iterable[str] = ()
    ) -> Self:
        """Build a combatant from a sheet, with its weapons or those of `equipment`."""
        kind = char_class(character.char_class)
        carried = character.equipment if equipment is None else list(equipment)
        strikes = _strikes(character, kind, carried)
        return cls(
            uid=character.uid,
            name=character.name,
            ac=character.ac,
            hp=character.hp,
            hp_max=character.hp_max,
            level=character.level,
            attack_bonus=kind.attack_bonus(character.level),
            damage=strikes[0].damage or _UNARMED,
            strikes=strikes,
            saves=kind.saves_at(character.level),
            dexterity=modifier(character.stats.dex) + kind.initiative,
            backstab=kind.backstab,
            immune=kind.immune,
            conditions=tuple(conditions),
        )

    @classmethod
    def of_monster(
        cls,
        monster: Monster,
        *,
        uid: str | None = None,
        name: str | None = None,
        hp: int | None = None,
        rng: Random | None = None,
        conditions: Iterable[str] = (),
    ) -> Self:
        """Build a monster with the given hit points, else rolled ones, else average ones."""
        if hp is None:
            hp = roll(monster.hit_dice, rng=rng).total if rng else sum(bounds(monster.hit_dice)) // 2
        hp = max(1, hp)
        return cls(
            uid=uid or ids.mint("MON", name or monster.name),
            name=name or monster.name,
            ac=monster.ac,
            hp=hp,
            hp_max=hp,
            level=monster.level,
            attack_bonus=monster.attack_bonus,
            damage=monster.strikes[0].damage or _UNARMED,
            strikes=monster.strikes,
            saves=monster.saves,
            dexterity=monster.initiative,
            morale=monster.morale,
            undead=monster.undead,
            immune=monster.immune,
            weak=monster.weak,
            needs=monster.needs,
            regenerates=monster.regenerates,
            conditions=tuple(conditions),
        )

    @property
    def routine(self) -> tuple[Strike, ...]:
        """Return all strikes; the first is the usual one."""
        return self.strikes or (Strike(name="attack", damage=self.damage),)

    @property
    def up(self) -> bool:
        """True if the combatant can do anything: above 0 hit points, and no condition forbids it."""
        return self.able("acts")

    @property
    def helpless(self) -> bool:
        return self.hp <= 0 or conditions.is_helpless(self.conditions)

    def able(self, what: Deed) -> bool:
        return self.hp > 0 and conditions.can(self.conditions, what)

    def must_be_able(self, what: Deed, *, deed: str) -> None:
        """Raise CannotAct if the combatant cannot do this."""
        if self.able(what):
            return
        reason = f"at {self.hp} hit points" if self.hp <= 0 else ", ".join(self.conditions)
        raise CannotAct(self.name, deed=deed, reason=reason)

    @property
    def given_away(self) -> tuple[str, ...]:
        """Return the conditions that end with an attack or a spell, such as invisibility."""
        return tuple(one.name for one in conditions.of(self.conditions) if one.ends_when_attacking)

    def hurt(self, amount: int) -> Self:
        """Return the combatant after a wound. Pain wakes sleepers."""
        if amount <= 0:
            return self
        ended = [one.name for one in conditions.of(self.conditions) if one.ends_when_hurt]
        return replace(self, hp=self.hp - amount).without(*ended)

    def healed(self, amount: int) -> Self:
        """Return the combatant after healing, which counts from 0 for the dying."""
        if amount <= 0:
            return self
        return replace(self, hp=min(self.hp_max, max(self.hp, 0) + amount)).without("dying", "senseless")

    def under(self, condition: str) -> Self:
        if condition in self.conditions:
            return self
        return replace(self, conditions=(*self.conditions, condition))

    def without(self, *names: str) -> Self:
        left = tuple(name for name in self.conditions if name not in names)
        return self if left == self.conditions else replace(self, conditions=left)


def _strikes(character: Character, kind: CharacterClass, carried: Iterable[str]) -> tuple[Strike, ...]:
    """Return a strike for each weapon, hand to hand first; bare hands if there is none."""
    strength, dexterity = modifier(character.stats.str), modifier(character.stats.dex)
    found = []
    for name, weapon in weapons_in(carried):
        found.append(_strike(name, weapon, kind, strength=strength, dexterity=dexterity))
    unarmed = Strike(name="bare hands", damage=with_bonus(_UNARMED, strength), bonus=strength)
    melee_first = sorted(found, key=lambda pair: pair[0])
    return tuple(strike for _, strike in melee_first) or (unarmed,)


def _strike(
    name: str, weapon: Weapon, kind: CharacterClass, *, strength: int, dexterity: int
) -> tuple[bool, Strike]:
    magic = bonus_of(name)
    to_hit = dexterity + kind.missiles if weapon.missile else strength
    might = 0 if weapon.missile else strength
    strike = Strike(
        name=name,
        damage=with_bonus(weapon.damage, might + magic),
        bonus=to_hit + magic,
        reach=weapon.reach,
        magic=magic > 0,
        silver=weapon.silver or "silver" in name.casefold(),
    )
    return weapon.missile, strike
