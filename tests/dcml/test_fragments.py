"""The strings that are fixed, and what the render functions refuse."""

from enum import IntEnum

import pytest

from dndbots.dcml import (
    Certainty,
    DCMLCategory,
    DCMLOp,
    Text,
    parse,
    render_fact,
    render_lexicon_entry,
    render_properties,
    render_relation,
)
from dndbots.errors import DCMLValueError, DndbotsError, InvalidName, InvalidUid, UnknownCategory


class Rank(IntEnum):
    FIRST = 1
    SECOND = 2


@pytest.mark.parametrize(
    ("category", "uid", "name", "text"),
    [
        (DCMLCategory.PC, "pc_throk_001", "Throk", "[PC:pc_throk_001:Throk]"),
        (DCMLCategory.NPC, "npc_grimfang_001", "Grimfang", "[NPC:npc_grimfang_001:Grimfang]"),
        (DCMLCategory.LOC, "loc_darkwood_cave", "DarkwoodCave", "[LOC:loc_darkwood_cave:DarkwoodCave]"),
        (DCMLCategory.FAC, "race_elves", "Elves", "[FAC:race_elves:Elves]"),
    ],
)
def test_lexicon_entry_is_bracketed(category: DCMLCategory, uid: str, name: str, text: str) -> None:
    """An entry is category, uid and name between brackets."""
    assert render_lexicon_entry(category=category, uid=uid, name=name) == text


@pytest.mark.parametrize(
    ("subject", "op", "obj", "text"),
    [
        ("pc_throk_001", DCMLOp.AT, "loc_darkwood_cave", "pc_throk_001 @ loc_darkwood_cave"),
        ("pc_throk_001", DCMLOp.IN, "fac_party_001", "pc_throk_001 in fac_party_001"),
        ("loc_cave_main", DCMLOp.CONTAINS, "loc_cave_room_02", "loc_cave_main > loc_cave_room_02"),
        ("loc_cave_room_02", DCMLOp.PART_OF, "loc_cave_main", "loc_cave_room_02 < loc_cave_main"),
        ("evt_003_047", DCMLOp.LEADS_TO, "evt_003_048", "evt_003_047 -> evt_003_048"),
        ("fac_mages_guild", DCMLOp.CAUSED_BY, "race_elves", "fac_mages_guild <- race_elves"),
        ("npc_a_001", DCMLOp.ASSOC, "npc_b_001", "npc_a_001 ~ npc_b_001"),
        ("EVT:evt_003_047", DCMLOp.AT, "loc_x_001", "EVT:evt_003_047 @ loc_x_001"),
        ('EVT:"D1:3"', DCMLOp.AT, "loc_x_001", 'EVT:"D1:3" @ loc_x_001'),
        ("pc_a_001,pc_b_001", DCMLOp.IN, "EVT:evt_1_2", "pc_a_001,pc_b_001 in EVT:evt_1_2"),
        ("pc_a_001", DCMLOp.LEADS_TO, "KILLED:npc_b_001", "pc_a_001 -> KILLED:npc_b_001"),
        ("evt_1_1", DCMLOp.LEADS_TO, 'EVT:"D1:3"', 'evt_1_1 -> EVT:"D1:3"'),
        ('EVT:"D1,3"', DCMLOp.AT, "loc_x_001", 'EVT:"D1,3" @ loc_x_001'),
        ("npc_a_001", DCMLOp.DEFINED_AS, 'the "old" priest', 'npc_a_001 := "the \\"old\\" priest"'),
    ],
)
def test_relation_is_subject_operator_object(subject: str, op: DCMLOp, obj: str, text: str) -> None:
    """A relation is three words, and the text reads back."""
    assert render_relation(subject, op, obj) == text
    assert parse("## MEMORY_dm\n" + text).sections


@pytest.mark.parametrize(
    ("props", "text"),
    [
        ({"class": "FTR", "level": 3}, "class->FTR,level->3"),
        ({"stats": "STR17,DEX12,CON15"}, "stats->STR17,DEX12,CON15"),
        ({"hpD": -12}, "hpD->-12"),
        ({"tags": ["reckless", "protective"]}, 'tags->"reckless","protective"'),
        ({"tags": [], "level": 1, "goal": None}, "level->1"),
        ({"goal": "find the door"}, 'goal->"find the door"'),
        ({"goal": "a,b c"}, 'goal->"a,b c"'),
        ({"level": "3"}, 'level->"3"'),
        ({"magic": True, "cursed": False}, "magic->true,cursed->false"),
        ({"giver": "npc_elena_001"}, "giver->npc_elena_001"),
        ({"role": Text("npc_elena_001")}, 'role->"npc_elena_001"'),
        ({"note": ""}, 'note->""'),
        ({"att": 2.5, "rounds": [1, 2.5, True]}, 'att->2.5,rounds->"1","2.5","true"'),
        ({"level": Rank.SECOND}, "level->2"),
    ],
)
def test_properties_are_keys_and_values(props: dict[str, object], text: str) -> None:
    """Safe words stay words, everything else is quoted, what is empty is left out."""
    assert render_properties("pc_throk_001", props) == f"pc_throk_001::{text}"


