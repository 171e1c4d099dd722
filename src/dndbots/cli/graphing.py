"""Commands that ask who has to do with whom, of a campaign or of its copy in Neo4j, and keep the copy."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer

from dndbots.cli import faults, show
from dndbots.cli.names import Names
from dndbots.cli.options import NEO4J, Address, AsJson, AsOf, OnBranch, Viewer, opened
from dndbots.cli.stopping import stopped_by_signals
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dndbots.storage.graph import Graph
    from dndbots.storage.linking import Link
    from dndbots.storage.neo4j.projection import Following, Projection

_LONGEST_PAUSE: Final = 60.0
InNeo4j = Annotated[
    str | None,
    typer.Option(
        "--neo4j",
        metavar="URI",
        help="Ask the copy in Neo4j, after bringing it up to date; bolt://host:7687. "
        "Its user and password are NEO4J_USERNAME and NEO4J_PASSWORD.",
    ),
]
Neo4j = Annotated[
    str,
    typer.Option(
        "--neo4j",
        metavar="URI",
        envvar=NEO4J,
        help="Where Neo4j is: bolt://host:7687. Its user and password are NEO4J_USERNAME and NEO4J_PASSWORD.",
    ),
]
Who = Annotated[str, typer.Argument(metavar="WHO", help="A uid or a name.")]
First = Annotated[str, typer.Argument(metavar="ONE", help="A uid or a name.")]
Second = Annotated[str, typer.Argument(metavar="OTHER", help="A uid or a name.")]
Steps = Annotated[int, typer.Option("--steps", metavar="N", min=1, max=12, help="At most so many steps.")]


def add_to(app: typer.Typer) -> None:
    graph = typer.Typer(no_args_is_help=True, help="Asks who has to do with whom; keeps a copy in Neo4j.")
    for name, command in (
        ("path", path),
        ("near", near),
        ("links", links),
        ("common", common),
        ("about", about),
        ("sync", sync),
        ("follow", follow),
        ("verify", verify),
        ("rebuild", rebuild),
        ("query", query),
    ):
        graph.command(name)(command)
    app.add_typer(graph, name="graph")


class _Asked:
    """A question to a campaign or to its copy, and how its answer is told."""

    def __init__(self, graph: "Graph", names: Names) -> None:
        self.graph, self._names = graph, names

    def called(self, uid: str) -> str:
        name, now = self._names.known(uid)
        return now if name == now else f"{name} ({now})"

    def rows(self, links: Iterable["Link"]) -> list[tuple[str, ...]]:
        return [
            (self._names.of(link.subject), link.kind, self._names.of(link.object), link.certainty, link.since)
            for link in links
        ]

    def say_links(self, links: Iterable["Link"]) -> None:
        show.say_table(["who", "what", "whom", "certainty", "since"], self.rows(links))


@contextmanager
def _asking(
    campaign: str, branch: str, viewer: str, as_of: str | None, neo4j: str | None
) -> Iterator[_Asked]:
    with opened(campaign, branch) as source:
        names = Names(source, viewer, as_of)
        if neo4j is None:
            yield _Asked(source.graph(viewer=viewer, as_of=as_of), names)
            return
        projection = source.projection(neo4j)
        try:
            projection.catch_up()
            yield _Asked(projection.graph(viewer=viewer, as_of=as_of), names)
        finally:
            projection.close()


def _answered(
    asked: _Asked, answer: "BaseModel", *, as_json: bool, told: Callable[[_Asked, Any], None]
) -> None:
    if as_json:
        show.say_json(answer)
    else:
        told(asked, answer)
        if getattr(answer, "complete", True) is False:
            show.note("warning: there is more than is shown")


def path(
    one: First,
    other: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    steps: Steps = 6,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, max=100, help="So many of the shortest ways.")
    ] = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Shows the shortest way from one to another, as the viewer knows it. Exits with 1 if there is none."""
    with _asking(campaign, branch, viewer, as_of, neo4j) as asked:
        found = asked.graph.path(one, other, steps=steps, most=most)
        _answered(asked, found, as_json=as_json, told=_say_paths)
    if not found.paths:
        raise typer.Exit(faults.WRONG)


def _say_paths(asked: _Asked, found: Any) -> None:
    if not found.paths:
        show.say(show.inert(f"no way from {asked.called(found.start)} to {asked.called(found.end)}"))
    for number, way in enumerate(found.paths):
        if number:
            show.say("")
        show.say(show.inert(" - ".join(map(asked.called, [found.start, *(step.end for step in way)]))))
        if way:
            asked.say_links(link for step in way for link in step.links)


