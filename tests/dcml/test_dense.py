"""The dense spelling: handles that never change, and nothing said twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import entities

from dndbots import ids
from dndbots.dcml import (
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Document,
    Event,
    Group,
    Properties,
    Property,
    Ref,
    Relation,
    Section,
    SectionKind,
    Text,
    dense,
    parse,
)
from dndbots.dcml.shorthand import handles

THROK = DCMLEntity("pc_throk_001", DCMLCategory.PC, "Throk")
ZARA = DCMLEntity("pc_zara_001", DCMLCategory.PC, "Zara")


def happening(event_id: str, who: tuple[str, ...], text: str, place: str | None = None) -> Event:
    own = Ref(event_id, DCMLCategory.EVT)
    people = [Relation(subjects=tuple(map(Ref, who)), op=DCMLOp.IN, object=own)] if who else []
    summary = Properties(subjects=(own,), properties=(Property("summary", (Text(text),)),))
    return Event(id=event_id, location=Ref(place) if place else None, lines=(*people, summary))


def lines_of(*items: Event | Relation, lexicon: tuple[DCMLEntity, ...] = (THROK, ZARA)) -> list[str]:
    document = Document(lexicon, (Section(SectionKind.MEMORY, "dm", (Group(None, items),)),))
    assert parse(dense(document)) == document
    return dense(document).partition("## MEMORY_dm\n")[2].split("\n")


def test_a_place_is_said_once() -> None:
    """A place line stands above the events that happen there."""
    assert lines_of(
        happening("evt_1_1", ("pc_throk_001",), "a", "loc_cave"),
        happening("evt_1_2", ("pc_throk_001",), "b", "loc_cave"),
        happening("evt_1_3", ("pc_throk_001",), "c"),
    ) == ["@loc_cave", 'EVT:evt_1_1 Throk "a"', '"b"', "@-", '"c"']


def test_people_are_said_where_they_change() -> None:
    """The same people, one of them, and the company again."""
    both = ("pc_throk_001", "pc_zara_001")
    assert lines_of(
        happening("evt_1_1", both, "a"),
        happening("evt_1_2", ("pc_zara_001",), "b"),
        happening("evt_1_3", ("pc_zara_001", "pc_throk_001"), "c"),
        happening("evt_1_4", both, "d"),
        happening("evt_1_5", (), "e"),
    ) == ['EVT:evt_1_1 Throk,Zara "a"', 'Zara "b"', 'Zara+ "c"', '+ "d"', '- "e"']


def test_others_who_stay_are_not_named_again() -> None:
    """In a fight the enemies are written once, whoever acts."""

    def blow(number: int, who: str, foe: str | None) -> Event:
        hit = happening(f"evt_1_{number}", (who,), "hit")
        if foe is None:
            return hit
        own = Ref(hit.id, DCMLCategory.EVT)
        foes = Relation(subjects=(Ref(foe, count=4),), op=DCMLOp.IN, object=own)
        return Event(id=hit.id, lines=(hit.lines[0], foes, hit.lines[1]))

    assert lines_of(
        blow(1, "pc_throk_001", "mon_gob_001"),
        blow(2, "pc_zara_001", "mon_gob_001"),
        blow(3, "pc_throk_001", "mon_orc_001"),
        blow(4, "pc_zara_001", None),
    ) == ['EVT:evt_1_1 Throk|mon_gob_001x4 "hit"', 'Zara| "hit"', 'Throk|mon_orc_001x4 "hit"', 'Zara "hit"']


def test_ids_that_follow_are_not_said() -> None:
    """The next event id is left out; another one is written as its number alone."""
    who = ("pc_throk_001",)
    texts = lines_of(
        happening("evt_1_009", who, "a"),
        happening("evt_1_010", who, "b"),
        happening("evt_1_015", who, "c"),
        happening("evt_2_016", who, "d"),
        happening("D1:3", who, "e"),
        happening("D1:4", who, "f"),
    )
    assert texts == [
        'EVT:evt_1_009 Throk "a"',
        '"b"',
        '015 "c"',
        'EVT:evt_2_016 "d"',
        'EVT:"D1:3" "e"',
        '"f"',
    ]


def test_statements_of_one_subject_share_a_line() -> None:
    """Statements with the same subject and operator share them."""
    rooms = [
        Relation(subjects=(Ref("loc_cave"),), op=DCMLOp.CONTAINS, object=Ref(f"loc_room_{n}")) for n in "abc"
    ]
    assert lines_of(*rooms) == ["loc_cave > loc_room_a,loc_room_b,loc_room_c"]


def test_a_second_bearer_of_a_name_is_numbered_in_order() -> None:
    """Handles are told apart by who came first, whatever the case of the letters."""
    named = [
        DCMLEntity(f"npc_goblin_{number:03d}", DCMLCategory.NPC, name)
        for number, name in enumerate(("Goblin", "goblin", "GOBLIN", "Goblin King"), start=1)
    ]
    assert handles(named) == ["Goblin", "goblin#2", "GOBLIN#3", "GoblinKing"]


@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("Kael'thas Stormborn", "KaelthasStormborn"),
        ("Rene\u0301", "René"),
        ("हिन्दी", None),
        ("Grog ⚔️", "Grog"),
        ("dm", "dm#1"),
        ("DM", "DM#1"),
        ("Gob x4", "Gobx4#1"),
        ("in", "in#1"),
        ("3rd Legion", None),
        ("龍", "龍"),
    ],
)
def test_a_handle_is_the_name_or_the_uid(name: str, handle: str | None) -> None:
    """Never a keyword, a count or the DM, and never a name with its vowels dropped."""
    assert handles([DCMLEntity("npc_x_001", DCMLCategory.NPC, name)]) == [handle]


@given(st.lists(entities, max_size=8), st.lists(entities, max_size=3))
def test_a_lexicon_that_grows_never_changes_a_handle(
    before: list[DCMLEntity], after: list[DCMLEntity]
) -> None:
    """A handle that a model has learned stays the same."""
    assert handles(before + after)[: len(before)] == handles(before)


@given(st.lists(entities, max_size=12))
def test_handles_are_unique_and_never_a_keyword_or_a_count(lexicon: list[DCMLEntity]) -> None:
    """A handle means one entity, and nothing else in the language looks like it."""
    given_handles = [handle for handle in handles(lexicon) if handle is not None]
    assert len(set(given_handles)) == len(given_handles)
    for handle in given_handles:
        assert handle != "in"
        assert handle not in DCMLCategory.__members__
        assert "_" not in handle
        assert not handle[0].isdecimal()


@pytest.mark.parametrize(
    ("category", "name", "expected"),
    [
        ("PC", "Throk", "PC_001: Throk"),
        ("LOC", "Darkwood Entrance", "LOC_001: Darkwood Entrance"),
        ("NPC", "Kael'thas Stormborn", "NPC_001: Kael'thas Stormborn"),
        ("NPC", "Æthelflæd", "NPC_001: Æthelflæd=aethelflaed"),
    ],
)
def test_a_minted_uid_follows_from_its_name(category: str, name: str, expected: str) -> None:
    """The engine's minting rule and the language's are the same, so ordinary uids are not spelled."""
    entity = DCMLEntity(ids.mint(category, name), DCMLCategory(category), name)
    assert dense(Document((entity,))) == f"## LEXICON\n{expected}"
    assert parse(f"## LEXICON\n{expected}") == Document((entity,))


def test_the_second_of_a_name_says_its_number_only() -> None:
    """`goblin_002` is `Goblin=2`."""
    taken: set[str] = set()
    lexicon = []
    for _ in range(3):
        uid = ids.mint("NPC", "Goblin", taken=taken)
        taken.add(uid)
        lexicon.append(DCMLEntity(uid, DCMLCategory.NPC, "Goblin"))
    assert dense(Document(tuple(lexicon))) == "## LEXICON\nNPC_001: Goblin, Goblin=2, Goblin=3"
