"""The memory part of the contract of a campaign. Every backend runs it."""

from typing import Any

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import EventRefused, StaleNote
from dndbots.events import EventType, GameEvent
from dndbots.testing import as_text, assert_perspective, memory_campaign
from dndbots.text.terms import terms_of

THROK, ZARA, ELENA = "pc_throk_001", "pc_zara_001", "npc_elena_001"
MILL, CELLAR, ROAD = "loc_mill_001", "loc_cellar_001", "loc_road_001"
BOTH = [THROK, ZARA]


def note(event_id: str, holder: str, **memory: Any) -> GameEvent:
    """A memory of what happened from e0 to e1, as the engine would write it."""
    given = {"holder": holder, "shelf": "summary", "layer": "scene", "upto": "e1", "cursor": "e1"}
    given |= {"standing": [event_id], "line_sources": [["e1"]]} | memory
    witnesses = [] if holder == "dm" else [holder]
    return event(
        event_id, "system", "It happened.", kind=EventType.SUMMARY, memory=given, witnesses=witnesses
    )


def visits() -> list[GameEvent]:
    """A party that splits up: Zara in the cellar, Throk with Elena at the mill; then both leave."""
    told = EventType.DM_NARRATION
    names = {THROK: "Throk", ZARA: "Zara", ELENA: "Elena", MILL: "Old Mill", CELLAR: "Cellar"}
    return [
        event(
            "v1",
            "dm",
            "Elena opens the mill.",
            kind=told,
            location=MILL,
            participants=[*BOTH, ELENA],
            names=names,
        ),
        event(
            "v2",
            ELENA,
            "I promise fifty gold for my brother.",
            kind=EventType.DIALOGUE,
            location=MILL,
            participants=BOTH,
            quest_id="qst_brother_001",
            quest_state="accepted",
        ),
        event(
            "v3",
            "dm",
            "Zara climbs down.",
            kind=EventType.LOCATION_CHANGE,
            location=CELLAR,
            participants=[ZARA],
        ),
        event(
            "v4",
            "dm",
            "She finds a silver key.",
            kind=told,
            location=CELLAR,
            participants=[ZARA],
            loot=[{"item": "silver key", "to": ZARA}],
        ),
        event(
            "v5",
            THROK,
            "Throk kills the wolf.",
            location=MILL,
            witnesses=[ELENA],
            killed=["mon_wolf_001"],
            enemies=["mon_wolf_001"],
            killed_by=THROK,
        ),
        event(
            "v6",
            "dm",
            "They walk on together.",
            kind=EventType.LOCATION_CHANGE,
            location=ROAD,
            participants=BOTH,
        ),
        event(
            "v7",
            "dm",
            "The brother is found.",
            kind=EventType.QUEST_UPDATE,
            location=ROAD,
            participants=BOTH,
            quest_id="qst_brother_001",
            quest_state="completed",
        ),
    ]


