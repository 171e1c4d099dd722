"""Room for every heading: a long line is told in brief before another one is left out."""

import pytest

from dndbots.memory.context.blocks import SentenceOffer, fit_sentences
from dndbots.memory.context.remembered import HEADS, MemoryOffer, fit_memories
from dndbots.memory.context.repetition import is_told, sentence_key
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

LONG = "Roots as thick as thighs come through the ceiling, run along the walls and go down through the floor."


def offer(name: str, rank: int = 0) -> SentenceOffer:
    return SentenceOffer(f"- {name}: A cellar. {LONG}", "place", "here", (), rank, f"- {name}: A cellar.")


def remembered(head: str, rank: int) -> MemoryOffer:
    return MemoryOffer(head, "1312-04-02", "", ("A quest was taken.", LONG, LONG), "here", (), rank)


def test_a_place_is_told_in_brief_before_it_is_left_out() -> None:
    """People come first, but not with all their words while nobody knows where they are."""
    offers = [offer("the mill", 1), offer("Wymond Pell")]
    whole = sum(count_tokens(f"{one.text}\n") for one in offers)
    block = fit_sentences(offers, whole - 1, encoding=DEFAULT_ENCODING)
    assert [item.text for item in block.items] == [offers[0].brief, offers[1].text]
    whole_block = fit_sentences(offers, whole, encoding=DEFAULT_ENCODING)
    assert [item.text for item in whole_block.items] == [one.text for one in offers]


@pytest.mark.parametrize("room", range(0, 200, 7))
def test_words_left_out_never_cost_more(room: int) -> None:
    """The room is exact, whatever is told in brief."""
    offers = [offer("the mill", 1), offer("Wymond Pell"), offer("Maud", 2)]
    block = fit_sentences(offers, room, head="## Place", encoding=DEFAULT_ENCODING)
    assert count_tokens(block.text) <= room
    assert len(block.items) + len(block.dropped) == len(offers)


def test_each_heading_has_a_sentence_before_one_has_three() -> None:
    """A long memory of the place does not push out what people there remember."""
    offers = [remembered(head, rank) for rank, head in enumerate(HEADS)]
    heads = sum(count_tokens(f"{head}\n") for head in HEADS)
    room = heads + sum(count_tokens(f"{one.text(1)}\n") for one in offers)
    block = fit_memories(offers, room, encoding=DEFAULT_ENCODING)
    assert [line for line in block.text.split("\n") if line.startswith("## ")] == [*HEADS]
    assert count_tokens(block.text) <= room


@pytest.mark.parametrize("room", range(0, 300, 7))
def test_memories_never_exceed_their_room(room: int) -> None:
    """A reserved sentence is part of the room."""
    offers = [remembered(head, rank) for rank, head in enumerate((*HEADS, *HEADS))]
    assert count_tokens(fit_memories(offers, room, encoding=DEFAULT_ENCODING).text) <= room


def test_what_a_longer_sentence_tells_is_not_told_again() -> None:
    """A memory says who asked for what and who agreed; the story need not say each by itself."""
    memory = "At Oak Green, Elena asked the party to find the bell, and Throk took on the whole quest."
    told = frozenset([sentence_key(memory)])
    for part in ("Elena asked the party to find the bell.", "Throk took on the whole quest."):
        assert is_told(sentence_key(part), told)
    for other in (
        "Elena asked the party.",
        "Elena asked the party to find the bells.",
        "Throk took on a foe.",
    ):
        assert not is_told(sentence_key(other), told)
