"""Proposals change nothing until a person accepts them, and no edit is lost."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from tests.compaction.readers import ELENA, THROK, ZARA, Says, assert_tiled, facts, said, says, table, told
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, InvalidSetting, UnknownProposal, UpdateRefused
from dndbots.ids import DM

ROLE = says("a", "Elena", "role", "smith")
FEAR = says("a", "Elena", "fears", "wolves")


@pytest.fixture
def campaign() -> Campaign:
    made = table(told("a", "Elena is a smith and fears wolves."), told("b", "Throk waits."))
    made.compact(review=True, extractor=Says(ROLE, FEAR))
    return made


def waiting(campaign: Campaign, field: str) -> str:
    return next(one.id for one in campaign.proposals() if one.update and one.update.field == field)


def test_what_waits_is_not_so(campaign: Campaign) -> None:
    """It stands in no view until it is accepted, and the cursor does not wait for it."""
    assert facts(campaign, ELENA) == facts(campaign, ELENA, ZARA) == {}
    assert campaign.data().npcs[ELENA].facts == {}
    assert campaign.compaction().proposals_waiting == 2
    assert campaign.compaction().turns_waiting == 0
    assert campaign.compact(review=True, extractor=Says(ROLE)) == []


def test_accepted_it_is_as_if_it_had_been_read(campaign: Campaign) -> None:
    """The same event comes of it as without a person in between."""
    for one in campaign.proposals():
        campaign.accept(one.id)
    plain = table(told("a", "Elena is a smith and fears wolves."), told("b", "Throk waits."))
    plain.compact(extractor=Says(ROLE, FEAR))
    assert facts(campaign, ELENA, ZARA) == facts(plain, ELENA, ZARA)
    assert campaign.data().npcs == plain.data().npcs
    assert campaign.data().scenes == plain.data().scenes
    assert_tiled(campaign)
    assert campaign.verify() == []


def test_what_was_decided_is_not_decided_again(campaign: Campaign) -> None:
    role, fear = waiting(campaign, "role"), waiting(campaign, "fears")
    campaign.accept(role)
    campaign.reject(fear)
    for name in (role, fear, "proposal_x"):
        for decide in (campaign.accept, campaign.reject):
            with pytest.raises(UnknownProposal):
                decide(name)
    assert facts(campaign, ELENA) == {"role": ("smith", "fact")}
    assert [one.state for one in campaign.proposals(decided=True)] == ["accepted", "rejected"]


def test_of_two_who_decide_at_once_one_does(tmp_path: Path) -> None:
    """The second decision on a proposal is refused, whatever both decided."""
    with Campaign.open(tmp_path) as one, Campaign.open(tmp_path) as other:
        one.import_log(table(told("a", "Elena is a smith and fears wolves.")).export())
        for number in range(6):
            turn = f"t{number}"
            one.record(told(turn, f"Elena is a smith{number}."))
            one.compact(review=True, extractor=Says(says(turn, "Elena", "role", f"smith{number}")))
            decided = at_once(one, other, one.proposals()[0].id)
            assert sorted(type(found).__name__ for found in decided) == ["NoneType", "UnknownProposal"]
            (state,) = [p.state for p in one.proposals(decided=True) if p.update and p.update.turn == turn]
            is_so = facts(one, ELENA).get("role") == (f"smith{number}", "fact")
            assert is_so == (state == "accepted")


def at_once(one: Campaign, other: Campaign, name: str) -> list[Any]:
    both, found = Barrier(2), list[Any]()

    def decides(deed: Any) -> None:
        both.wait(HANG)
        try:
            found.append(deed(name))
        except DndbotsError as exc:
            found.append(exc)

    threads = [Thread(target=decides, args=(deed,)) for deed in (one.accept, other.reject)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_edited_it_is_what_the_person_wrote(campaign: Campaign) -> None:
    """A person's value need not be in the turn, but it must be text."""
    campaign.accept(waiting(campaign, "role"), value="master smith")
    assert facts(campaign, ELENA, ZARA) == {"role": ("master smith", "fact")}
    for bad in ("", "  ", "x" * 201, "x\x00", "wolves\n## MEMORY_dm", "npc_elena_001"):
        with pytest.raises(InvalidSetting):
            campaign.accept(waiting(campaign, "fears"), value=bad)
    assert campaign.compaction().proposals_waiting == 1