class MemoryContract:
    """`table` is a new campaign with the party in it; the event e0 has happened."""

    def test_notes_are_no_play(self, table: Campaign) -> None:
        """They are in the log and in exports; in no buffer, no timeline, and count no turn."""
        table.record(event("e1", "dm", "A wolf howls.", witnesses=BOTH))
        before = as_text(table.timeline(viewer=THROK)), as_text(table.entities(viewer=THROK))
        table.record(note("n1", THROK, after=None))
        table.pin("e1")
        assert (as_text(table.timeline(viewer=THROK)), as_text(table.entities(viewer=THROK))) == before
        assert [one.event_id for one in table.events(viewer=THROK, last=1)] == ["e1"]
        everything = [one.event_id for one in table.events(viewer=THROK)]
        assert everything[:3] == ["e0", "e1", "n1"]
        assert len(everything) == 4
        assert [one.event_id for one in table.events(viewer=ZARA)] == ["e0", "e1", everything[3]]
        assert table.memory(THROK).short_term_buffer == []
        assert table.memory(THROK).long_term_summary == "Pinned: A wolf howls.\nIt happened."
        assert table.verify() == []

    @pytest.mark.parametrize(
        ("made", "field"),
        [
            (note("n", THROK, upto="unseen", cursor="unseen"), "sources"),
            (note("n", THROK, line_sources=[["unseen"]]), "sources"),
            (note("n", THROK, line_sources=[["nothing"]]), "sources"),
            (note("n", THROK, after="e0"), "memory.after"),
            (note("n", THROK, cursor="e0"), "memory.after"),
            (note("n", THROK, standing=["n", "other"]), "memory.standing"),
            (note("n", THROK).model_copy(update={"source": "dm"}), "source"),
            (
                note("n", THROK).model_copy(
                    update={"metadata": note("n", THROK).metadata | {"witnesses": BOTH}}
                ),
                "witnesses",
            ),
            (event("n", "system", "x", kind=EventType.SUMMARY, witnesses=[THROK]), "memory"),
            (event("n", "dm", "x", memory=note("n", THROK).metadata["memory"]), "memory"),
            (
                note("n", THROK).model_copy(
                    update={"metadata": note("n", THROK).metadata | {"killed": [ZARA]}}
                ),
                "killed",
            ),
            (
                event(
                    "n",
                    "system",
                    "x",
                    kind=EventType.GATE,
                    gate={"target": "unseen", "what": "pinned"},
                    witnesses=[THROK],
                ),
                "sources",
            ),
        ],
    )
    def test_a_note_that_makes_no_sense_is_refused(
        self, table: Campaign, made: GameEvent, field: str
    ) -> None:
        """Above all: nobody gets a memory of what he did not perceive."""
        table.record(event("e1", "dm", "A wolf howls.", witnesses=BOTH))
        table.record(event("unseen", "dm", "Zara steals the key.", witnesses=[ZARA]))
        made = GameEvent.model_validate(made.model_dump())
        with pytest.raises(EventRefused) as caught:
            table.record(made)
        assert caught.value.field == field
        assert table.head == 3

    def test_two_memories_of_the_same_events_are_one_too_many(self, table: Campaign) -> None:
        """The second one is stale, whoever made it; each holder has a shelf of its own."""
        table.record(event("e1", "dm", "A wolf howls.", witnesses=BOTH))
        table.record(note("n1", THROK))
        with pytest.raises(StaleNote):
            table.record(note("n2", THROK))
        table.record(note("n3", ZARA))
        table.record(event("e2", "dm", "It is near.", witnesses=BOTH))
        table.record(
            note("n4", THROK, after="e1", upto="e2", cursor="e2", follows="n1", standing=["n1", "n4"])
        )
        assert table.memory(THROK).short_term_buffer == []
        assert table.memory(ZARA).short_term_buffer == ["[DM]: It is near."]

    def test_everybody_remembers_their_own(self, table: Campaign) -> None:
        """Places left, dealings and steps of the story, from what each perceived; the same when rebuilt."""
        table.record_many(visits())
        table.remember()
        about = {
            who: {entry.location_id for entry in table.memories(who, source="location")}
            for who in ("dm", *BOTH)
        }
        assert about == {"dm": {MILL, CELLAR}, THROK: {MILL}, ZARA: {MILL, CELLAR}}
        hers = "\n".join(entry.summary.lower() for entry in table.memories(ZARA))
        his = "\n".join(entry.summary.lower() for entry in table.memories(THROK))
        assert "silver key" in hers
        assert "silver key" not in his
        assert "wolf" in his
        assert "wolf" not in hers
        assert [entry.tags for entry in table.world_memories] == [["world:quest_completed"]]
        assert list(table.npc_memories) == [ELENA]
        assert "key" not in table.npc_memories[ELENA][0].summary
        views = as_text(_everything(table))
        table.rebuild()
        assert as_text(_everything(table)) == views
        assert table.verify() == []
        assert_perspective(table, _of)

    def test_memory_goes_along_with_a_fork_and_into_the_past(self, table: Campaign) -> None:
        """A fork remembers what was remembered there; `as_of` is that fork."""
        table.record_many(visits()[:4])
        table.remember()
        table.compress(THROK)
        then = list(table.events(viewer=THROK))[-1].event_id
        before = as_text(_of(table, THROK))
        fork = table.fork("aside", at=then)
        table.record_many(visits()[4:])
        table.remember()
        table.compress(THROK)
        try:
            assert as_text(_of(fork, THROK)) == before
            fork.record(event("x1", "dm", "Elsewhere, rain.", witnesses=BOTH))
            fork.compress(THROK)
            assert "rain" in fork.memory(THROK).long_term_summary
            assert fork.verify() == []
        finally:
            fork.close()
        assert "rain" not in table.memory(THROK).long_term_summary
        assert as_text([table.memory(THROK, as_of=then), table.memories(THROK, as_of=then)]) in before

    def test_memory_goes_out_and_comes_back(self, table: Campaign, campaign_2: Campaign) -> None:
        """An export has all of it: no summary is made twice elsewhere."""
        table.record_many(visits())
        table.remember()
        table.compress(THROK)
        table.pin("v2")
        campaign_2.import_log(table.export())
        assert as_text(_everything(campaign_2)) == as_text(_everything(table))
        campaign_2.remember()
        assert campaign_2.compress(THROK) == ""

    def test_words_are_found_for_those_who_heard_them(self, table: Campaign) -> None:
        """Totals, hits and lines are those of one viewer, on forks and in the past, however many."""
        mira = "pc_mira_001"
        groups = [BOTH, [ZARA], [], [ELENA], [mira], [mira, ZARA], [mira, THROK], [mira, *BOTH]]
        table.record_many(
            event(f"w{n}", "dm", "wolf " * (1 + n % 2) + f"word{n}", witnesses=groups[n % 8])
            for n in range(2600)
        )
        fork = table.fork("aside", at="w1500")
        fork.record_many(event(f"f{n}", "dm", "wolf cub", witnesses=BOTH) for n in range(5))
        table.pin("w0")
        try:
            for campaign, viewer in ((c, who) for c in (table, fork) for who in ("dm", *BOTH, ELENA)):
                self._check_words(campaign, viewer, None)
                self._check_words(
                    campaign, viewer, "w1307" if viewer == ELENA else "w1303" if viewer == "dm" else "w1311"
                )
        finally:
            fork.close()

    def _check_words(self, campaign: Campaign, viewer: str, as_of: str | None) -> None:
        with campaign.view(viewer, as_of) as view:
            heard = [(seq, terms_of(one.content)) for seq, one in view.play()]
            store, lineage = view._store, view._lineage
            totals = store.heard(lineage, viewer)
            assert totals == (len(heard), sum(sum(terms.values()) for _, terms in heard))
            wolves = [(seq, terms["wolf"]) for seq, terms in heard if "wolf" in terms][::-1]
            for limit in (1, 100, 10_000):
                hits = store.hits(lineage, ["wolf", "word8", "unheard"], viewer, limit=limit)
                found = {term: [hit[:2] for hit in own] for term, own in hits.items()}
                assert found.get("wolf", []) == wolves[:limit]
                assert found.get("word8", []) == [(s, 1) for s, terms in heard if "word8" in terms]
                assert "unheard" not in found
            spans = [(0, 3), (700, 710), (1500, 1600), (2590, 9000)]
            between = store.lines_between(lineage, viewer, spans)
            assert {seq: line.words for seq, line in between.items()} == {
                seq: sum(terms.values())
                for seq, terms in heard
                if any(first <= seq <= last for first, last in spans)
            }
            assert store.times_at(lineage, ["wolf", "unheard"], between) == {
                "wolf": {seq: times for seq, times in wolves if seq in between}
            }
            groups = {seq: group for own in hits.values() for seq, _, group in own}
            assert store.lines_at(lineage, groups) == {
                seq: (groups[seq], sum(terms.values())) for seq, terms in heard if seq in groups
            }
            index = view.index()
            asked = [seq for seq, _ in heard[::97]]
            assert index.ranks(asked) == dict(zip(asked, range(1, len(heard) + 1, 97), strict=True))
            places = [seq for seq, _ in heard[::200]]
            heads = store.heads_at(lineage, places)
            assert {seq: head.source for seq, head in heads.items()} == dict.fromkeys(places, "dm")

    def test_two_are_compared_line_by_line(self, table: Campaign) -> None:
        """Unshared lines are counted and found on forks and in the past."""
        groups = [BOTH, [ZARA], [ELENA], [THROK, ELENA], BOTH, [*BOTH, ELENA], BOTH, ["npc_hob_001", ELENA]]
        table.record_many(event(f"a{n}", "dm", "x", witnesses=groups[n % 8]) for n in range(400))
        table.record_many(event(f"b{n}", "dm", "x", witnesses=[*BOTH, ELENA]) for n in range(200))
        fork = table.fork("aside", at="a300")
        fork.record_many(event(f"f{n}", "dm", "x", witnesses=[THROK]) for n in range(5))
        table.pin("a0")
        people = ["dm", *BOTH, ELENA, "npc_hob_001"]
        try:
            for campaign, as_of in ((table, None), (fork, None), (table, "a123"), (fork, "f2")):
                with campaign.view("dm", as_of) as view:
                    heard = {who: [seq for seq, _ in view.of(who).play()][::-1] for who in people}
                    for one, other in ((one, other) for one in people for other in people):
                        apart = view.of(one).unshared_with(other)
                        only = [seq for seq in heard[one] if seq not in heard[other]]
                        assert (apart.lines(), apart.newest(7)) == (len(only), only[:7])
                        assert apart.newest(10_000) == only
        finally:
            fork.close()

    def test_the_newest_claims_of_a_slot(self, table: Campaign) -> None:
        """The newest values that the viewer holds, as many as asked for."""
        for n in range(6):
            said = {"subject": THROK, "key": "mood", "value": n}
            table.record(event(f"m{n}", "dm", "x", witnesses=[ZARA] if n % 2 else BOTH, facts=[said]))
        with table.view(THROK) as view:
            assert [fact.value for fact in view.past_of(THROK, "mood", limit=2)] == [2, 4]
        with table.view(ZARA, "m3") as view:
            past = view.past_of(THROK, "mood", limit=3)
            assert [(fact.value, fact.superseded_by) for fact in past] == [(1, "m2"), (2, "m3"), (3, None)]

    def test_recall_is_the_same_wherever_it_is_kept(self, table: Campaign) -> None:
        """Cited lines for those who heard them, no record for others; the same rebuilt and on a fork."""
        table.record_many(visits())

        def asked(campaign: Campaign) -> str:
            return as_text([campaign.recall(who, "Who finds a silver key?") for who in ("dm", *BOTH, ELENA)])

        before = asked(table)
        assert asked(memory_campaign(table.events(viewer="dm"))) == before
        found = table.recall(ZARA, "Who finds a silver key?")
        assert "v4" in [one for item in found.items for one in item.sources]
        assert "silver" not in table.recall(THROK, "Who finds a silver key?").text
        with table.fork("aside") as fork:
            assert asked(fork) == before
        table.rebuild()
        assert asked(table) == before


def _of(campaign: Campaign, viewer: str) -> list[Any]:
    return [
        [campaign.memory(viewer), campaign.memories(viewer)],
        campaign.threads(viewer, resolved=True),
        campaign.recap(viewer),
    ]


def _everything(campaign: Campaign) -> list[Any]:
    return [_of(campaign, who) for who in ("dm", *BOTH, ELENA)]
