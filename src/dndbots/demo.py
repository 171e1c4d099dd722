"""`python -m dndbots.demo`: what two characters of one small campaign remember of it, and its price."""

import sys

from dndbots.events import EventType, GameEvent
from dndbots.memory.builder import MemoryBuilder
from dndbots.models import Character, Stats
from dndbots.prompts import DCML_GUIDE
from dndbots.tokens import ENCODINGS, count_many

PARTY = "fac_party_001"
PEOPLE = [
    {"uid": "npc_elena_001", "name": "Elena"},
    {"uid": "npc_grimfang_001", "name": "Grimfang"},
    {"uid": "mon_darkwood_goblin_001", "name": "Darkwood Goblin"},
    {"uid": "mon_grey_wolf_001", "name": "Grey Wolf"},
]
PLACES = [
    {"uid": "loc_north_road_001", "name": "North Road"},
    {"uid": "loc_old_mill_001", "name": "Old Mill"},
    {"uid": "loc_darkwood_edge_001", "name": "Darkwood Edge"},
    {"uid": "loc_mill_cellar_001", "name": "Mill Cellar"},
]
QUESTS = [
    {
        "uid": "qst_the_lost_children_001",
        "name": "The Lost Children",
        "state": "offered",
        "giver": "npc_elena_001",
    },
]


def party() -> list[Character]:
    throk = Character(
        name="Throk",
        char_class="Fighter",
        level=3,
        hp=19,
        hp_max=24,
        ac=4,
        stats=Stats(str=17, dex=12, con=15, int=8, wis=10, cha=9),
        equipment=["longsword", "chain mail"],
        gold=50,
        char_id="pc_throk_001",
    )
    zara = Character(
        name="Zara",
        char_class="Thief",
        level=3,
        hp=12,
        hp_max=12,
        ac=7,
        stats=Stats(str=10, dex=17, con=12, int=14, wis=11, cha=13),
        equipment=["dagger", "thieves' tools"],
        gold=75,
        char_id="pc_zara_001",
    )
    return [throk, zara]


def story() -> list[GameEvent]:
    """A quest taken, a fight won, and a party that splits up and does not tell each other everything."""
    both = ["pc_throk_001", "pc_zara_001"]
    road = {"location": "loc_north_road_001"}
    mill = {"location": "loc_old_mill_001"}
    woods = {"location": "loc_darkwood_edge_001"}
    cellar = {"location": "loc_mill_cellar_001"}
    told = [
        (
            "dm",
            EventType.COMBAT_ROUND,
            "Two wolves come at the camp in the night. Neither gets away.",
            road | {"participants": both, "killed": ["mon_grey_wolf_001"] * 2, "killed_by": "pc_zara_001"},
        ),
        (
            "dm",
            EventType.DISCOVERY,
            "Under the snow, a milestone: the old road to the mill.",
            road | {"participants": both, "discovered": ["loc_old_mill_001"]},
        ),
        (
            "npc_elena_001",
            EventType.DIALOGUE,
            "Four children went into the Darkwood. Please bring them home.",
            mill | {"participants": [*both, "npc_elena_001"]},
        ),
        (
            "pc_throk_001",
            EventType.QUEST_UPDATE,
            "We will find them. You have my word.",
            mill | {"participants": both, "quest_id": "qst_the_lost_children_001", "quest_state": "accepted"},
        ),
        (
            "dm",
            EventType.COMBAT_ROUND,
            "Goblins drop from the trees at the edge of the wood.",
            woods | {"participants": both, "enemies": ["mon_darkwood_goblin_001"], "enemy_count": 4},
        ),
        (
            "pc_throk_001",
            EventType.PLAYER_ACTION,
            "I charge the biggest of them.",
            woods | {"participants": both, "enemies": ["npc_grimfang_001"]},
        ),
        (
            "dm",
            EventType.DEATH,
            "Grimfang falls; the others run.",
            woods | {"participants": both, "killed": ["npc_grimfang_001"], "killed_by": "pc_throk_001"},
        ),
        (
            "pc_throk_001",
            EventType.PLAYER_ACTION,
            "I follow the tracks.",
            woods | {"participants": ["pc_throk_001"]},
        ),
        (
            "pc_zara_001",
            EventType.PLAYER_ACTION,
            "I slip back and search the mill's cellar alone.",
            cellar | {"participants": ["pc_zara_001"]},
        ),
        (
            "dm",
            EventType.DISCOVERY,
            "Small shoes, and a letter in Elena's hand: she sold them.",
            cellar
            | {
                "participants": ["pc_zara_001"],
                "npcs_mentioned": ["npc_elena_001"],
                "facts": [{"subject": "npc_elena_001", "key": "status", "value": "traitor"}],
            },
        ),
        (
            "dm",
            EventType.DM_NARRATION,
            "Two trails part at a dead oak. One is fresh.",
            woods | {"participants": ["pc_throk_001"]},
        ),
    ]
    return [
        GameEvent(
            event_id=f"evt_003_{number:03d}",
            event_type=kind,
            source=source,
            content=content,
            session_id="session_003",
            metadata=metadata,
        )
        for number, (source, kind, content, metadata) in enumerate(told, start=39)
    ]


EVENT_WINDOW = 5


def memory_of(character: Character, *, dense: bool) -> str:
    return MemoryBuilder(event_window=EVENT_WINDOW, dense=dense).build_memory_document(
        character.uid,
        character,
        party(),
        story(),
        npcs=PEOPLE,
        locations=PLACES,
        party_id=PARTY,
        quests=QUESTS,
    )


def report() -> str:
    throk, zara = party()
    plain, dense, zaras = (
        memory_of(throk, dense=False),
        memory_of(throk, dense=True),
        memory_of(zara, dense=True),
    )
    lines = [
        f"A small campaign: {len(story())} events, two characters, and a party that splits up. Each",
        f"remembers the newest {EVENT_WINDOW} events it perceived, and what the older ones left behind.",
        "",
        "=== What Throk remembers, in plain DCML ===",
        plain,
        "",
        "=== The same, in dense DCML: what a model is given, with a guide ===",
        DCML_GUIDE,
        "",
        dense,
        "",
        "=== What Zara remembers. She found the letter; Throk does not know ===",
        zaras,
        "",
        "=== What it costs, in tokens ===",
        f"{'':14}" + "".join(f"{encoding:>14}" for encoding in ENCODINGS),
    ]
    for name, text in (("Throk, plain", plain), ("Throk, dense", dense), ("Zara, dense", zaras)):
        counts = [count_many([text], encoding)[0] for encoding in ENCODINGS]
        lines.append(f"{name:14}" + "".join(f"{count:>14}" for count in counts))
    return "\n".join(lines)


def main() -> None:
    sys.stdout.write(report() + "\n")


if __name__ == "__main__":
    main()
