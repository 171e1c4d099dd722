"""The graph's figures: projecting a long log into Neo4j, catching up, forking, and what questions cost.

The floor writes the same rows through the same driver in the same batches, and nothing else: nobody folds a
log for it, and it has no keys to merge by, no cursor and no index.

    python bench/graph.py --events 100000

The server is that of the tests: `make neo4j`, or NEO4J_URI.
"""

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.neo4j_server import Neo4jServer

from dndbots.campaign import Campaign
from dndbots.errors import UnknownEntity
from dndbots.storage.neo4j import projector
from dndbots.storage.neo4j.graph_rows import Batch
from dndbots.storage.neo4j.projection import Projection
from dndbots.storage.views.graph import Graph
from saga import FOES, PARTY, PEOPLE, PLACES, saga

CHUNK = 2_000
SAMPLE = 15

QUESTIONS: dict[str, Callable[[Graph], Any]] = {
    "path between two people": lambda graph: graph.path(PEOPLE[7], PEOPLE[11]),
    "path from a foe to a place": lambda graph: graph.path(FOES[3], PLACES[5]),
    "near a person, 1 step": lambda graph: graph.near(PEOPLE[7]),
    "near a person, 2 steps": lambda graph: graph.near(PEOPLE[7], steps=2),
    "near a hero, 1 step": lambda graph: graph.near(PARTY[0]),
    "near a hero, 2 steps": lambda graph: graph.near(PARTY[0], steps=2),
    "common acquaintances": lambda graph: graph.common(PEOPLE[7], FOES[3]),
    "about a place, 1 step": lambda graph: graph.about(PLACES[5]),
}


def wall(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer


def processor(neo4j: Neo4jServer) -> float:
    """Seconds of processor time that this program and the server took so far."""
    own = time.process_time()
    if neo4j._server is None:
        return own
    fields = Path(f"/proc/{neo4j._server.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return own + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written_by(projection: Projection) -> tuple[float, Any, list[Batch]]:
    """Seconds of projecting, what came of it, and the batches that it wrote."""
    batches: list[Batch] = []
    write = projector.Projector._write

    def noted(self: projector.Projector, tx: Any, **values: Any) -> int:
        batches.append(values["batch"])
        return write(self, tx, **values)

    projector.Projector._write = noted  # type: ignore[method-assign]
    try:
        seconds, caught = wall(projection.catch_up)
    finally:
        projector.Projector._write = write  # type: ignore[method-assign]
    return seconds, caught, batches


def floor_of(neo4j: Neo4jServer, batches: list[Batch]) -> float:
    """Seconds of sending the same rows and making an edge of each between two nodes that are at hand."""
    server = neo4j.server()
    server.change("MERGE (a:Floor {n: 1}) MERGE (b:Floor {n: 2})")
    plain = "MATCH (a:Floor {n: 1}), (b:Floor {n: 2}) UNWIND $rows AS row CREATE (a)-[:FLOOR {all: row}]->(b)"

    def write(tx: Any, batch: Batch) -> None:
        for rows in batch.edges.values():
            tx.run(plain, rows=[[str(value) for value in row] for row in rows]).consume()

    seconds, _ = wall(lambda: [server.write(lambda tx, one=one: write(tx, one)) for one in batches])
    drop = "MATCH (:Floor)-[r]->() WITH r LIMIT 20000 DELETE r RETURN count(r) AS n"
    while server.change(drop)[0]["n"]:
        pass
    server.close()
    return seconds


def milliseconds(ask: Callable[[Graph], Any], graph: Graph) -> float:
    return statistics.median(wall(lambda: ask(graph))[0] for _ in range(SAMPLE)) * 1e3


def told(what: str, seconds: float, caught: Any) -> None:
    print(f"{what}: {caught.events} events, {caught.rows} rows, {seconds:.2f} s")


def report_questions(campaign: Campaign, projection: Projection) -> None:
    print(f"\n{'milliseconds, the median of ' + str(SAMPLE):44} {'SQL':>9} {'Neo4j':>9}")
    for viewer in ("dm", PARTY[1]):
        graphs = campaign.graph(viewer=viewer), projection.graph(viewer=viewer)
        for name, ask in QUESTIONS.items():
            try:
                assert ask(graphs[0]) == ask(graphs[1])
            except UnknownEntity as exc:
                print(f"{name + ', for ' + viewer:44} so few events do not have it: {exc}")
                continue
            spent = [milliseconds(ask, graph) for graph in graphs]
            print(f"{name + ', for ' + viewer:44} {spent[0]:9.1f} {spent[1]:9.1f}")


def run(neo4j: Neo4jServer, folder: Path, events: int) -> None:
    source = saga(7)
    with Campaign.open(folder / "campaign") as campaign:
        for _ in range(0, events, CHUNK):
            campaign.record_many(list(itertools.islice(source, min(CHUNK, events))))
        server = neo4j.server()
        projection = Projection(server, campaign._store, neo4j.name("bench"), "main")
        before = processor(neo4j)
        seconds, caught, batches = written_by(projection)
        between = processor(neo4j)
        work = between - before
        print(f"projected {caught.events} events as {caught.rows} rows in {seconds:.1f} s")
        rates = f"{caught.events / seconds:.0f} events/s, {caught.rows / seconds:.0f} rows/s"
        print(f"  {rates}; asked for: 2000 events/s")
        rate = f"{work:.1f} s, {caught.events / work:.0f} events/s"
        print(f"  in processor time, both together: {rate}", flush=True)
        floor, least = floor_of(neo4j, batches), processor(neo4j) - between
        print(f"  the floor takes {floor:.1f} s for the same rows, ratio {seconds / floor:.2f};", end=" ")
        print(f"in processor time {least:.1f} s, ratio {work / least:.2f}", flush=True)
        if neo4j.is_ours:
            neo4j.stop()
            neo4j.start()
        campaign.record_many(list(itertools.islice(source, 10)))
        seconds, caught, batches = written_by(projection)
        told("after a restart and 10 more events", seconds, caught)
        assert caught.events == 10
        fork = campaign.fork("fork")
        fork.record_many(list(itertools.islice(source, 10)))
        forked = Projection(server, fork._store, projection.campaign, "fork")
        seconds, caught, _ = written_by(forked)
        told("a fork of it, with 10 events of its own", seconds, caught)
        seconds, problems = wall(projection.verify)
        print(f"verified in {seconds:.1f} s: {len(problems)} problems")
        report_questions(campaign, projection)
        assert not problems
        fork.close()
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=100_000)
    options = parser.parse_args()
    neo4j = Neo4jServer()
    try:
        neo4j.start()
        with tempfile.TemporaryDirectory() as scratch:
            run(neo4j, Path(scratch), options.events)
    finally:
        neo4j.close()


if __name__ == "__main__":
    main()
