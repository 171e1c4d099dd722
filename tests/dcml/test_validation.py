"""`validate` finds every broken rule, with its position."""

import pytest

from dndbots.dcml import Definition, Document, Group, Ref, Section, SectionKind, validate

GOOD = "## LEXICON\n[PC:pc_throk_001:Throk]\n[LOC:loc_cave:Cave]\n\n"


def found(text: str) -> list[tuple[int, int, str]]:
    return [(breach.line, breach.column, breach.message) for breach in validate(text)]


def test_a_document_that_keeps_the_rules_has_no_breach() -> None:
    """Declared uids, events that declare themselves, and uids of no category."""
    assert (
        found(
            GOOD
            + "## MEMORY_pc_throk_001\nEVT:evt_1_1 @ loc_cave\n    pc_throk_001 in EVT:evt_1_1\n"
            + "pc_throk_001 <- race_elves\nevt_1_1 -> EVT:evt_1_2"
        )
        == []
    )


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ("## MEMORY_dm\npc_throk_001 ~ npc_elena_001", (6, 16), "npc_elena_001 is not in the lexicon"),
        ("## MEMORY_dm\nmon_goblinsx4 ~ loc_cave", (6, 1), "mon_goblins is not in the lexicon"),
        ("## MEMORY_dm\nloc_cave::giver->npc_x_001", (6, 18), "npc_x_001 is not in the lexicon"),
        ("## MEMORY_dm\nNPC:pc_throk_001 ~ loc_cave", (6, 1), "pc_throk_001 is PC, not NPC"),
        ("## MEMORY_pc_zara_001\nloc_cave ~ loc_cave", (5, 1), "pc_zara_001 is not in the lexicon"),
        ("## LEXICON\n[PC:pc_throk_001:Throk]", (5, 1), "a second lexicon"),
        ("## LEXICON\n[PC:pc_throk_001:Throk]", (6, 1), "pc_throk_001 is in the lexicon twice"),
        ("## LEXICON\n[PC:npc_x_001:X]", (6, 1), "npc_x_001 is listed as PC, its prefix says NPC"),
        (
            "## MEMORY_pc_throk_001\nloc_cave ~ loc_cave\n## STATIC_RELATIONS\nloc_cave ~ loc_cave",
            (7, 1),
            "the DM's alone, beside the memory of pc_throk_001",
        ),
        (
            "## MEMORY_pc_throk_001\nloc_cave ~ loc_cave\n## SESSION_pc_throk_001_GLOBAL\nloc_cave ~ race_a",
            (7, 1),
            "the DM's alone, beside the memory of pc_throk_001",
        ),
        ("## MEMORY_Bob\nloc_cave ~ loc_cave", (5, 1), "Bob is not in the lexicon"),
        (
            "## MEMORY_pc_throk_001\nloc_cave ~ loc_cave\n## MEMORY_dm\nloc_cave ~ loc_cave",
            (7, 1),
            "the DM's alone, beside the memory of pc_throk_001",
        ),
        (
            "## MEMORY_dm\nloc_cave ~ loc_cave\n## MEMORY_dm\nloc_cave ~ loc_cave",
            (7, 1),
            "a second section with this title",
        ),
    ],
)
def test_each_breach_is_found_at_its_place(body: str, place: tuple[int, int], message: str) -> None:
    """Line, column and what is wrong."""
    assert (*place, message) in found(GOOD + body)


def test_the_first_entry_of_a_uid_says_what_it_is() -> None:
    """A second entry is a breach; what agrees with the first one is none."""
    text = "## LEXICON\n[PC:race_a:A]\n[NPC:race_a:B]\n## MEMORY_dm\nPC:race_a ~ race_b"
    assert found(text) == [(3, 1, "race_a is in the lexicon twice")]


def test_dense_text_is_validated_where_it_stands() -> None:
    """The same rules, at the places of the dense text."""
    text = '## LEXICON\nPC_001: Throk\n## MEMORY_Throk\n@loc_cave\nEVT:evt_1_1 Throk|mon_gobx4 "x"'
    assert found(text) == [
        (4, 2, "loc_cave is not in the lexicon"),
        (5, 19, "mon_gob is not in the lexicon"),
    ]


def test_an_event_that_is_listed_as_something_else_is_found_in_both_spellings() -> None:
    """An event is found also when its id is left out."""
    lexicon = "## LEXICON\n[LOC:evt_003_002:X]\n## MEMORY_dm\n"
    expected = "evt_003_002 is LOC, not EVT"
    for body in ('EVT:evt_003_001 - "a"\n"b"', '    EVT:evt_003_002::summary->"b"'):
        assert expected in {message for _, _, message in found(lexicon + body)}


def test_a_tree_is_validated_in_its_plain_spelling() -> None:
    """A document that was never a text has places too."""
    item = Definition(subjects=(Ref("npc_elena_001"),), text="x")
    document = Document((), (Section(SectionKind.MEMORY, "dm", (Group(None, (item,)),)),))
    assert [str(breach) for breach in validate(document)] == [
        "line 2, column 1: npc_elena_001 is not in the lexicon"
    ]
