"""Told in passing: ages, ailments, looks, moves and promises of people, and what "it" is."""

import pytest
from tests.extraction.english.test_rules import NOBODY, facts, read

TOLD_OF_PEOPLE = [
    ("Brother Anselm bows. He is past seventy and has been blind since the fever.", "age", "seventy"),
    ("Brother Anselm bows. He is past seventy and has been blind since the fever.", "status", "blind"),
    ("Odo just turned six.", "age", "six"),
    ("Lena is freckled and clever.", "description", "freckled and clever"),
    ("Mara Quill, the innkeeper, a broad woman with flour on her forearms, nods.", "role", "innkeeper"),
    ("Hugo Brandt stayed in Oldmere.", "place", "Oldmere"),
    ("Sergeant Halloran of the town watch looks up.", "role", "town watch"),
    ("Osric wants that ring back.", "wants", "ring back"),
    ("Vera offers you five hundred gold pieces.", "promise", "five hundred gold pieces"),
    ("Hugo moved from Oldmere to Newmere.", "home", "Newmere"),
]


@pytest.mark.parametrize(("text", "field", "value"), TOLD_OF_PEOPLE)
def test_what_is_told_of_people_in_passing_is_kept(text: str, field: str, value: str) -> None:
    """Ages, ailments, looks, moves and offers are facts about whoever is named."""
    assert (field, value) in {(u.field, u.value) for u in read(text, known=NOBODY)}


OF_ONESELF = [
    ("I'm a baker, it's a professional relationship.", "role", "baker"),
    ("I work as a nurse at the hospital.", "role", "nurse"),
    ("I moved from Lisbon to Coimbra three weeks ago.", "home", "Coimbra"),
    ("I'm allergic to cats.", "status", "allergic to cats"),
    ("I want a garden so badly.", "wants", "garden"),
    ("We'll find your father, Tobin. I promise.", "promise", "find Tobin's father"),
    ("I'll bring you the bell, Lady Wynne. You have my word.", "promise", "bring the bell"),
    ("I'll build your shelves, I promise.", "promise", "build the shelves"),
]


@pytest.mark.parametrize(("text", "field", "value"), OF_ONESELF)
def test_what_a_player_says_of_oneself_is_kept(text: str, field: str, value: str) -> None:
    """A trade, a home, an ailment and a promise are the player's own word."""
    found = read(text, speaker="Zara", role="pc")
    assert ("character", "Zara", field, value) in {(u.kind, u.name, u.field, u.value) for u in found}


@pytest.mark.parametrize("text", ["I'm a god.", "I'm a monster, honestly.", "I want a beer.", "I'm wounded."])
def test_a_boast_and_a_whim_are_no_facts(text: str) -> None:
    """What a player says of the moment is no record."""
    assert read(text, speaker="Zara", role="pc") == []


def test_a_story_told_in_the_past_says_what_is() -> None:
    """Where all is told in the past, "was a banker" is no former banker; elsewhere it is."""
    told = "Casimir Roth was a heavy, tired man who had seen too much, and he lived in Kingsport."
    assert {("description", "heavy tired man"), ("home", "Kingsport")} <= {
        (u.field, u.value) for u in read(told, known=NOBODY)
    }
    assert read("Roth was a banker. Now he is nobody you know.", known=NOBODY) == []
    assert read("Roth was a banker once, and he lost it all.", known=NOBODY) == []


def test_it_is_the_place_just_named() -> None:
    """ "It's a marsh" says what the one place before it is; after two names, or a person, it says nothing."""
    assert ("environment", "Blue Parrot", "kind", "nightclub") in facts(
        "You come to the Blue Parrot. It's a nightclub on the docks.", known=NOBODY
    )
    assert not facts("You come past Oldmere and Newmere. It's a marsh.", known=NOBODY)


def test_a_name_at_a_place_is_nobody() -> None:
    """After "at Ashdown", "she" is not Ashdown."""
    assert not facts("She was the maid at Ashdown. She is seventeen.", known=NOBODY)
