"""A group of foes under one uid: one of them falls, and the others fight on, in everything that is told."""

from typing import Any

import pytest
from tests.table import event

from dndbots.events import EventType, GameEvent
from dndbots.memory import MemoryBuilder
from dndbots.testing import memory_campaign

ZARA = "pc_zara_001"
RATS, SLIME, MILL = "mon_rats_001", "mon_slime_001", "loc_mill_001"


def met(number: int, *, names: dict[str, str] | None = None) -> GameEvent:
    return event(
        "met",
        "dm",
        "Teeth in the dark.",
        kind=EventType.COMBAT_START,
        participants=[ZARA],
        enemies=[RATS],
        enemy_count=number,
        location=MILL,
        names=names or {RATS: "swimming rats"},
    )


def blow(n: int, **metadata: Any) -> GameEvent:
    fields = {
        "participants": [ZARA],
        "enemies": [RATS],
        "killed": [RATS],
        "killed_by": ZARA,
        "location": MILL,
    }
    return event(f"blow_{n}", ZARA, "Steel flashes.", kind=EventType.COMBAT_ROUND, **(fields | metadata))


def test_a_group_that_loses_one_is_a_group_with_one_fewer() -> None:
    """It lives, its number says how many are left, and nobody has killed it."""
    campaign = memory_campaign([met(3), blow(1)])
    for viewer in ("dm", ZARA):
        rats = campaign.entity(RATS, viewer=viewer)
        assert (rats.alive, rats.properties) == (True, {"number": 2})
        found = campaign.recall(viewer, "Who killed the swimming rats?", budget=400).items
        assert not any("rats was killed" in one.text for one in found), found
    campaign.record_many([blow(2), blow(3)])
    rats = campaign.entity(RATS, viewer=ZARA)
    assert (rats.alive, rats.properties) == (False, {"number": 0, "killed_by": [ZARA]})


@pytest.mark.parametrize(
    ("name", "metadata", "said"),
    [
        ("swimming rats", {"enemy_count": 3}, "One of the three swimming rats was killed by Zara."),
        ("the rats of the mill", {"enemy_count": 2}, "One of the two rats of the mill was killed by Zara."),
        ("swimming rats", {"enemy_count": 1}, "The last of the swimming rats was killed by Zara."),
        ("swimming rats", {}, "One of the swimming rats was killed by Zara."),
        ("swimming rats", {"killed": [RATS] * 2}, "Two of the swimming rats were killed by Zara."),
        (
            "swimming rats",
            {"killed": [RATS] * 2, "enemy_count": 12},
            "Two of the 12 swimming rats were killed by Zara.",
        ),
        (
            "jackal folk",
            {"killed": [RATS] * 3, "enemy_count": 3},
            "All three of the jackal folk were killed by Zara.",
        ),
        ("a sheet of slime", {"enemy_count": 1}, "a sheet of slime was killed by Zara."),
        ("swimming rats", {"enemy_count": 0}, "One of the swimming rats was killed by Zara."),
        ("Grimfang", {}, "Grimfang was killed by Zara."),
        ("Agnes", {}, "Agnes was killed by Zara."),
        ("a goblin with many teeth", {}, "a goblin with many teeth was killed by Zara."),
    ],
)
def test_a_death_is_told_of_one_of_a_group(name: str, metadata: dict[str, Any], said: str) -> None:
    """A later reader knows that others of the group are left."""
    campaign = memory_campaign([met(12, names={RATS: name}), blow(1, **metadata)])
    assert said in campaign.recap(ZARA).text


def test_a_rollup_says_how_many_are_left() -> None:
    """A number that was stated is counted down; nobody reads an old one."""
    three = {"subject": RATS, "key": "number", "value": 3}
    stated = event("seen", "dm", "Rats!", participants=[ZARA], facts=[three])
    assert _rolled_up(stated, blow(1)) == ["pc_zara_001 -> KILLED:mon_rats_001", "mon_rats_001::number->2"]
    fall = [blow(n, killed_by=[]) for n in (1, 2, 3)]
    assert _rolled_up(met(3), *fall[:1]) == ["mon_rats_001::number->2"]
    assert _rolled_up(met(3), *fall) == ["mon_rats_001x3::status->dead"]


def _rolled_up(*events: GameEvent) -> list[str]:
    return MemoryBuilder().create_rollups(list(events), ZARA)
