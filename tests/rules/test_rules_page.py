"""The page for players says what the engine does."""

from itertools import pairwise
from pathlib import Path

from dndbots.prompts import RULES_SHORTHAND
from dndbots.rules.reference import page

ROOT = Path(__file__).parent.parent.parent


def test_the_page_is_made_from_the_tables() -> None:
    """`python -m dndbots.rules.reference docs/rules.md` writes it again."""
    assert (ROOT / "docs" / "rules.md").read_text("utf-8") == page()


def test_no_mark_is_left_and_no_line_is_a_broken_table() -> None:
    """Every table has a head and rows of the same width."""
    lines = page().splitlines()
    assert not [line for line in lines if line.startswith("<!--")]
    for above, line in pairwise(lines):
        if above.startswith("|") and line.startswith("|"):
            assert above.count("|") == line.count("|"), line


def test_the_page_holds_to_the_shorthand_of_players() -> None:
    """What players are told in four lines stands on the page too."""
    assert "d20, at or under the ability" in RULES_SHORTHAND
    assert "d20 at the score or under it" in page()
    assert "At 0 hit points you are dying" in RULES_SHORTHAND
    assert "At 0 hit points or fewer you are dying" in page()


def test_the_licence_is_named_on_the_page_and_in_the_package() -> None:
    """The work, the licence and where to read it."""
    notice = (ROOT / "src" / "dndbots" / "rules" / "LICENSE").read_text("utf-8")
    for text in (page(), notice):
        assert "the dndbots ruleset" in text
        assert "https://creativecommons.org/licenses/by/4.0/legalcode" in text
        assert "CC-BY-4.0" in text
