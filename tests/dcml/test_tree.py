"""A tree that can be built can be written; other values are refused. Lists may stand for tuples."""

from collections.abc import Callable

import pytest

from dndbots.dcml import (
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Deed,
    Definition,
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
    Word,
    dense,
    parse,
    plain,
)
from dndbots.errors import DndbotsError

A = Ref("npc_a_001")
REFUSED: dict[str, Callable[[], object]] = {
    "text that is a number": lambda: Text(5),  # type: ignore[arg-type]
    "a definition that is a number": lambda: Definition(subjects=(A,), text=5),  # type: ignore[arg-type]
    "half a goblin": lambda: Ref("mon_gob_001", None, 2.5),  # type: ignore[arg-type]
    "no goblin": lambda: Ref("mon_gob_001", None, 0),
    "a boolean count": lambda: Ref("mon_gob_001", None, True),  # noqa: FBT003
    "an unknown category": lambda: Ref("pc_a_001", "JUNK"),  # type: ignore[arg-type]
    "a counted quoted event": lambda: Ref("D1:3", DCMLCategory.EVT, 2),
    "a blank event id": lambda: Event(id=" "),
    "an endless event id": lambda: Event(id="x" * 1001),
    "a certainty that is a mark": lambda: Definition(subjects=(A,), text="x", certainty="!"),  # type: ignore[arg-type]
    "subjects that are text": lambda: Definition(subjects="npc_a_001", text="x"),  # type: ignore[arg-type]
    "no subjects": lambda: Definition(subjects=(), text="x"),
    "an object that is text": lambda: Relation(subjects=(A,), op=DCMLOp.IN, object="fac_b_001"),  # type: ignore[arg-type]
    "a relation that defines": lambda: Relation(subjects=(A,), op=DCMLOp.PROPS, object=A),
    "a verb that is a category": lambda: Deed(subjects=(A,), verb="EVT", object=A),
    "a verb that is a number": lambda: Deed(subjects=(A,), verb=5, object=A),  # type: ignore[arg-type]
    "a word with a space": lambda: Word("two words"),
    "a word that is a uid": lambda: Word("npc_a_001"),
    "a key that is a number": lambda: Property(1, (1,)),  # type: ignore[arg-type]
    "a property without a value": lambda: Property("k", ()),
    "an endless number": lambda: Property("k", (10**5000,)),
    "a boolean value": lambda: Property("k", (True,)),
    "a counted value": lambda: Property("k", (Ref("npc_a_001", count=2),)),
    "properties that say nothing": lambda: Properties(subjects=(A,), properties=()),
    "a line of another event": lambda: Event(
        id="evt_1",
        lines=(Relation(subjects=(A,), op=DCMLOp.IN, object=Ref("evt_2", DCMLCategory.EVT)),),
    ),
    "a later group without a title": lambda: Section(
        SectionKind.MEMORY, "dm", (Group("x", (Event(id="e"),)), Group(None, (Event(id="e"),)))
    ),
    "relations that belong to somebody": lambda: Section(SectionKind.STATIC_RELATIONS, "dm", ()),
    "a memory of nobody": lambda: Section(SectionKind.MEMORY, "", ()),
}


@pytest.mark.parametrize("build", REFUSED.values(), ids=REFUSED.keys())
def test_what_could_not_be_written_is_not_built(build: Callable[[], object]) -> None:
    """Every refusal is a DndbotsError."""
    with pytest.raises(DndbotsError):
        build()


def test_lists_are_as_good_as_tuples() -> None:
    """A tree built from lists is the tree that its text reads back to."""
    own = Ref("evt_1_1", "EVT")  # type: ignore[arg-type]
    event = Event(
        id="evt_1_1",
        lines=[  # type: ignore[arg-type]
            Relation(subjects=[A], op=DCMLOp.IN, object=own),  # type: ignore[arg-type]
            Properties(subjects=[own], properties=[Property("summary", [Text("x")])]),  # type: ignore[arg-type]
        ],
    )
    document = Document(
        [DCMLEntity("npc_a_001", DCMLCategory.NPC, "A")],  # type: ignore[arg-type]
        [Section(SectionKind.MEMORY, "dm", [Group(None, [event])])],  # type: ignore[arg-type,list-item]
    )
    assert parse(plain(document)) == parse(dense(document)) == document
    assert hash(document) == hash(parse(plain(document)))


def test_a_located_event_is_an_event_however_it_was_built() -> None:
    """`EVT:id @ place` is one text, so it is one tree."""
    located = Relation(
        subjects=(Ref("evt_1", DCMLCategory.EVT),),
        op=DCMLOp.AT,
        object=Ref("loc_a_001"),
        certainty=Certainty.RUMOR,
    )
    (item,) = Group(None, (located,)).items
    assert item == Event(id="evt_1", location=Ref("loc_a_001"), certainty=Certainty.RUMOR)


def test_what_holds_nothing_is_left_out() -> None:
    """Empty groups and sections are not part of a document."""
    empty = Section(SectionKind.MEMORY, "dm", (Group("nothing", ()),))
    assert Document((), (empty,)) == Document()
