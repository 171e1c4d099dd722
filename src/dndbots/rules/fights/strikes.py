"""Strikes and their effects as data: the poison of a bite, the sleep of a spell."""

from typing import Literal

from pydantic import model_validator

from dndbots.rules.conditions import condition
from dndbots.rules.saves import SaveKind
from dndbots.rules.tables import DiceText, TableEntry


class EffectRule(TableEntry):
    """An effect on a target, beside or instead of a wound.

    `kind` is what somebody may be immune to: poison, sleep, fire. A save prevents it, or halves the damage.
    `rounds` is how long a condition lasts; None means until cured. `levels` are lost for good. `per_level`
    and `most` say how the dice grow with the caster.
    """

    kind: str
    save: SaveKind | None = None
    saved: Literal["none", "half"] = "none"
    save_bonus: int = 0
    damage: DiceText | None = None
    healing: DiceText | None = None
    condition: str | None = None
    cures: tuple[str, ...] = ()
    rounds: DiceText | None = None
    levels: int = 0
    per_level: DiceText | None = None
    every: int = 1
    most: int = 1

    @model_validator(mode="after")
    def _does_something(self) -> "EffectRule":
        if not (self.damage or self.healing or self.condition or self.cures or self.levels):
            raise ValueError(f"{self.kind}: an effect that does nothing")
        for name in [*([self.condition] if self.condition else []), *self.cures]:
            condition(name)
        return self


class Strike(TableEntry):
    """A way to attack. `bonus` adds to the attacker's own; `uses` is how often in a day; None means always.

    A `number` of 0 marks an alternative, not a part of each round's routine.
    """

    name: str
    damage: DiceText | None = None
    number: int = 1
    bonus: int = 0
    reach: int = 0
    magic: bool = False
    silver: bool = False
    effect: EffectRule | None = None
    uses: int | None = None

    @property
    def ranged(self) -> bool:
        return self.reach > 0
