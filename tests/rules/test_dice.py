"""Dice: totals are within their bounds, every die is accounted for, and the text says what was rolled."""

import json
import random
import re
import time
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.strategies import hostile_text
from tests.waiting import HANG

from dndbots.errors import InvalidDice
from dndbots.rules.dice import Roll, bounds, roll

seeds = st.integers(0, 2**32)
selectors = st.sampled_from(["h1", "h2", "l1", "l3", ">2", "<3", "1", "6"])
values = st.sampled_from([">3", "<2", "1", "6"])
operations = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["k", "p", "ro", "ra"]), selectors),
    st.builds("{}{}".format, st.sampled_from(["rr", "e"]), values),
    st.builds("{}{}".format, st.sampled_from(["mi", "ma"]), st.integers(0, 8)),
)
groups = st.builds(
    "{}d{}{}".format,
    st.integers(0, 30),
    st.sampled_from([6, 8, 20, "%"]),
    st.lists(operations, max_size=3).map("".join),
)
atoms = st.one_of(groups, st.integers(0, 50).map(str), groups.map("{}[cold iron]".format))
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("({}) {} {}".format, inner, st.sampled_from(["/", "//", "%"]), st.integers(1, 9)),
        inner.map("-({})".format),
    ),
    max_leaves=4,
).filter(lambda text: len(text) <= 200)


def made(expression: str, seed: int = 1) -> Roll:
    return roll(expression, rng=random.Random(seed))


def recomputed(text: str) -> int:
    """The total, from nothing but the numbers that the line shows."""
    shown, _, _ = text.rpartition(" = ")
    plain = re.sub(r"\[[^]]*\]", "", shown)

    def of_group(match: re.Match[str]) -> str:
        parts = [part.strip(" !") for part in match.group(1).split(",")]
        return str(sum(int(part.split(" ")[0]) for part in parts if part))

    plain = re.sub(r"\d+d\d+[a-z<>0-9]* \(([^()]*)\)", of_group, plain)
    assert re.fullmatch(r"[-+*/%() 0-9]+", plain), text
    exact = re.sub(r"\d+", lambda number: f"Fraction({number.group()})", plain)
    return int(eval(exact, {"Fraction": Fraction}))  # noqa: S307 - digits and signs only, checked above


@given(expressions, seeds)
@example("4d6mi3e6kl1", 3)
@example("100d6e6e5rr1", 3)
def test_a_total_is_within_its_bounds(expression: str, seed: int) -> None:
    """No roll is below the least or above the most."""
    try:
        made_roll = made(expression, seed)
    except InvalidDice as refused:
        assert "pass" in refused.reason  # noqa: PT017 - the only reason these can have
        return
    least, most = bounds(expression)
    assert least <= made_roll.total <= most


@given(groups, seeds)
def test_every_die_is_kept_or_dropped_and_the_kept_ones_are_the_total(expression: str, seed: int) -> None:
    """Nothing is thrown that the roll does not tell of."""
    made_roll = made(expression, seed)
    kept = sum(die.value for die in made_roll.dice if die.kept)
    assert kept == made_roll.total
    assert len(made_roll.dice) >= int(expression.split("d", maxsplit=1)[0])
    for die in made_roll.dice:
        assert all(1 <= face <= die.sides for face in die.rolled)


@given(expressions, seeds)
def test_the_text_never_lies(expression: str, seed: int) -> None:
    """Whoever adds up what the line shows gets the total that it states."""
    try:
        made_roll = made(expression, seed)
    except InvalidDice:
        return
    assert made_roll.text.endswith(f" = {made_roll.total}")
    assert recomputed(made_roll.text) == made_roll.total
    assert made_roll.text.isascii()
    assert "\n" not in made_roll.text


@given(expressions, seeds)
def test_the_same_seed_makes_the_same_roll(expression: str, seed: int) -> None:
    """Chance is an argument."""
    try:
        first = made(expression, seed)
    except InvalidDice:
        return
    assert made(expression, seed) == first
    assert json.loads(json.dumps(first.as_data())) == first.as_data()


