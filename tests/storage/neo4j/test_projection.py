"""The projection into Neo4j: the answers of canon, nothing lost and nothing doubled, on a real server."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.logs import logs, played
from tests.neo4j_server import Neo4jServer
from tests.storage.graphs import ELENA, HOB, THROK, ZARA, answers, relation, tangled
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import (
    EventRefused,
    GraphRefused,
    GraphUnavailable,
    InvalidSetting,
    NotProjected,
    StoreDamaged,
    StoreTooNew,
)
from dndbots.events import GameEvent
from dndbots.memory import MemoryBuilder, feed_of
from dndbots.storage.neo4j import projector
from dndbots.storage.neo4j.projection import Projection
from dndbots.storage.neo4j.server import Server
from dndbots.testing import as_text, assert_perspective, memory_campaign

FEW = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[*HealthCheck],
)


class Graphs:
    """Projections that are closed with the test."""

    def __init__(self, neo4j: Neo4jServer) -> None:
        self.neo4j = neo4j
        self._made: list[Server] = []

    def of(self, campaign: Campaign, name: str | None = None) -> Projection:
        self._made.append(self.neo4j.server())
        return Projection(self._made[-1], campaign._store, name or self.neo4j.name(), campaign.branch)

    def close(self) -> None:
        for server in self._made:
            server.close()


@pytest.fixture(scope="module")
def graphs(neo4j: Neo4jServer) -> Iterator[Graphs]:
    made = Graphs(neo4j)
    yield made
    made.close()


def assert_same(campaign: Campaign, projection: Projection, things: list[str]) -> None:
    """Every question, every viewer and every entity: the graph answers as canon does."""
    for viewer in ("dm", THROK):
        theirs = answers(projection.graph(viewer=viewer), things)
        assert theirs == answers(campaign.graph(viewer=viewer), things)
        with projection.view(viewer) as view, campaign.view(viewer) as own:
            assert as_text(view.entities(view.everybody())) == as_text(own.entities(own.everybody()))


@FEW
@given(log=logs())
def test_the_graph_answers_as_canon_does(graphs: Graphs, log: list[GameEvent]) -> None:
    """All questions, for all viewers, on whatever happened; and it verifies."""
    campaign = played(memory_campaign(), log)
    projection = graphs.of(campaign)
    projection.catch_up()
    assert_same(campaign, projection, [THROK, ELENA, "fac_guild_001"])
    assert projection.verify() == []


def test_a_memory_is_the_same_fed_from_either(graphs: Graphs) -> None:
    """The same call of `MemoryBuilder`, with what canon knows and with what the graph knows: same bytes."""
    sheet = {"class": "Fighter", "level": 3, "hp": 9, "hp_max": 9, "ac": 4, "gold": 7}
    sheet |= dict.fromkeys(("str", "dex", "con", "int", "wis", "cha"), 12)
    facts = [{"subject": THROK, "key": key, "value": value} for key, value in sheet.items()]
    facts += [{"subject": "qst_bell_001", "key": "giver", "value": ELENA}]
    told = event("s1", "dm", "x", participants=[THROK], facts=facts)
    hurt = event("s2", "dm", "x", participants=[THROK], hp_delta=-3, loot=["rope"])
    campaign = memory_campaign([*tangled(), told, hurt])
    projection = graphs.of(campaign)
    projection.catch_up()
    texts = []
    for source in (campaign, projection):
        with source.view(THROK) as view:
            fed = feed_of(view)
        assert (fed.characters[0].hp, fed.characters[0].equipment) == (6, ["rope"])
        texts.append(
            MemoryBuilder(event_window=4).build_memory_document(
                THROK, fed.characters[0], fed.characters, list(campaign.events(viewer=THROK)),
                npcs=fed.npcs, locations=fed.locations, quests=fed.quests,
            )
        )  # fmt: skip
    assert texts[0] == texts[1]
    assert "[NPC:npc_elena_001:Elena]" in texts[0]


@FEW
@given(log=logs(most=8))
def test_no_answer_of_the_graph_owes_anything_to_what_was_not_perceived(
    graphs: Graphs, log: list[GameEvent]
) -> None:
    """The law, asked of Neo4j."""

    def ask(campaign: Campaign, viewer: str) -> dict[str, str]:
        projection = graphs.of(campaign)
        projection.catch_up()
        return answers(projection.graph(viewer=viewer), [THROK, ELENA])

    assert_perspective(played(memory_campaign(), log), ask, viewers=[THROK])


@FEW
@given(log=logs())
def test_catching_up_from_any_cut_is_projecting_from_scratch(graphs: Graphs, log: list[GameEvent]) -> None:
    """Event by event or all at once: the same rows."""
    campaign = played(memory_campaign(), [])
    projection = graphs.of(campaign)
    projection.catch_up()
    for one in log:
        try:
            campaign.record(one)
        except EventRefused:
            continue
        assert projection.catch_up().events == 1
    assert projection.catch_up() == (0, 0, campaign.head)
    assert projection.verify() == []
    assert_same(campaign, projection, [ELENA, THROK])


def test_forks_share_their_past_and_go_their_own_ways(graphs: Graphs) -> None:
    """A fork costs only its own events; neither sees what the other added."""
    campaign = memory_campaign(tangled())
    main = graphs.of(campaign)
    main.catch_up()
    fork = campaign.fork("what if", at="e6")
    other = graphs.of(fork, main.campaign)
    fork.record(event("f1", "dm", "x", participants=[ELENA, HOB], witnesses=[THROK]))
    campaign.record(event("m1", "dm", "x", participants=[ZARA, HOB]))
    assert other.catch_up().events == 1
    main.catch_up()
    for table, projection in ((campaign, main), (fork, other)):
        assert_same(table, projection, [ELENA, HOB, THROK, ZARA])
        assert projection.verify() == []
    other.rebuild()
    assert_same(campaign, main, [ELENA, HOB, THROK, ZARA])
    assert_same(fork, other, [ELENA, HOB, THROK, ZARA])


def wandering(days: int) -> list[GameEvent]:
    """Two walk from place to place, at times apart, and are hurt every day; then one has left for good."""
    walked = [
        event(f"d{day}", "dm", "x", location=f"loc_camp_{day % 5:03}", hp_delta={THROK: -1},
              participants=[THROK, ZARA] if day % 3 else [THROK], witnesses=[ELENA] if day % 4 else [])
        for day in range(days)
    ]  # fmt: skip
    gone = {"subject": THROK, "op": "@", "object": f"loc_camp_{(days - 1) % 5:03}", "ended": True}
    return [*walked, event("gone", "dm", "x", participants=[ZARA], facts=[gone])]


def test_the_past_is_answered_as_canon_does(graphs: Graphs) -> None:
    """Past places are right as of every event, and in a fork whose parent went on."""
    campaign = memory_campaign(wandering(9))
    main = graphs.of(campaign)
    main.catch_up()
    things = [THROK, ZARA, "loc_camp_002"]
    for then in ("d0", "d3", "d4", "d7", "gone"):
        for viewer in ("dm", THROK):
            told = answers(main.graph(viewer=viewer, as_of=then), things)
            assert told == answers(campaign.graph(viewer=viewer, as_of=then), things)
    fork = campaign.fork("what if", at="d6")
    other = graphs.of(fork, main.campaign)
    other.catch_up()
    assert_same(fork, other, things)
    assert_same(campaign, main, things)


class Counting(Server):
    """Adds up what the database says that its reads cost it."""

    hits = 0

    def read(self, cypher: str, /, **values: object) -> list[dict[str, object]]:
        with self._driver.session() as session:
            result = session.run(f"PROFILE {cypher}", values)
            rows = [dict(row) for row in result]
            waiting = [result.consume().profile or {}]
        while waiting:
            step = waiting.pop()
            self.hits += int(step["dbHits"])
            waiting += step.get("children", [])
        return rows


def test_a_question_does_not_read_through_a_whole_past(graphs: Graphs) -> None:
    """A question for a hero's neighbours costs the same after fifty days of play as after four hundred."""
    graphs.neo4j.must_be_neo4j("it does not tell what a query costs")
    spent = []
    for days in (50, 400):
        campaign = memory_campaign(wandering(days))
        graphs.of(campaign, name := graphs.neo4j.name()).catch_up()
        server = Counting(graphs.neo4j.uri, **graphs.neo4j.login)
        told = Projection(server, campaign._store, name, "main").graph(viewer="dm").near(THROK, steps=2)
        server.close()
        assert told == campaign.graph(viewer="dm").near(THROK, steps=2)
        spent.append(server.hits)
    assert spent[1] < 1.1 * spent[0]


