"""A seeded chronicle: events with the proportions of real play, for measurements.

Scenes of a dozen or so events: the DM sets them, characters act and talk, some scenes are fights.
Ids have gaps, because a character does not perceive everything.
"""

import random
from collections.abc import Iterator

from dndbots.events import EventType, GameEvent
from dndbots.models import Character, Stats

NAMES = ("Throk", "Zara", "Mirabel", "Finn")
CLASSES = ("Fighter", "Thief", "Cleric", "Magic-User")
PLACES = {
    "loc_darkwood_entrance_001": "Darkwood Entrance",
    "loc_old_mill_001": "Old Mill",
    "loc_guard_room_001": "Guard Room",
    "loc_river_crossing_001": "River Crossing",
    "loc_sunken_crypt_001": "Sunken Crypt",
    "loc_the_red_lantern_001": "The Red Lantern",
}
PEOPLE = {
    "npc_elena_001": "Elena",
    "npc_captain_brandt_001": "Captain Brandt",
    "npc_old_hob_001": "Old Hob",
    "npc_sister_agathe_001": "Sister Agathe",
}
FOES = {
    "mon_darkwood_goblin_001": "Darkwood Goblin",
    "mon_grey_wolf_001": "Grey Wolf",
    "mon_skeleton_001": "Skeleton",
    "mon_bandit_001": "Bandit",
}
THINGS = ("door", "chest", "altar", "well", "stair", "window", "statue", "cart", "shrine", "map", "lantern")
LOOKS = ("rusty", "cold", "broken", "hidden", "heavy", "wet", "burnt", "carved", "silent", "small")
ACTIONS = (
    "I search the {look} {thing} for traps.",
    "I listen at the {thing}.",
    "I light a torch and look behind the {look} {thing}.",
    "I ask {person} what the {thing} is for.",
    "I keep watch by the {look} {thing} while the others rest.",
    "I tie the rope to the {thing} and climb down.",
    "I search the bodies for anything useful.",
    "I offer {person} ten gold for the truth about the {thing}.",
)
TALK = (
    "We should not stay here after dark.",
    "Did anyone else hear that?",
    "{person} is lying to us, I am sure of it.",
    "I gave my word to {person}, and I mean to keep it.",
    "That {thing} was not there yesterday.",
    "Give me a moment with the {look} {thing}.",
)
NARRATION = (
    "A {look} {thing} stands in the middle of the room.",
    "{person} leads you past the {look} {thing} without a word.",
    "The rain stops, and somewhere a bell begins to ring.",
    "Behind the {thing} you find a {look} passage leading down.",
    "{person} turns pale at the sight of the {look} {thing}.",
)
BLOWS = (
    "I charge at the nearest one!",
    "I loose an arrow at the one by the {thing}.",
    "I pull {ally} out of the way and strike back.",
    "Hit for {n} damage; it staggers into the {look} {thing}.",
    "Missed: the blade scrapes along the {thing}.",
)


def party() -> list[Character]:
    stats = Stats(str=15, dex=13, con=14, int=10, wis=11, cha=12)
    return [
        Character(
            name=name,
            char_class=job,
            level=3,
            hp=18,
            hp_max=18,
            ac=5,
            stats=stats,
            equipment=["rope"],
            gold=30,
        )
        for name, job in zip(NAMES, CLASSES, strict=True)
    ]


def named(names: dict[str, str]) -> list[dict[str, str]]:
    return [{"uid": uid, "name": name} for uid, name in names.items()]


def chronicle(count: int, *, seed: int) -> list[GameEvent]:
    """`count` events that the whole party, or some of it, perceived; Throk is always among them."""
    rng = random.Random(seed)
    events: list[GameEvent] = []
    number = 0
    while len(events) < count:
        for source, kind, text, metadata in _scene(rng):
            number += 1 if rng.random() < 0.85 else rng.randint(2, 6)
            events.append(
                GameEvent(
                    event_id=f"evt_003_{number:03d}",
                    event_type=kind,
                    source=source,
                    content=text,
                    session_id="session_003",
                    metadata=metadata,
                )
            )
    return events[:count]


def _scene(rng: random.Random) -> Iterator[tuple[str, EventType, str, dict[str, object]]]:
    everyone = [character.uid for character in party()]
    # A split party: now and then one of them is elsewhere.
    here = everyone if rng.random() < 0.75 else [everyone[0], rng.choice(everyone[1:])]
    where: dict[str, object] = {"location": rng.choice(list(PLACES))}
    words = {
        "thing": rng.choice(THINGS),
        "look": rng.choice(LOOKS),
        "person": rng.choice(list(PEOPLE.values())),
        "ally": rng.choice(NAMES),
    }
    fight = rng.random() < 0.35
    foe: dict[str, object] = {"enemies": [rng.choice(list(FOES))], "enemy_count": rng.randint(1, 6)}
    opening = where | {"participants": here} | (foe if fight else {})
    yield "dm", EventType.DM_NARRATION, rng.choice(NARRATION).format(**words), opening
    for _ in range(rng.randint(5, 16)):
        words |= {"thing": rng.choice(THINGS), "look": rng.choice(LOOKS)}
        who = rng.choice(here)
        if fight:
            text = rng.choice(BLOWS).format(n=rng.randint(1, 9), **words)
            yield who, EventType.COMBAT_ROUND, text, where | {"participants": [who], "witnesses": here} | foe
        elif rng.random() < 0.2:
            text = rng.choice(NARRATION).format(**words)
            yield "dm", EventType.DM_NARRATION, text, where | {"participants": here}
        else:
            text = rng.choice(ACTIONS if rng.random() < 0.6 else TALK).format(**words)
            yield who, EventType.PLAYER_ACTION, text, where | {"participants": here}
