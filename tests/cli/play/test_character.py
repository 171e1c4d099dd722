"""Before a game: characters are rolled up, adventures checked, dice thrown."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import HOSTILE, Run

from dndbots.models import Character
from dndbots.rules import ready_made


def test_dice_are_thrown_and_shown(run: Run) -> None:
    """Each die is told, also the one that does not count; the same seed is the same dice."""
    first = run("roll", "4d6kh3", "--seed", 4)
    assert first.out == "4d6kh3 (2, 3, [1 dropped], 6) = 11\n"
    assert run("roll", "4d6kh3", "--seed", 4) == first


def test_dice_as_json_can_be_thrown_again(run: Run) -> None:
    """Without a seed, the answer says which one it was."""
    rolled = run("roll", "3d6", "--json").json
    assert rolled["total"] == sum(die["value"] for die in rolled["dice"])
    assert run("roll", "3d6", "--seed", rolled["seed"], "--json").json == rolled


@pytest.mark.parametrize("dice", ["", "4x", "1d0", "1000000d6", HOSTILE])
def test_what_is_no_dice_is_refused(run: Run, dice: str) -> None:
    """One line of words, and nothing is rolled."""
    answer = run("roll", dice)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: ")
    assert "cannot be rolled" in answer.err
    assert answer.err.count("\n") == 1


def test_a_new_character_is_the_dice_that_are_shown(run: Run, tmp_path: Path) -> None:
    """The scores on the sheet are the totals of the rolls, in their order."""
    sheet = tmp_path / "mira.json"
    words = ("--name", "Mira", "--scores", "4d6kh3", "--seed", 5, "--out", sheet)
    shown = run("character", "new", *words).out.splitlines()
    made = Character.model_validate_json(sheet.read_text("utf-8"))
    assert made.name == "Mira"
    totals = [int(line.rpartition("= ")[2]) for line in shown[:6]]
    assert totals == [*made.stats.model_dump().values()]


def test_a_sheet_is_not_written_over(run: Run, tmp_path: Path) -> None:
    """Only with --force."""
    sheet = tmp_path / "mira.json"
    sheet.write_text("precious")
    refused = run("character", "new", "--name", "Mira", "--out", sheet)
    assert refused.code == 1
    assert "--force" in refused.err
    assert sheet.read_text() == "precious"
    assert run("character", "new", "--name", "Mira", "--out", sheet, "--force").code == 0
    assert json.loads(sheet.read_text("utf-8"))["name"] == "Mira"


def test_a_character_has_the_class_and_level_that_it_is_given(run: Run) -> None:
    """And a name, if nobody gave it one; the same seed makes the same character."""
    words = ("character", "new", "--class", "cleric", "--level", 3, "--seed", 9, "--json")
    made = run(*words)
    sheet = Character.model_validate(made.json)
    assert (sheet.char_class, sheet.level) == ("Cleric", 3)
    assert sheet.name
    assert run(*words) == made


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--class", "astronaut"), "astronaut"),
        (("--class", "Bard"), "'Bard'; they have Cleric, Dwarf, Elf, Fighter, Halfling, Magic-User, Thief"),
        (("--level", 99), "99"),
        (("--scores", "3x6"), "3x6"),
        (("--scores", "100d6"), "100d6"),
        (("--name", " "), "name"),
        (("--name", f"x{HOSTILE}"), "name"),
    ],
)
def test_a_character_that_cannot_be_is_refused(run: Run, words: tuple[object, ...], named: str) -> None:
    """The error names what was asked for, and nothing is written."""
    answer = run("character", "new", *words)
    assert (answer.code, answer.out) == (1, "")
    assert named in answer.err


def test_ready_made_characters_are_listed(run: Run) -> None:
    """By name, or whole in JSON."""
    shown = run("character", "list").out
    assert all(one.name in shown for one in ready_made())
    assert [Character.model_validate(one) for one in run("character", "list", "--json").json] == [
        *ready_made()
    ]
