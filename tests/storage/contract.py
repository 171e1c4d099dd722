"""The contract of a campaign. Every backend runs all of it."""

from typing import Any

import pytest
from tests.storage.memory_contract import MemoryContract
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.canon.event_marks import LEFT_OPEN, OUTCOME, left_open_with
from dndbots.errors import (
    AmbiguousName,
    BranchExists,
    DuplicateEvent,
    EventRefused,
    InvalidSetting,
    SequenceConflict,
    UnknownBranch,
    UnknownCategory,
    UnknownEntity,
    UnknownEvent,
    UnknownViewer,
)
from dndbots.events import EventType, GameEvent
from dndbots.ids import opaque_uid
from dndbots.storage.ports import VIEWS
from dndbots.testing import as_text

THROK, ZARA, GOBLIN = "pc_throk_001", "pc_zara_001", "mon_goblin_001"
MILL, CRYPT = "loc_mill_001", "loc_crypt_001"
BOTH = [THROK, ZARA]


def fact(subject: str, key: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "key": key, "value": value, **more}


def relation(subject: str, op: str, other: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "op": op, "object": other, **more}


def rows_of(campaign: Campaign) -> dict[str, list[Any]]:
    """Every row of every view, in one order on every backend."""
    store = campaign._store
    return {
        view: sorted(
            (tuple(row) for branch in store.branches() for row in store.view_rows(view, branch.id)), key=repr
        )
        for view in VIEWS
    }


ROLES = ("dm", "player")
USED = {"role": "dm", "model": "gpt-4o", "answers": 1, "input": 110, "counted": 100}


def taken(
    event_id: str, role: str, model: str, *, witnesses: Any = (), location: Any = None, **more: Any
) -> GameEvent:
    note = {**USED, "role": role, "model": model, **more}
    beside = {"location": location} if location else {}
    return event(event_id, "system", "", kind=EventType.USAGE, witnesses=[*witnesses], usage=note, **beside)


