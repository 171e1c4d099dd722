"""Refusals: what chance finds in any long log is no answer, and what was told is not refused."""

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.memory.recall.chance import Spread, expect_places
from dndbots.testing import memory_campaign

ZARA = "pc_zara_001"
TALK = (
    "The rain drums on the roof of the inn.",
    "I carry the lantern up the stairs.",
    "She puts the key on the table.",
    "They live by the river and work hard.",
    "Give me a moment, says the cook.",
    "A bell rings far away.",
    "Brother Anselm hums a tune.",
    "Konrad the smith mends a wheel.",
)


@pytest.fixture
def table() -> Campaign:
    """A long log in which a few things were told, each once."""
    lines = [f"{TALK[n % len(TALK)]} {n}" for n in range(600)]
    lines[300] = "The glass flute is under the third stair."
    lines[400] = "Old Mother Tansy sells candles."
    return memory_campaign(event(f"e{n}", "dm", text, witnesses=[ZARA]) for n, text in enumerate(lines))


@pytest.mark.parametrize(
    "query",
    [
        "What does Hroswitha Quell do for a living?",
        "Where does Tisander Voy live?",
        "What would Tisander Voy give anything for?",
        "Where was the porphyry bell put?",
        "Does anybody know where the silver thimble is hidden?",
        "What is Brother Konrad's trade?",
    ],
)
def test_a_common_word_of_a_question_is_no_answer(table: Campaign, query: str) -> None:
    """Somebody never heard of, a thing that nobody mentioned, two names that never stood together."""
    assert table.recall("Zara", query).no_record


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Where is the glass flute?", "e300"),
        ("Does anybody know where the glass flute is hidden?", "e300"),
        ("What is Mother Tansy's trade?", "e400"),
        ("Who sells candles?", "e400"),
    ],
)
def test_what_was_told_once_is_found_in_a_long_log(table: Campaign, query: str, told: str) -> None:
    """Words that met in one place, and somebody's only line."""
    found = table.recall("Zara", query)
    assert told in {source for item in found.items for source in item.sources}


def test_chance_has_one_place_for_a_word_that_was_said_once() -> None:
    """As many as it has lines; two rare words hardly ever meet, and common ones do all the time."""
    rare, common = Spread(1, 7.0), Spread(400, 1.0)
    assert expect_places([rare], 7.0, lines=1_000, window=9) == pytest.approx(1)
    assert expect_places([rare, Spread(0, 7.0)], 7.0, lines=1_000, window=9) == pytest.approx(1)
    assert expect_places([rare, rare], 14.0, lines=1_000, window=9) == pytest.approx(0.009)
    assert expect_places([common, common], 2.0, lines=1_000, window=9) > 90
    assert expect_places([rare, common], 8.0, lines=1_000, window=9) == pytest.approx(1, abs=0.1)
    assert expect_places([], 0.0, lines=1_000, window=9) == 0
    assert expect_places([Spread(0, 7.0)], 0.0, lines=0, window=9) == 0


@pytest.fixture
def alike() -> Campaign:
    """A long log in which words of names and things meet, but not as one name or thing."""
    lines = [f"{TALK[n % len(TALK)]} {n}" for n in range(600)]
    lines[300] = (
        "Old Sunniva looks at it for the last time, and hands it over to Dunstan Saltridge, who is human."
    )
    lines[350] = (
        "You want the green lantern? The clerk of the mill, who laughs at you, hides it under his ledger."
    )
    for n in range(20, 280, 20):
        lines[n : n + 3] = ["A marble step is cold.", "It rains.", "The casket is heavy."]
    lines[400] = "The casket was brass, and it was hidden in the dovecote."
    return memory_campaign(event(f"e{n}", "dm", text, witnesses=[ZARA]) for n, text in enumerate(lines))


@pytest.mark.parametrize(
    "query",
    ["Is Old Dunstan human?", "Where does Old Dunstan live?", "Where is the marble casket?"],
)
def test_words_of_a_name_that_never_stood_together_are_no_answer(alike: Campaign, query: str) -> None:
    """However near they are: an Old Dunstan is neither Old Sunniva nor Dunstan Saltridge."""
    assert alike.recall("Zara", query).no_record


def test_a_thing_is_found_by_words_that_stand_apart(alike: Campaign) -> None:
    """If chance would not bring them together: things are called by many words."""
    found = alike.recall("Zara", "Where is the green ledger?")
    assert "e350" in {source for item in found.items for source in item.sources}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Where is the brass casket?", "e400"),
        ("Where is the green lantern?", "e350"),
        ("Is Dunstan Saltridge human?", "e300"),
        ("What did the clerk hide beside the old green ledger of the lantern mill?", "e350"),
    ],
)
def test_words_of_a_name_may_stand_in_any_order(alike: Campaign, query: str, told: str) -> None:
    """A brass casket is a casket of brass; and a long question asks for more than one thing."""
    found = alike.recall("Zara", query)
    assert told in {source for item in found.items for source in item.sources}
