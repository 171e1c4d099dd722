"""Attacks, initiative, damage and morale. Functions decide; they change nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from dndbots.errors import UnknownThing
from dndbots.rules import conditions
from dndbots.rules.characters.armor import ascending
from dndbots.rules.dice import Roll, roll
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.effects import Effect, applied, resolve
from dndbots.rules.fights.strikes import Strike
from dndbots.rules.outcomes import NOT_RECORDED, Check, Outcome, signed

_FROM_BEHIND: Final = 4
_NEVER_FLEES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack(Outcome):
    """One blow. `needed` is the ascending number that `total` had to reach; `natural` is the d20 itself.

    `target_after` is the target after all of it. `given_away` are the attacker's conditions that end with the
    attack. `harmless` marks a hit with a weapon that cannot hurt this target.
    """

    attacker: str
    target: str
    strike: str
    natural: int
    total: int
    needed: int
    hit: bool
    damage: int
    hp_after: int
    harmless: bool
    effect: Effect | None
    given_away: tuple[str, ...]
    target_after: Combatant = field(metadata=NOT_RECORDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breath(Outcome):
    """An attack on several targets at once, and its effect on each."""

    attacker: str
    strike: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage(Outcome):
    """Harm without an attack roll: a fall, a trap, a burning room."""

    target: str
    amount: int
    hp_before: int
    hp_after: int
    target_after: Combatant = field(metadata=NOT_RECORDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Initiative(Outcome):
    """The order of acting: uids, first to last, with each roll."""

    order: tuple[str, ...]
    scores: tuple[tuple[str, int], ...]


def attack(
    attacker: Combatant,
    target: Combatant,
    *,
    rng: Random,
    strike: str | Strike | None = None,
    bonus: int = 0,
    damage_bonus: int = 0,
    backstab: bool = False,
) -> Attack:
    """Strike one blow, with the first strike unless another is named.

    A d20 with all bonuses at the target's armour class or above hits. A 20 always hits, a 1 never does.
    Helpless targets are hit unless the d20 shows a 1. A hit does at least 1. Raises CannotAct if the attacker
    cannot attack.
    """
    attacker.must_be_able("attacks", deed="attack")
    used = _strike_of(attacker, strike)
    bonus += attacker.attack_bonus + used.bonus + conditions.sum_of(attacker.conditions, "attack")
    if backstab and attacker.backstab:
        bonus += _FROM_BEHIND
    needed = ascending(target.ac) + conditions.sum_of(target.conditions, "defence")
    made = roll("1d20", rng=rng)
    total = made.total + bonus
    hit = made.total == 20 or (made.total != 1 and (target.helpless or total >= needed))
    words = (
        f"{attacker.name} attacks {target.name} ({used.name}): d20 {made.total}{signed(bonus)} = {total} "
        f"against {needed}"
    )
    if not hit:
        return _result(attacker, target, used, (made,), total=total, needed=needed, text=f"{words}: misses")
    if not can_hurt(used, target):
        text = f"{words}: hits, but {target.name} takes no harm from it"
        return _result(
            attacker, target, used, (made,), total=total, needed=needed, hit=True, harmless=True, text=text
        )
    times = attacker.backstab if backstab and attacker.backstab else 1
    more = damage_bonus + conditions.sum_of(attacker.conditions, "damage")
    wound = _wound(used, rng=rng, more=more, times=times)
    after = target.hurt(wound.amount)
    effect = resolve(used.effect, after, rng=rng, level=attacker.level) if used.effect else None
    return _result(
        attacker,
        applied(effect, after) if effect else after,
        used,
        (made, *wound.rolls, *(effect.rolls if effect else ())),
        total=total,
        needed=needed,
        hit=True,
        damage=wound.amount,
        effect=effect,
        text=f"{words}: hits{wound.text}" + (f"; {effect.text}" if effect else ""),
    )


def attack_all(attacker: Combatant, target: Combatant, *, rng: Random, bonus: int = 0) -> tuple[Attack, ...]:
    """Play a monster's whole round against one target: claw, claw, bite. Stops when the target is down."""
    blows: list[Attack] = []
    for strike in attacker.routine:
        for _ in range(strike.number):
            if target.hp > 0:
                blows.append(attack(attacker, target, rng=rng, strike=strike, bonus=bonus))
                target = blows[-1].target_after
    return tuple(blows)


