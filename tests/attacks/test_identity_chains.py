"""People who turn out to be each other, in a long row: the work grows with the row, not with its square."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.table import event

import dndbots
from dndbots.campaign import Campaign
from dndbots.canon.claims import AT
from dndbots.errors import EventRefused
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.testing import memory_campaign

ZARA = "pc_zara_001"
INN = "loc_inn_001"
SHORT = 40
# Twice the row may take so many times the work. Four times would be the square.
MOST_GROWTH = 2.7
_HOME = str(Path(dndbots.__file__).parent)


def person(number: int) -> str:
    return f"npc_mask_{number:04d}"


def zara() -> GameEvent:
    return event("z", DM, "Zara comes in.", kind=EventType.SYSTEM, names={ZARA: "Zara"}, participants=[ZARA])


def chain(numbers: Iterable[int]) -> list[GameEvent]:
    """Each is shown, placed and described, and turns out to be the next one."""
    return [
        event(
            f"e{n}",
            DM,
            f"The mask {n} falls.",
            kind=EventType.DM_NARRATION,
            participants=[ZARA, person(n), person(n + 1)],
            location=INN,
            names={person(n): f"Mask {n}"},
            facts=[{"subject": person(n), "key": "role", "value": f"dancer {n}"}],
            same_as={person(n): person(n + 1)},
        )
        for n in numbers
    ]


def work_of(act: Callable[[], object]) -> int:
    """How many lines of the package run. It depends on the code alone, not on the machine."""
    count = 0

    def on_line(_frame: FrameType, what: str, _arg: Any) -> Any:
        nonlocal count
        count += what == "line"
        return on_line

    def on_call(frame: FrameType, _what: str, _arg: Any) -> Any:
        return on_line if frame.f_code.co_filename.startswith(_HOME) else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def works(folder: Path, length: int, numbers: Callable[[int], Iterable[int]]) -> dict[str, int]:
    with Campaign.open(folder / f"chain_{length}") as campaign:
        campaign.record(zara())
        return {
            "record": work_of(lambda: campaign.record_many(chain(numbers(length)))),
            "context": work_of(lambda: campaign.context(ZARA, 2000)),
            "entities": work_of(lambda: campaign.entities(viewer=ZARA)),
            "entity": work_of(lambda: campaign.entity(person(0), viewer=DM)),
        }


@pytest.mark.parametrize("numbers", [range, lambda length: range(length)[::-1]], ids=["onward", "backward"])
def test_a_long_row_of_identities_takes_work_in_proportion(
    tmp_path: Path, numbers: Callable[[int], Iterable[int]]
) -> None:
    """Twice as many people who are one take about twice the work, to record and to read."""
    few, many = works(tmp_path, SHORT, numbers), works(tmp_path, 2 * SHORT, numbers)
    growth = {what: round(many[what] / few[what], 2) for what in few}
    assert max(growth.values()) < MOST_GROWTH, growth


def test_all_of_a_long_row_are_one(tmp_path: Path) -> None:
    """Whoever is asked for, the last one answers, with all that was said of anybody in the row."""
    with Campaign.open(tmp_path / "row") as campaign:
        campaign.record(zara())
        campaign.record_many(chain(range(20)))
        for number in (0, 7, 20):
            found = campaign.entity(person(number), viewer=ZARA)
            assert (found.uid, len(found.merged), found.location) == (person(20), 20, INN)
        assert campaign.verify() == []


_WHO = st.sampled_from([person(n) for n in range(3)])
_PLACES = st.sampled_from(["loc_inn_001", "loc_mill_001"])
_STEPS = st.one_of(
    st.builds(lambda one, other: {"same_as": {one: other}}, _WHO, _WHO),
    st.builds(lambda who, place: {"participants": [who], "location": place}, _WHO, _PLACES),
    st.builds(lambda who: {"killed": [who]}, _WHO),
    st.builds(lambda who: {"revived": [who]}, _WHO),
    st.builds(lambda who, at: {"facts": [{"subject": who, "op": "@", "object": at}]}, _WHO, _WHO),
)


def outcomes(steps: list[dict[str, Any]], *, forgetful: bool) -> list[object]:
    """What becomes of each step, and what is true of everybody after it."""
    campaign = memory_campaign()
    everybody = [person(n) for n in range(3)]
    campaign.record(event("z", DM, "All are there.", participants=[ZARA, *everybody]))
    found: list[object] = []
    first = {"same_as": {person(0): person(1)}}
    for number, step in enumerate([first, *steps]):
        try:
            campaign.record(event(f"s{number}", DM, "So it is.", witnesses=[], **step))
        except EventRefused as exc:
            found.append((number, exc.field))
        if forgetful:
            campaign._log._recorder.forget()
        standing = campaign._log._recorder._standing
        found += [(standing.persons(who), standing.is_dead(who)) for who in everybody]
        found += [standing.container_of(who, AT) for who in everybody]
    rows = campaign._store.view_rows("truth", campaign.branches()[0].id)
    return [*found, *sorted(map(tuple, rows), key=str)]


@given(st.lists(_STEPS, min_size=4, max_size=14))
def test_who_is_who_is_kept_at_hand_as_it_would_be_read(steps: list[dict[str, Any]]) -> None:
    """Joined step by step or read anew before each: the same is refused, and the same is true."""
    assert outcomes(steps, forgetful=False) == outcomes(steps, forgetful=True)
