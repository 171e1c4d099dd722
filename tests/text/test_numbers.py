"""Numbers in plain English."""

import pytest

from dndbots.text.numbers import numbers_in, spell_number


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Sixty is an insult. Eighty or we walk", [60, 80]),
        ("make it 75 gold, not 1,000", [75, 1000]),
        ("seventy-five gold pieces", [75]),
        ("a hundred and fifty", [150]),
        ("two hundred and five, or three", [205, 3]),
        ("two dozen eggs", [24]),
        ("a dozen", [12]),
        ("fifty and sixty", [50, 60]),
        ("five thousand", [5000]),
        ("not one of us is the one", []),
        ("a hundredfold, someone said", []),
        ("", []),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, numbers: list[int]) -> None:
    """In the order of the text; a word that only contains a number is none."""
    assert numbers_in(text) == numbers


def test_a_number_without_end_is_cut() -> None:
    """A thousand digits are no reason to count for long."""
    assert numbers_in("9" * 1_000) == [999_999_999]


@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        (0, "zero"),
        (12, "twelve"),
        (70, "seventy"),
        (75, "seventy-five"),
        (150, "one hundred and fifty"),
        (1200, "1,200"),
    ],
)
def test_a_number_is_spelled_as_people_say_it(number: int, spelled: str) -> None:
    """And read back as the same number."""
    assert spell_number(number) == spelled
    assert numbers_in(f"{spelled} gold") == [number]
