"""Sentences that stand twice in a context are taken out whole."""

from dndbots.memory.context.blocks import Block, head_block
from dndbots.memory.context.repetition import drop_told, find_newest, sentence_key, split_outside_quotes
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


def test_a_line_word_for_word_stays_whole_beside_what_was_chosen_before_it() -> None:
    """The place tells its look; a line from a while ago leaves it out, and the newest line keeps it."""
    look = "Snow lies trodden gray between a dozen doors."
    chosen = item_of(f"{look} A dog barks at the well.", 20, "lately", "narration", ("evt_1",))
    newest = item_of(f"{look} Zara waits.", 15, "recent", "one of the newest lines", ("evt_2",))
    block = head_block("## Recent Events", [chosen, newest])
    told = frozenset([sentence_key(look)])
    kept = drop_told(block, told, DEFAULT_ENCODING, keep=find_newest(block))
    assert [item.text for item in kept.items] == ["A dog barks at the well.", newest.text]
    assert kept.text == f"## Recent Events\nA dog barks at the well.\n{newest.text}\n"