def test_the_modules_own_chance_is_never_used() -> None:
    """Rolling leaves the global generator as it was."""
    before = random.getstate()
    made("10d6e6")
    assert random.getstate() == before


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("4d6kh3", "4d6kh3 (2, 5, [1 dropped], 3) = 10"),
        ("2d6+3", "2d6 (2, 5) + 3 = 10"),
        ("D20", "1d20 (5) = 5"),
        ("1d%", "1d100 (18) = 18"),
        ("1d8+2[fire]", "1d8 (3) + 2 [fire] = 5"),
        ("4d6rr<2", "4d6rr<2 (2, 5, [1 rerolled], [1 rerolled], 4, 3) = 14"),
        ("4d6mi2", "4d6mi2 (2, 5, 2 [was 1], 3) = 12"),
        ("(2 + 3) * -2", "(2 + 3) * -2 = -10"),
        ("7/2*2", "7 / 2 * 2 = 7"),
        ("7//2*2", "7 // 2 * 2 = 6"),
        ("-7/2", "-7 / 2 = -3"),
    ],
)
def test_rolls_read_as_on_the_table(expression: str, text: str) -> None:
    """One line, plain ASCII, what does not count in brackets."""
    assert made(expression).text == text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("4d6kh3", (3, 18)),
        ("2d20kl1", (1, 20)),
        ("3d6pl1", (2, 12)),
        ("2d6+3", (5, 15)),
        ("-(1d4)", (-4, -1)),
        ("4d6mi2", (8, 24)),
        ("4d6ma5", (4, 20)),
        ("4d6k>3", (0, 24)),
        ("d%", (1, 100)),
        ("(1d6)*(1d4-2)", (-6, 12)),
    ],
)
def test_bounds_are_the_ends_where_the_dice_can_reach_them(
    expression: str, expected: tuple[int, int]
) -> None:
    """Least and most, without rolling."""
    assert bounds(expression) == expected


def test_selectors_of_one_operation_add_up() -> None:
    """`k1k2` keeps ones and twos, not the twos among the ones."""
    made_roll = made("40d4k1k2", 5)
    assert {die.value for die in made_roll.dice if die.kept} == {1, 2}


def test_an_explosion_throws_another_die() -> None:
    """Every six that counts brings one more."""
    made_roll = made("60d6e6", 5)
    sixes = sum(die.value == 6 for die in made_roll.dice)
    assert sixes
    assert len(made_roll.dice) == 60 + sixes


def test_a_reroll_and_add_happens_once() -> None:
    """One die more, however many match."""
    assert len(made("60d6ra6", 5).dice) == 61


@pytest.mark.parametrize(
    ("expression", "column", "reason"),
    [
        ("", 1, "ends too early"),
        ("2d6+", 5, "ends too early"),
        ("1d6!", 4, "no part of dice"),
        ("2d6 2", 5, "cannot stand here"),
        ("1001d6", 1, "more than 1,000 dice"),
        ("600d6+600d6", 1, "more than 1,000 dice"),
        ("2+d0", 3, "a die of 0 sides"),
        ("1d1000001", 1, "sides"),
        ("1d6rr<7", 4, "matches every face"),
        ("1d6rr<4rr>3", 8, "matches every face"),
        ("1d1e1", 4, "matches every face"),
        ("1d6eh1", 4, "never end"),
        ("1d6mi>2", 4, "plain number"),
        ("1/(1d3-2)", 1, "divide by 0"),
        ("5%0", 1, "divide by 0"),
        ("1000000*1000000*2", 1, "pass"),
        ("9" * 60, 1, "above"),
        ("(" * 201, 1, "200 characters"),
        ("١d٦", 1, "no part of dice"),
    ],
)
def test_what_cannot_be_rolled_says_where_and_why(expression: str, column: int, reason: str) -> None:
    """Expression, column, reason and remedy."""
    with pytest.raises(InvalidDice) as refused:
        made(expression)
    assert refused.value.expression == expression
    assert refused.value.column == column
    assert reason in refused.value.reason
    assert refused.value.remedy


@given(st.one_of(hostile_text, st.text("0123456789dkhlpreoami<>%+-*/()[] ", max_size=60)))
@example("(" * 200)
@example("-" * 199 + "1")
@example("1000d1000000e1000000")
@example("1000d1000000rr<1000000")
@example("1d6" + "e6ra6" * 39)
@example("1000d1000000*1000")
def test_hostile_dice_neither_crash_nor_hang(text: str) -> None:
    """They roll, quickly, or they are refused as dice."""
    before = time.process_time()
    try:
        made_roll = made(text)
    except InvalidDice:
        made_roll = None
    assert time.process_time() - before < HANG / 10
    if made_roll:
        assert len(made_roll.text) < 5_000
