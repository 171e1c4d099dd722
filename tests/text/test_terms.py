"""The terms of a text, as recall will look for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots.text.terms import LONGEST_TERM, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Goblin's gold, the GOLD!", {"goblin": 1, "gold": 2}),
        ("He didn't find Kael\u2019thas\u2019s ring", {"didnt": 1, "find": 1, "kaelthas": 1, "ring": 1}),
        ("\u00dcber ﬁne Straße", {"\u00fcber": 1, "fine": 1, "strasse": 1}),
        ("狼が来た", {"狼が": 1, "が来": 1, "来た": 1}),
        ("龍", {"龍": 1}),
        ("Zara說hello", {"zara": 1, "說": 1, "hello": 1}),
        ("4d6kh3 rolled 17", {"4d6kh3": 1, "rolled": 1, "17": 1}),
        ("and so it was", {}),
        ("", {}),
        ("x" * 100, {"x" * LONGEST_TERM: 1}),
    ],
)
def test_terms(text: str, terms: dict[str, int]) -> None:
    """Words in any script, without case, possessives and the commonest."""
    assert terms_of(text) == terms


@given(st.text())
def test_any_text_has_terms(text: str) -> None:
    """Never an error, never a blank term, never one with a space."""
    for term, times in terms_of(text).items():
        assert times > 0
        assert term
        assert not any(char.isspace() for char in term)
        assert len(term) <= LONGEST_TERM
