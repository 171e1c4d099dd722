"""Questions of the graph: what they answer, for whom, and that every backend answers the same."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.logs import EVERYTHING, PCS, logs, played
from tests.postgres import PostgresServer
from tests.storage.graphs import (
    BELL,
    ELENA,
    GUILD,
    HOB,
    MILL,
    RURIK,
    SPY,
    THROK,
    WATCH,
    ZARA,
    answers,
    relation,
    tangled,
)  # fmt: skip
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.canon.entities import Entity
from dndbots.canon.ties import tied_by
from dndbots.errors import InvalidSetting, UnknownEntity
from dndbots.events import GameEvent
from dndbots.storage.views.graph import MOST_PATHS, Graph
from dndbots.storage.views.links import Link
from dndbots.testing import assert_perspective, memory_campaign

ALL = [THROK, ZARA, ELENA, HOB, RURIK, SPY, GUILD, WATCH, MILL, BELL]


@pytest.fixture
def graph() -> Graph:
    return memory_campaign(tangled()).graph(viewer="dm")


def kinds(graph: Graph, who: str) -> set[tuple[str, str, str]]:
    return {(link.subject, link.kind, link.object) for link in graph.about(who).links}


def test_links_are_relations_deeds_and_facts_that_name_somebody(graph: Graph) -> None:
    """Links come from deeds (met, killed, told, gave, found, was involved) and from stated facts."""
    found = {
        (link.subject, link.kind, link.object) for one in graph.near(RURIK).reached for link in one.links
    }
    assert {
        (RURIK, "in", WATCH), (ELENA, "met", RURIK), (HOB, "met", RURIK), (RURIK, "killed", HOB),
        (HOB, "killed_by", RURIK),
    } == found  # fmt: skip
    assert (ELENA, "involved", BELL) in kinds(graph, BELL)
    assert (ELENA, "@", MILL) in kinds(graph, MILL)


def test_what_has_ended_is_gone(graph: Graph) -> None:
    """Elena left the guild, as the DM and Throk know; Zara did not hear of it."""
    assert graph.near(GUILD).reached == ()
    campaign = memory_campaign(tangled())
    assert campaign.graph(viewer=THROK).near(GUILD).reached == ()
    assert [one.uid for one in campaign.graph(viewer=ZARA).near(GUILD).reached] == [ELENA]


def test_a_path_is_as_the_viewer_knows_it() -> None:
    """Throk has it by a whisper that Rurik knows somebody; Zara saw that it is Elena."""
    campaign = memory_campaign(tangled())
    whispered = campaign.graph(viewer=THROK).path(RURIK, SPY).paths[0][0].links[0]
    assert (whispered.kind, whispered.certainty, whispered.sources) == ("~", "belief", ("e5",))
    seen = campaign.graph(viewer=ZARA).path(RURIK, ELENA).paths[0]
    assert [(step.start, step.end) for step in seen] == [(RURIK, ELENA)]
    with pytest.raises(UnknownEntity):
        campaign.graph(viewer=THROK).path(RURIK, "Nobody")


def test_who_links_two_factions() -> None:
    """Members of one who know one of the other first, then go-betweens."""
    found = memory_campaign(tangled()).graph(viewer=ZARA).bridges(GUILD, WATCH).bridges
    assert [(one.uid, bool(one.first), bool(one.second)) for one in found] == [
        (ELENA, False, True), (RURIK, True, False), (HOB, True, True),
    ]  # fmt: skip


def test_common_acquaintances(graph: Graph) -> None:
    """Common acquaintances know both, and are neither of the two."""
    found = graph.common(ELENA, RURIK).common
    assert [one.uid for one in found] == [HOB]
    assert {link.kind for link in found[0].first} == {"~"}


def test_paths_are_the_shortest_in_one_order_and_bounded() -> None:
    """All of the same length, by the uids that they go over; more than are asked for are owned up to."""
    people = [f"npc_p{n}_001" for n in range(4)]
    campaign = memory_campaign(
        [
            event("e0", "dm", "x", witnesses=[], discovered=[*people, "npc_far_001", "npc_alone_001"]),
            *(event(f"a{n}", "dm", "x", participants=[ELENA, one]) for n, one in enumerate(people)),
            *(event(f"b{n}", "dm", "x", participants=["npc_far_001", one]) for n, one in enumerate(people)),
        ]
    )
    graph = campaign.graph(viewer="dm")
    found = graph.path(ELENA, "npc_far_001", most=3)
    assert [way[0].end for way in found.paths] == people[:3]
    assert not found.complete
    assert graph.path(ELENA, "npc_far_001", most=4).complete
    assert graph.path(ELENA, "npc_far_001", steps=1).paths == ()
    assert graph.path(ELENA, "npc_alone_001").paths == ()
    assert graph.path(ELENA, ELENA).paths == ((),)


class Drawn:
    """Links as they were drawn, for a viewer who knows of them all."""

    def __init__(self, ties: Iterable[tuple[int, str, int]]) -> None:
        self._links = [
            Link(
                subject=f"n{one}", kind=kind, object=f"n{other}", certainty="fact", since="e", sources=("e",)
            )
            for one, kind, other in sorted(set(ties))
            if one != other
        ]

    def find(self, who: str) -> list[str]:
        return [who]

    def links(self, uids: Collection[str]) -> list[Link]:
        return [link for link in self._links if link.subject in uids or link.object in uids]

    def entities(self, _uids: Collection[str]) -> dict[str, Entity]:
        return {}

    def spell_uids(self, uids: Collection[str]) -> dict[str, str]:
        return {uid: uid for uid in uids}

    def ways(self, way: tuple[str, ...], end: str, steps: int) -> Iterator[tuple[str, ...]]:
        """All ways of at most so many steps, one after the other."""
        if way[-1] == end:
            yield way
        elif steps:
            for uid in sorted({link.other(way[-1]) for link in self.links(way[-1:])} - {*way}):
                yield from self.ways((*way, uid), end, steps - 1)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["met", "told"]), st.integers(0, 8)), max_size=24),
    st.integers(1, 6),
)
def test_ways_found_from_both_ends_are_the_shortest_of_all(
    ties: list[tuple[int, str, int]], steps: int
) -> None:
    """Every shortest way, each once, in the order of uids, with all links between any two on it."""
    drawn = Drawn(ties)
    graph = Graph(lambda: nullcontext(drawn))
    for end in range(9):
        ways = list(drawn.ways(("n0",), f"n{end}", steps))
        shortest = [way for way in ways if len(way) == min(map(len, ways))]
        found = graph.path("n0", f"n{end}", steps=steps, most=MOST_PATHS)
        assert [("n0", *(step.end for step in way)) for way in found.paths] == shortest
        for step in (step for way in found.paths for step in way):
            between = [link for link in drawn.links([step.start]) if link.other(step.start) == step.end]
            assert list(step.links) == between


@pytest.mark.parametrize("steps", [0, -1, 13, True, "2"])
def test_steps_are_a_small_number(graph: Graph, steps: object) -> None:
    """A question that makes no sense is refused with the name of the setting."""
    with pytest.raises(InvalidSetting, match="steps"):
        graph.near(RURIK, steps=steps)  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting, match="most"):
        graph.path(RURIK, HOB, most=MOST_PATHS + 1)


def test_a_value_that_only_reads_like_somebody_links_nobody() -> None:
    """Nobody showed anyone npc_ghost_001; it is a word in a fact."""
    fact = {"subject": ELENA, "key": "friend", "value": ["npc_ghost_001", HOB]}
    campaign = memory_campaign([event("e1", "dm", "x", participants=[ELENA, HOB], facts=[fact])])
    assert kinds(campaign.graph(viewer="dm"), ELENA) == {(ELENA, "met", HOB), (ELENA, "friend", HOB)}


def test_as_of_is_the_graph_of_then() -> None:
    """The guild has Elena until it is heard that she left."""
    campaign = memory_campaign(tangled())
    assert [one.uid for one in campaign.graph(viewer=THROK, as_of="e6").near(GUILD).reached] == [ELENA]


@given(log=logs())
def test_links_say_what_the_view_says(log: list[GameEvent]) -> None:
    """A link by a claim is a fact of an entity, and the other way round, for every viewer."""
    campaign = played(memory_campaign(), log)
    for viewer in ("dm", *PCS):
        with campaign.view(viewer) as view:
            everybody = view.everybody()
            entities = view.entities(everybody)
            first = {uid: same[0] for same in view.persons_of(everybody).values() for uid in same}
            stated = {
                (one.uid, fact.op or fact.key, first[other])
                for one in entities.values()
                for fact in one.facts
                for other in _named(fact)
                if first.get(other, one.uid) != one.uid
            }
            links = view.links(everybody)
        deeds = {"met", "told", "killed", "gave", "involved", "found"}
        assert {(link.subject, link.kind, link.object) for link in links if link.kind not in deeds} == stated


def _named(fact: object) -> tuple[str, ...]:
    slot, value = getattr(fact, "op") or getattr(fact, "key"), getattr(fact, "value")  # noqa: B009
    if getattr(fact, "op"):  # noqa: B009
        return () if getattr(fact, "ended") else (getattr(fact, "object"),)  # noqa: B009
    return tied_by(slot, value)


@given(log=logs())
@settings(max_examples=25)
def test_no_question_owes_anything_to_what_was_not_perceived(log: list[GameEvent]) -> None:
    """Every question, for every viewer, is answered from the viewer's own events."""
    assert_perspective(
        played(memory_campaign(), log),
        lambda campaign, viewer: answers(campaign.graph(viewer=viewer)),
        viewers=[*PCS[:2], "npc_old_priest_001"],
    )


