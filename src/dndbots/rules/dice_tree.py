"""The tree of a dice expression, and the bounds of its total.

Everything that could make a roll endless or huge is refused here, before a die is rolled.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NoReturn

from dndbots.errors import InvalidDice

if TYPE_CHECKING:
    from lark import Lark

LONGEST_EXPRESSION: Final = 200
MOST_DICE: Final = 1_000
MOST_SIDES: Final = 1_000_000
MOST_TOTAL: Final = 10**12
# How often one die is rolled again or explodes; and all the dice of one roll together.
MOST_AGAIN: Final = 100
MOST_EXTRA: Final = 1_000

_ARITHMETIC: Final[Mapping[str, Callable[[Fraction, Fraction], Fraction | int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_EXAMPLE = "write dice such as 2d6+3 or 4d6kh3"


class Op(StrEnum):
    KEEP = "k"
    DROP = "p"
    REROLL = "rr"
    REROLL_ONCE = "ro"
    REROLL_AND_ADD = "ra"
    EXPLODE = "e"
    MINIMUM = "mi"
    MAXIMUM = "ma"


@dataclass(frozen=True, slots=True)
class Selector:
    """A choice of dice: `h3` the three highest, `l1` the lowest, `>4`, `<2`, or those that show a number."""

    how: str
    number: int

    def matches(self, value: int) -> bool:
        if self.how == ">":
            return value > self.number
        if self.how == "<":
            return value < self.number
        return value == self.number

    @property
    def ranks(self) -> bool:
        return self.how in ("h", "l")

    def __str__(self) -> str:
        return f"{self.how}{self.number}"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on a group of dice. Selectors of the same operation add up: `k1k2`."""

    op: Op
    selectors: tuple[Selector, ...]

    def __str__(self) -> str:
        return "".join(f"{self.op}{selector}" for selector in self.selectors)


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Dice:
    count: int
    sides: int
    operations: tuple[Operation, ...]

    def __str__(self) -> str:
        return f"{self.count}d{self.sides}{''.join(map(str, self.operations))}"


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Signed:
    op: str
    inner: "Node"


@dataclass(frozen=True, slots=True)
class DiceGroup:
    inner: "Node"


@dataclass(frozen=True, slots=True)
class Noted:
    inner: "Node"
    note: str


Node = Number | Dice | Binary | Signed | DiceGroup | Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    expression: str
    root: Node
    least: int
    most: int


@lru_cache(maxsize=1_024)
def parsed(expression: str) -> Parsed:
    """Return the tree of an expression, and the least and the most it can come to."""
    root = _read(expression)
    if _dice_in(root) > MOST_DICE:
        _refuse(expression, f"more than {MOST_DICE:,} dice", "roll fewer at once")
    try:
        low, high = _span(root)
    except ZeroDivisionError:
        _refuse(expression, "it may divide by 0", "divide by something that is never 0")
    if max(abs(low), abs(high)) > MOST_TOTAL:
        _refuse(expression, f"the total may pass {MOST_TOTAL:,}", "use smaller numbers")
    return Parsed(expression=expression, root=root, least=int(low), most=int(high))


def combine(op: str, left: Fraction, right: Fraction) -> Fraction:
    """Return the result of an operator on two numbers."""
    return Fraction(_ARITHMETIC[op](left, right))


def _refuse(expression: object, reason: str, remedy: str, *, column: int = 1) -> NoReturn:
    raise InvalidDice(expression, column=column, reason=reason, remedy=remedy)


def _read(expression: str) -> Node:
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    if not isinstance(expression, str):
        _refuse(expression, "it is no text", _EXAMPLE)
    if len(expression) > LONGEST_EXPRESSION:
        _refuse(expression, f"it has more than {LONGEST_EXPRESSION} characters", "roll it in parts")
    try:
        root: Node = _engine().parse(expression)  # type: ignore[assignment]
    except _Refused as exc:
        _refuse(expression, exc.reason, exc.remedy, column=exc.column)
    except UnexpectedCharacters as exc:
        _refuse(expression, f"{exc.char!r} is no part of dice", _EXAMPLE, column=exc.column)
    except UnexpectedToken as exc:
        if exc.token.type == "$END":
            _refuse(expression, "it ends too early", _EXAMPLE, column=len(expression) + 1)
        _refuse(expression, f"{str(exc.token)!r} cannot stand here", _EXAMPLE, column=exc.column)
    except UnexpectedInput as exc:
        _refuse(expression, "it is not dice", _EXAMPLE, column=exc.column)
    return root


