"""Sentences that stand twice in a context are taken out whole."""

from dndbots.memory.context.blocks import Block, head_block
from dndbots.memory.context.repetition import (
    drop_told,
    find_newest,
    is_told,
    sentence_key,
    sentences_in,
    split_outside_quotes,
)
from dndbots.memory.context.xray import item_of
from dndbots.testing import memory_campaign
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


def test_a_name_before_a_sentence_says_what_a_sentence_says_itself() -> None:
    """A promise stands under its speaker's name, and a deed under the name of its place."""
    promise = item_of('Throk: "I give you my word on the bell, and soon."', 20, "open", "open", ("evt_1",))
    visit = item_of("- 1312-04-02: Oak Green: Elena asked for the bell.", 20, "memories", "here", ("evt_2",))
    told = sentences_in([promise, visit])
    for again in (
        'Throk said, "I give you my word on the bell, and soon."',
        "At Oak Green, Elena asked for the bell.",
    ):
        assert is_told(sentence_key(again), told)
    for other in (
        'Zara said, "I give you my word on the bell, and soon."',
        "At Elm Green, Elena asked for the bell.",
        'Oak Green said, "Elena asked for the bell."',
    ):
        assert not is_told(sentence_key(other), told)


def test_a_word_that_is_left_of_a_line_is_not_told_alone() -> None:
    """A chapter's name says nothing once its first sentence stands elsewhere."""
    opening = "Weavercote. Rain all the way from Drakehythe."
    item = item_of(f"- 1312-04-02: {opening}", 20, "memories", "a step of the story", ("evt_1",))
    block = Block(f"{item.text}\n", (item,))
    told = frozenset([sentence_key("Rain all the way from Drakehythe.")])
    assert not drop_told(block, told, DEFAULT_ENCODING).items
    assert drop_told(block, frozenset(), DEFAULT_ENCODING).items == (item,)


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


def test_what_the_reader_has_in_front_of_it_is_not_told_again() -> None:
    """Its room goes to what came before; and only what the viewer perceived can be taken away."""
    campaign = memory_campaign()
    for number in range(60):
        campaign.say("Zara", f"At mile {number} I counted {number} crows, and one raven.", to="Throk")
    campaign.say("Finn", "I steal the ring of the duke tonight.", to="Elena")
    shown = [f"At mile {number} I counted {number} crows, and one raven." for number in range(40, 60)]
    plain, beside = (campaign.context("Throk", 400, told=told).text for told in ((), shown))
    assert "mile 59" in plain
    assert not [text for text in shown if text in beside]
    assert "At mile 39 I counted 39 crows" in beside
    assert campaign.context("Throk", 400, told=["*At  mile 59 I counted 59 crows,\nand one raven.*"]) != plain
    unheard = ["I steal the ring of the duke tonight.", "Words that nobody said, of a length."]
    assert campaign.context("Throk", 400, told=unheard).text == plain
    # What was asked before changes nothing.
    assert campaign.context("Throk", 400).text == plain
    fresh = campaign.another().context("Throk", 400, told=shown).text
    assert fresh == beside


def test_an_answer_that_the_reader_has_in_front_of_it_is_not_cited() -> None:
    campaign = memory_campaign()
    campaign.say("Zara", "The silver key is under the altar of the chapel.", to="Throk")
    campaign.say("Zara", "Another silver key hangs in the stable behind the inn.", to="Throk")
    query = "Where is the silver key?"
    both = campaign.context("Throk", 400, query=query).text
    assert both.count("silver key") >= 2
    told = ["The silver key is under the altar of the chapel."]
    text = campaign.context("Throk", 400, query=query, told=told).text
    assert "altar" not in text
    assert "hangs in the stable" in text