@given(log=logs(most=8))
@settings(max_examples=10)
def test_sqlite_answers_as_memory_does(
    log: list[GameEvent], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Same log, same answers; also of a fork, and as of the past."""
    twin = played(memory_campaign(), log)
    with Campaign.open(tmp_path_factory.mktemp("graph") / "campaign") as campaign:
        played(campaign, log)
        middle = [one.event_id for one in twin.events(viewer="dm")][twin.head // 2]
        for one, other in ((twin, campaign), (twin.fork("f", at=middle), campaign.fork("f", at=middle))):
            if one.branch == "f":
                for table in (one, other):
                    table.record(event("new", "dm", "x", participants=[ELENA, PCS[0]],
                                       facts=[relation(ELENA, "~", PCS[1])]))  # fmt: skip
            for viewer in ("dm", *PCS):
                assert answers(one.graph(viewer=viewer)) == answers(other.graph(viewer=viewer))
        for table in (twin, campaign):
            assert table.verify() == []


def test_sqlite_and_postgres_answer_as_memory_does(tmp_path: Path, postgres: PostgresServer) -> None:
    """A tangled tale, on each."""
    twin = memory_campaign(tangled())
    for where in (str(tmp_path / "campaign"), postgres.url("graph")):
        with Campaign.open(where) as campaign:
            campaign.record_many(tangled())
            for viewer in ("dm", THROK, ZARA, ELENA):
                told = answers(campaign.graph(viewer=viewer), ALL)
                assert told == answers(twin.graph(viewer=viewer), ALL)
            assert campaign.verify() == []
    assert set(ALL) & set(EVERYTHING)
