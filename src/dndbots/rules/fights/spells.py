"""Spells as data, and casting. The caller keeps track of prepared spells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Literal

from pydantic import model_validator

from dndbots.errors import UnknownSpell
from dndbots.rules.characters.classes import SpellList, char_class
from dndbots.rules.dice import Roll, roll
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.effects import Effect, resolve
from dndbots.rules.fights.strikes import EffectRule
from dndbots.rules.outcomes import Outcome
from dndbots.rules.tables import DiceText, TableEntry, by_name, find, table, unique


class Spell(TableEntry):
    """A spell, with its level on each list.

    `effects` apply to each target. A spell without any changes the scene as `about` says, for `rounds`.
    `number` limits the targets; `hit_dice` limits the sum of their levels, the weakest first; `up_to` is the
    highest level it affects.
    """

    name: str
    aliases: tuple[str, ...] = ()
    lists: Mapping[SpellList, int]
    about: str
    reach: int
    aim: Literal["self", "one", "some", "area", "place"]
    number: DiceText | None = None
    hit_dice: DiceText | None = None
    up_to: int | None = None
    effects: tuple[EffectRule, ...] = ()
    rounds: DiceText | None = None

    @model_validator(mode="after")
    def _aims_as_it_works(self) -> "Spell":
        if self.effects and self.aim == "place":
            raise ValueError(f"{self.name}: a spell on a place has no targets to affect")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Casting(Outcome):
    """The result of a spell.

    `untouched` are targets out of its reach; `rounds` is how long the scene keeps it.
    """

    spell: str
    caster: str
    effects: tuple[Effect, ...]
    untouched: tuple[str, ...]
    rounds: int | None
    given_away: tuple[str, ...]


@lru_cache(maxsize=1)
def _spells() -> Mapping[str, Spell]:
    return by_name(Spell.model_validate(row) for row in table("spells")["spell"])


def all_spells() -> tuple[Spell, ...]:
    """Return every spell, in the order of the table."""
    return unique(_spells())


def spell(name: str) -> Spell:
    """Return the spell of that name, in any case. Raises UnknownSpell if there is none."""
    return find(name, _spells(), error=UnknownSpell)


def spells_for(name: str, level: int) -> tuple[Spell, ...]:
    """Return the spells of one level that a class can learn; none if it casts none."""
    listed = char_class(name).spells
    return tuple(one for one in all_spells() if listed and one.lists.get(listed) == level)


def cast(what: Spell, caster: Combatant, targets: Sequence[Combatant] = (), *, rng: Random) -> Casting:
    """Cast a spell at targets, or at none if it needs none. A spell on oneself takes the caster.

    Raises CannotAct if the caster cannot cast.
    """
    caster.must_be_able("casts", deed=f"cast {what.name}")
    aimed = [caster] if what.aim == "self" else list(targets)
    touched, limits = _touched(what, aimed, rng=rng)
    effects = tuple(
        resolve(rule, target, rng=rng, level=caster.level) for target in touched for rule in what.effects
    )
    lasting = (roll(what.rounds, rng=rng),) if what.rounds else ()
    told = "; ".join(effect.text for effect in effects)
    if what.effects and not effects:
        told = "nobody is touched by it"
    reached = {target.uid for target in touched}
    return Casting(
        rolls=(*limits, *(made for effect in effects for made in effect.rolls), *lasting),
        text=f"{caster.name} casts {what.name}" + (f": {told}" if told else ""),
        spell=what.name,
        caster=caster.uid,
        effects=effects,
        untouched=tuple(target.uid for target in aimed if target.uid not in reached),
        rounds=max(1, lasting[0].total) if lasting else None,
        given_away=caster.given_away,
    )


def _touched(what: Spell, aimed: list[Combatant], *, rng: Random) -> tuple[list[Combatant], tuple[Roll, ...]]:
    """Return the targets that the spell reaches, and the rolls that decide how many."""
    fit = [one for one in aimed if what.up_to is None or one.level <= what.up_to]
    if what.aim in ("self", "one"):
        return fit[:1], ()
    if what.hit_dice:
        made = roll(what.hit_dice, rng=rng)
        left, reached = made.total, []
        open_to_it = [one for one in fit if not _immune(one, what)]
        for one in sorted(open_to_it, key=lambda one: one.level):
            left -= max(1, one.level)
            if left < 0:
                break
            reached.append(one)
        return reached, (made,)
    if what.number:
        made = roll(what.number, rng=rng)
        return fit[: max(1, made.total)], (made,)
    return fit, ()


def _immune(target: Combatant, what: Spell) -> bool:
    return all(rule.kind in target.immune for rule in what.effects)