def test_what_an_older_layout_made_is_made_again(graphs: Graphs) -> None:
    """It is not read as if it were this one's, and not added to."""
    campaign = memory_campaign(tangled())
    projection = graphs.of(campaign)
    projection.catch_up()
    server = graphs.neo4j.server()
    server.change("MATCH (b:Branch {campaign: $c}) REMOVE b.layout", c=projection.campaign)
    with pytest.raises(NotProjected):
        projection.graph(viewer="dm").near(ELENA)
    assert projection.verify() != []
    assert projection.catch_up().events == len(tangled())
    assert projection.verify() == []
    newer = "MATCH (b:Branch {campaign: $c}) SET b.layout = b.layout + 1"
    server.change(newer, c=projection.campaign)
    with pytest.raises(StoreTooNew):
        projection.catch_up()
    server.close()


def test_a_fork_whose_elder_is_half_there_is_not_answered_from_a_half(graphs: Graphs) -> None:
    """While what a fork shares is being made again, it is said that it is not there yet."""
    campaign = memory_campaign(tangled())
    fork = campaign.fork("what if", at="e6")
    projection = graphs.of(fork)
    projection.catch_up()
    server = graphs.neo4j.server()
    for half in ("SET b.dropping = true", "REMOVE b.dropping SET b.seq = 3"):
        server.change(f"MATCH (b:Branch {{campaign: $c, name: 'main'}}) {half}", c=projection.campaign)
        with pytest.raises(NotProjected):
            projection.graph(viewer="dm").near(ELENA)
    server.close()


