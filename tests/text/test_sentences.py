"""Sentences: one rule for where they end, for checks and for summaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.text.sentences import LONGEST_CHARS, is_hanging, split_sentences, spoken_sentences


@pytest.mark.parametrize(
    "text",
    [
        "One came. Two came! Three?",
        "Dr. Vex met St. Cuthbert. J. R. was there.",
        "They waited... and left. Paid 3.5 gold.",
        "\u9f8d\u304c\u7720\u308b\u3002\u4eba\u304c\u6765\u308b\u3002",
    ],
)
def test_both_splitters_agree(text: str) -> None:
    """Plain prose is split in the same places, cleaned or not."""
    assert split_sentences(text) == list(spoken_sentences(text, clauses=False))


@given(st.text())
def test_a_split_loses_nothing_but_blanks(text: str) -> None:
    """Checks put the sentences together again, and must not reword them."""
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_spoken_sentences_are_cleaned_and_bounded() -> None:
    """Stage noise is dropped, quotations are closed, and no sentence is endless."""
    assert list(spoken_sentences('"Go. Now!" (laughs) he says.')) == ['"Go."', '"Now!"', "he says."]
    assert all(len(piece) <= LONGEST_CHARS for piece in spoken_sentences("x" * 5_000))


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The bow (imitates arrow flying) sings.", "The bow sings."),
        ("A click [clicks tongue quickly] from the dark.", "A click from the dark."),
        ("Nub *imitates an owl* twice.", "Nub imitates an owl twice."),
        ("The (imitation) crown is glass.", "The (imitation) crown is glass."),
    ],
)
def test_what_a_transcript_notes_of_sounds_is_noise_and_a_deed_is_none(said: str, left: str) -> None:
    """A note in brackets is nobody's deed; between asterisks, somebody does it."""
    assert " ".join(next(spoken_sentences(said)).split()) == left


def test_noise_at_the_end_of_a_sentence_leaves_no_comma() -> None:
    """Nobody reads "they go, ." aloud."""
    assert list(spoken_sentences("The dwarves go, (laughs). Then you sit (sighs) .")) == [
        "The dwarves go.",
        "Then you sit.",
    ]


@pytest.mark.parametrize(
    "sentence", ["Here the wedge sat.", "Nobody likes them, and nobody has better ones."]
)
def test_a_sentence_that_points_at_the_one_before_it_hangs(sentence: str) -> None:
    assert is_hanging(sentence)
    assert not is_hanging("There was a wedge beside the keystone, and nobody likes the ferryman.")
