"""Saving throws: five kinds of danger, and a number on the d20 for each."""

from enum import StrEnum
from random import Random
from typing import Final, Protocol

from dndbots.rules.conditions import sum_of
from dndbots.rules.dice import roll
from dndbots.rules.outcomes import Check, signed
from dndbots.rules.tables import TableEntry


class SaveKind(StrEnum):
    DEATH = "death"
    WANDS = "wands"
    PARALYSIS = "paralysis"
    BREATH = "breath"
    SPELLS = "spells"


_AGAINST: Final = {
    SaveKind.DEATH: "death and poison",
    SaveKind.WANDS: "wands",
    SaveKind.PARALYSIS: "paralysis",
    SaveKind.BREATH: "breath",
    SaveKind.SPELLS: "spells",
}


class Saves(TableEntry):
    """The numbers to reach. Lower is better. The defaults are those of ordinary people."""

    death: int = 14
    wands: int = 15
    paralysis: int = 16
    breath: int = 17
    spells: int = 18

    def target(self, kind: SaveKind) -> int:
        number: int = getattr(self, kind.value)
        return number


ORDINARY: Final = Saves()


class Saver(Protocol):
    """Anything that can save: a combatant."""

    @property
    def name(self) -> str: ...
    @property
    def saves(self) -> Saves: ...
    @property
    def conditions(self) -> tuple[str, ...]: ...


def save(who: Saver | Saves, kind: SaveKind | str, *, rng: Random, bonus: int = 0) -> Check:
    """Roll a d20 plus the bonus, at the number or above. A 20 always saves, a 1 never does."""
    kind = SaveKind(kind)
    saves = who if isinstance(who, Saves) else who.saves
    if not isinstance(who, Saves):
        bonus += sum_of(who.conditions, "saves")
    made = roll("1d20", rng=rng)
    total, target = made.total + bonus, saves.target(kind)
    success = made.total == 20 or (made.total != 1 and total >= target)
    saver = "" if isinstance(who, Saves) else f"{who.name} "
    text = (
        f"{saver}saves against {_AGAINST[kind]}: d20 {made.total}{signed(bonus)} = {total} "
        f"against {target}: {'saved' if success else 'failed'}"
    )
    return Check(rolls=(made,), total=total, target=target, success=success, text=text)