def test_campaigns_do_not_touch_each_other(graphs: Graphs) -> None:
    """The same uids in two campaigns are two; rebuilding one leaves the other."""
    one, other = memory_campaign(tangled()), memory_campaign(tangled()[:3])
    first, second = graphs.of(one), graphs.of(other)
    first.catch_up()
    second.catch_up()
    first.rebuild()
    for campaign, projection in ((one, first), (other, second)):
        assert_same(campaign, projection, [ELENA, HOB, THROK])
        assert projection.verify() == []


@pytest.mark.parametrize("at", range(4))
def test_a_batch_that_fails_leaves_nothing(graphs: Graphs, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure at any statement: the next try loses and doubles nothing."""
    monkeypatch.setattr(projector, "BATCH", 2)
    campaign = memory_campaign(tangled())
    projection = graphs.of(campaign)
    real, calls = projector.Projector._write, iter(range(100))

    def failing(self: projector.Projector, *args: object, **values: object) -> int:
        written = real(self, *args, **values)  # type: ignore[arg-type]
        if next(calls) == at:
            raise RuntimeError("the machine went away")
        return written

    monkeypatch.setattr(projector.Projector, "_write", failing)
    while True:
        try:
            projection.catch_up()
        except RuntimeError:
            continue
        break
    assert projection.verify() == []
    assert_same(campaign, projection, [ELENA, HOB, THROK])


def test_verify_finds_what_somebody_changed(graphs: Graphs) -> None:
    """An edge more, an edge less, another value, another member: each is told, and a rebuild mends it."""
    campaign = memory_campaign(tangled())
    projection = graphs.of(campaign)
    projection.catch_up()
    server = graphs.neo4j.server()
    for damage in (
        "MATCH (:Entity {campaign: $c})-[r:MET]->() WITH r LIMIT 1 DELETE r",
        "MATCH (:Group {campaign: $c})-[r:HOLDS]->() WITH r LIMIT 1 SET r.value = '\"x\"'",
        "MATCH (a:Entity {campaign: $c})-[r:IN]->(b) WITH a, r, b LIMIT 1 CREATE (a)-[s:IN]->(b) SET s = r",
        "MATCH (g:Group {campaign: $c})<-[r:IN_GROUP]-() WITH r LIMIT 1 DELETE r",
        "MATCH (l:Log {campaign: $c}) SET l.ids = [x IN l.ids | x + '!']",
        "MATCH (:Group {campaign: $c})-[r:SIGHTED]->({uid: 'npc_elena_001'}) SET r.at = '1 loc_inn_001'",
    ):
        assert projection.verify() == []
        server.change(damage, c=projection.campaign)
        assert projection.verify() != []
        projection.rebuild()
    assert projection.verify() == []
    server.close()


def test_hostile_text_is_data(graphs: Graphs) -> None:
    """Quotes, backticks and Cypher in names, ids, values and the campaign's own name stay what they are."""
    evil = "'}) DETACH DELETE n //` \\u0027 \" $x {{}} [r:`"
    campaign = memory_campaign(
        [
            event(evil, "dm", evil, participants=[ELENA, THROK], names={ELENA: evil}, location="loc_inn_001",
                  facts=[{"subject": ELENA, "key": "mood", "value": evil}, relation(ELENA, "~", THROK)])
        ]
    )  # fmt: skip
    projection = graphs.of(campaign, f"{evil} {graphs.neo4j.name()}")
    projection.catch_up()
    assert projection.verify() == []
    assert_same(campaign, projection, [ELENA, THROK, evil])
    assert projection.graph(viewer="dm", as_of=evil).near(evil).start == ELENA


def test_own_queries_read_and_never_write(graphs: Graphs) -> None:
    """The database itself refuses to write, and ends what takes too long."""
    graphs.neo4j.must_be_neo4j("it has no plan of a query, so none is run")
    campaign = memory_campaign(tangled())
    projection = graphs.of(campaign)
    projection.catch_up()
    asked = "MATCH (n:Entity {campaign: $campaign, uid: $uid}) RETURN n.category AS category"
    assert list(projection.query(asked, {"uid": ELENA})) == [{"category": "NPC"}]
    for wrong in (
        "CREATE (n:Mine)",
        "MATCH (n) DETACH DELETE n",
        "no cypher",
        "CREATE INDEX FOR (n:X) ON (n.y)",
        "CALL db.createLabel('Mine')",
        "UNWIND [1] AS x CALL { WITH x CREATE (:Mine) } IN TRANSACTIONS RETURN x",
        "EXPLAIN MATCH (n) DETACH DELETE n",
        "PROFILE CREATE (n:Mine)",
    ):
        with pytest.raises(GraphRefused):
            list(projection.query(wrong))
    with pytest.raises((GraphRefused, GraphUnavailable)):
        list(projection.query("UNWIND range(1, 10000000000) AS n RETURN count(n)", seconds=0.2))
    assert projection.verify() == []


@pytest.mark.parametrize(
    "cypher",
    [
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
        "/* x */ MATCH (n) CALL { LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row } RETURN row",
        "RETURN COUNT { LOAD CSV FROM 'http://127.0.0.1:1/' AS row RETURN row } AS n",
        "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
        "CALL dbms.killConnections(['bolt-1'])",
        "CALL dbms.listConfig()",
        "CALL db.clearQueryCaches()",
        "SHOW USERS",
    ],
)
def test_own_queries_read_the_graph_and_nothing_else(graphs: Graphs, cypher: str) -> None:
    """No file or address that the server can reach, nothing of what others do there, no settings of it."""
    graphs.neo4j.must_be_neo4j("it has no plan of a query, so none is run")
    projection = graphs.of(memory_campaign(tangled()))
    with pytest.raises(GraphRefused, match="only read the graph"):
        list(projection.query(cypher))
    assert [*projection.query("CALL db.labels() YIELD label RETURN count(label) >= 0 AS well")] == [
        {"well": True}
    ]


def test_what_is_not_there_is_said(graphs: Graphs) -> None:
    """A campaign that was never projected, one that is another's, an address that is none, a server away."""
    projection = graphs.of(memory_campaign(tangled()))
    with pytest.raises(NotProjected, match="graph sync"):
        projection.graph(viewer="dm").near(ELENA)
    projection.catch_up()
    impostor = graphs.of(
        memory_campaign(list(reversed([event(f"x{n}", "dm", "x") for n in range(9)]))), projection.campaign
    )
    with pytest.raises(StoreDamaged, match="another log"):
        impostor.catch_up()
    for address in ("http://localhost", "bolt://", "nonsense", "bolt://me:secret@localhost:1"):
        with pytest.raises(InvalidSetting) as told:
            Server(address)
        assert "secret" not in str(told.value)
    away = Server("bolt://127.0.0.1:1")
    with pytest.raises(GraphUnavailable, match="start Neo4j"):
        away.read("RETURN 1")
    away.close()


def test_what_was_taken_back_is_not_answered_from(graphs: Graphs) -> None:
    """After an undo the old branch has another name in the graph too, however often and far back."""
    campaign = memory_campaign(tangled())
    main = graphs.of(campaign)
    main.catch_up()
    for number, to in enumerate(("e6", "e3")):
        kept = campaign.undo(to=to)
        for more in ([], [event(f"n{number}", "dm", "x", participants=[HOB, ELENA], witnesses=[THROK])]):
            campaign.record_many(more)
            main.catch_up()
            assert_same(campaign, main, [ELENA, HOB, THROK])
            assert main.verify() == []
    aside = Projection(main._server, campaign._store, main.campaign, kept)
    assert aside.catch_up().events == 0
    assert aside.graph(viewer="dm", as_of="n0").near(HOB).reached
