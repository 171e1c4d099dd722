"""The parser: texts that it reads, and the errors for texts that it cannot read."""

import gc
import pickle

import pytest

from dndbots.dcml import (
    Certainty,
    DCMLCategory,
    DCMLOp,
    Event,
    Properties,
    Ref,
    Relation,
    Statement,
    parse,
)
from dndbots.errors import DCMLSyntaxError


def only_items(text: str) -> tuple[Statement | Event, ...]:
    ((group,),) = (section.groups for section in parse(text).sections)
    return group.items


def test_indented_lines_belong_to_the_event_above() -> None:
    """An event is its first line and what is indented under it."""
    (event, alone) = only_items(
        "## MEMORY_dm\nEVT:evt_1_1 @ loc_a_001\n    pc_a_001 in EVT:evt_1_1\n    pc_a_001::hpD->-3\n"
        "pc_a_001 ~ pc_b_001"
    )
    assert isinstance(event, Event)
    assert event.location == Ref("loc_a_001")
    assert len(event.lines) == 2
    assert isinstance(alone, Relation)


def test_an_event_without_a_place_starts_with_what_names_it() -> None:
    """Indented lines without a first line open the event that they name."""
    events = only_items(
        '## MEMORY_dm\n    pc_a_001 in EVT:evt_1\n    EVT:evt_1::summary->"x"\n    EVT:evt_2::summary->"y"'
    )
    assert [(event.id, event.location, len(event.lines)) for event in events if isinstance(event, Event)] == [
        ("evt_1", None, 2),
        ("evt_2", None, 1),
    ]


def test_a_count_is_stripped_before_look_up() -> None:
    """`goblinx4` is four goblins."""
    (line,) = only_items("## MEMORY_dm\nmon_goblin_darkwoodx4 ~ fac_tribe_001")
    assert isinstance(line, Relation)
    assert line.subjects == (Ref("mon_goblin_darkwood", count=4),)


def test_a_count_padded_with_zeros_is_a_count() -> None:
    """However many: there is no limit to trip over."""
    (line,) = only_items("## MEMORY_dm\nmon_gobx" + "0" * 5000 + "4 ~ fac_tribe_001")
    assert isinstance(line, Relation)
    assert line.subjects == (Ref("mon_gob", count=4),)


def test_the_tree_holds_plain_strings() -> None:
    """Nothing of the parser's stays in what it made, so that a tree can be pickled without it."""
    document = parse(
        '## LEXICON\nPC_001: Throk\n## MEMORY_Throk\nThrok::class->FTR,x->"y"\npc_a_001 in fac_b_001'
    )
    assert b"lark" not in pickle.dumps(document)


def test_an_exact_lexicon_match_wins_over_a_count() -> None:
    """A uid that ends like a count and is in the lexicon is that uid."""
    (line,) = only_items(
        "## LEXICON\n[MON:mon_mark_ix4:Mark IX4]\n## MEMORY_dm\nmon_mark_ix4 ~ fac_tribe_001"
    )
    assert isinstance(line, Relation)
    assert line.subjects == (Ref("mon_mark_ix4"),)


def test_a_word_before_an_arrow_starts_the_next_key() -> None:
    """Values run on until a word is followed by `->`."""
    (line,) = only_items('## MEMORY_dm\npc_a_001::stats->STR17,DEX12,tags->"a","b",level->3')
    assert isinstance(line, Properties)
    assert [(prop.key, len(prop.values)) for prop in line.properties] == [
        ("stats", 2),
        ("tags", 2),
        ("level", 1),
    ]


def test_a_verb_is_no_category() -> None:
    """`-> EVT:…` relates to an event, `-> KILLED:…` is a deed."""
    related, done = only_items("## MEMORY_dm\nevt_1_1 -> EVT:evt_1_2\npc_a_001 -> KILLED:npc_b_001")
    assert isinstance(related, Relation)
    assert related.op is DCMLOp.LEADS_TO
    assert type(done).__name__ == "Deed"


def test_certainty_is_read_from_its_mark() -> None:
    """None, `!` and `?`."""
    items = only_items("## MEMORY_dm\na_1 ~ b_1\n!a_1 ~ b_1\n?a_1 ~ b_1")
    assert [item.certainty for item in items] == [Certainty.FACT, Certainty.BELIEF, Certainty.RUMOR]


def test_windows_line_ends_blank_lines_and_a_byte_order_mark_change_nothing() -> None:
    """Editors add these."""
    text = "## LEXICON\n[PC:pc_a_001:A]\n\n## MEMORY_pc_a_001\n\n# Group\npc_a_001 in fac_b_001;\n"
    assert parse("\ufeff" + text.replace("\n", "\r\n") + "\r\n  \r\n") == parse(text)
    for blank in ("  ", "\n  ", "\n \n\t", "\r\n "):
        assert parse(text + blank) == parse(text)
    assert parse("  ") == parse("")


def test_the_empty_text_is_the_empty_document() -> None:
    """No lexicon, no sections, no error."""
    assert parse("") == parse("\n\n") == parse("## LEXICON\n")
    assert parse("").lexicon == ()


