"""Random campaigns, with everything in them that an event can change, say or hide."""

from typing import Any

from hypothesis import strategies as st
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import EventRefused
from dndbots.events import NOTES, EventType, GameEvent

PCS = ["pc_throk_001", "pc_zara_001", "pc_mira_001"]
NPCS = ["npc_elena_001", "npc_old_priest_001", "npc_aldwin_001", "npc_goblin_001", "npc_goblin_002"]
FOES = ["mon_wolf_001", "mon_goblin_001"]
PLACES = ["loc_mill_001", "loc_crypt_001", "loc_inn_001"]
FACTIONS = ["fac_guild_001", "fac_party_001"]
QUESTS = ["qst_bell_001", "qst_road_001"]
ITEMS = ["item_key_001"]
EVERYBODY = [*PCS, *NPCS, *FOES]
EVERYTHING = [*EVERYBODY, *PLACES, *FACTIONS, *QUESTS, *ITEMS]
# Names that collide, with one another and with what a uid says.
NAMES = ["Goblin", "Elena", "Aldwin", "the old priest", "Throk", "GOBLIN", "Größe", "李"]

people = st.lists(st.sampled_from(EVERYBODY), max_size=3, unique=True)
anybody = st.sampled_from(EVERYBODY)
anything = st.sampled_from(EVERYTHING)
certainty = st.sampled_from(["fact", "fact", "belief", "rumor"])
values = st.one_of(st.sampled_from(["calm", "locked", "spy"]), st.integers(-3, 20), st.booleans())

properties = st.fixed_dictionaries(
    {"subject": anything, "key": st.sampled_from(["mood", "door"]), "value": values, "certainty": certainty},
    optional={"ended": st.booleans()},
)
amounts = st.fixed_dictionaries(
    {
        "subject": anybody,
        "key": st.sampled_from(["hp", "gold", "number"]),
        "value": st.integers(0, 20),
        "certainty": certainty,
    }
)
relations = st.fixed_dictionaries(
    {
        "subject": anything,
        "op": st.sampled_from(["@", "in", "<", ">", "~", "->", "<-"]),
        "object": anything,
        "certainty": certainty,
    },
    optional={"ended": st.booleans()},
)
facts = st.lists(st.one_of(properties, amounts, relations), min_size=1, max_size=3)
loot = st.lists(
    st.one_of(
        st.sampled_from(["rope", "torch"]),
        st.fixed_dictionaries({"gold": st.integers(-9, 50)}, optional={"to": anybody, "from": anybody}),
        st.fixed_dictionaries(
            {"item": st.sampled_from(["rope", "item_key_001"])},
            optional={"quantity": st.integers(-2, 3), "to": anybody, "from": anybody},
        ),
    ),
    min_size=1,
    max_size=2,
)
conditions = st.lists(st.sampled_from(["poisoned", "asleep", "-poisoned", "-asleep"]), min_size=1, max_size=2)

METADATA: dict[str, st.SearchStrategy[Any]] = {
    "location": st.sampled_from(PLACES),
    "participants": people,
    "witnesses": people,
    "told_to": people,
    "enemies": st.lists(st.sampled_from(FOES), min_size=1, max_size=2, unique=True),
    "enemy_count": st.integers(0, 5),
    "killed": st.lists(anybody, min_size=1, max_size=2),
    "killed_by": anybody,
    "revived": st.lists(anybody, min_size=1, max_size=1),
    "despite_death": st.just("a curse"),
    "names": st.dictionaries(
        anything,
        st.one_of(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)),
        min_size=1,
        max_size=2,
    ),
    "same_as": st.dictionaries(st.sampled_from(NPCS), st.sampled_from(NPCS), min_size=1, max_size=1),
    "discovered": st.lists(anything, min_size=1, max_size=1),
    "reputation": st.dictionaries(st.sampled_from(FACTIONS), st.integers(-3, 3), min_size=1, max_size=1),
    "quest_id": st.sampled_from(QUESTS),
    "quest_state": st.sampled_from(["offered", "completed"]),
    "objective_id": st.sampled_from(["find", "return"]),
    "act_id": st.sampled_from(["1", "2"]),
    "act_state": st.sampled_from(["begun", "done"]),
    "encounter_id": st.sampled_from(["ambush"]),
    "encounter_state": st.sampled_from(["begun", "won"]),
    "danger_level": st.sampled_from(["low", "CLEARED"]),
    "loot": loot,
    "hp_delta": st.one_of(st.integers(-6, 6), st.dictionaries(anybody, st.integers(-6, 6), max_size=2)),
    "conditions": st.one_of(conditions, st.dictionaries(anybody, conditions, max_size=1)),
    "facts": facts,
    "speakers": people,
    "threads": st.lists(
        st.one_of(
            st.fixed_dictionaries(
                {
                    "id": st.sampled_from(["bell", "oath"]),
                    "kind": st.sampled_from(["promise", "debt"]),
                    "text": st.sampled_from(["The bell rings at night.", "Elena's oath"]),
                    "about": people,
                }
            ),
            st.fixed_dictionaries({"id": st.just("bell"), "state": st.sampled_from(["open", "resolved"])}),
        ),
        min_size=1,
        max_size=2,
    ),
    "npcs_mentioned": people,
    "sources": st.lists(st.sampled_from(["evt_001", "evt_002"]), max_size=1),
    "weather": st.sampled_from(["rain", {"wind": 3}]),
}
COMMON = ("location", "participants", "witnesses", "facts")
TEXTS = [
    "The door opens.",
    "I say nothing, Elena.",
    "Grüße aus dem Wald!",
    "狼が来た",
    "",
    "It's the goblin's gold gold",
    "I swear to come back. You owe me a drink.",
]
KINDS = [kind for kind in EventType if kind not in NOTES]


