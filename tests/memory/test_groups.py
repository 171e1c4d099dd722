"""A group of foes under one uid: one of them falls, and the others fight on, in everything that is told."""

from typing import Any

import pytest
from tests.table import event

from dndbots.events import EventType, GameEvent
from dndbots.memory import MemoryBuilder
from dndbots.memory.human_gates import Gates
from dndbots.memory.retold_events import retell_events
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
        ("swimming rats", {"enemy_count": 3}, "Zara killed one of the three swimming rats."),
        ("the rats of the mill", {"enemy_count": 2}, "Zara killed one of the two rats of the mill."),
        ("swimming rats", {"enemy_count": 1}, "Zara killed the last of the swimming rats."),
        ("swimming rats", {}, "Zara killed one of the swimming rats."),
        ("swimming rats", {"killed": [RATS] * 2}, "Zara killed two of the swimming rats."),
        (
            "swimming rats",
            {"killed": [RATS] * 2, "enemy_count": 12},
            "Zara killed two of the 12 swimming rats.",
        ),
        (
            "jackal folk",
            {"killed": [RATS] * 3, "enemy_count": 3},
            "Zara killed all three of the jackal folk.",
        ),
        ("a sheet of slime", {"enemy_count": 1}, "Zara killed the sheet of slime."),
        ("swimming rats", {"enemy_count": 0}, "Zara killed one of the swimming rats."),
        ("Grimfang", {}, "Zara killed Grimfang."),
        ("Agnes", {}, "Zara killed Agnes."),
        ("a goblin with many teeth", {}, "Zara killed the goblin with many teeth."),
    ],
)
def test_a_death_is_told_of_one_of_a_group(name: str, metadata: dict[str, Any], said: str) -> None:
    """A later reader knows that others of the group are left."""
    campaign = memory_campaign([met(12, names={RATS: name}), blow(1, **metadata)])
    with campaign.view(ZARA) as view:
        [_, entry] = retell_events(view, view.events(), Gates())
    assert entry.outcomes == (said,)


def test_a_recap_tells_a_fight_once() -> None:
    """Three blows are one sentence, and it says how many fell of how many."""
    blows = [blow(n, enemy_count=3 - n) for n in range(2)]
    text = memory_campaign([met(3), *blows]).recap(ZARA).text
    assert "Zara fought three swimming rats and killed two of them, and the fight was not over." in text
    assert text.count("swimming rats") == 1


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
