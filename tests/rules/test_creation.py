"""New characters: valid sheets, whatever the dice show."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.errors import InvalidDice, InvalidName, InvalidSetting, UnknownClass
from dndbots.models import Character, Stats
from dndbots.rules.characters.abilities import modifier
from dndbots.rules.characters.armor import armor_class
from dndbots.rules.characters.classes import all_classes, char_class
from dndbots.rules.characters.creation import best_class, new_character, outfit, ready_made, unfit
from dndbots.rules.characters.equipment import recognised, weapons_in
from dndbots.rules.fights.combatants import Combatant

seeds = st.integers(0, 2**32)
class_names = st.sampled_from([kind.name for kind in all_classes()])


@given(seeds, st.none() | class_names, st.integers(1, 8), st.sampled_from(["3d6", "4d6kh3", "2d6+6"]))
def test_a_new_character_is_a_valid_sheet(seed: int, kind: str | None, level: int, scores: str) -> None:
    """Scores, hit points, armour class and equipment agree with the class."""
    sheet = new_character("Nim", rng=random.Random(seed), char_class=kind, level=level, scores=scores)
    rules = char_class(sheet.char_class)
    assert Character.model_validate(sheet.model_dump()) == sheet
    assert kind is None or sheet.char_class == kind
    assert sheet.hp == sheet.hp_max
    assert level <= sheet.hp <= level * (rules.hit_die + 3)
    assert sheet.ac == armor_class(sheet.equipment, dexterity=modifier(sheet.stats.dex))
    assert unfit(sheet) == ()
    assert all(recognised(name) for name in sheet.equipment)
    assert weapons_in(sheet.equipment)
    assert Combatant.of_character(sheet).hp == sheet.hp


@given(seeds)
def test_the_same_chance_makes_the_same_character(seed: int) -> None:
    """And another seed soon makes another."""
    first = new_character("Nim", rng=random.Random(seed))
    assert new_character("Nim", rng=random.Random(seed)) == first
    others = [new_character("Nim", rng=random.Random(seed + step)) for step in range(1, 4)]
    assert any(other != first for other in others)


def test_every_class_comes_up_by_chance() -> None:
    """No class is out of reach of the dice."""
    rng = random.Random(7)
    found = {new_character("Nim", rng=rng).char_class for _ in range(300)}
    assert found == {kind.name for kind in all_classes()}


@pytest.mark.parametrize(
    ("best", "expected"), [("str", "Fighter"), ("wis", "Cleric"), ("dex", "Thief"), ("int", "Magic-User")]
)
def test_the_class_fits_the_best_score(best: str, expected: str) -> None:
    """One outstanding score decides."""
    stats = Stats(**(dict.fromkeys(("str", "dex", "con", "int", "wis", "cha"), 8) | {best: 18}))
    assert best_class(stats).name == expected


@given(class_names, st.integers(0, 200))
def test_nobody_spends_more_than_there_is(kind: str, gold: int) -> None:
    """What was bought and what is left never come to more than the purse."""
    bought, left = outfit(char_class(kind), gold=gold)
    spent = sum(recognised(name).price * (6 if name == "6 torches" else 1) for name in bought)
    assert spent + left <= gold
    assert gold < spent + left + 1


def test_the_ready_made_are_one_of_each_class() -> None:
    """Throk the fighter and Zara the thief among them; all fit to play."""
    party = ready_made()
    assert {one.char_class for one in party} == {kind.name for kind in all_classes()}
    assert {one.name: one.char_class for one in party}.items() >= {("Throk", "Fighter"), ("Zara", "Thief")}
    assert len({one.uid for one in party}) == len(party)
    for one in party:
        assert one.level == 1
        assert one.ac == armor_class(one.equipment, dexterity=modifier(one.stats.dex)), one.name
        assert one.hp <= char_class(one.char_class).hit_die + modifier(one.stats.con)
        assert unfit(one) == ()


def test_a_changed_sheet_does_not_change_the_next_ones() -> None:
    """Ready-made characters are new every time."""
    ready_made()[0].equipment.clear()
    assert ready_made()[0].equipment


def test_things_of_the_wrong_kind_are_told() -> None:
    """Plate on a wizard, a sword on a cleric."""
    sheet = ready_made()[0].model_copy(update={"char_class": "Wizard"})
    assert unfit(sheet) == ("longsword", "chain mail", "shield")


def test_what_cannot_be_made_is_refused() -> None:
    """Class, level, dice and name each say what is wrong."""
    rng = random.Random(1)
    with pytest.raises(UnknownClass):
        new_character("Nim", rng=rng, char_class="Gardener")
    with pytest.raises(InvalidSetting, match="level"):
        new_character("Nim", rng=rng, char_class="Halfling", level=9)
    with pytest.raises(InvalidSetting, match="scores"):
        new_character("Nim", rng=rng, scores="9d6")
    with pytest.raises(InvalidDice):
        new_character("Nim", rng=rng, scores="three dice")
    with pytest.raises((InvalidName, ValueError)):
        new_character("  ", rng=rng)
