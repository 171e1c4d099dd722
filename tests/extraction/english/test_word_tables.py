"""The word tables: each says what it is, repeats nothing, and is used."""

from pathlib import Path

import pytest

from dndbots.extraction import english
from dndbots.extraction.english.word_tables import KIN, MUTUAL, any_phrase, either, read_phrases

HOME = Path(english.__path__[0])
TABLES = sorted((HOME / "words").rglob("*.txt"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_starts_with_a_comment_and_repeats_nothing(path: Path) -> None:
    comment, *words = path.read_text("utf-8").splitlines()
    assert comment.startswith("# ")
    assert words
    assert len(words) == len(set(words))
    assert all(word == word.strip() and word for word in words)
    if path.parent.name != "phrases":
        assert words == sorted(words)


def test_every_table_is_used() -> None:
    """A file that no module names would be dead data."""
    source = "\n".join(path.read_text("utf-8") for path in HOME.rglob("*.py"))
    assert [path.stem for path in TABLES if f'("{path.stem}")' not in source] == []


def test_phrases_keep_the_order_of_their_file() -> None:
    """Alternatives are tried in order, so the longer phrase must come before the shorter one."""
    deeds = read_phrases("quest_deeds")
    assert deeds.index("bring back") < deeds.index("bring")
    assert any_phrase("quest_deeds") == f"(?:{'|'.join(deeds)})"


def test_the_longest_word_is_tried_first() -> None:
    assert either({"elf", "high elf", "orc"}) == "(?:high[ ]elf|elf|orc)"


def test_every_plural_tie_has_its_singular() -> None:
    assert set(MUTUAL.values()) <= set(KIN)