def near(
    who: Who,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    steps: Steps = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Shows everybody and everything within some steps, the nearest first."""
    with _asking(campaign, branch, viewer, as_of, neo4j) as asked:
        _answered(asked, asked.graph.near(who, steps=steps), as_json=as_json, told=_say_near)


def _say_near(asked: _Asked, found: Any) -> None:
    from dndbots.storage.graph import surest

    rows = []
    for one in found.reached:
        link = surest(one.links)
        rows.append((one.steps, *asked.rows([link])[0]))
    if rows:
        show.say_table(["steps", "who", "what", "whom", "certainty", "since"], rows, numbers=["steps"])
    else:
        show.say(show.inert(f"{asked.called(found.start)} has to do with nobody and nothing"))


def links(
    one: First,
    other: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Shows who links two factions: who is of one and has to do with the other, or with both."""
    with _asking(campaign, branch, viewer, as_of, neo4j) as asked:
        found = asked.graph.bridges(one, other)
        told = [(one.uid, [*one.first, *one.second]) for one in found.bridges]
        _answered(asked, found, as_json=as_json, told=lambda asked, _: _say_between(asked, told))


def common(
    one: First,
    other: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Shows the people whom two both have to do with."""
    with _asking(campaign, branch, viewer, as_of, neo4j) as asked:
        found = asked.graph.common(one, other)
        told = [(one.uid, [*one.first, *one.second]) for one in found.common]
        _answered(asked, found, as_json=as_json, told=lambda asked, _: _say_between(asked, told))


def _say_between(asked: _Asked, found: list[tuple[str, list["Link"]]]) -> None:
    if not found:
        show.say("nobody, as far as is known")
    for uid, ties in found:
        show.say(show.inert(asked.called(uid)))
        if ties:
            asked.say_links(ties)
        else:
            show.say("  is of both")


def about(
    who: Who,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    steps: Steps = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Shows what the viewer knows of a neighbourhood: who is there, and all links among them."""
    with _asking(campaign, branch, viewer, as_of, neo4j) as asked:
        _answered(asked, asked.graph.about(who, steps=steps), as_json=as_json, told=_say_about)


def _say_about(asked: _Asked, found: Any) -> None:
    rows = [(one.uid, one.name, "" if one.alive else "dead", one.location) for one in found.entities]
    show.say_table(["uid", "name", "", "place"], rows)
    if found.links:
        asked.say_links(found.links)


@contextmanager
def _projected(campaign: str, branch: str, neo4j: str) -> Iterator["Projection"]:
    with opened(campaign, branch) as source:
        projection = source.projection(neo4j)
        try:
            yield projection
        finally:
            projection.close()


def sync(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Brings the copy in Neo4j up to date: only what is new is written."""
    with _projected(campaign, branch, neo4j) as projection, show.progress("projecting") as report:
        _say_caught(projection.catch_up(report), as_json=as_json)


def follow(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    neo4j: Neo4j,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.1, max=3600, help="How often it looks.")
    ] = 1.0,
) -> None:
    """Keeps the copy in Neo4j up to date while others play, until it is stopped by SIGTERM or Ctrl-C.

    A line says how far it is, whenever that changes. While Neo4j is away, it waits, and says so.
    """
    stop = Event()
    stopped = stopped_by_signals(is_stopping=stop.is_set, stop=stop.set)
    with _projected(campaign, branch, neo4j) as projection, stopped, _Bar() as bar:
        projection.follow(stop, _Told(bar), bar, pause=every, longest_pause=max(every, _LONGEST_PAUSE))


class _Bar:
    """A bar that is there only while something is projected, so that lines between are not in its way."""

    def __init__(self) -> None:
        self._shown = ExitStack()
        self._report: Callable[[int, int], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.go()

    def __call__(self, done: int, total: int) -> None:
        if self._report is None:
            self._report = self._shown.enter_context(show.progress("projecting"))
        self._report(done, total)

    def go(self) -> None:
        self._shown.close()
        self._report = None


class _Told:
    """Says how somebody who follows stands, where that is not what was said last."""

    def __init__(self, bar: _Bar) -> None:
        self._bar = bar
        self._said = ""

    def __call__(self, now: "Following") -> None:
        self._bar.go()
        line = now.waiting_for or f"the graph is at {now.seq}"
        if line != self._said:
            show.say(show.inert(f"waiting: {line}" if now.waiting_for else line))
            self._said = line


def rebuild(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Drops what Neo4j has of this branch, and projects it again. Other campaigns are left alone."""
    with _projected(campaign, branch, neo4j) as projection, show.progress("projecting") as report:
        _say_caught(projection.rebuild(report), as_json=as_json)


def _say_caught(caught: Any, *, as_json: bool) -> None:
    if as_json:
        show.say_json(caught._asdict())
    else:
        events, rows = show.counted(caught.events, "event"), show.counted(caught.rows, "row")
        show.say(f"projected {events} as {rows}; the graph is at {caught.seq}")


def verify(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Compares the copy in Neo4j with the campaign, row by row. Exits with 1 if they differ."""
    with _projected(campaign, branch, neo4j) as projection:
        problems = projection.verify()
    if as_json:
        show.say_json({"sound": not problems, "problems": [problem._asdict() for problem in problems]})
    for problem in () if as_json else problems:
        show.say(show.inert(str(problem)))
    if problems:
        raise typer.Exit(faults.WRONG)
    if not as_json:
        show.say("sound: what the graph has is canon's")


def query(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    neo4j: Neo4j,
    cypher: Annotated[
        str,
        typer.Option("--cypher", metavar="QUERY", help="What to ask; $campaign and $branch are this one's."),
    ],
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", min=0.1, max=3600, help="How long it may take.")
    ] = 30.0,
) -> None:
    """Runs the DM's own query, and tells each row as a line of JSON. It cannot write, and tells secrets."""
    with _projected(campaign, branch, neo4j) as projection:
        for row in projection.query(cypher, seconds=seconds):
            typer.echo(json.dumps(row, default=str))