def test_properties_that_say_nothing_are_no_statement() -> None:
    """Nothing to say is an empty string, not half a statement."""
    assert render_properties("pc_throk_001", {"tags": []}) == ""


@pytest.mark.parametrize(
    ("certainty", "mark"), [(Certainty.FACT, ""), (Certainty.BELIEF, "!"), (Certainty.RUMOR, "?")]
)
def test_certainty_is_a_prefix(certainty: Certainty, mark: str) -> None:
    """A fact has no mark, a belief `!`, a rumor `?`."""
    line = render_fact("npc_elena_001 ~ fac_resistance", certainty)
    assert line == f"{mark}npc_elena_001 ~ fac_resistance"


@pytest.mark.parametrize(
    "uid",
    ["", "Throk", "pc throk", "pc_throk\n## MEMORY_dm", "pc_", "_throk", "pc_Throk_001", "pc-throk", "1_a"],
)
def test_a_bad_uid_is_refused_by_name(uid: str) -> None:
    """Anything but a uid is refused, and the error names it."""
    with pytest.raises(InvalidUid) as refused:
        render_lexicon_entry(DCMLCategory.PC, uid, "Throk")
    assert repr(uid) in str(refused.value)
    with pytest.raises(InvalidUid):
        render_relation(uid, DCMLOp.AT, "loc_x_001")
    with pytest.raises(InvalidUid):
        render_properties(uid, {"level": 3})


def test_an_unknown_category_is_refused_by_name() -> None:
    """The error names the category and lists the eight."""
    with pytest.raises(UnknownCategory, match=r"'ELF'.*PC NPC MON LOC FAC ITEM QST EVT"):
        render_lexicon_entry("ELF", "pc_throk_001", "Throk")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "  ", "\n"])
def test_an_empty_name_is_refused(name: str) -> None:
    """A lexicon entry has a name."""
    with pytest.raises(InvalidName, match="pc_throk_001"):
        render_lexicon_entry(DCMLCategory.PC, "pc_throk_001", name)


@pytest.mark.parametrize(
    "obj", ["PC:PC:pc_c_001", 'EVT:EVT:"x"', 'EVT:" "', r'EVT:"\q"', "KILLED:Throk", "x"]
)
def test_an_object_that_would_not_read_back_is_refused(obj: str) -> None:
    """The returned text parses."""
    with pytest.raises(InvalidUid):
        render_relation("pc_a_001", DCMLOp.LEADS_TO, obj)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        10**40,
        pytest.param(10**5000, id="endless"),
        {"a": 1},
        object(),
        [None],
        [["a"]],
    ],
)
def test_a_value_that_cannot_be_written_is_refused(value: object) -> None:
    """Nothing is written that would not read back."""
    with pytest.raises(DCMLValueError):
        render_properties("pc_throk_001", {"level": value})


@pytest.mark.parametrize("key", ["", "two words", "a->b", "a\n", "é"])
def test_a_bad_key_is_refused(key: str) -> None:
    """Keys are plain words."""
    with pytest.raises(DCMLValueError, match="property key"):
        render_properties("pc_throk_001", {key: 1})


STRUCTURE = [
    "## MEMORY_dm",
    "# Recent events",
    "@loc_a_b",
    "[PC:pc_evil_001:Evil]",
    "PC: Evil",
    'EVT:e_1 "x"',
]


@pytest.mark.parametrize(
    "statement", ["", "!a_b in c_d", "a_b in c_d\n## MEMORY_dm", "a_b in c_d\u2028c", "a_b", *STRUCTURE]
)
def test_a_marked_or_broken_statement_is_refused(statement: str) -> None:
    """A certainty is put before one unmarked line, nothing else."""
    with pytest.raises(DndbotsError):
        render_fact(statement, Certainty.BELIEF)