def breathe(attacker: Combatant, breath: Strike, targets: Iterable[Combatant], *, rng: Random) -> Breath:
    """Attack several targets without an attack roll (a breath, a song); each target saves alone."""
    attacker.must_be_able("attacks", deed=f"use {breath.name}")
    if breath.effect is None:
        raise UnknownThing(breath.name, known=[])
    effects = tuple(resolve(breath.effect, one, rng=rng, level=attacker.level) for one in targets)
    told = "; ".join(effect.text for effect in effects) or "nobody is there"
    return Breath(
        rolls=tuple(made for effect in effects for made in effect.rolls),
        text=f"{attacker.name} ({breath.name}): {told}",
        attacker=attacker.uid,
        strike=breath.name,
        effects=effects,
    )


def damage(
    target: Combatant, expression: str, *, rng: Random, kind: str = "harm", reason: str = ""
) -> Damage:
    """Roll harm and apply it. Immunity to its kind stops it, weakness doubles it."""
    made = roll(expression, rng=rng)
    amount = max(0, made.total) * (2 if kind in target.weak else 1)
    amount = 0 if kind in target.immune else amount
    after = target.hurt(amount)
    cause = f" from {reason}" if reason else ""
    return Damage(
        rolls=(made,),
        text=f"{target.name} takes {amount} damage{cause} ({made.text}): {target.hp} to {after.hp} hp",
        target=target.uid,
        amount=amount,
        hp_before=target.hp,
        hp_after=after.hp,
        target_after=after,
    )


def initiative(combatants: Iterable[Combatant], *, rng: Random) -> Initiative:
    """Roll a d6 each, plus dexterity, highest first. Ties go to the nimbler, then to the first named."""
    entered = []
    for place, one in enumerate(combatants):
        made = roll("1d6", rng=rng)
        entered.append((-(made.total + one.dexterity), -one.dexterity, place, one, made))
    entered.sort(key=lambda entry: entry[:3])
    told = [f"{one.name} {-score}" for score, _, _, one, _ in entered]
    return Initiative(
        rolls=tuple(made for *_, made in entered),
        text=f"initiative: {', '.join(told) or 'nobody'}",
        order=tuple(one.uid for _, _, _, one, _ in entered),
        scores=tuple((one.uid, -score) for score, _, _, one, _ in entered),
    )


def morale(score: int, *, rng: Random, bonus: int = 0) -> Check:
    """Roll 2d6: at the score or under it they fight on. A score of 12 never breaks."""
    made = roll("2d6", rng=rng)
    target = score + bonus
    holds = made.total <= target or score >= _NEVER_FLEES
    text = f"morale: 2d6 {made.total} against {target}: {'they stand' if holds else 'they break'}"
    return Check(rolls=(made,), total=made.total, target=target, success=holds, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wound:
    rolls: tuple[Roll, ...]
    amount: int
    text: str


def _wound(strike: Strike, *, rng: Random, more: int, times: int) -> _Wound:
    if not strike.damage:
        return _Wound(rolls=(), amount=0, text="")
    made = roll(strike.damage, rng=rng)
    amount = max(1, (made.total + more) * times)
    text = f"; {made.text}"
    if more or times > 1 or amount != made.total:
        text += f"{signed(more)}{f', times {times}' if times > 1 else ''}, {amount} damage"
    else:
        text += " damage"
    return _Wound(rolls=(made,), amount=amount, text=text)


def _strike_of(attacker: Combatant, wanted: str | Strike | None) -> Strike:
    if isinstance(wanted, Strike):
        return wanted
    if wanted is None:
        return attacker.routine[0]
    for strike in attacker.routine:
        if strike.name.casefold() == wanted.casefold():
            return strike
    raise UnknownThing(wanted, known=[strike.name for strike in attacker.routine])


def can_hurt(strike: Strike, target: Combatant) -> bool:
    """Return whether a weapon can wound the target: some need silver or magic."""
    return not target.needs or strike.magic or (target.needs == "silver" and strike.silver)


def _result(
    attacker: Combatant,
    after: Combatant,
    strike: Strike,
    rolls: tuple[Roll, ...],
    *,
    total: int,
    needed: int,
    text: str,
    hit: bool = False,
    harmless: bool = False,
    damage: int = 0,
    effect: Effect | None = None,
) -> Attack:
    return Attack(
        rolls=rolls,
        text=text,
        attacker=attacker.uid,
        target=after.uid,
        strike=strike.name,
        natural=rolls[0].total,
        total=total,
        needed=needed,
        hit=hit,
        damage=damage,
        hp_after=after.hp,
        harmless=harmless,
        effect=effect,
        given_away=attacker.given_away,
        target_after=after,
    )
