"""Dice: `roll("4d6kh3", rng=rng)`. Every die thrown is kept, including those that do not count."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, Final

from dndbots.rules.dice_tree import (
    MOST_AGAIN,
    MOST_EXTRA,
    Binary,
    Dice,
    DiceGroup,
    Node,
    Noted,
    Number,
    Op,
    Operation,
    Selector,
    Signed,
    combine,
    parsed,
)

# Most dice written out in a line; the rest become one sum.
_DICE_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Die:
    """A die. `rolled` holds the faces it showed, the last one is up; `value` is what it counts for."""

    sides: int
    rolled: tuple[int, ...]
    value: int
    kept: bool = True
    exploded: bool = False

    def as_data(self) -> dict[str, Any]:
        return {
            "sides": self.sides,
            "rolled": list(self.rolled),
            "value": self.value,
            "kept": self.kept,
            "exploded": self.exploded,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """The result of a roll. `total` is the sum, cut to a whole number towards 0."""

    expression: str
    total: int
    dice: tuple[Die, ...]
    text: str

    def as_data(self) -> dict[str, Any]:
        """Return the roll as JSON, with every die."""
        return {
            "expression": self.expression,
            "total": self.total,
            "dice": [die.as_data() for die in self.dice],
            "text": self.text,
        }


def roll(expression: str, *, rng: Random) -> Roll:
    """Roll dice. Raises InvalidDice if the expression cannot be rolled."""
    thrower = _Thrower(rng)
    value, shown = thrower.evaluate(parsed(expression).root)
    total = int(value)
    return Roll(expression=expression, total=total, dice=tuple(thrower.thrown), text=f"{shown} = {total}")


def bounds(expression: str) -> tuple[int, int]:
    """Return the least and the most. With exploding or rerolled dice these may never be reached."""
    tree = parsed(expression)
    return tree.least, tree.most


@dataclass(slots=True)
class _OnTable:
    """A die while its group is being rolled."""

    sides: int
    rolled: list[int]
    value: int
    kept: bool = True
    exploded: bool = False

    def throw(self, rng: Random) -> None:
        self.value = rng.randint(1, self.sides)
        self.rolled.append(self.value)

    def settled(self) -> Die:
        return Die(
            sides=self.sides,
            rolled=tuple(self.rolled),
            value=self.value,
            kept=self.kept,
            exploded=self.exploded,
        )


@dataclass(slots=True)
class _Thrower:
    """A roll in progress: the dice so far, and how many more may be thrown."""

    rng: Random
    thrown: list[Die] = field(default_factory=list)
    extra: int = MOST_EXTRA

    def evaluate(self, node: Node) -> tuple[Fraction, str]:
        match node:
            case Number():
                return Fraction(node.value), str(node.value)
            case Dice():
                dice = [die.settled() for die in self._group(node)]
                self.thrown += dice
                return Fraction(sum(die.value for die in dice if die.kept)), f"{node} ({_shown(dice)})"
            case Binary():
                left, before = self.evaluate(node.left)
                right, after = self.evaluate(node.right)
                return combine(node.op, left, right), f"{before} {node.op} {after}"
            case Signed():
                value, shown = self.evaluate(node.inner)
                return (-value, f"-{shown}") if node.op == "-" else (value, shown)
            case DiceGroup():
                value, shown = self.evaluate(node.inner)
                return value, f"({shown})"
            case Noted():
                value, shown = self.evaluate(node.inner)
                return value, f"{shown} [{node.note}]"

    def _group(self, node: Dice) -> list[_OnTable]:
        dice = [self._new(node.sides) for _ in range(node.count)]
        for operation in node.operations:
            self._apply(operation, dice)
        return dice

    def _new(self, sides: int) -> _OnTable:
        face = self.rng.randint(1, sides)
        return _OnTable(sides=sides, rolled=[face], value=face)

    def _apply(self, operation: Operation, dice: list[_OnTable]) -> None:
        kept = [die for die in dice if die.kept]
        match operation.op:
            case Op.KEEP | Op.DROP:
                _sort_out(operation, kept)
            case Op.REROLL | Op.REROLL_ONCE:
                times = MOST_AGAIN if operation.op == Op.REROLL else 1
                for die in _chosen(operation.selectors, kept):
                    self._again(die, operation.selectors, times)
            case Op.REROLL_AND_ADD:
                dice += [self._burst(die) for die in _chosen(operation.selectors, kept)[:1]]
            case Op.EXPLODE:
                dice += [new for die in kept for new in self._explosions(die, operation.selectors)]
            case Op.MINIMUM | Op.MAXIMUM:
                limit = max if operation.op == Op.MINIMUM else min
                for die in kept:
                    die.value = limit(die.value, operation.selectors[0].number)

    def _again(self, die: _OnTable, selectors: tuple[Selector, ...], times: int) -> None:
        for _ in range(times):
            if not self.extra:
                return
            self.extra -= 1
            die.throw(self.rng)
            if not any(s.matches(die.value) for s in selectors):
                return

    def _burst(self, die: _OnTable) -> _OnTable:
        die.exploded = True
        return self._new(die.sides)

    def _explosions(self, die: _OnTable, selectors: tuple[Selector, ...]) -> Iterator[_OnTable]:
        for _ in range(MOST_AGAIN):
            if not self.extra or not any(s.matches(die.value) for s in selectors):
                return
            self.extra -= 1
            die = self._burst(die)
            yield die


def _chosen(selectors: tuple[Selector, ...], dice: list[_OnTable]) -> list[_OnTable]:
    """Return the dice that any of the selectors picks, in order."""
    found: set[int] = set()
    for selector in selectors:
        if selector.ranks:
            ranked = sorted(dice, key=lambda die: die.value, reverse=selector.how == "h")
            found |= {id(die) for die in ranked[: selector.number]}
        else:
            found |= {id(die) for die in dice if selector.matches(die.value)}
    return [die for die in dice if id(die) in found]


def _sort_out(operation: Operation, dice: list[_OnTable]) -> None:
    """Keep the chosen dice, or drop them."""
    chosen = {id(die) for die in _chosen(operation.selectors, dice)}
    for die in dice:
        die.kept = (id(die) in chosen) == (operation.op == Op.KEEP)


def _shown(dice: list[Die]) -> str:
    """Write each die, in brackets if it does not count: `6, 5, 3, [1 dropped]`."""
    told = [part for die in dice[:_DICE_SHOWN] for part in _told(die)]
    rest = dice[_DICE_SHOWN:]
    if rest:
        told.append(f"{sum(die.value for die in rest if die.kept)} from {len(rest)} more")
    return ", ".join(told)


def _told(die: Die) -> Iterator[str]:
    *before, last = die.rolled
    if len(before) > 3:
        yield f"[rerolled {len(before)} times]"
    else:
        yield from (f"[{face} rerolled]" for face in before)
    if not die.kept:
        yield f"[{die.value} dropped]"
        return
    bang = "!" if die.exploded else ""
    yield f"{die.value}{bang} [was {last}]" if die.value != last else f"{die.value}{bang}"
