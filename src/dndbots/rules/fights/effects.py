"""Resolve an effect on one target: immunity, save, wound, healing, condition.

Only the returned value changes; recording it is up to the caller.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from dndbots.rules.dice import Roll, roll
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.strikes import EffectRule
from dndbots.rules.outcomes import Check, Outcome
from dndbots.rules.saves import save


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Outcome):
    """The result for one target. `rounds` is how long the condition lasts; None means until cured."""

    target: str
    kind: str
    result: Literal["immune", "saved", "full"]
    saved: Check | None = None
    damage: int = 0
    healing: int = 0
    condition: str | None = None
    rounds: int | None = None
    cured: tuple[str, ...] = ()
    levels: int = 0


def resolve(rule: EffectRule, target: Combatant, *, rng: Random, level: int = 1, bonus: int = 0) -> Effect:
    """Resolve one effect on one target. `level` is the caster's; `bonus` helps the target to save."""
    if rule.kind in target.immune:
        return Effect(
            rolls=(),
            text=f"{target.name} is immune to {rule.kind}",
            target=target.uid,
            kind=rule.kind,
            result="immune",
        )
    saved = save(target, rule.save, rng=rng, bonus=rule.save_bonus + bonus) if rule.save else None
    if saved and saved.success and rule.saved == "none":
        return Effect(
            rolls=saved.rolls,
            text=saved.text,
            target=target.uid,
            kind=rule.kind,
            result="saved",
            saved=saved,
        )
    return _taken(rule, target, saved, rng=rng, level=level)


def applied(effect: Effect, target: Combatant) -> Combatant:
    """Return the target after the effect."""
    after = target.hurt(effect.damage).healed(effect.healing).without(*effect.cured)
    return after.under(effect.condition) if effect.condition else after


def _taken(rule: EffectRule, target: Combatant, saved: Check | None, *, rng: Random, level: int) -> Effect:
    """Apply all of it, or after a save half of the damage and nothing else."""
    whole = not (saved and saved.success)
    harm = roll(_grown(rule.damage, rule, level), rng=rng) if rule.damage else None
    help_ = roll(_grown(rule.healing, rule, level), rng=rng) if rule.healing else None
    lasting = roll(rule.rounds, rng=rng) if rule.rounds and rule.condition and whole else None
    damage = _damage(harm, target, kind=rule.kind, whole=whole) if harm else 0
    room = target.hp_max - max(target.hp, 0)
    effect = Effect(
        rolls=(*(saved.rolls if saved else ()), *(made for made in (harm, help_, lasting) if made)),
        text="",
        target=target.uid,
        kind=rule.kind,
        result="full" if whole else "saved",
        saved=saved,
        damage=damage,
        healing=min(max(1, help_.total), room) if help_ else 0,
        condition=rule.condition if whole else None,
        rounds=max(1, lasting.total) if lasting else None,
        cured=tuple(name for name in rule.cures if name in target.conditions),
        levels=rule.levels if whole else 0,
    )
    told = "; ".join(_told(effect, harm, help_)) or "nothing comes of it"
    return replace(effect, text=f"{saved.text}; {told}" if saved else f"{target.name}: {told}")


def _damage(harm: Roll, target: Combatant, *, kind: str, whole: bool) -> int:
    amount = max(1, harm.total) * (2 if kind in target.weak else 1)
    return amount if whole else max(1, amount // 2)


def _told(effect: Effect, harm: Roll | None, healing: Roll | None) -> Iterator[str]:
    if harm:
        yield f"{_sum(harm, effect.damage)} damage"
    if healing:
        yield f"{_sum(healing, effect.healing)} healed"
    if effect.condition:
        yield f"{effect.condition} {_lasting(effect.rounds)}"
    yield from (f"no longer {name}" for name in effect.cured)
    if effect.levels:
        yield f"loses {effect.levels} level{'s' if effect.levels > 1 else ''}"


def _sum(made: Roll, amount: int) -> str:
    """Describe the roll, and the result if it differs."""
    return made.text if made.total == amount else f"{made.text}, {amount}"


def _lasting(rounds: int | None) -> str:
    if rounds is None:
        return "until cured"
    if rounds >= 60:
        return f"for {rounds // 60} turn{'s' if rounds >= 120 else ''}"
    return f"for {rounds} round{'s' if rounds > 1 else ''}"


def _grown(dice: str, rule: EffectRule, level: int) -> str:
    """Return the dice with what the caster's level adds: another `per_level` for each `every` levels."""
    if not rule.per_level:
        return dice
    times = min((max(level, 1) - 1) // rule.every, rule.most - 1)
    if dice == rule.per_level and dice.startswith("1d") and dice[2:].isdigit():
        return f"{times + 1}{dice[1:]}"
    return "+".join([dice, *[rule.per_level] * times])
