"""Uids: grammar, categories, minting."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots import ids
from dndbots.dcml import DCMLCategory, Ref
from dndbots.dcml import notation as dcml_spelling
from dndbots.errors import InvalidName, InvalidUid, UnknownCategory

any_name = st.text(min_size=1, max_size=60).filter(str.strip)


def test_the_language_and_the_engine_have_the_same_categories() -> None:
    """DCML has a list of its own; this test keeps the two equal."""
    assert tuple(DCMLCategory) == ids.CATEGORIES


@given(st.text(alphabet="abx_019A-", max_size=12))
def test_the_language_and_the_engine_have_the_same_uids(text: str) -> None:
    """The same grammar in both places."""
    assert ids.is_uid(text) == (dcml_spelling.UID.fullmatch(text) is not None)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Throk", "throk"),
        ("Darkwood Entrance", "darkwood_entrance"),
        ("Kael'thas", "kael_thas"),
        ("Éowyn of Rohan", "eowyn_of_rohan"),
        ("Straße 7", "strasse_7"),
        ("Ærin Ødegård", "aerin_odegard"),
        ("  The -- End! ", "the_end"),
        ("龍 King", "king"),
    ],
)
def test_slug_is_readable_where_it_can_be(name: str, slug: str) -> None:
    """Latin letters stay, marks go, the rest separates words."""
    assert ids.slug(name) == slug


def test_slug_of_another_script_is_stable_and_distinct() -> None:
    """Names without Latin letters get a digest of their own."""
    dragon, tiger = ids.slug("龍"), ids.slug("虎")
    assert dragon == ids.slug(" 龍 ")
    assert dragon != tiger
    # Pinned: a uid that is in a log must be minted again the same, on any machine, in any version.
    assert dragon == "u4834c87e"


@given(st.sampled_from(ids.CATEGORIES), any_name)
def test_every_name_mints_a_uid(category: str, name: str) -> None:
    """A uid in the grammar, of its category, that DCML takes and that is never read as a count."""
    uid = ids.mint(category, name)
    assert ids.is_uid(uid)
    assert ids.category_of(uid) == category
    assert Ref(uid).uid == uid
    assert not re.search(r"x[0-9]+$", uid)
    assert len(uid) < 60


@given(st.lists(any_name, max_size=20))
def test_names_that_collide_get_the_next_number(names: list[str]) -> None:
    """No two mints are alike, and the first bearer of a name has number one."""
    taken: set[str] = set()
    for name in names:
        uid = ids.mint("NPC", name, taken=taken)
        assert uid not in taken
        taken.add(uid)
    if names:
        assert ids.mint("NPC", names[0]) in taken


def test_the_lowest_free_number_is_taken() -> None:
    """Numbers have three digits, and more when they need them."""
    taken = {f"npc_goblin_{number:03d}" for number in range(1, 1000)} - {"npc_goblin_004"}
    assert ids.mint("NPC", "Goblin", taken=taken) == "npc_goblin_004"
    assert ids.mint("NPC", "Goblin", taken=taken | {"npc_goblin_004"}) == "npc_goblin_1000"


def test_bad_input_is_named() -> None:
    """The error says which uid, which category, which name."""
    with pytest.raises(InvalidUid, match=r"giver: 'Elena' is not a uid"):
        ids.check_uid("Elena", where="giver")
    with pytest.raises(UnknownCategory, match="'ELF'"):
        ids.mint("ELF", "Legolas")
    with pytest.raises(InvalidUid, match=r"char_id: 'npc_a_001' is not a uid of the category PC"):
        ids.check_uid("npc_a_001", where="char_id", category="PC")
    for name in ("   ", None, 5):
        with pytest.raises(InvalidName):
            ids.mint("PC", name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("uid", "category", "name"),
    [
        ("pc_throk_001", "PC", "Throk"),
        ("mon_goblin_darkwood", "MON", "Goblin Darkwood"),
        ("race_elves", None, "Race Elves"),
        ("loc_007", "LOC", "007"),
        ("npc_goblin_002", "NPC", "Goblin 2"),
        ("npc_goblin_000", "NPC", "Goblin"),
    ],
)
def test_a_uid_says_what_it_is(uid: str, category: str | None, name: str) -> None:
    """A uid gives its category by its prefix, and a name for an unnamed entity."""
    assert ids.category_of(uid) == category
    assert ids.name_from_uid(uid) == name