class _Refused(Exception):
    """Carries a refusal from the tree's builder to `_read`, which knows the whole expression."""

    def __init__(self, column: int | None, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.column, self.reason, self.remedy = column or 1, reason, remedy


@lru_cache(maxsize=1)
def _engine() -> "Lark":
    # Lark is loaded when the first dice are read: importing the rules stays light.
    from lark import Lark, Token, Transformer

    class Tree(Transformer[Token, Node]):
        def number(self, children: list[Any]) -> Node:
            return Number(_number(children[0], children[0].column))

        def dice(self, children: list[Any]) -> Node:
            return _dice(children[0], children[1:])

        def binary(self, children: list[Any]) -> Node:
            left, op, right = children
            return Binary(str(op), left, right)

        def negative(self, children: list[Any]) -> Node:
            return Signed("-", children[1])

        def positive(self, children: list[Any]) -> Node:
            return Signed("+", children[1])

        def group(self, children: list[Any]) -> Node:
            return DiceGroup(children[0])

        def noted(self, children: list[Any]) -> Node:
            return Noted(children[0], str(children[1])[1:-1])

    grammar = resources.files("dndbots.rules").joinpath("dice.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", transformer=Tree(), maybe_placeholders=False)


def _number(digits: str, column: int | None) -> int:
    value = int(digits)
    if value > MOST_TOTAL:
        raise _Refused(column, f"a number above {MOST_TOTAL:,}", "use smaller numbers")
    return value


def _dice(token: Any, words: list[Any]) -> Dice:
    count, sides = str(token).lower().split("d")
    number = _number(count or "1", token.column)
    faces = 100 if sides == "%" else _number(sides, token.column)
    if number > MOST_DICE:
        raise _Refused(token.column, f"more than {MOST_DICE:,} dice", "roll fewer at once")
    if not 1 <= faces <= MOST_SIDES:
        raise _Refused(token.column, f"a die of {faces:,} sides", f"use 1 to {MOST_SIDES:,} sides")
    operations: list[Operation] = []
    for word in words:
        found = _operation(word, faces)
        last = operations[-1] if operations else None
        if last and last.op == found.op and found.op not in (Op.MINIMUM, Op.MAXIMUM):
            operations[-1] = Operation(found.op, last.selectors + found.selectors)
            _check_ends(operations[-1], faces, word)
        else:
            operations.append(found)
    return Dice(number, faces, tuple(operations))


def _operation(word: Any, sides: int) -> Operation:
    text = str(word).lower()
    letters = text.rstrip("0123456789")
    number = _number(text[len(letters) :], word.column)
    how = letters[-1] if letters[-1] in "hl<>" else ""
    operation = Operation(Op(letters.removesuffix(how) if how else letters), (Selector(how, number),))
    if operation.op in (Op.MINIMUM, Op.MAXIMUM) and how:
        raise _Refused(word.column, f"{text} needs a plain number", f"write {operation.op}2")
    if operation.op in (Op.REROLL, Op.EXPLODE) and how in ("h", "l"):
        raise _Refused(word.column, f"{text} would never end", f"write {operation.op}1 or {operation.op}<3")
    _check_ends(operation, sides, word)
    return operation


def _check_ends(operation: Operation, sides: int, word: Any) -> None:
    """Refuse rerolling every face: it would never end."""
    if operation.op not in (Op.REROLL, Op.EXPLODE):
        return
    if all(any(s.matches(face) for s in operation.selectors) for face in _telling_faces(operation, sides)):
        raise _Refused(word.column, f"{operation} matches every face", "leave out a face")


def _telling_faces(operation: Operation, sides: int) -> list[int]:
    """Return the faces to test for an escape: selectors change only beside their numbers."""
    near = {s.number + step for s in operation.selectors for step in (-1, 0, 1)}
    return sorted({face for face in near | {1, sides} if 1 <= face <= sides})


def _dice_in(node: Node) -> int:
    match node:
        case Dice():
            return node.count
        case Binary():
            return _dice_in(node.left) + _dice_in(node.right)
        case Signed() | DiceGroup() | Noted():
            return _dice_in(node.inner)
        case _:
            return 0


def _span(node: Node) -> tuple[Fraction, Fraction]:
    """Return the least and most that a part can come to.

    Nothing lies outside; the ends may not be reached.
    """
    match node:
        case Number():
            return Fraction(node.value), Fraction(node.value)
        case Dice():
            least, most = _dice_span(node)
            return Fraction(least), Fraction(most)
        case Signed():
            low, high = _span(node.inner)
            return (-high, -low) if node.op == "-" else (low, high)
        case Binary():
            return _binary_span(node.op, _span(node.left), _span(node.right))
        case _:
            return _span(node.inner)


def _binary_span(
    op: str, left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    if op in ("/", "//", "%") and right[0] <= 0 <= right[1]:
        raise ZeroDivisionError
    if op == "%":
        if left[0] == left[1] and right[0] == right[1]:
            rest = left[0] % right[0]
            return rest, rest
        # A remainder is between 0 and the divisor, and has its sign.
        return min(right[0], Fraction(0)), max(right[1], Fraction(0))
    corners = [combine(op, a, b) for a in left for b in right]
    return min(corners), max(corners)


def _dice_span(dice: Dice) -> tuple[int, int]:
    """Return the fewest and most dice that count, and the least and most each can show."""
    fewest = most = dice.count
    low, high = 1, dice.sides
    for operation in dice.operations:
        number = operation.selectors[0].number
        match operation.op:
            case Op.KEEP | Op.DROP:
                fewest, most = _counts(operation, fewest, most)
            case Op.MINIMUM:
                low, high = max(low, number), max(high, number)
            case Op.MAXIMUM:
                low, high = min(low, number), min(high, number)
            case _:  # dice that are thrown anew may show any face
                low, high = min(low, 1), max(high, dice.sides)
                most += _new_dice(operation.op, most)
    return fewest * low, most * high


def _new_dice(op: Op, most: int) -> int:
    if op == Op.EXPLODE:
        return min(most * MOST_AGAIN, MOST_EXTRA)
    return 1 if op == Op.REROLL_AND_ADD and most else 0


def _counts(operation: Operation, fewest: int, most: int) -> tuple[int, int]:
    """Return how many dice count after a keep or a drop."""
    ranked = [s.number for s in operation.selectors if s.ranks]
    by_value = len(ranked) < len(operation.selectors)
    surely, at_most = max(ranked, default=0), sum(ranked)
    if operation.op == Op.KEEP:
        return min(surely, fewest), most if by_value else min(at_most, most)
    return 0 if by_value else max(0, fewest - at_most), max(0, most - surely)
