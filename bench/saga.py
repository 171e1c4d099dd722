"""An endless seeded saga: structured events with the proportions of real play, for the log's measurements.

A party of five that now and then splits up wanders through a world of a fixed size: two hundred places,
five hundred people, a vocabulary of twenty thousand words whose frequencies fall off as in real text.
"""

import itertools
import random
from collections.abc import Iterator

from dndbots.events import EventType, GameEvent

PARTY = [f"pc_{name}_001" for name in ("throk", "zara", "mirabel", "finn", "oswin")]
PLACES = [f"loc_place_{number:03d}" for number in range(200)]
PEOPLE = [f"npc_person_{number:03d}" for number in range(500)]
FOES = [f"mon_foe_{number:03d}" for number in range(100)]
QUESTS = [f"qst_errand_{number:03d}" for number in range(60)]
ITEMS = ("rope", "torch", "silver ring", "healing potion", "old map", "lantern", "dagger", "holy symbol")
_SYLLABLES = ("ba", "dor", "el", "fin", "gar", "hul", "ith", "jor", "kel", "lor", "mor", "nae", "os", "pyr")


def _vocabulary(size: int) -> list[str]:
    made = ("".join(parts) for length in (2, 3, 4) for parts in itertools.product(_SYLLABLES, repeat=length))
    return list(itertools.islice(made, size))


WORDS = _vocabulary(20_000)
_WEIGHTS = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(WORDS))))


def saga(seed: int) -> Iterator[GameEvent]:
    """Events without end; every one has an id, a session, a turn and an audience."""
    rng = random.Random(seed)
    numbers = itertools.count(1)
    while True:
        yield from _scene(rng, numbers)


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, cum_weights=_WEIGHTS, k=rng.randint(6, 24))).capitalize() + "."


def _scene(rng: random.Random, numbers: Iterator[int]) -> Iterator[GameEvent]:
    here = PARTY if rng.random() < 0.75 else sorted(rng.sample(PARTY, 2))
    place, person = rng.choice(PLACES), rng.choice(PEOPLE)

    def event(kind: EventType, source: str, **metadata: object) -> GameEvent:
        number = next(numbers)
        return GameEvent(
            event_id=f"evt_{number:08d}",
            event_type=kind,
            source=source,
            content=text(rng),
            session_id=f"s{number // 400:05d}",
            turn=number,
            metadata={"location": place, "participants": [*here], **metadata},
        )

    yield event(EventType.LOCATION_CHANGE, "dm")
    for _ in range(rng.randint(6, 14)):
        chance = rng.random()
        if chance < 0.45:
            yield event(EventType.PLAYER_ACTION, rng.choice(here))
        elif chance < 0.60:
            yield event(EventType.DIALOGUE, person)
        elif chance < 0.75:
            wounded = {rng.choice(here): rng.randint(-6, 4)}
            yield event(
                EventType.COMBAT_ROUND, rng.choice(here), enemies=[rng.choice(FOES)], hp_delta=wounded
            )
        elif chance < 0.82:
            foe = rng.choice(FOES)
            yield event(EventType.DEATH, "dm", killed=[foe], killed_by=rng.choice(here))
        elif chance < 0.90:
            yield event(
                EventType.LOOT, rng.choice(here), loot=[rng.choice(ITEMS), {"gold": rng.randint(1, 40)}]
            )
        elif chance < 0.95:
            state = rng.choice(("offered", "accepted", "completed"))
            yield event(EventType.QUEST_UPDATE, "dm", quest_id=rng.choice(QUESTS), quest_state=state)
        else:
            fact = {"subject": place, "key": "mood", "value": rng.choice(("calm", "tense", "haunted"))}
            yield event(EventType.DISCOVERY, "dm", facts=[fact], discovered=[place])
