"""Dying and healing.

At 0 hit points or fewer a character is dying, at -10 dead. Each round the dying save against death. Binding
the wounds takes a friend one round and ends that: the patient is unconscious for a turn, then has 1 hit
point.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Final, Literal

from dndbots.errors import InvalidSetting
from dndbots.models import Character
from dndbots.rules.dice import roll
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.outcomes import NOT_RECORDED, Check, Outcome
from dndbots.rules.saves import SaveKind, save

DEAD_AT: Final = -10
ROUNDS_IN_A_TURN: Final = 60
SENSELESS: Final = "senseless"
_A_NIGHT: Final = "1d3"


class Life(StrEnum):
    UP = "up"
    DYING = "dying"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeathWatch(Outcome):
    """One round of dying."""

    target: str
    result: Literal["rallies", "holds on", "bleeds", "dies"]
    hp_after: int
    saved: Check
    target_after: Combatant = field(metadata=NOT_RECORDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Healing(Outcome):
    """Hit points regained, and conditions with their rounds."""

    target: str
    healed: int
    hp_after: int
    condition: str | None = None
    rounds: int | None = None


def life(hp: int) -> Life:
    """Return what hit points mean for a character. Monsters are dead at 0, unless spared."""
    if hp > 0:
        return Life.UP
    return Life.DYING if hp > DEAD_AT else Life.DEAD


def death_watch(dying: Combatant, *, rng: Random) -> DeathWatch:
    """Play a round of dying: a save against death.

    A 20 brings the character back with 1 hit point. A save holds on. A failure costs 1d4 hit points, a 1 is
    death.
    """
    if life(dying.hp) is not Life.DYING:
        raise InvalidSetting("hp", dying.hp, reason=f"is not dying, which {dying.name} must be")
    saved = save(dying, SaveKind.DEATH, rng=rng)
    natural = saved.rolls[0].total
    if natural == 20:
        return _watched(dying, saved, "rallies", hp=1)
    if saved.success:
        return _watched(dying, saved, "holds on", hp=dying.hp)
    if natural == 1:
        return _watched(dying, saved, "dies", hp=min(dying.hp, DEAD_AT))
    lost = roll("1d4", rng=rng)
    hp = max(DEAD_AT, dying.hp - lost.total)
    watch = _watched(dying, saved, "bleeds" if hp > DEAD_AT else "dies", hp=hp)
    return replace(watch, rolls=(*watch.rolls, lost), text=f"{watch.text}, loses {lost.total}, at {hp} hp")


def bind_wounds(dying: Combatant) -> Healing:
    """Bind wounds without a roll: the patient is unconscious for a turn, with 1 hit point."""
    if life(dying.hp) is not Life.DYING:
        raise InvalidSetting("hp", dying.hp, reason=f"is not dying, which {dying.name} must be")
    return Healing(
        rolls=(),
        text=f"{dying.name}'s wounds are bound: 1 hp, senseless for a turn",
        target=dying.uid,
        healed=1 - dying.hp,
        hp_after=1,
        condition=SENSELESS,
        rounds=ROUNDS_IN_A_TURN,
    )


def rest(who: Character, *, rng: Random, nights: int = 1, diseased: bool = False) -> Healing:
    """Sleep: 1d3 hit points a night. The sick gain nothing, and the dying cannot rest."""
    if life(who.hp) is not Life.UP:
        raise InvalidSetting("hp", who.hp, reason=f"is too few for {who.name} to rest; bind the wounds first")
    made = () if diseased or nights < 1 else (roll(f"{min(nights, 1_000)}{_A_NIGHT[1:]}", rng=rng),)
    healed = min(sum(one.total for one in made), who.hp_max - who.hp)
    slept = f"{nights} night{'s' if nights != 1 else ''}"
    shown = f" ({made[0].text})" if made else ""
    return Healing(
        rolls=made,
        text=f"{who.name} rests {slept}: {healed} healed{shown}, {who.hp + healed} hp",
        target=who.uid,
        healed=healed,
        hp_after=who.hp + healed,
    )


def regenerate(one: Combatant) -> Healing:
    """Close wounds for a round. Damage by fire or acid stays; the caller knows it."""
    healed = max(0, min(one.regenerates, one.hp_max - one.hp))
    hp = one.hp + healed
    return Healing(
        rolls=(), text=f"{one.name} regenerates {healed}, {hp} hp", target=one.uid, healed=healed, hp_after=hp
    )


def _watched(
    dying: Combatant,
    saved: Check,
    result: Literal["rallies", "holds on", "bleeds", "dies"],
    *,
    hp: int,
) -> DeathWatch:
    return DeathWatch(
        rolls=saved.rolls,
        text=f"{saved.text}: {result}",
        target=dying.uid,
        result=result,
        hp_after=hp,
        saved=saved,
        target_after=replace(dying, hp=hp) if hp <= 0 else replace(dying, hp=hp).without("dying"),
    )
