"""Differences between two viewers: from both views alone, and without scanning the log."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logs import PCS, logs, played
from tests.memory.test_laws import plays, remembered
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import InvalidSetting, UnknownViewer
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import DM
from dndbots.memory import Difference
from dndbots.storage.in_memory import MemoryStore
from dndbots.testing import as_text, memory_campaign, perceivers

THROK, ZARA, ELENA, PRIEST, ALDWIN = (
    "pc_throk_001",
    "pc_zara_001",
    "npc_elena_001",
    "npc_old_priest_001",
    "npc_aldwin_001",
)
MILL, CELLAR = {"location": "loc_mill_001"}, {"location": "loc_cellar_001"}


def role(value: str, subject: str = ELENA, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "key": "role", "value": value, **more}


def split_party() -> Campaign:
    """Zara finds out, alone, what Elena did; Throk waits with Elena meanwhile."""
    return memory_campaign(
        [
            event(
                "e1",
                ELENA,
                "Find my children.",
                participants=[THROK, ZARA],
                names={THROK: "Throk", ZARA: "Zara", ELENA: "Elena"},
                facts=[role("mother")],
                **MILL,
            ),
            event("e2", ZARA, "I search below.", **CELLAR),
            event(
                "e3",
                DM,
                "A letter: Elena sold them.",
                participants=[ZARA],
                facts=[role("traitor"), {"subject": ELENA, "key": "mood", "value": "cold"}],
                threads=[{"id": "letter", "kind": "mystery", "text": "Who bought the children?"}],
                **CELLAR,
            ),
            event("e4", THROK, "I wait with Elena.", participants=[ELENA], **MILL),
        ]
    )


def test_each_half_is_what_only_one_knows() -> None:
    """Places and people met, facts with the event they were learned from, threads, and lines."""
    found = split_party().diff("Zara", "Throk")
    zara, throk = found.a, found.b
    assert (zara.viewer, zara.name, throk.name) == (ZARA, "Zara", "Throk")
    assert [one.uid for one in zara.met] == ["loc_cellar_001"]
    assert ("Elena is cold.", "e3") in [(one.text, one.fact.learned_from) for one in zara.facts]
    assert [one.id for one in zara.threads] == ["letter"]
    assert (zara.lines, [one.event_id for one in zara.newest]) == (2, ["e2", "e3"])
    assert (throk.met, throk.facts, throk.threads) == ((), (), ())
    assert (throk.lines, [one.text for one in throk.newest]) == (1, ["I wait with Elena."])


def test_where_they_disagree_both_values_are_shown() -> None:
    """Another value, each with where it comes from."""
    pairs = split_party().diff("Zara", "Throk").differing
    told = [[(one.text, one.fact.learned_from) for one in (*pair.a, *pair.b)] for pair in pairs]
    assert [("Elena is a traitor.", "e3"), ("Elena is a mother.", "e1")] in told


def test_another_certainty_is_a_difference() -> None:
    """Zara saw it, Throk was only told."""
    campaign = split_party()
    campaign.record(
        event("e5", ZARA, "She sold them.", kind=EventType.DIALOGUE, told_to=[THROK], facts=[role("traitor")])
    )
    found = campaign.diff("Throk", "Zara")
    (held,) = [pair for pair in found.differing if pair.a[0].fact.key == "role"]
    assert [(one.fact.value, one.fact.certainty) for one in held.a] == [
        ("mother", "fact"),
        ("traitor", "belief"),
    ]
    assert [(one.fact.value, one.fact.certainty) for one in held.b] == [("traitor", "fact")]


def test_the_dm_knows_it_all() -> None:
    """Nobody knows what the DM does not; the DM knows what only others saw."""
    found = split_party().diff("dm", "Throk")
    assert (found.a.viewer, found.a.name, found.a.lines) == (DM, "DM", 2)
    assert found.b.is_empty
    assert not found.a.is_empty


def priests() -> Campaign:
    """Both meet the old priest and Aldwin; only Zara learns that they are one."""
    return memory_campaign(
        [
            event("e1", PRIEST, "Bless you.", participants=[THROK, ZARA], names={PRIEST: "the old priest"}),
            event("e2", ALDWIN, "Welcome.", participants=[THROK, ZARA], facts=[role("host", ALDWIN)]),
            event(
                "e3",
                DM,
                "He takes the mask off.",
                participants=[ZARA],
                same_as={PRIEST: ALDWIN},
                names={ALDWIN: "Aldwin the Grey"},
            ),
        ]
    )


def test_who_is_one_to_one_and_two_to_the_other_is_compared_as_one() -> None:
    """Nobody is new to anybody, no fact is only one's; what differs is who they are."""
    found = priests().diff("Zara", "Throk")
    assert (found.a.met, found.b.met, found.b.recognised, found.b.facts) == ((), (), (), ())
    (known,) = found.a.recognised
    assert (known.uid, known.name, known.names) == (ALDWIN, "Aldwin the Grey", ("Aldwin the Grey",))
    assert sorted(known.to_other) == ["Aldwin", "the old priest"]
    assert not [one for one in found.a.facts if one.fact.key == "role"]
    assert not [pair for pair in found.differing if pair.a[0].fact.key == "role"]