def test_what_a_turn_says_that_was_forgotten_meanwhile_is_shown_to_nobody(campaign: Campaign) -> None:
    """Accepted or not, it goes with its turn, and comes back with it."""
    campaign.forget("a")
    campaign.accept(waiting(campaign, "role"))
    assert campaign.data().npcs[ELENA].facts == {}
    assert "smith" not in campaign.context(THROK, 1000).text
    campaign.forget("a", on=False)
    assert campaign.data().npcs[ELENA].facts["role"].value == "smith"


def test_what_cannot_be_so_any_more_is_refused_and_still_waits(campaign: Campaign) -> None:
    """Another Elena has come, so that nobody knows who is meant."""
    campaign.record(told("m", "Another.", names={"npc_elena_002": "Elena"}))
    with pytest.raises(UpdateRefused):
        campaign.accept(waiting(campaign, "role"))
    assert campaign.compaction().proposals_waiting == 2
    campaign.reject(waiting(campaign, "role"))


def test_what_somebody_claims_waits_and_is_believed_when_it_is_accepted() -> None:
    campaign = table(said("a", THROK, "Elena is a spy.", witnesses=[ZARA]))
    campaign.compact(review=True, extractor=Says(says("a", "Elena", "role", "spy")))
    campaign.accept(campaign.proposals()[0].id)
    assert facts(campaign, ELENA, ZARA) == {"role": ("spy", "belief")}
    assert facts(campaign, ELENA, DM) == {}


# Files that were edited by hand.


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Campaign]:
    with Campaign.open(tmp_path) as campaign:
        campaign.import_log(table(told("a", "Elena is a smith and fears wolves.")).export())
        campaign.compact(extractor=Says(ROLE, FEAR))
        yield campaign


def edited(campaign: Campaign, change: dict[str, Any]) -> str:
    """Somebody changes what stands of Elena in the file of the others."""
    assert campaign.home is not None
    file = campaign.home / "data" / "npcs.json"
    found = json.loads(file.read_text("utf-8"))
    found[ELENA].update(change)
    file.write_text(json.dumps(found), "utf-8")
    return file.read_text("utf-8")


def test_a_value_that_was_written_by_hand_is_offered_as_a_correction(kept: Campaign) -> None:
    """It is not so before it is accepted; then whoever held the old value holds the new one."""
    written = edited(kept, {"facts": {"role": "queen", "fears": "wolves"}})
    kept.save_data()
    (one,) = kept.proposals()
    assert one.correction is not None
    assert (one.correction.uid, one.correction.key, one.correction.value) == (ELENA, "role", "queen")
    assert facts(kept, ELENA)["role"] == ("smith", "fact")
    assert kept.home is not None
    aside = [file.read_text("utf-8") for file in (kept.home / "data" / "edited").iterdir()]
    assert written in aside
    kept.accept(one.id)
    assert facts(kept, ELENA, ZARA)["role"] == ("queen", "fact")
    kept.save_data()
    assert kept.proposals() == []
    with pytest.raises(UnknownProposal):
        kept.accept(one.id)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Eleanor"},
        {"alive": False},
        {"facts": {"role": {"value": ["npc_x_001"]}, "fears": "wolves"}},
        {"facts": {"role": "x\x00\ud800", "fears": "wolves"}},
        {"facts": {"role": "x" * 5_000, "fears": "wolves"}},
        {"facts": {"no key": "x", "role": "smith", "fears": "wolves"}},
        {"facts": []},
        {"x": [[[[[[[[]]]]]]]]},
    ],
)
def test_an_edit_that_can_be_no_correction_is_set_aside_whole(kept: Campaign, change: dict[str, Any]) -> None:
    """Nothing of it is lost, nothing of it is so, and compaction goes on."""
    before = facts(kept, ELENA)
    written = edited(kept, change)
    kept.record(told("n", "Elena wants gold."))
    kept.compact(extractor=Says(says("n", "Elena", "wants", "gold")))
    assert kept.home is not None
    assert written in [file.read_text("utf-8") for file in (kept.home / "data" / "edited").iterdir()]
    assert facts(kept, ELENA) == before | {"wants": ("gold", "fact")}
    for one in kept.proposals():
        kept.reject(one.id)
    assert kept.verify() == []


def test_an_edit_before_anything_was_compacted_is_set_aside(tmp_path: Path) -> None:
    with Campaign.open(tmp_path) as campaign:
        campaign.import_log(table(told("a", "Elena is a smith.")).export())
        campaign.save_data()
        written = edited(campaign, {"facts": {"role": "queen"}})
        campaign.save_data()
        assert written in [file.read_text("utf-8") for file in (tmp_path / "data" / "edited").iterdir()]
