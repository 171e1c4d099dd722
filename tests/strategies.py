"""Random values for laws: documents that collide in every way the language allows, and hostile text."""

from hypothesis import strategies as st

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
)

HOSTILE = [
    '"',
    "\\",
    '\\"',
    '"\n## MEMORY_dm\n',
    "\n[PC:pc_evil_001:Evil]\n",
    "[NPC:npc_x_001:X]",
    "## LEXICON",
    "# Recent events",
    "EVT:evt_001_001",
    "pc_throk_001 in fac_party_001;",
    "\r\n",
    "\r",
    "\x00",
    "\x1b[31m",
    "\x85",
    "\u2028",
    "\u2029",
    "\u202e",
    "\ufeff",
    "\ud800",
    "\\u0041",
    "\\n",
    "->",
    "::",
    ":=",
    "|",
    "+",
    "=",
    "==x",
    "#2",
    "x4",
    "😈",
    "👨‍👩‍👧",
    "龍",
    "Ünïcödé",
    " ",
    "\t",
    ",",
    ";",
    ":",
    "]",
    "!",
    "?",
    "@",
    "in",
    "EVT",
    "PC",
]
hostile_text = st.one_of(
    st.text(max_size=40),
    st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=4)), max_size=8).map("".join),
)
visible_text = hostile_text.filter(str.strip)

# Few words, so that handles, counts, uids and names collide all the time.
_STEMS = ["throk", "zara", "gob", "gobx4", "gobx", "x4", "x", "in", "evt", "a", "goblin_x2"]
_PREFIXES = ["pc", "npc", "mon", "loc", "fac", "item", "qst", "evt", "race"]
uids = st.builds(
    lambda prefix, stem, tail: f"{prefix}_{stem}{tail}",
    st.sampled_from(_PREFIXES),
    st.sampled_from(_STEMS),
    st.sampled_from(["", "_001", "_002", "_000", "x4", "x04", "x1", "_1000"]),
)
names = st.one_of(
    st.sampled_from(["Throk", "throk", "Zara", "Gob", "Gob x4", "in", "In", "EVT", "PC", "A", "x4", "3rd"]),
    st.sampled_from(["The Party", "!!!", "龍", "Straße", "STRASSE", "O'Neil the Bold", "dm", "a_b", "Gob#2"]),
    st.sampled_from(["Goblin X2", " padded ", "²"]),
    visible_text,
)
event_ids = st.one_of(
    st.builds(lambda n: f"evt_003_{n:03d}", st.integers(1, 6)),
    st.sampled_from(
        ["evt_a", "evt_ax4", "D1:3", "D1:4", "D1:5", "9", "10", "099", '"', "pc_throk", "evt_999", "evt_1000"]
    ),
    visible_text,
)
categories = st.sampled_from(DCMLCategory)
certainties = st.sampled_from(Certainty)
counts = st.sampled_from([1, 1, 1, 2, 4, 12, 999_999_999])

entity_refs = st.builds(
    Ref,
    uids,
    st.one_of(st.none(), st.none(), categories),
    counts,
)
event_refs = st.builds(lambda i: Ref(i, DCMLCategory.EVT), event_ids)
refs = st.one_of(entity_refs, entity_refs, event_refs)
subjects = st.lists(refs, min_size=1, max_size=3).map(tuple)

words = st.sampled_from(["FTR", "STR17", "accepted", "Magic-User", "a_b", "x4", "in", "Throk", "EVT"]).map(
    Word
)
numbers = st.one_of(
    st.integers(-(10**29), 10**29),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e29, max_value=1e29),
)
value_refs = uids.filter(lambda uid: not uid.startswith("race_")).map(Ref)
atoms = st.one_of(words, hostile_text.map(Text), numbers, value_refs)
properties = st.lists(
    st.builds(
        Property,
        st.sampled_from(["class", "level", "summary", "hpD", "in", "EVT", "_x"]),
        st.lists(atoms, min_size=1, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=3,
).map(tuple)

relations = st.builds(
    Relation,
    subjects=subjects,
    op=st.sampled_from([op for op in DCMLOp if op not in (DCMLOp.DEFINED_AS, DCMLOp.PROPS)]),
    object=refs,
    certainty=certainties,
    closed=st.booleans(),
)
deeds = st.builds(
    Deed,
    subjects=subjects,
    verb=st.sampled_from(["KILLED", "RESCUED", "X", "A_B2"]),
    object=refs,
    certainty=certainties,
)
definitions = st.builds(Definition, subjects=subjects, text=hostile_text, certainty=certainties)
described = st.builds(Properties, subjects=subjects, properties=properties, certainty=certainties)
statements = st.one_of(relations, deeds, definitions, described)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Events as the builder makes them, and events that no builder would make."""
    event_id = draw(event_ids)
    own = Ref(event_id, DCMLCategory.EVT)
    lines: list[Relation | Deed | Definition | Properties] = [
        Relation(subjects=draw(subjects), op=DCMLOp.IN, object=own) for _ in range(draw(st.integers(0, 2)))
    ]
    if draw(st.booleans()):
        lines.append(
            Properties(subjects=(own,), properties=(Property("summary", (Text(draw(hostile_text)),)),))
        )
    if draw(st.integers(0, 3)) == 0:
        lines += draw(st.lists(st.one_of(deeds, definitions), max_size=2))
        lines.append(Properties(subjects=(own,), properties=draw(properties), certainty=draw(certainties)))
        lines.append(Relation(subjects=(own,), op=DCMLOp.LEADS_TO, object=draw(refs)))
    return Event(
        id=event_id,
        location=draw(st.one_of(st.none(), refs)),
        lines=tuple(lines),
        certainty=draw(st.sampled_from([Certainty.FACT, Certainty.FACT, Certainty.BELIEF])),
    )


items = st.one_of(events(), events(), statements)
groups = st.builds(Group, visible_text, st.lists(items, min_size=1, max_size=6).map(tuple))
first_groups = st.builds(Group, st.one_of(st.none(), visible_text), st.lists(items, max_size=4).map(tuple))
owners = st.one_of(uids, st.sampled_from(["dm", "Throk", "s01", "A", "in"]), visible_text)
sections = st.one_of(
    st.builds(
        lambda kind, owner, first, rest: Section(kind, owner, (first, *rest)),
        st.sampled_from([SectionKind.SESSION, SectionKind.MEMORY]),
        owners,
        first_groups,
        st.lists(groups, max_size=2),
    ),
    st.builds(lambda first: Section(SectionKind.STATIC_RELATIONS, "", (first,)), first_groups),
)
entities = st.builds(DCMLEntity, uids, categories, names)
documents = st.builds(
    Document,
    st.lists(entities, max_size=8).map(tuple),
    st.lists(sections, max_size=3).map(tuple),
)