class CampaignContract(MemoryContract):
    """`table` is a new campaign with the party in it; `another` opens the same one a second time."""

    @pytest.fixture
    def table(self, campaign: Campaign) -> Campaign:
        campaign.record(event("e0", "dm", "You meet at the mill.", location=MILL, participants=BOTH))
        return campaign

    def another(self, campaign: Campaign) -> Campaign:
        return Campaign(campaign._store.another(), branch=campaign.branch)

    # What models took.

    def test_what_models_took_adds_up_by_role_and_model(self, table: Campaign) -> None:
        """Read by index, on every branch its own; the price of all is known only if that of each is."""
        table.record_many([taken("u1", "dm", "gpt-4o", cost=1_500_000), taken("u2", "dm", "gpt-4o", cost=1)])
        table.record(taken("u3", "player", "local model", faults=["a refusal"]))
        dm, player = table.usage()
        assert (dm.role, dm.model, dm.answers, dm.input, dm.counted, dm.faults) == (
            "dm",
            "gpt-4o",
            2,
            220,
            200,
            0,
        )
        assert dm.cost == pytest.approx(1.500001)
        assert (player.role, player.model, player.faults, player.cost) == ("player", "local model", 1, None)
        fork = table.fork("other", at="u1")
        assert [one.answers for one in fork.usage()] == [1]
        fork.record(taken("u4", "dm", "gpt-4o"))
        assert [(one.answers, one.cost) for one in fork.usage()] == [(2, None)]
        assert [one.answers for one in table.usage(as_of="u1")] == [1]
        assert table.verify() == []
        fork.close()

    def test_how_a_provider_counts_is_read_from_the_log(self, table: Campaign) -> None:
        """By its newest reports, whatever the role; none of them is underestimated."""
        assert table.calibration("gpt-4o").ratio == 1
        table.record_many(
            taken(f"u{n}", role, "gpt-4o", reports=[[1_000, 1_000 + n]]) for n, role in enumerate(ROLES * 15)
        )
        table.record(taken("other", "dm", "gpt-4.1", reports=[[1_000, 3_000]]))
        assert table.calibration("gpt-4o").expected(1_000) == 1_029
        assert table.calibration("gpt-4o").scaled(1_029) == 1_000

    def test_what_models_took_is_perceived_by_nobody_at_the_table(self, table: Campaign) -> None:
        """It is a note: nothing but itself, and nobody's but the seat's that a model plays."""
        for bad in (
            taken("u1", "dm", "gpt-4o", witnesses=[THROK]),
            taken("u1", "player", "gpt-4o", witnesses=[THROK, ZARA]),
            taken("u2", "dm", "gpt-4o", location=MILL),
            event("u3", "system", "", kind=EventType.USAGE, witnesses=[]),
            event("u4", "dm", "Hello.", usage=USED),
        ):
            with pytest.raises(EventRefused):
                table.record(bad)
        table.record(taken("u5", "dm", "gpt-4o"))
        assert [one.event_id for one in table.events(viewer=THROK)] == ["e0"]
        assert [one.event_id for one in table.timeline(viewer="dm")] == ["e0"]
        table.record(taken("u6", "player", "gpt-4o", witnesses=[THROK]))
        assert [(one.role, one.model) for one in table.usage(viewer=THROK)] == [("player", "gpt-4o")]
        assert [one.event_id for one in table.timeline(viewer=THROK)] == ["e0"]

    # The log.

    def test_an_event_comes_back_as_it_was_stored(self, campaign: Campaign) -> None:
        """With its place, and with everything that it had."""
        told = GameEvent(
            event_id="D1:3 ü",
            event_type=EventType.DIALOGUE,
            source=THROK,
            content="Grüße, 李! \U0001f409\n\t\x1b[31m",
            session_id="s01",
            metadata={"participants": BOTH, "odd": {"a": [1, 2.5, None, True, "x"]}},
            timestamp="2026-05-01T10:00:00+02:00",  # type: ignore[arg-type]
            turn=7,
        )
        stored = campaign.record(told)
        assert stored.seq == 1
        assert stored.model_copy(update={"seq": None}) == told
        assert list(campaign.events(viewer="dm")) == [stored]
        assert campaign.head == 1

    def test_a_mention_counts_for_those_who_understand_it(self, table: Campaign) -> None:
        """The same lines, whether all mentions are read or only those in some lines."""
        names = {GOBLIN: "Grik"}
        table.record_many(
            [
                event("m1", "dm", "Somebody waves.", participants=BOTH, names=names,
                      introduced_to={GOBLIN: [ZARA]}),
                event("m2", "dm", "The wind howls.", participants=BOTH),
                event("m3", "dm", "Grik waves back.", participants=BOTH, names=names),
            ]
        )  # fmt: skip
        for viewer, heard in ((ZARA, ["m1", "m3"]), (THROK, ["m3"]), ("dm", ["m1", "m3"])):
            with table.view(viewer) as view:
                index, seqs = view.index(), view.seqs_of(["m1", "m2", "m3"])
                every = index.mentions([GOBLIN])
                partly = every._replace(whole=False)
                lines = index.lines(list(seqs.values()))
                assert len(lines) == 3
                for found in (every, partly):
                    assert index.mentioned_at([GOBLIN], found, lines) == {seqs[one] for one in heard}

    def test_places_are_gapless_and_in_order(self, table: Campaign) -> None:
        """Events are numbered in order, recorded one at a time or many at once."""
        table.record(event("a", "dm", "x"))
        table.record_many(event(f"b{n}", "dm", "x") for n in range(1200))
        table.record(event("c", "dm", "x"))
        ids = [one.event_id for one in table.events(viewer="dm")]
        assert ids == ["e0", "a", *(f"b{n}" for n in range(1200)), "c"]
        assert [one.seq for one in table.events(viewer="dm")] == list(range(1, 1204))
        assert table.verify() == []

    def test_who_expects_another_place_is_refused(self, table: Campaign) -> None:
        """`expected` is a compare-and-set; nothing is written on a conflict."""
        assert table.record(event("a", "dm", "x"), expected=1).seq == 2
        with pytest.raises(SequenceConflict) as conflict:
            table.record(event("b", "dm", "x"), expected=1)
        assert (conflict.value.expected, conflict.value.actual) == (1, 2)
        assert table.head == 2

    def test_all_or_nothing(self, table: Campaign) -> None:
        """A bad event refuses its whole batch; the campaign goes on."""
        before = rows_of(table)
        batch = [event(f"n{n}", "dm", "word", killed=[GOBLIN]) for n in range(700)]
        with pytest.raises(EventRefused, match="hp_delta"):
            table.record_many([*batch, event("bad", "dm", "x", hp_delta={"npc_nobody_001": 1})])
        assert table.head == 1
        assert rows_of(table) == before
        table.record(event("good", GOBLIN, "It lives, for its death was undone.", participants=[GOBLIN]))
        assert table.verify() == []

    def test_an_id_stands_for_one_event(self, table: Campaign) -> None:
        """The log refuses a second event of an id, in a batch and later, also on a fork."""
        with pytest.raises(DuplicateEvent):
            table.record(event("e0", "dm", "Again."))
        with pytest.raises(DuplicateEvent):
            table.record_many([event("a", "dm", "x"), event("a", "dm", "x")])
        with table.fork("side") as side, pytest.raises(DuplicateEvent):
            side.record(event("e0", "dm", "Again."))
        assert table.head == 1

    def test_another_writer_is_noticed(self, table: Campaign) -> None:
        """Events are checked against what somebody else recorded in between; no cache is stale."""
        table.record(event("a", "dm", "x", location=MILL, enemies=[GOBLIN], participants=BOTH))
        table.record(event("b", GOBLIN, "It snarls.", participants=BOTH))
        with self.another(table) as other:
            other.record(event("c", "dm", "It dies.", participants=BOTH, killed=[GOBLIN]))
            other.record(event("d", "dm", "Zara leaves.", location=CRYPT, participants=[ZARA]))
        with pytest.raises(EventRefused, match="dead"):
            table.record(event("e", GOBLIN, "It snarls.", participants=BOTH))
        seen = table.record(event("f", "dm", "A creak.", location=MILL))
        assert seen.metadata["witnesses"] == [THROK]
        assert table.verify() == []

    @pytest.mark.parametrize(
        ("metadata", "field"),
        [
            ({"facts": [fact("npc_nobody_001", "mood", "calm")]}, r"facts\[0\].subject"),
            ({"facts": [relation(THROK, "~", "npc_nobody_001")]}, r"facts\[0\].object"),
            ({"killed_by": "npc_nobody_001", "killed": [GOBLIN]}, "killed_by"),
            ({"hp_delta": {"npc_nobody_001": 1}}, "hp_delta"),
            ({"hp_delta": -3, "participants": BOTH}, "hp_delta"),
            ({"conditions": ["poisoned"]}, "conditions"),
            ({"participants": ["race_elves"]}, "participants"),
            ({"loot": [7]}, "loot"),
            ({"loot": [{}]}, "loot"),
            ({"loot": [{"item": "rope", "to": "npc_nobody_001"}]}, "loot"),
            ({"loot": [{"item": "rope", "quantity": "two"}]}, "loot"),
            ({"objective_id": "find"}, "objective_id"),
            ({"quest_state": "done"}, "quest_state"),
            ({"facts": [relation(MILL, "in", MILL)]}, "facts"),
            ({"facts": [fact(MILL, "mood", "a"), fact(MILL, "mood", "b")]}, "facts"),
            ({"facts": [relation(MILL, "@", CRYPT), relation(MILL, "@", THROK)], "location": CRYPT}, "facts"),
            ({"facts": [fact(THROK, "hp", "many")]}, "facts"),
            ({"facts": [fact(THROK, "hp", 7)], "hp_delta": {THROK: -1}}, "facts"),
            ({"killed": [GOBLIN], "revived": [GOBLIN]}, "revived"),
            ({"conditions": {THROK: ["asleep", "-asleep"]}}, "conditions"),
            ({"same_as": {THROK: THROK}}, "same_as"),
            ({"same_as": {THROK: MILL}, "location": MILL}, "same_as"),
            ({"valid_from": "later"}, "valid_from"),
        ],
    )
    def test_hostile_events_are_refused_whole(
        self, table: Campaign, metadata: dict[str, Any], field: str
    ) -> None:
        """Unknown uids, contradictions, cycles: refused with the field, and nothing is kept."""
        before = rows_of(table)
        with pytest.raises(EventRefused, match=field):
            table.record(event("bad", "dm", "x", **metadata))
        assert (table.head, rows_of(table)) == (1, before)

    def test_an_event_changed_in_place_is_checked_again(self, table: Campaign) -> None:
        """Metadata is a dictionary; what it became is checked, not what it was."""
        for key, value in {"participants": "everybody", "odd": float("nan"), "location": 7}.items():
            changed = event("bad", "dm", "x")
            changed.metadata[key] = value
            with pytest.raises(EventRefused, match=key):
                table.record(changed)
        changed = event("good", "dm", "x")
        changed.metadata["witnesses"] = [ZARA]
        assert table.record(changed).metadata == {"witnesses": [ZARA]}

    def test_nothing_contains_itself(self, table: Campaign) -> None:
        """Containment has no cycles, along any way of saying it."""
        table.record(
            event(
                "a",
                "dm",
                "x",
                discovered=["loc_a_001", "loc_b_001", "item_c_001"],
                facts=[relation("loc_a_001", "in", "loc_b_001")],
            )
        )
        table.record(event("b", "dm", "x", facts=[relation("loc_b_001", "<", "item_c_001")]))
        for n, closing in enumerate(
            [relation("item_c_001", "@", "loc_a_001"), relation("loc_a_001", ">", "item_c_001")]
        ):
            with pytest.raises(EventRefused, match="contain itself"):
                table.record(event(f"c{n}", "dm", "x", facts=[closing]))

    # Who perceives.

    def test_an_event_that_names_nobody_is_stamped(self, table: Campaign) -> None:
        """Witnesses are those at the place; without a place, the party; `witnesses: []` means only the DM."""
        table.record(event("a", "dm", "x", location=CRYPT, participants=[ZARA, "npc_elena_001"]))
        here = table.record(event("b", "dm", "A door slams.", location=CRYPT))
        assert here.metadata["witnesses"] == ["npc_elena_001", ZARA]
        party = table.record(event("c", "dm", "It rains."))
        assert party.metadata["witnesses"] == BOTH
        secret = table.record(event("d", "dm", "Unseen.", location=CRYPT, witnesses=[]))
        assert secret.metadata["witnesses"] == []
        table.record(event("e", "dm", "x", killed=[ZARA], participants=[THROK]))
        assert table.record(event("f", "dm", "Silence.", location=CRYPT)).metadata["witnesses"] == [
            "npc_elena_001"
        ]
        batch = [
            event("g", "dm", "x", location="loc_inn_001", participants=[THROK]),
            event("h", "dm", "x", location="loc_inn_001"),
        ]
        assert table.record_many(batch)[1].metadata["witnesses"] == [THROK]

    def test_the_party_is_who_is_stated_to_be_in_it(self, table: Campaign) -> None:
        """Once somebody is said to be in the party, only those are."""
        table.record(event("a", "dm", "x", witnesses=[], facts=[relation(ZARA, "in", "fac_party_001")]))
        assert table.record(event("b", "dm", "x")).metadata["witnesses"] == [ZARA]

    def test_a_whisper_reaches_its_two_ends(self, table: Campaign) -> None:
        """And the DM; a whisper to nobody is refused."""
        table.record(event("a", THROK, "Psst.", kind=EventType.WHISPER, told_to=[ZARA]))
        assert [one.event_id for one in table.events(viewer=ZARA)][-1] == "a"
        table.record(event("b", THROK, "Psst.", kind=EventType.WHISPER, told_to=["npc_elena_001"]))
        assert [one.event_id for one in table.events(viewer=ZARA)][-1] == "a"
        with pytest.raises(EventRefused, match="told_to"):
            table.record(event("c", THROK, "Psst.", kind=EventType.WHISPER))

    def test_a_viewer_is_somebody(self, table: Campaign) -> None:
        """By uid, by name in any case, or refused; never the DM by default."""
        table.record(event("a", "dm", "x", participants=BOTH, names={ZARA: "Zára Stone", GOBLIN: "Grib"}))
        hers = as_text(table.timeline(viewer=ZARA))
        assert as_text(table.timeline(viewer="ZÁRA  stone")) == hers
        assert as_text(table.timeline(viewer="Throk")) == as_text(table.timeline(viewer=THROK))
        assert as_text(table.timeline(viewer="DM")) == as_text(table.timeline(viewer="dm"))
        for nobody in ("", "Zara", "pc_nobody_001", "The Mill"):
            with pytest.raises(UnknownViewer):
                table.timeline(viewer=nobody)
        with pytest.raises(UnknownViewer) as nobody:
            table.timeline(viewer="Nobody")
        assert nobody.value.known == (THROK, ZARA)
        table.record(
            event("mask", "dm", "x", witnesses=["npc_mask_001"], names={"npc_mask_001": "dark_lord"})
        )
        table.record(
            event("duke", "dm", "x", witnesses=["npc_duke_001"], same_as={"npc_mask_001": "npc_duke_001"})
        )
        assert [one.event_id for one in table.timeline(viewer="dark_lord")] == ["mask"]
        assert table.entity("dark_lord", viewer="npc_mask_001").uid == "npc_mask_001"
        table.record(event("b", "dm", "x", participants=BOTH, names={"npc_imp_001": "grib"}))
        with pytest.raises(AmbiguousName) as both:
            table.timeline(viewer="Grib")
        assert both.value.candidates == (GOBLIN, "npc_imp_001")

    # Canon.

    def test_the_dead_do_not_act(self, table: Campaign) -> None:
        """Unless the event says why, or they were brought back; every copy of a group has its own death."""
        table.record(event("a", "dm", "x", participants=BOTH, enemies=[GOBLIN], enemy_count=2))
        table.record(event("b", "dm", "x", participants=BOTH, killed=[GOBLIN], killed_by=THROK))
        table.record(event("c", GOBLIN, "The other one flees.", participants=BOTH))
        table.record(event("d", "dm", "x", participants=BOTH, killed=[GOBLIN]))
        with pytest.raises(EventRefused, match="source: mon_goblin_001 is dead"):
            table.record(event("e", GOBLIN, "It fights again.", participants=BOTH))
        assert not table.entity(GOBLIN, viewer=THROK).alive
        table.record(event("f", GOBLIN, "It moans.", participants=BOTH, despite_death="raised by the crypt"))
        table.record(event("g", "dm", "x", participants=BOTH, revived=[GOBLIN]))
        table.record(event("h", GOBLIN, "It fights again.", participants=BOTH))
        assert table.entity(GOBLIN, viewer=THROK).alive
        assert table.entity(GOBLIN, viewer=THROK, as_of="d").alive is False

    def test_amounts_add_up(self, table: Campaign) -> None:
        """Hit points, gold and things: stated, then changed; for a viewer, as far as it saw."""
        table.record(event("a", "dm", "x", participants=BOTH, facts=[fact(THROK, "hp", 12)]))
        table.record(event("b", "dm", "x", participants=BOTH, hp_delta={THROK: -5}))
        table.record(event("c", "dm", "x", witnesses=[THROK], hp_delta={THROK: 2}))
        table.record(
            event("d", THROK, "x", participants=[THROK], loot=["rope", {"gold": 30}, {"item": "rope"}])
        )
        table.record(
            event("e", THROK, "x", participants=BOTH, loot=[{"item": "rope", "to": ZARA, "from": THROK}])
        )
        table.record(event("f", "dm", "x", participants=BOTH, hp_delta={GOBLIN: -4}, enemies=[GOBLIN]))
        his, seen = table.entity(THROK, viewer=THROK), table.entity(THROK, viewer=ZARA)
        assert (his.properties["hp"], seen.properties["hp"]) == (9, 7)
        assert (his.properties["gold"], "gold" in seen.properties) == (30, False)
        assert (his.inventory, table.entity(ZARA, viewer="dm").inventory) == ({"rope": 1}, {"rope": 1})
        assert table.entity(GOBLIN, viewer=ZARA).properties == {"hp_change": -4}
        assert table.entity(THROK, viewer="dm", as_of="b").properties["hp"] == 7
        table.record(event("g", "dm", "x", participants=BOTH, facts=[fact(THROK, "hp", 12)]))
        assert table.entity(THROK, viewer=ZARA).properties["hp"] == 12

    def test_the_state_of_things(self, table: Campaign) -> None:
        """Quests, objectives, acts, encounters, danger, secrets, standing, conditions, discoveries."""
        table.record(
            event(
                "a",
                "dm",
                "x",
                kind=EventType.COMBAT_START,
                participants=BOTH,
                location=CRYPT,
                danger_level="high",
                encounter_id="ambush",
                act_id="1",
            )
        )
        table.record(
            event("b", "dm", "x", participants=BOTH, quest_id="qst_bell_001", quest_state="accepted")
        )
        table.record(event("c", "dm", "x", participants=BOTH, quest_id="qst_bell_001", objective_id="find"))
        table.record(
            event(
                "d",
                "dm",
                "x",
                kind=EventType.COMBAT_END,
                participants=BOTH,
                location=CRYPT,
                danger_level="CLEARED",
                encounter_id="ambush",
                discovered=["loc_vault_001"],
            )
        )
        table.record(
            event(
                "e",
                "dm",
                "x",
                participants=[ZARA],
                reputation={"fac_party_001": 2},
                conditions=["poisoned", "asleep"],
            )
        )
        table.record(event("f", "dm", "x", participants=[ZARA], conditions={ZARA: ["-asleep"]}))
        table.record(event("g", "dm", "x", witnesses=[], facts=[fact(CRYPT, "lair", "a vampire")]))
        quest = table.entity("qst_bell_001", viewer=THROK)
        assert (quest.properties["state"], quest.objectives) == ("accepted", {"find": "completed"})
        crypt = table.entity(CRYPT, viewer=THROK)
        assert crypt.properties == {"danger": "CLEARED"}
        assert table.entity(CRYPT, viewer="dm").properties["lair"] == "a vampire"
        assert table.entity(CRYPT, viewer="dm", as_of="a").properties == {"danger": "high"}
        assert [(one.id, one.state) for one in table.acts(viewer=ZARA)] == [("1", "begun")]
        assert [(one.id, one.state) for one in table.encounters(viewer=ZARA)] == [("ambush", "completed")]
        assert table.entity(ZARA, viewer=ZARA).conditions == ("poisoned",)
        assert table.entity("fac_party_001", viewer=ZARA).properties == {"reputation": 2}
        assert table.entity("loc_vault_001", viewer=THROK).properties == {"discovered": True}

    def test_where_everybody_is(self, table: Campaign) -> None:
        """Participants are at the place of the event; a place that it states comes after that."""
        table.record(event("a", "dm", "x", location=CRYPT, participants=[ZARA], witnesses=BOTH))
        assert table.entity(ZARA, viewer=THROK).location == CRYPT
        table.record(event("b", "dm", "x", location="loc_inn_001", participants=[ZARA]))
        assert table.entity(ZARA, viewer=THROK).location == CRYPT
        assert table.entity(ZARA, viewer="dm").location == "loc_inn_001"
        table.record(
            event("c", "dm", "x", location=MILL, participants=BOTH, facts=[relation(ZARA, "@", CRYPT)])
        )
        assert table.entity(ZARA, viewer=THROK).location == CRYPT
        assert table.entity(ZARA, viewer="dm", as_of="b").location == "loc_inn_001"

    def test_newer_facts_supersede_and_are_kept(self, table: Campaign) -> None:
        """The history has both, each with what ended it."""
        table.record(event("a", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "locked")]))
        table.record(event("b", "dm", "x", participants=[THROK], facts=[fact(MILL, "door", "open")]))
        table.record(
            event(
                "c",
                "dm",
                "x",
                participants=BOTH,
                facts=[relation(MILL, "~", "loc_crypt_001")],
                discovered=[CRYPT],
            )
        )
        table.record(
            event("d", "dm", "x", participants=BOTH, facts=[relation(MILL, "~", "loc_crypt_001", ended=True)])
        )
        assert table.entity(MILL, viewer=THROK).properties == {"door": "open"}
        assert table.entity(MILL, viewer=ZARA).properties == {"door": "locked"}
        doors = [one for one in table.history(MILL, viewer=THROK) if one.key == "door"]
        assert [(one.value, one.valid_from, one.superseded_by) for one in doors] == [
            ("locked", "a", "b"),
            ("open", "b", None),
        ]
        assert [one.superseded_by for one in table.history(MILL, viewer=ZARA) if one.key == "door"] == [None]
        ties = [
            (one.op, one.object, one.ended) for one in table.entity(MILL, viewer=ZARA).facts if one.op == "~"
        ]
        assert ties == [("~", CRYPT, True)]

    def test_late_news_do_not_beat_newer_truth(self, table: Campaign) -> None:
        """A fact of an earlier event is dated there, and only those who perceived that event may learn it."""
        table.record(event("a", "dm", "x", participants=BOTH))
        table.record(event("b", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "open")]))
        table.record(
            event("late", "dm", "x", witnesses=BOTH, valid_from="a", facts=[fact(MILL, "door", "locked")])
        )
        assert table.entity(MILL, viewer=ZARA).properties == {"door": "open"}
        assert [one.value for one in table.history(MILL, viewer=ZARA)] == ["locked", "open"]
        assert table.entity(MILL, viewer=ZARA, as_of="b").properties == {"door": "open"}
        table.record(event("c", "dm", "x", location=CRYPT, participants=[ZARA]))
        table.record(event("d", "dm", "x", witnesses=[], valid_from="b", facts=[relation(ZARA, "@", MILL)]))
        assert table.record(event("e", "dm", "x", location=CRYPT)).metadata["witnesses"] == [ZARA]
        with pytest.raises(EventRefused, match="pc_throk_001 did not perceive 'c'"):
            table.record(
                event("f", "dm", "x", participants=BOTH, valid_from="c", facts=[fact(MILL, "door", "ajar")])
            )

    def test_late_news_are_filed_the_same_when_folded_again(self, table: Campaign) -> None:
        """A late fact is compared with all newer evidence, in whatever chunk it was recorded."""
        table.record(event("early", "dm", "x", participants=BOTH))
        table.record(
            event("move", "dm", "x", location=CRYPT, participants=[ZARA], facts=[relation(MILL, "in", CRYPT)])
        )
        table.record_many(event(f"n{n}", "dm", "x", witnesses=[]) for n in range(1100))
        late = [relation(ZARA, "@", "loc_inn_001"), relation(MILL, "in", "loc_inn_001")]
        table.record(
            event("late", "dm", "x", witnesses=[], discovered=["loc_inn_001"], valid_from="early", facts=late)
        )
        assert table.verify() == []
        before = rows_of(table)
        table.rebuild()
        assert rows_of(table) == before
        assert table.record(event("bell", "dm", "x", location=CRYPT)).metadata["witnesses"] == [ZARA]

    def test_a_campaign_is_verified_while_others_write(self, table: Campaign) -> None:
        """A write during verification is neither missed nor taken for damage."""
        with self.another(table) as other:

            def interrupt(done: int, _total: int) -> None:
                if done:
                    other.record(
                        event(f"w{other.head}", "dm", "more words", participants=BOTH, hp_delta={ZARA: -1})
                    )

            table.record_many(
                event(f"n{n}", "dm", "words", participants=BOTH, hp_delta={ZARA: 1}) for n in range(900)
            )
            assert table.verify(interrupt) == []
            assert other.head > 901
        assert table.verify() == []

    def test_who_has_a_name_keeps_it_when_others_are_only_shown_them(self, table: Campaign) -> None:
        """Maud does not become "a woman with tired eyes" again for those who know her, the DM among them."""
        maud, looks = "npc_maud_001", "a woman with tired eyes"
        table.record(event("a", "dm", "x", participants=BOTH, names={maud: looks}))
        table.record(event("b", "dm", "x", participants=[ZARA], names={maud: "Maud Ferrier"}))
        table.record(event("c", "dm", "x", participants=BOTH, names={maud: "a woman with a lamp"}))
        for viewer in ("dm", ZARA):
            known = table.entity(maud, viewer=viewer)
            assert (known.name, known.aliases) == ("Maud Ferrier", (looks, "a woman with a lamp"))
        assert table.entity(maud, viewer=THROK).name == "a woman with a lamp"
        table.record(event("d", "dm", "x", participants=BOTH, names={maud: "Maud of the Green"}))
        assert table.entity(maud, viewer="dm").name == "Maud of the Green"
        assert table.entity("a woman with a lamp", viewer=THROK).uid == opaque_uid(maud)

    def test_a_stranger_gets_a_name(self, table: Campaign) -> None:
        """The old priest turns out to be Aldwin; all that was known of either is known of both."""
        priest = table.introduce("NPC", "the old priest", metadata={"witnesses": BOTH})
        assert priest == "npc_the_old_priest_001"
        assert table.introduce("NPC", "the old priest") == "npc_the_old_priest_002"
        table.record(
            event(
                "a",
                "dm",
                "x",
                participants=[*BOTH, priest],
                location=CRYPT,
                facts=[fact(priest, "mood", "sad")],
            )
        )
        aldwin = table.introduce("NPC", "Aldwin", aliases=["Brother Aldwin"], metadata={"witnesses": BOTH})
        table.record(event("b", "dm", "x", participants=BOTH, facts=[fact(aldwin, "oath", "silence")]))
        table.record(event("c", "dm", "It is he.", participants=BOTH, same_as={priest: aldwin}))
        known = table.entity("Aldwin", viewer=ZARA)
        assert (known.uid, known.merged, known.name) == (aldwin, (priest,), "Aldwin")
        assert known.aliases == ("the old priest", "Brother Aldwin")
        assert known.properties == {"mood": "sad", "oath": "silence"}
        assert as_text(table.entity(priest, viewer=ZARA)) == as_text(known)
        assert table.entity("brother aldwin", viewer=ZARA, as_of="b").properties == {"oath": "silence"}
        table.record(event("d", "dm", "x", participants=BOTH, killed=[aldwin]))
        with pytest.raises(EventRefused, match="dead"):
            table.record(event("e", priest, "x", participants=BOTH))
        with pytest.raises(EventRefused, match="already"):
            table.record(event("f", "dm", "x", same_as={priest: THROK}))
        with pytest.raises(EventRefused, match="the same already"):
            table.record(event("g", "dm", "x", same_as={aldwin: priest}))
        about = [one.event_id for one in table.timeline(viewer=ZARA, about=aldwin)]
        assert about == [f"introduced_{priest}", "a", f"introduced_{aldwin}", "b", "c", "d"]

    def test_identities_do_not_go_in_circles(self, table: Campaign) -> None:
        """A ring of people who are each other is refused, also one that does not close where it began."""
        shown = ["npc_a_001", "npc_b_001", "npc_c_001"]
        table.record(event("a", "dm", "x", discovered=shown))
        ring = {"npc_a_001": "npc_b_001", "npc_b_001": "npc_c_001", "npc_c_001": "npc_b_001"}
        with pytest.raises(EventRefused, match="the same already"):
            table.record(event("b", "dm", "x", same_as=ring))
        table.replay([event("c", "dm", "x", same_as=ring)])
        assert table.entity("npc_a_001", viewer="dm").merged == ("npc_a_001", "npc_c_001")
        table.record(event("d", "npc_a_001", "It speaks.", participants=BOTH))

    def test_those_who_are_one_live_and_die_as_one(self, table: Campaign) -> None:
        """Under whatever uid it happens: death, return, place and hearing."""
        one, two, here, there = "npc_a_001", "npc_b_001", "loc_x_001", "loc_y_001"
        table.record(event("a", "dm", "x", discovered=[there], location=here, participants=[one, THROK]))
        table.record(event("b", "dm", "x", discovered=[two], same_as={one: two, here: there}))
        assert table.record(event("c", "dm", "A bell.", location=there)).metadata["witnesses"] == [one, THROK]
        table.record(event("d", "dm", "x", participants=BOTH, killed=[one]))
        for n, dead in enumerate((one, two)):
            with pytest.raises(EventRefused, match="dead"):
                table.record(event(f"e{n}x", dead, "x", participants=BOTH))
        assert table.record(event("f", "dm", "A bell.", location=here)).metadata["witnesses"] == [THROK]
        table.record(event("g", "dm", "x", participants=BOTH, revived=[two]))
        table.record(event("h", one, "It speaks.", participants=BOTH))
        assert table.entity(two, viewer="dm").alive
        table.record(
            event("i", "dm", "x", discovered=["loc_q_001"], facts=[relation("loc_q_001", "in", here)])
        )
        with pytest.raises(EventRefused, match="inside"):
            table.record(event("j", "dm", "x", same_as={"loc_q_001": there}))
        assert table.verify() == []

    def test_one_under_two_uids_is_where_either_was_seen_last(self, table: Campaign) -> None:
        """Seen again at the same place counts as seen, also before it was known that they are one."""
        one, two = "npc_a_001", "npc_b_001"
        table.record(event("a", "dm", "x", location=MILL, participants=[one]))
        table.record(event("b", "dm", "x", location=CRYPT, participants=[two]))
        table.record(event("c", "dm", "x", location=MILL, participants=[one]))
        table.record(event("d", "dm", "x", witnesses=[], same_as={one: two}))
        assert table.entity(two, viewer="dm").location == MILL
        assert table.record(event("e", "dm", "A bell.", location=CRYPT)).metadata["witnesses"] == []
        assert one in table.record(event("f", "dm", "A bell.", location=MILL)).metadata["witnesses"]

    def test_nobody_is_inside_himself(self, table: Campaign) -> None:
        """Neither at himself, nor in a bag that he carries."""
        with pytest.raises(EventRefused, match="inside itself"):
            table.record(event("a", THROK, "x", location=THROK))
        table.record(
            event("b", "dm", "x", discovered=["loc_bag_001"], facts=[relation("loc_bag_001", "in", ZARA)])
        )
        with pytest.raises(EventRefused, match="inside itself"):
            table.record(event("c", ZARA, "x", location="loc_bag_001"))

    def test_a_batch_is_as_good_as_its_events_one_by_one(self, table: Campaign, campaign_2: Campaign) -> None:
        """An entity that an event shows, mentions or addresses is known to the next event of the batch."""
        mira = "pc_mira_001"
        batch = [
            event("a", "dm", "x", witnesses=[mira]),
            event("b", "dm", "x", witnesses=[], facts=[fact(mira, "mood", "calm")]),
            event("c", "dm", "A bell."),
        ]
        stored = [table.record(one) for one in batch]
        assert stored[2].metadata["witnesses"] == [mira, THROK, ZARA]
        campaign_2.record_many([event("e0", "dm", "You meet.", location=MILL, participants=BOTH), *batch])
        assert [one.metadata for one in campaign_2.events(viewer="dm", last=3)] == [
            one.metadata for one in stored
        ]

    def test_what_belongs_to_the_party_can_be_looked_up(self, table: Campaign) -> None:
        """Loot that nobody takes by name is the party's."""
        table.record(event("a", "dm", "x", participants=BOTH, loot=[{"gold": 50}, "rope"]))
        party = table.entity("fac_party_001", viewer=ZARA)
        assert (party.properties["gold"], party.inventory) == (50, {"rope": 1})
        assert [one.holder for one in table.who_knows(fact("fac_party_001", "gold", 50))] == BOTH
        table.record(event("b", "dm", "x", participants=BOTH, facts=[relation(ZARA, "in", "fac_party_001")]))
        assert table.entity(ZARA, viewer=ZARA, as_of="b").location == MILL

    # Knowledge.

    def test_a_lie_does_not_beat_what_was_seen(self, table: Campaign) -> None:
        """Amounts and deaths too: what is told stands beside what is known, until it is seen."""
        table.record(
            event("a", "dm", "x", participants=BOTH, killed=[GOBLIN], loot=[{"gold": 50, "to": ZARA}])
        )
        table.record(
            event(
                "b",
                ZARA,
                "It lives, and I am poor.",
                kind=EventType.DIALOGUE,
                told_to=[THROK],
                facts=[fact(GOBLIN, "number", 3), fact(ZARA, "gold", 1)],
            )
        )
        assert not table.entity(GOBLIN, viewer=THROK).alive
        gold = [
            (one.value, one.certainty) for one in table.entity(ZARA, viewer=THROK).facts if one.key == "gold"
        ]
        assert gold == [(50, "fact"), (1, "belief")]
        table.record(event("c", "dm", "x", participants=BOTH, loot=[{"gold": 5, "to": ZARA}]))
        gold = [
            (one.value, one.certainty) for one in table.entity(ZARA, viewer=THROK).facts if one.key == "gold"
        ]
        assert gold == [(55, "fact"), (6, "belief")]
        table.record(event("d", "dm", "x", participants=BOTH, facts=[fact(ZARA, "gold", 7)]))
        gold = [
            (one.value, one.certainty) for one in table.entity(ZARA, viewer=THROK).facts if one.key == "gold"
        ]
        assert gold == [(7, "fact")]

    def test_who_knows_does_not_mix_people_whom_the_holder_tells_apart(self, table: Campaign) -> None:
        """Only the DM knows that they are one; Throk holds two things of two people."""
        table.record(
            event(
                "a",
                "dm",
                "x",
                witnesses=[THROK],
                discovered=["npc_p_001", "npc_q_001"],
                facts=[
                    fact("npc_p_001", "hp", 5),
                    fact("npc_q_001", "hp", 10),
                    relation("npc_p_001", "~", ZARA),
                    relation(THROK, "~", "npc_p_001"),
                ],
            )
        )
        table.record(event("b", "dm", "x", witnesses=[THROK], hp_delta={"npc_p_001": -2}))
        table.record(event("c", "dm", "x", witnesses=[], same_as={"npc_p_001": "npc_q_001"}))
        held = [one.fact.value for one in table.who_knows({"subject": "npc_p_001", "key": "hp"})]
        assert held == [3, 10]
        assert [one.holder for one in table.who_knows(relation(THROK, "~", "npc_q_001"))] == [THROK]

    def test_how_knowledge_spreads(self, table: Campaign) -> None:
        """Seen is known, told is believed, overheard is a rumor; being in the party tells nobody anything."""
        mira, elena = "pc_mira_001", "npc_elena_001"
        table.record(
            event(
                "a",
                "dm",
                "x",
                participants=[THROK],
                witnesses=[mira, elena],
                facts=[fact(MILL, "door", "open")],
            )
        )
        asked = {"subject": MILL, "key": "door"}
        assert [one.holder for one in table.who_knows(asked)] == ["npc_elena_001", "pc_mira_001", THROK]
        table.record(
            event(
                "b",
                THROK,
                "It is locked.",
                kind=EventType.DIALOGUE,
                told_to=[ZARA],
                witnesses=["npc_old_hob_001"],
                facts=[fact(MILL, "door", "locked")],
            )
        )
        known = {one.holder: one.fact for one in table.who_knows(asked)}
        assert (known[ZARA].value, known[ZARA].certainty, known[ZARA].how, known[ZARA].said_by) == (
            "locked",
            "belief",
            "told",
            THROK,
        )
        assert (known["npc_old_hob_001"].certainty, known["npc_old_hob_001"].how) == ("rumor", "overheard")
        assert known[THROK].value == "open"
        assert known[ZARA].learned_from == "b"
        assert [one.holder for one in table.who_knows(fact(MILL, "door", "locked"))] == [
            "npc_old_hob_001",
            ZARA,
        ]
        assert table.entity(MILL, viewer="dm").properties == {"door": "open"}
        assert table.entity(MILL, viewer=ZARA).properties == {"door": "locked"}
        table.record(
            event("c", "dm", "She sees it.", participants=[ZARA], facts=[fact(MILL, "door", "open")])
        )
        seen = table.entity(MILL, viewer=ZARA).facts
        assert [(one.value, one.certainty) for one in seen] == [("open", "fact")]
        assert [one.holder for one in table.who_knows(asked, as_of="a")] == [
            "npc_elena_001",
            "pc_mira_001",
            THROK,
        ]

    def test_a_wrong_belief_stays_until_it_is_corrected(self, table: Campaign) -> None:
        """Hearing otherwise from a bystander corrects nothing; being told by the DM does."""
        table.record(
            event(
                "a",
                "npc_elena_001",
                "He is good.",
                kind=EventType.DIALOGUE,
                participants=[ZARA],
                facts=[fact("npc_elena_001", "loyal", value=True)],
            )
        )
        table.record(event("b", "dm", "x", witnesses=[], facts=[fact("npc_elena_001", "loyal", value=False)]))
        hers = table.entity("npc_elena_001", viewer=ZARA)
        assert [(one.value, one.certainty) for one in hers.facts if one.key == "loyal"] == [(True, "belief")]
        table.record(
            event(
                "c",
                "dm",
                "x",
                witnesses=[ZARA],
                facts=[fact("npc_elena_001", "loyal", value=False, certainty="rumor")],
            )
        )
        hers = table.entity("npc_elena_001", viewer=ZARA)
        assert [(one.value, one.certainty, one.how) for one in hers.facts if one.key == "loyal"] == [
            (True, "belief", "told"),
            (False, "rumor", "hearsay"),
        ]
        table.record(
            event(
                "d",
                ZARA,
                "She thinks.",
                witnesses=[],
                facts=[fact("npc_elena_001", "spy", value=True, certainty="belief")],
            )
        )
        inferred = [one.fact for one in table.who_knows({"subject": "npc_elena_001", "key": "spy"})]
        assert [(one.how, one.certainty) for one in inferred] == [("inferred", "belief")]
        table.record(
            event("e", "dm", "x", told_to=[ZARA], facts=[fact("npc_elena_001", "loyal", value=False)])
        )
        hers = table.entity("npc_elena_001", viewer=ZARA)
        assert [(one.value, one.certainty) for one in hers.facts if one.key == "loyal"] == [(False, "fact")]

    def test_who_was_only_told_of_an_event_did_not_see_it(self, table: Campaign) -> None:
        """Zara believes what Throk tells her: where he was, and who died."""
        table.record(
            event(
                "a",
                THROK,
                "x",
                location=CRYPT,
                participants=[THROK],
                told_to=[ZARA],
                enemies=[GOBLIN],
                killed=[GOBLIN],
            )
        )
        goblin = table.entity(GOBLIN, viewer=ZARA)
        assert not goblin.alive
        assert {one.certainty for one in goblin.facts} == {"belief"}
        where = [(one.holder, one.fact.certainty) for one in table.who_knows(relation(THROK, "@", CRYPT))]
        assert where == [(THROK, "fact"), (ZARA, "belief")]

    def test_asking_who_knows(self, table: Campaign) -> None:
        """A subject by name, a relation with or without its object; nonsense gets an error that says so."""
        table.record(event("a", "dm", "x", participants=BOTH, names={MILL: "Old Mill"}))
        assert [one.holder for one in table.who_knows({"subject": "throk", "op": "@"})] == BOTH
        assert table.who_knows(relation(THROK, "@", CRYPT)) == []
        with pytest.raises(UnknownEntity):
            table.who_knows({"subject": "Nobody", "key": "mood"})
        with pytest.raises(InvalidSetting):
            table.who_knows({"subject": "Old Mill", "op": "~"})
        with pytest.raises(InvalidSetting):
            table.who_knows({"subject": "Old Mill"})

    # Looking.

    def test_a_timeline_is_in_the_viewers_names(self, table: Campaign) -> None:
        """Newest last, of everything or about somebody."""
        table.record(
            event(
                "a",
                "npc_elena_001",
                "Hello.",
                kind=EventType.DIALOGUE,
                participants=BOTH,
                names={"npc_elena_001": "Elena", MILL: "Old Mill"},
                location=MILL,
            )
        )
        table.record(event("b", "dm", "x", witnesses=[THROK], names={"npc_elena_001": "Elena the Spy"}))
        hers = table.timeline(viewer=ZARA, last=1)
        assert [(one.event_id, one.who, one.where, one.text) for one in hers] == [
            ("a", "Elena", "Old Mill", "Hello.")
        ]
        his = table.timeline(viewer=THROK, about="elena the spy")
        assert [(one.event_id, one.who) for one in his] == [("a", "Elena the Spy"), ("b", "DM")]
        with pytest.raises(UnknownEntity):
            table.timeline(viewer=ZARA, about="elena the spy")
        with pytest.raises(InvalidSetting):
            table.timeline(viewer=ZARA, last=0)
        assert len(table.timeline(viewer=ZARA, last=2**70)) == 2
        assert [one.event_id for one in table.events(viewer=ZARA, last=1)] == ["a"]
        with pytest.raises(UnknownCategory):
            table.entities(viewer=ZARA, category="dragon")
        assert [one.uid for one in table.entities(viewer=ZARA, category="npc")] == ["npc_elena_001"]
        for unknown in ("never", "b", "nul\x00", "\ud800"):
            with pytest.raises(UnknownEvent):
                table.timeline(viewer=ZARA, as_of=unknown)
        for nonsense in ("\x00", "\ud800", "Z\x00"):
            with pytest.raises(UnknownViewer):
                table.timeline(viewer=nonsense)
            with pytest.raises(UnknownEntity):
                table.entity(nonsense, viewer=ZARA)
        for wrong in (None, 7):
            with pytest.raises(InvalidSetting):
                table.timeline(viewer=wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidSetting):
            table.timeline(viewer=ZARA, last="x")  # type: ignore[arg-type]

    def test_the_newest_are_found_among_many_audiences(self, table: Campaign) -> None:
        """The last N events of a viewer do not depend on what others perceived."""
        extras = [f"npc_extra_{n:03d}" for n in range(12)]
        table.record_many(
            event(f"n{n}", "dm", "x", witnesses=[*extras[: n % 12], *([ZARA] if n % 3 == 0 else [])])
            for n in range(150)
        )
        mine = [one.event_id for one in table.events(viewer=ZARA)]
        for last in (1, 5, 40, 500):
            assert [one.event_id for one in table.timeline(viewer=ZARA, last=last)] == mine[-last:]

    # Branches.

    def test_events_are_found_by_what_they_mark(self, table: Campaign) -> None:
        """Sessions, decisions and open threads are found by index, for those who perceived them."""
        table.record(event("e1", THROK, "I promise you the mill, Zara.", session="s02", participants=BOTH))
        table.record(event("e2", "dm", "It falls.", session="s02", witnesses=[THROK], killed=[GOBLIN]))
        table.record(event("e3", "dm", "Rain.", session="s03", witnesses=[THROK]))
        table.record(event("e4", "dm", "Still s02.", session="s02", witnesses=BOTH))
        places = dict[str, dict[str, int]]()
        for viewer in BOTH:
            with table.view(viewer) as view:
                places[viewer] = view.sessions()
                assert [found.event_id for found in view.marked(LEFT_OPEN, limit=5)] == ["e1"]
                assert [found.event_id for found in view.marked(left_open_with(ZARA), limit=5)] == ["e1"]
                killed = [found.event_id for found in view.marked(OUTCOME, limit=5)]
                assert killed == (["e2"] if viewer == THROK else [])
                assert set(view.first_seen([GOBLIN, ZARA])) == ({GOBLIN, ZARA} if viewer == THROK else {ZARA})
                assert all(" " not in uid for uid in view.everybody())
        assert places == {THROK: {"s01": 1, "s02": 2, "s03": 4}, ZARA: {"s01": 1, "s02": 2}}
        with table.fork("later") as fork:
            fork.record(event("e5", "dm", "On it goes.", session="s03", participants=BOTH))
            with fork.view(THROK) as view:
                assert view.sessions() == {"s01": 1, "s02": 2, "s03": 4}
                assert [found.event_id for found in view.oldest(2, after=2)] == ["e2", "e3"]

    def test_a_fork_shares_the_past_and_goes_its_own_way(self, table: Campaign) -> None:
        """Supersession, deaths and names belong to the branch that made them."""
        table.record(
            event(
                "a", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "locked"), fact(THROK, "hp", 10)]
            )
        )
        table.record(event("b", "dm", "x", participants=BOTH, killed=[GOBLIN], hp_delta={THROK: -3}))
        with table.fork("what-if", at="a") as side:
            assert [one.event_id for one in side.events(viewer="dm")] == ["e0", "a"]
            side.record(event("c", GOBLIN, "It lives here.", participants=BOTH, hp_delta={THROK: -1}))
            side.record(event("d", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "burnt")]))
            table.record(event("c", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "open")]))
            assert side.entity(MILL, viewer=ZARA).properties == {"door": "burnt"}
            assert table.entity(MILL, viewer=ZARA).properties == {"door": "open"}
            assert (
                side.entity(THROK, viewer="dm").properties["hp"],
                table.entity(THROK, viewer="dm").properties["hp"],
            ) == (9, 7)
            assert [one.name for one in side.branches()] == ["main", "what-if"]
            with side.fork("deeper", at="c") as deeper, side.fork("shallow", at="e0") as shallow:
                deeper.record(event("e", "dm", "x", location=CRYPT, participants=[THROK]))
                assert [one.event_id for one in deeper.events(viewer="dm")] == ["e0", "a", "c", "e"]
                assert [one.event_id for one in shallow.events(viewer="dm")] == ["e0"]
                assert deeper.entity(THROK, viewer=ZARA).properties["hp"] == 9
                assert deeper.record(event("f", "dm", "x", location=MILL)).metadata["witnesses"] == [ZARA]
                assert deeper.timeline(viewer="dm", last=3)[0].event_id == "c"
            with pytest.raises(BranchExists):
                table.fork("what-if")
            with pytest.raises(UnknownEvent):
                table.fork("nowhere", at="d")
            with pytest.raises(UnknownBranch, match="main, what-if"):
                Campaign(table._store, branch="nope")
        assert table.verify() == []
        before = rows_of(table)
        table.rebuild()
        assert rows_of(table) == before

    def test_what_is_undone_is_kept_under_another_name(self, table: Campaign) -> None:
        """The log goes on from before it, under the same name; memory goes along, and nothing is lost."""
        table.record(event("a", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "locked")]))
        before = as_text(table.context(THROK))
        table.record(event("b", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "open")]))
        assert table.undo(to="a") == "main.undone-1"
        assert table.branch == "main"
        assert [one.event_id for one in table.events(viewer="dm")] == ["e0", "a"]
        assert as_text(table.context(THROK)) == before
        table.record(event("c", "dm", "x", participants=BOTH, facts=[fact(MILL, "door", "burnt")]))
        assert table.entity(MILL, viewer=ZARA).properties == {"door": "burnt"}
        with table.another_branch("main.undone-1") as kept:
            assert [one.event_id for one in kept.events(viewer="dm")] == ["e0", "a", "b"]
            assert kept.entity(MILL, viewer=ZARA).properties == {"door": "open"}
        with self.another(table) as fresh:
            assert fresh.head == table.head == 3
        assert table.verify() == []

    def test_undone_again_and_again(self, table: Campaign) -> None:
        """Each has a name of its own; what was undone can be undone itself."""
        for name in "abc":
            table.record(event(name, "dm", "x", participants=BOTH))
        assert [table.undo(to=to) for to in ("b", "a", "e0")] == [f"main.undone-{n}" for n in (1, 2, 3)]
        assert table.head == 1
        with table.another_branch("main.undone-1") as kept:
            assert kept.undo(to="a") == "main.undone-1.undone-1"
            assert kept.branch == "main.undone-1"
            assert [one.event_id for one in kept.events(viewer="dm")] == ["e0", "a"]
        names = [one.name for one in table.branches()]
        assert len({*names}) == len(names) == 5
        with pytest.raises(UnknownEvent):
            table.undo(to="b")
        assert table.verify() == []

    def test_a_writer_on_what_is_undone_goes_on_there(self, table: Campaign) -> None:
        """A program with the old branch open loses nothing, and writes nothing into the new one."""
        table.record(event("a", "dm", "x", participants=BOTH))
        with self.another(table) as writer:
            writer.record(event("b", "dm", "x", participants=BOTH))
            table.undo(to="a")
            writer.record(event("c", "dm", "x", participants=BOTH))
            assert writer.branch == "main.undone-1"
            assert [one.event_id for one in writer.events(viewer="dm")] == ["e0", "a", "b", "c"]
            assert writer.head == 4
            table.record(event("c", "dm", "y", participants=BOTH))
            assert [one.event_id for one in table.events(viewer="dm")] == ["e0", "a", "c"]
            assert table.head == 3
            with writer.another() as beside:
                assert beside.branch == "main.undone-1"
        assert table.verify() == []

    def test_a_rewritten_past_takes_the_name_of_the_old_one(self, table: Campaign) -> None:
        """All or nothing: a draft that fails, or comes too late, changes nothing."""
        log = table._log
        table.record(event("a", "dm", "x", participants=BOTH))
        with pytest.raises(DuplicateEvent), log.rewritten(1) as draft:
            draft.replay([event("b", "dm", "y", participants=BOTH)] * 2)
        with self.another(table) as writer, pytest.raises(SequenceConflict), log.rewritten(1):
            writer.record(event("late", "dm", "x", participants=BOTH))
        assert [one.event_id for one in table.events(viewer="dm")] == ["e0", "a", "late"]
        for after, ids in ((1, ["e0", "b"]), (0, ["b"])):
            with log.rewritten(after) as draft:
                draft.replay([event("b", "dm", "y", participants=BOTH)])
            assert (table.branch, [one.event_id for one in table.events(viewer="dm")]) == ("main", ids)
        with table.another_branch(draft.kept) as kept:
            assert [one.event_id for one in kept.events(viewer="dm")] == ["e0", "b"]
        table.record(event("c", "dm", "x", participants=BOTH))
        assert table.verify() == []

    def test_a_name_that_is_taken_stays_whose_it_is(self, table: Campaign) -> None:
        table.record(event("a", "dm", "x", participants=BOTH))
        table.fork("main.undone-1").close()
        assert table.undo(to="e0") == "main.undone-2"
        with table.fork("long" * 50) as long:
            assert len(long.undo(to="e0")) <= 200
            assert long.branch == "long" * 50

    def test_as_of_is_a_fork_there(self, table: Campaign) -> None:
        """The view of the past is the view of the log cut after it."""
        table.record(event("a", "dm", "x", participants=BOTH, facts=[fact(THROK, "hp", 10)], location=CRYPT))
        table.record(event("b", "dm", "x", participants=BOTH, hp_delta={THROK: -3}, names={THROK: "Throk"}))
        table.record(event("c", "dm", "x", witnesses=BOTH, valid_from="a", facts=[fact(THROK, "hp", 20)]))
        for n, past in enumerate(("e0", "a", "b", "c")):
            with table.fork(f"fork{n}", at=past) as cut:
                for viewer in ("dm", ZARA):
                    assert as_text(cut.entities(viewer=viewer)) == as_text(
                        table.entities(viewer=viewer, as_of=past)
                    )
                    assert as_text(cut.timeline(viewer=viewer)) == as_text(
                        table.timeline(viewer=viewer, as_of=past)
                    )
        assert table.entity(THROK, viewer=ZARA).properties["hp"] == 17

    # Upkeep.

    def test_views_are_rebuilt_row_by_row(self, table: Campaign) -> None:
        """Dropped and folded again, they are what they were; progress says how far."""
        table.record_many(
            event(
                f"n{n}",
                [THROK, "dm"][n % 2],
                f"Line {n} of the goblin's saga",
                location=[MILL, CRYPT][n % 3 % 2],
                participants=BOTH[: n % 2 + 1],
                hp_delta={ZARA: -1},
                enemies=[GOBLIN],
                enemy_count=3,
            )
            for n in range(1100)
        )
        before, seen = rows_of(table), []
        assert table.rebuild(lambda done, total: seen.append((done, total))) == 1101
        assert rows_of(table) == before
        assert seen[-1] == (1101, 1101)
        assert table.verify() == []
        table.record(event("after", "dm", "x", participants=BOTH, hp_delta={ZARA: -1}))
        assert table.verify() == []

    def test_the_log_goes_out_and_comes_back(self, table: Campaign, campaign_2: Campaign) -> None:
        """Exported, imported and exported again: the same bytes, and the same views."""
        table.record(event("a", "dm", "A door.", location=MILL))
        table.record(event("b", THROK, "Grüße\u2028\x1b", facts=[fact(MILL, "door", "open")], hp_delta=-2))
        lines = list(table.export())
        campaign_2.import_log(lines)
        assert list(campaign_2.export()) == lines
        for viewer in ("dm", ZARA):
            assert as_text(campaign_2.entities(viewer=viewer)) == as_text(table.entities(viewer=viewer))
        assert [one.event_id for one in table.events(viewer=ZARA)] == ["e0", "a", "b"]
        assert len(list(table.export(viewer=ZARA))) == 4
