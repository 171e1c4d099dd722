"""The law: a character's document is made from what it perceived, byte for byte."""

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.table import character, event

from dndbots.dcml import parse, validate
from dndbots.dcml.shorthand import handles
from dndbots.events import GameEvent, audience
from dndbots.memory import MemoryBuilder

PARTY = [character(name, "Fighter") for name in ("Throk", "Zara", "Mira")]
PCS = [pc.uid for pc in PARTY]
PEOPLE = [*PCS, "npc_elena_001", "npc_grimfang_001", "npc_goblin_001", "npc_goblin_002", "dm"]
NAMES = [
    {"uid": "npc_elena_001", "name": "Elena"},
    {"uid": "npc_grimfang_001", "name": "Grimfang"},
    {"uid": "npc_goblin_001", "name": "Goblin"},
    {"uid": "npc_goblin_002", "name": "Goblin"},
    {"uid": "npc_goblin_009", "name": "Goblin"},
]
PLACES = [{"uid": f"loc_{place}_001", "name": place.title()} for place in ("mill", "crypt", "inn")]
QUESTS = [
    # Its giver and its name are namesakes of somebody everybody may meet.
    {
        "uid": "qst_hunt_001",
        "name": "Wolf Grey",
        "state": "offered",
        "giver": "npc_goblin_009",
        "known_by": [],
    },
    {"uid": "qst_bell_001", "name": "The Bell", "state": "offered", "known_by": ["pc_zara_001"]},
    {"uid": "qst_road_001", "name": "The Road", "state": "offered", "giver": "npc_elena_001"},
]

some = st.lists(st.sampled_from(PEOPLE), max_size=3, unique=True)
uids = st.sampled_from(
    ["npc_elena_001", "npc_grimfang_001", "npc_goblin_001", "mon_wolf_grey", "fac_guild_001"]
)
facts = st.one_of(
    st.builds(lambda s, v: {"subject": s, "key": "ally", "value": v}, uids, uids),
    st.builds(lambda s, o: {"subject": s, "op": "~", "object": o}, uids, uids),
    st.builds(
        lambda s, v: {"subject": s, "key": "role", "value": v}, uids, st.sampled_from(["spy", "old man"])
    ),
)


@st.composite
def logs(draw: st.DrawFn) -> list[GameEvent]:
    made = []
    for number in range(draw(st.integers(0, 14))):
        metadata = {
            key: draw(values)
            for key, values in {
                "location": st.sampled_from([place["uid"] for place in PLACES]),
                "participants": some,
                "witnesses": some,
                "told_to": some,
                "enemies": st.lists(uids, max_size=2),
                "killed": st.lists(uids, max_size=2),
                "killed_by": st.sampled_from(PEOPLE),
                "discovered": st.lists(uids, max_size=1),
                "reputation": st.dictionaries(uids, st.integers(-3, 3), max_size=1),
                "npcs_mentioned": st.lists(uids, max_size=2),
                "facts": st.lists(facts, max_size=2),
            }.items()
            if draw(st.integers(0, 2)) == 0
        }
        if draw(st.integers(0, 3)) == 0:
            metadata |= {
                "quest_id": "qst_road_001",
                "quest_state": draw(st.sampled_from(["accepted", "failed"])),
            }
        made.append(
            event(f"evt_1_{number:03d}", draw(st.sampled_from(PEOPLE)), f"Event {number}.", **metadata)
        )
    return made


def document(reader: int, log: list[GameEvent], builder: MemoryBuilder) -> str:
    return builder.build_memory_document(
        PCS[reader], PARTY[reader], PARTY, log, npcs=NAMES, locations=PLACES, quests=QUESTS
    )


builders = st.builds(MemoryBuilder, event_window=st.integers(0, 6), dense=st.booleans())
readers = st.integers(0, len(PARTY) - 1)


@given(logs(), readers, builders)
def test_a_view_is_the_view_of_what_was_perceived(
    log: list[GameEvent], reader: int, builder: MemoryBuilder
) -> None:
    """view(log, v) == view(only the events v perceived, v), byte for byte."""
    perceived = [happened for happened in log if PCS[reader] in audience(happened)]
    assert document(reader, log, builder) == document(reader, perceived, builder)
    assert builder.create_rollups(log, PCS[reader]) == builder.create_rollups(perceived, PCS[reader])


@given(logs(), readers, builders)
def test_a_document_tells_of_perceived_events_only(
    log: list[GameEvent], reader: int, builder: MemoryBuilder
) -> None:
    """No text of an event outside the audience, and nobody in the lexicon who was not met."""
    text = document(reader, log, builder)
    met = {"npc_elena_001"}  # the giver of a quest that everybody knows
    for happened in log:
        if PCS[reader] in audience(happened):
            met.update(uid for uid in PEOPLE if uid in happened.model_dump_json())
        else:
            assert f'"{happened.content}"' not in text
    # A namesake is met in its own right: only uids count.
    assert {entity.uid for entity in parse(text).lexicon if entity.uid in PEOPLE} <= met | set(PCS)


@given(logs(), readers, builders)
def test_every_document_keeps_the_rules_of_the_language(
    log: list[GameEvent], reader: int, builder: MemoryBuilder
) -> None:
    """No undeclared uid, nothing of the DM's, in either spelling."""
    assert validate(document(reader, log, builder)) == []


@given(logs(), readers)
def test_both_spellings_of_a_memory_are_one_tree(log: list[GameEvent], reader: int) -> None:
    """Dense loses nothing that plain says."""
    plain = document(reader, log, MemoryBuilder(event_window=5))
    assert parse(document(reader, log, MemoryBuilder(event_window=5, dense=True))) == parse(plain)


@given(logs(), readers, st.integers(0, 6))
def test_nobody_is_ever_called_something_else(log: list[GameEvent], reader: int, window: int) -> None:
    """From turn to turn, whoever is in a document has the handle it had before."""
    called: dict[str, str | None] = {}
    for turn in range(len(log) + 1):
        lexicon = parse(document(reader, log[:turn], MemoryBuilder(event_window=window))).lexicon
        for entity, handle in zip(lexicon, handles(lexicon), strict=True):
            assert called.setdefault(entity.uid, handle) == handle


@given(logs(), readers, st.randoms())
def test_the_order_of_the_name_lists_changes_nothing(
    log: list[GameEvent], reader: int, rng: random.Random
) -> None:
    """Lists are for looking names up: their order, and who else is in them, is not told."""
    shuffled = [*NAMES, {"uid": "npc_unmet_001", "name": "Goblin"}]
    rng.shuffle(shuffled)
    builder = MemoryBuilder(dense=True)
    other = builder.build_memory_document(
        PCS[reader], PARTY[reader], PARTY, log, npcs=shuffled, locations=PLACES[::-1], quests=QUESTS
    )
    assert other == document(reader, log, builder)


@given(logs())
def test_a_quest_stays_with_those_who_know_of_it(log: list[GameEvent]) -> None:
    """Zara heard of the bell, the others did not; nobody heard of the hunt, or who wants it."""
    texts = [document(reader, log, MemoryBuilder()) for reader in range(len(PARTY))]
    assert ["qst_bell_001" in text for text in texts] == [False, True, False]
    assert not any(secret in text for text in texts for secret in ("qst_hunt_001", "npc_goblin_009"))