@st.composite
def _extracted(draw: st.DrawFn, number: int, source: GameEvent) -> GameEvent:
    """What was read out of the words of an event, for some of those who perceived it."""
    present = [
        who for key in ("participants", "witnesses", "told_to") for who in source.metadata.get(key, [])
    ]
    sure = draw(certainty)
    said = {"subject": draw(anything), "key": draw(st.sampled_from(["mood", "door", "role"]))}
    said["value"] = draw(st.one_of(values, st.lists(anything, min_size=1, max_size=1)))
    told = {"said_by": draw(anybody)} if sure == "belief" else {}
    if draw(st.booleans()):
        told["names"] = {said["subject"]: draw(st.sampled_from(NAMES))}
    return event(
        f"ext_{number:03d}",
        "system",
        "",
        kind=EventType.EXTRACTION,
        witnesses=draw(st.lists(st.sampled_from(present), unique=True)) if present else [],
        sources=[source.event_id],
        valid_from=source.event_id,
        facts=[{**said, "certainty": sure}],
        **told,
    )


amounts_taken = st.integers(0, 9_000)


@st.composite
def _taken(draw: st.DrawFn, number: int) -> GameEvent:
    """What a model took."""
    figures = {name: draw(amounts_taken) for name in ("input", "output", "cached", "counted", "milliseconds")}
    if draw(st.booleans()):
        figures["cost"] = draw(amounts_taken)
    note = {
        "role": draw(st.sampled_from(["dm", "player", "npc"])),
        "model": draw(st.sampled_from(["gpt-4o", "ollama:llama 3", "größe"])),
        "answers": draw(st.integers(0, 3)),
        "reports": draw(st.lists(st.tuples(amounts_taken, amounts_taken).map(list), max_size=2)),
        "calls": draw(st.dictionaries(st.sampled_from(["act", "recall"]), st.integers(0, 3), max_size=2)),
        "faults": draw(st.lists(st.sampled_from(["a refusal", "an id"]), max_size=2)),
        **figures,
    }
    return event(f"use_{number:03d}", "system", "", kind=EventType.USAGE, witnesses=[], usage=note)


@st.composite
def logs(draw: st.DrawFn, *, most: int = 14) -> list[GameEvent]:
    made: list[GameEvent] = []
    for number in range(draw(st.integers(1, most))):
        metadata = {
            key: draw(strategy)
            for key, strategy in METADATA.items()
            if draw(st.integers(0, 9)) < (5 if key in COMMON else 1)
        }
        if "names" in metadata and draw(st.booleans()):
            metadata["introduced_to"] = {uid: draw(people) for uid in metadata["names"]}
        if metadata.keys() & {"quest_state", "objective_id"}:
            metadata["quest_id"] = draw(st.sampled_from(QUESTS))
        if made and draw(st.integers(0, 5)) == 0:
            metadata["valid_from"] = draw(st.sampled_from(made)).event_id
        made.append(
            event(
                f"evt_{number:03d}",
                draw(st.sampled_from(["dm", "dm", "system", *EVERYBODY])),
                draw(st.sampled_from(TEXTS)),
                kind=draw(st.sampled_from(KINDS)),
                session=draw(st.sampled_from(["s01", "s02"])),
                **metadata,
            )
        )
        if draw(st.integers(0, 3)) == 0:
            source = draw(st.sampled_from(made))
            if not source.is_note:
                made.append(draw(_extracted(number, source)))
        if draw(st.integers(0, 5)) == 0:
            made.append(draw(_taken(number)))
    return made


def played(campaign: Campaign, log: list[GameEvent]) -> Campaign:
    """A campaign in which those events happened that could. Only the DM knows all who may appear."""
    campaign.record(event("evt_cast", "dm", "The cast.", witnesses=[], discovered=EVERYTHING))
    for one in log:
        try:
            campaign.record(one)
        except EventRefused:
            continue
    return campaign