BROKEN = [
    ("pc_a_001 in fac_b_001", 1, 1, "'pc_a_001'", "a section"),
    ("## NONSENSE", 1, 4, "'NONSENSE'", "MEMORY_<uid>"),
    ("## MEMORY_dm\npc_a_001 in", 2, 12, "the end", "a reference"),
    ("## MEMORY_dm\npc_a_001 in\npc_b_001 in c_d", 2, 12, "the end of the line", "a reference"),
    ('## MEMORY_dm\npc_a_001 := "open', 2, 13, '"open', "quoted text"),
    ("## MEMORY_dm\npc_a_001::level->", 2, 18, "the end", "a word"),
    ("## MEMORY_dm\npc_a_001 % pc_b_001", 2, 10, "'%", "an operator"),
    ("## MEMORY_dm\nThrok in fac_b_001", 2, 1, "'Throk'", "a name from the lexicon"),
    ("## MEMORY_dm\n    pc_a_001 ~ pc_b_001", 2, 5, "'pc_a_001'", "an event above"),
    ('## MEMORY_dm\npc_a_001 := "bad \\q"', 2, 18, r"'\\q'", "an escape"),
    ("## LEXICON\n[ELF:pc_a_001:A]", 2, 2, "'ELF'", "PC NPC MON LOC FAC ITEM QST EVT"),
    ("## LEXICON\n[PC:Throk:A]", 2, 5, "'Throk'", "a uid"),
    ("## LEXICON\n[PC:pc_a_001:]", 2, 14, "']'", "a name"),
    ("## LEXICON\n[PC:pc_a_001: ]", 2, 14, "' '", "a name"),
    ("## MEMORY_dm\n[PC:pc_a_001:A]", 2, 2, "'PC'", "## LEXICON"),
    ('## MEMORY_dm\n"nobody knows which event"', 2, 1, "", "EVT:id first"),
    ("## MEMORY_dm\npc_a_001", 2, 1, "'pc_a_001'", "an operator"),
    ("\ufeff## MEMORY_dm\npc_a_001 in", 2, 12, "the end", "a reference"),
    ("\ufeffpc_a_001 in", 1, 12, "the end", "a reference"),
    ('## MEMORY_dm\nEVT:"' + "x" * 1001 + '" @ loc_a_001', 2, 1, "", "an event id"),
    ("## MEMORY_dm\npc_a_001::level->" + "9" * 50, 2, 18, "", "at most 40"),
    ('## MEMORY_dm\nEVT:evt_1 pc_a_001 "x"\n+ "y"', 3, 1, "'+'", "names, since no line before"),
    ('## MEMORY_dm\nEVT:evt_1 pc_a_001| "x"', 2, 19, "'|'", "names after |"),
    ('## MEMORY_dm\nEVT:evt_1| "x"', 2, 10, "'|'", "the participants before |"),
    ('## MEMORY_dm\npc_a_001,pc_b_001 pc_c_001 "x"', 2, 1, "'pc_a_001'", "one event id"),
]


@pytest.mark.parametrize(("text", "line", "column", "found", "expected"), BROKEN)
def test_a_malformed_text_is_refused_with_its_place(
    text: str, line: int, column: int, found: str, expected: str
) -> None:
    """Line, column, what was found, what was expected; never an exception of lark's."""
    with pytest.raises(DCMLSyntaxError) as refused:
        parse(text)
    error = refused.value
    assert (error.line, error.column) == (line, column), str(error)
    assert found in error.found
    assert expected in " ".join(error.expected)
    assert str(error).startswith(f"line {line}, column {column}: found ")


def test_errors_survive_a_process_boundary() -> None:
    """A worker process can hand its error back, fields and all."""
    with pytest.raises(DCMLSyntaxError) as refused:
        parse("## NONSENSE")
    copy = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - our own bytes
    assert (str(copy), copy.line, copy.expected) == (
        str(refused.value),
        refused.value.line,
        refused.value.expected,
    )


def test_dense_and_plain_may_be_mixed_by_hand() -> None:
    """A person who edits a document need not know which spelling it is in."""
    text = (
        "## LEXICON\nPC_001: Throk\n[PC:pc_zara_001:Zara]\n## MEMORY_Throk\n"
        "Throk ~ pc_zara_001\nEVT:evt_1_1 @ loc_a_001\n    Zara in EVT:evt_1_1"
    )
    related, event = only_items(text)
    assert isinstance(related, Relation)
    assert related.subjects == (Ref("pc_throk_001"),)
    assert isinstance(event, Event)
    assert event.lines == (
        Relation(subjects=(Ref("pc_zara_001"),), op=DCMLOp.IN, object=Ref("evt_1_1", DCMLCategory.EVT)),
    )


def test_a_large_document_leaves_the_collector_as_it_was() -> None:
    """Parsing pauses the garbage collector and always turns it on again; one that is off stays off."""
    large = "## MEMORY_dm\n" + "pc_a_001 ~ pc_b_001\n" * 6_000
    assert gc.isenabled()
    parse(large)
    assert gc.isenabled()
    with pytest.raises(DCMLSyntaxError):
        parse(large + "-> ->")
    assert gc.isenabled()
    gc.disable()
    try:
        parse(large)
        assert not gc.isenabled()
    finally:
        gc.enable()
