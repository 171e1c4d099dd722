"""Sentences that stand twice in a context are taken out whole."""

from dndbots.memory.context.blocks import Block
from dndbots.memory.context.repetition import drop_told, sentence_key, split_outside_quotes
from dndbots.memory.context.xray import item_of
from dndbots.tokens import DEFAULT_ENCODING

SAID = 'Pask said, "The girl is gone. Nobody has seen her of late."'


def test_sentences_of_one_quotation_stay_together() -> None:
    """Half a quotation would leave a mark that nothing closes."""
    assert split_outside_quotes(f"{SAID} It rains.") == [SAID, "It rains."]


def test_a_quotation_is_not_cut_where_a_part_of_it_is_told() -> None:
    """What stands elsewhere may be one sentence of two."""
    item = item_of(SAID, 20, "story", "told", ())
    told = frozenset((sentence_key("Nobody has seen her of late."),))
    [kept] = drop_told(Block(f"{SAID}\n", (item,)), told, DEFAULT_ENCODING).items
    assert kept.text == SAID