def test_the_past_is_compared_as_it_was() -> None:
    """As of an event that only one of the two perceived, or none."""
    campaign = split_party()
    assert campaign.diff("Zara", "Throk", as_of="e1").is_empty
    early = campaign.diff("Zara", "Throk", as_of="e2")
    assert (early.a.lines, early.b.lines, early.a.threads) == (1, 0, ())


def test_what_cannot_be_asked_is_refused() -> None:
    """A viewer nobody knows, and a number that is none."""
    campaign = split_party()
    with pytest.raises(UnknownViewer):
        campaign.diff("Zara", "Nobody")
    for last in (-1, "3", None, True):
        with pytest.raises(InvalidSetting):
            campaign.diff("Zara", "Throk", last=last)
    assert campaign.diff("Zara", "Throk", last=0).a.newest == ()
    assert len(campaign.diff("Zara", "Throk", last=10**18).a.newest) == 2


def mirrored(found: Difference) -> Difference:
    pairs = [pair.model_copy(update={"a": pair.b, "b": pair.a}) for pair in found.differing]
    return Difference(a=found.b, b=found.a, differing=tuple(pairs))


def pairs_in(campaign: Campaign) -> list[tuple[str, str]]:
    """Characters, the DM, and NPCs, who stand in other groups than they do."""
    who = [one for one in (DM, *PCS[:2], ELENA, PRIEST) if one in perceivers(campaign)]
    return [(a, b) for a in who for b in who]


def perceived_by_either(campaign: Campaign, who: Iterable[str]) -> Campaign:
    part = memory_campaign()
    wanted = set(who)
    part.replay(one for one in campaign.events(viewer=DM) if not wanted.isdisjoint(audience(one)))
    return part


@settings(max_examples=max(1, settings().max_examples // 2))
@given(logs(most=16), st.integers(0, 5))
def test_a_difference_owes_nothing_to_what_neither_perceived(log: list[GameEvent], last: int) -> None:
    """From only the events that one of the two perceived it is the same; mirrored; empty with oneself."""
    campaign = played(memory_campaign(), log)
    for a, b in pairs_in(campaign):
        found = campaign.diff(a, b, last=last)
        part = perceived_by_either(campaign, (a, b))
        assert as_text(part.diff(a, b, last=last)) == as_text(found)
        assert as_text(mirrored(campaign.diff(b, a, last=last))) == as_text(found)
        assert found.is_empty or a != b


@settings(max_examples=max(1, settings().max_examples // 10))
@given(plays)
def test_a_difference_owes_nothing_to_what_neither_remembers(play: Any) -> None:
    """The same where things were summarised, pinned, forgotten and corrected in between."""
    campaign = remembered(memory_campaign(), play)
    for a, b in [(PCS[0], PCS[1]), (PCS[1], PRIEST)]:
        if {a, b} <= {*perceivers(campaign)}:
            part = perceived_by_either(campaign, (a, b))
            assert as_text(part.diff(a, b)) == as_text(campaign.diff(a, b))


@settings(max_examples=max(1, settings().max_examples // 2))
@given(logs(most=16))
def test_lines_are_counted_and_told_exactly(log: list[GameEvent]) -> None:
    """As many as are found by looking at every event, and the same ones, for any two."""
    campaign = played(memory_campaign(), log)
    heard = {
        who: [one.event_id for one in campaign.events(viewer=who) if not one.is_note]
        for who, _ in pairs_in(campaign)
    }
    for a, b in pairs_in(campaign):
        side = campaign.diff(a, b, last=3).a
        only = [name for name in heard[a] if name not in heard[b]]
        assert (side.lines, [one.event_id for one in side.newest]) == (len(only), only[-3:])


@settings(max_examples=max(1, settings().max_examples // 10))
@given(logs(most=16))
def test_a_difference_is_the_same_on_every_store_and_in_a_copy(log: list[GameEvent]) -> None:
    """In memory, in SQLite, after a rebuild, and from an export."""
    twin = played(memory_campaign(), log)
    wanted = {pair: as_text(twin.diff(*pair)) for pair in pairs_in(twin)}
    with tempfile.TemporaryDirectory() as folder, Campaign.open(Path(folder) / "c") as campaign:
        campaign.import_log(twin.export())
        assert {pair: as_text(campaign.diff(*pair)) for pair in wanted} == wanted
        campaign.rebuild()
        assert {pair: as_text(campaign.diff(*pair)) for pair in wanted} == wanted


def test_a_long_past_that_both_share_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that only one viewer saw are found by their groups, however many both saw since."""
    asked: list[int] = []
    newest = MemoryStore.newest_perceived

    def counted(*args: Any, **kwargs: Any) -> list[int]:
        found = newest(*args, **kwargs)
        asked.append(len(found))
        return found

    campaign = split_party()
    campaign.record_many(event(f"x{n}", DM, "Rain.", participants=[THROK, ZARA]) for n in range(500))
    with campaign.view(ZARA) as view:
        monkeypatch.setattr(MemoryStore, "newest_perceived", counted)
        apart = view.unshared_with(THROK)
        assert (apart.lines(), len(apart.newest(10))) == (2, 2)
    assert max(asked) <= 2
