"""The language's law: text, tree, text. What goes in comes back, in both spellings."""

from pathlib import Path

import pytest
from hypothesis import given
from tests.strategies import documents

from dndbots.dcml import Document, dense, parse, plain, render

CORPUS = Path(__file__).parent / "corpus"


@given(documents)
def test_every_document_reads_back_equal_in_both_spellings(document: Document) -> None:
    """parse(plain(d)) == parse(dense(d)) == d, for any document that can be built."""
    assert parse(plain(document)) == document
    assert parse(dense(document)) == document


@given(documents)
def test_a_spelling_is_stable(document: Document) -> None:
    """Reading a text and writing it again gives the same bytes."""
    assert plain(parse(plain(document))) == plain(document)
    assert dense(parse(dense(document))) == dense(document)


@given(documents)
def test_no_text_starts_a_line_of_its_own(document: Document) -> None:
    """No character that any reader takes for a line break stands in a document, but ours."""
    for text in (plain(document), dense(document)):
        assert text.splitlines() == text.split("\n") or not text


def corpus_lines() -> list[str]:
    lines = (CORPUS / "lines.dcml").read_text("utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("//")]


@pytest.mark.parametrize("line", corpus_lines())
def test_corpus_line_round_trips(line: str) -> None:
    """Each line of the corpus is one plain statement or entry, and comes back as the same text."""
    head = "## LEXICON\n" if line.startswith("[") else "## MEMORY_pc_throk_001\n"
    text = head + line
    assert plain(parse(text)) == text
    assert parse(dense(parse(text))) == parse(text)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.plain.dcml")), ids=lambda path: path.name)
def test_corpus_document_has_its_two_spellings(path: Path) -> None:
    """Each plain document of the corpus, and the dense spelling that stands beside it."""
    text = path.read_text("utf-8").rstrip("\n")
    document = parse(text)
    assert render(document) == text
    expected = path.with_name(path.name.replace(".plain.", ".dense.")).read_text("utf-8").rstrip("\n")
    assert render(document, dense=True) == expected
    assert parse(expected) == document
