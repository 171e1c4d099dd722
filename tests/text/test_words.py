"""Words as they are compared: folded, stemmed, and without those that carry no content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.ids import fold_name
from dndbots.text.english_words import FUNCTION_WORDS, INDEX_STOP_WORDS, STOP_WORDS
from dndbots.text.terms import terms_of
from dndbots.text.vocabulary import is_everyday
from dndbots.text.words import content_stems, fold_word, stem, words_of


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Zo\u00eb", "zoe"),
        ("ZOE\u0308", "zoe"),
        ("Kael\u2019thas", "kael'thas"),
        ("Stra\u00dfe", "strasse"),
        ("half\u2010elf", "half-elf"),
    ],
)
def test_words_are_folded_without_accents(word: str, folded: str) -> None:
    """A model may write a name without its accents, or with another apostrophe."""
    assert fold_word(word) == folded


def test_names_are_folded_with_their_accents() -> None:
    """Stored names are looked up by this form: composed in any way, but with the accent."""
    assert fold_name("Zo\u00eb  of Ash") == fold_name("zoe\u0308 OF ash") != fold_name("Zoe of Ash")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    """So a folded word may be folded again."""
    assert fold_word(fold_word(text)) == fold_word(text)


@pytest.mark.parametrize("words", ["goblin goblins", "open opens opened opening", "carry carries carried"])
def test_forms_of_a_word_share_a_stem(words: str) -> None:
    """There is one stemmer, for summaries, checks and extraction."""
    assert len(set(map(stem, words.split()))) == 1


def test_content_words_leave_out_the_stop_list() -> None:
    """Words of the index's own stop list never reach the index; those of talk do."""
    assert content_stems("The goblins really attack, and we roll for initiative!") == ("goblin",)
    assert "attack" in terms_of("They attack")
    assert INDEX_STOP_WORDS < STOP_WORDS
    assert "attack" not in FUNCTION_WORDS


def test_words_of_a_text() -> None:
    """Possessives are dropped, hyphenated words come in parts, unspaced scripts by character."""
    assert list(words_of("Throk's half-elf \u72fc\u6765")) == ["throk", "half", "elf", "\u72fc", "\u6765"]


@pytest.mark.parametrize(
    ("word", "plain"), [("ines", False), ("goes", True), ("doing", True), ("bees", True)]
)
def test_a_short_name_is_no_form_of_a_preposition(word: str, plain: bool) -> None:  # noqa: FBT001
    """Of the words of two letters, only verbs take endings: "Ines" is not several "in"."""
    assert is_everyday(word) is plain
