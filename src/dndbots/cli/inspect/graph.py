"""`graph`: find connections between people, places and factions; keep a copy of them in Neo4j."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import NEO4J, Address, AsJson, AsOf, OnBranch, Viewer, open_campaign
from dndbots.cli.signals import stopped_by_signals
from dndbots.cli.viewers import ViewerNames, open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dndbots.storage.neo4j.projection import FollowStatus, Projection
    from dndbots.storage.views.graph import Graph
    from dndbots.storage.views.links import Link

_LONGEST_PAUSE: Final = 60.0
InNeo4j = Annotated[
    str | None,
    typer.Option(
        "--neo4j",
        metavar="URI",
        help="Ask the copy in Neo4j at this address, such as bolt://host:7687; it is updated first. "
        "NEO4J_USERNAME and NEO4J_PASSWORD hold user and password.",
    ),
]
Neo4j = Annotated[
    str,
    typer.Option(
        "--neo4j",
        metavar="URI",
        envvar=NEO4J,
        help="The address of Neo4j, such as bolt://host:7687. "
        "NEO4J_USERNAME and NEO4J_PASSWORD hold user and password.",
    ),
]
Who = Annotated[str, typer.Argument(metavar="NAME", help="A name or a uid.")]
First = Annotated[str, typer.Argument(metavar="A", help="A name or a uid.")]
Second = Annotated[str, typer.Argument(metavar="B", help="A name or a uid.")]
Steps = Annotated[int, typer.Option("--steps", metavar="N", min=1, max=12, help="At most N steps away.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    graph = typer.Typer(no_args_is_help=True, help="Find connections; keep a copy of them in Neo4j.")
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


class _GraphReader:
    """A graph to ask, and the viewer's names to print its answers with."""

    def __init__(self, graph: "Graph", names: ViewerNames) -> None:
        self.graph, self._names = graph, names

    def label(self, uid: str) -> str:
        """Return a name with its uid."""
        return self._names.label(uid)

    def rows(self, links: Iterable["Link"]) -> list[tuple[str, ...]]:
        """Return a table row for each link."""
        cell = self._names.render_cell
        return [
            (cell(link.subject), link.kind, cell(link.object), link.certainty, link.since) for link in links
        ]

    def say_links(self, links: Iterable["Link"]) -> None:
        """Print a table of links."""
        console.say_table(["who", "what", "whom", "certainty", "since"], self.rows(links))


@contextmanager
def _ask_graph(
    campaign: str, branch: str, viewer: str | None, as_of: str | None, neo4j: str | None
) -> Iterator[_GraphReader]:
    with open_for(viewer, campaign, branch, as_of=as_of) as (source, who):
        names = ViewerNames(source, who, as_of)
        if neo4j is None:
            yield _GraphReader(source.graph(viewer=who, as_of=as_of), names)
            return
        projection = source.projection(neo4j)
        try:
            projection.catch_up()
            yield _GraphReader(projection.graph(viewer=who, as_of=as_of), names)
        finally:
            projection.close()


def _say_answer(
    reader: _GraphReader, answer: "BaseModel", *, as_json: bool, say: Callable[[_GraphReader, Any], None]
) -> None:
    if as_json:
        console.say_json(answer)
    else:
        say(reader, answer)
        if getattr(answer, "complete", True) is False:
            console.note("warning: there are more results than shown")


def path(
    a: First,
    b: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    steps: Steps = 6,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, max=100, help="How many of the shortest paths.")
    ] = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Show the shortest path from A to B that a character knows. Exits with 1 if there is none."""
    with _ask_graph(campaign, branch, viewer, as_of, neo4j) as reader:
        answer = reader.graph.path(a, b, steps=steps, most=most)
        _say_answer(reader, answer, as_json=as_json, say=_say_paths)
    if not answer.paths:
        raise typer.Exit(failures.WRONG)


def _say_paths(reader: _GraphReader, answer: Any) -> None:
    if not answer.paths:
        console.say(
            console.inert(f"no known path from {reader.label(answer.start)} to {reader.label(answer.end)}")
        )
    for number, steps in enumerate(answer.paths):
        if number:
            console.say("")
        console.say(
            console.inert(" - ".join(map(reader.label, [answer.start, *(step.end for step in steps)])))
        )
        if steps:
            reader.say_links(link for step in steps for link in step.links)


def near(
    who: Who,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    steps: Steps = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Show everything a character knows within some steps of NAME, the nearest first."""
    with _ask_graph(campaign, branch, viewer, as_of, neo4j) as reader:
        _say_answer(reader, reader.graph.near(who, steps=steps), as_json=as_json, say=_say_near)


def _say_near(reader: _GraphReader, answer: Any) -> None:
    from dndbots.storage.views.graph import surest

    rows = []
    for entity in answer.reached:
        link = surest(entity.links)
        rows.append((entity.steps, *reader.rows([link])[0]))
    if rows:
        console.say_table(["steps", "who", "what", "whom", "certainty", "since"], rows, numbers=["steps"])
    else:
        console.say(console.inert(f"{reader.label(answer.start)} has no known connections"))


def links(
    a: First,
    b: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Show who connects two factions: members of one with a tie to the other, or of both."""
    with _ask_graph(campaign, branch, viewer, as_of, neo4j) as reader:
        answer = reader.graph.bridges(a, b)
        between = [(bridge.uid, [*bridge.first, *bridge.second]) for bridge in answer.bridges]
        _say_answer(reader, answer, as_json=as_json, say=lambda reader, _: _say_between(reader, between))


def common(
    a: First,
    b: Second,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Show the people with a tie to both A and B."""
    with _ask_graph(campaign, branch, viewer, as_of, neo4j) as reader:
        answer = reader.graph.common(a, b)
        between = [(person.uid, [*person.first, *person.second]) for person in answer.common]
        _say_answer(reader, answer, as_json=as_json, say=lambda reader, _: _say_between(reader, between))


def _say_between(reader: _GraphReader, answer: list[tuple[str, list["Link"]]]) -> None:
    if not answer:
        console.say("nobody known")
    for uid, ties in answer:
        console.say(console.inert(reader.label(uid)))
        if ties:
            reader.say_links(ties)
        else:
            console.say("  belongs to both")


def about(
    who: Who,
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    steps: Steps = 1,
    as_of: AsOf = None,
    neo4j: InNeo4j = None,
    as_json: AsJson = False,
) -> None:
    """Show the neighbourhood of NAME that a character knows: its entities and all links among them."""
    with _ask_graph(campaign, branch, viewer, as_of, neo4j) as reader:
        _say_answer(reader, reader.graph.about(who, steps=steps), as_json=as_json, say=_say_about)


def _say_about(reader: _GraphReader, answer: Any) -> None:
    rows = [
        (entity.uid, entity.name, "" if entity.alive else "dead", entity.location)
        for entity in answer.entities
    ]
    console.say_table(["uid", "name", "", "place"], rows)
    if answer.links:
        reader.say_links(answer.links)


@contextmanager
def _projected(campaign: str, branch: str, neo4j: str) -> Iterator["Projection"]:
    with open_campaign(campaign, branch) as source:
        projection = source.projection(neo4j)
        try:
            yield projection
        finally:
            projection.close()


def sync(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Update the copy in Neo4j; only what is new is written."""
    with _projected(campaign, branch, neo4j) as projection, console.progress("projecting") as report:
        _say_progress(projection.catch_up(report), as_json=as_json)


def follow(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    neo4j: Neo4j,
    every: Annotated[
        float,
        typer.Option(
            "--every", metavar="SECONDS", min=0.1, max=3600, help="How often to look for new events."
        ),
    ] = 1.0,
) -> None:
    """Keep the copy in Neo4j up to date while others play, until SIGTERM or Ctrl-C.

    Prints a line whenever the copy moves on. If Neo4j is not reachable, it says so and waits.
    """
    stop = Event()
    stopped = stopped_by_signals(is_stopping=stop.is_set, stop=stop.set)
    with _projected(campaign, branch, neo4j) as projection, stopped, _Bar() as bar:
        projection.follow(stop, _StateLines(bar), bar, pause=every, longest_pause=max(every, _LONGEST_PAUSE))


class _Bar:
    """A progress bar that is shown only while something is projected, so other lines stay readable."""

    def __init__(self) -> None:
        self._shown = ExitStack()
        self._report: Callable[[int, int], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.hide()

    def __call__(self, done: int, total: int) -> None:
        if self._report is None:
            self._report = self._shown.enter_context(console.progress("projecting"))
        self._report(done, total)

    def hide(self) -> None:
        self._shown.close()
        self._report = None


class _StateLines:
    """Print the state of a follower whenever it changes."""

    def __init__(self, bar: _Bar) -> None:
        self._bar = bar
        self._last = ""

    def __call__(self, now: "FollowStatus") -> None:
        self._bar.hide()
        line = now.waiting_for or f"the graph is at {now.seq}"
        if line != self._last:
            console.say(console.inert(f"waiting: {line}" if now.waiting_for else line))
            self._last = line


def rebuild(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Delete this branch from Neo4j and project it again. Leaves other campaigns alone."""
    with _projected(campaign, branch, neo4j) as projection, console.progress("projecting") as report:
        _say_progress(projection.rebuild(report), as_json=as_json)


def _say_progress(update: Any, *, as_json: bool) -> None:
    if as_json:
        console.say_json(update._asdict())
    else:
        events, rows = console.counted(update.events, "event"), console.counted(update.rows, "row")
        console.say(f"projected {events} as {rows}; the graph is at {update.seq}")


def verify(*, campaign: Address, branch: OnBranch = MAIN, neo4j: Neo4j, as_json: AsJson = False) -> None:
    """Compare the copy in Neo4j with the campaign, row by row. Exits with 1 if they differ."""
    with _projected(campaign, branch, neo4j) as projection:
        problems = projection.verify()
    if as_json:
        console.say_json({"sound": not problems, "problems": [problem._asdict() for problem in problems]})
    for problem in () if as_json else problems:
        console.say(console.inert(str(problem)))
    if problems:
        raise typer.Exit(failures.WRONG)
    if not as_json:
        console.say("sound: the graph matches the campaign")


def query(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    neo4j: Neo4j,
    cypher: Annotated[
        str,
        typer.Option("--cypher", metavar="QUERY", help="The query; $campaign and $branch name this branch."),
    ],
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", min=0.1, max=3600, help="The time limit.")
    ] = 30.0,
) -> None:
    """Run a Cypher query and print each row as a line of JSON. Read-only. For the DM: it reveals secrets."""
    with _projected(campaign, branch, neo4j) as projection:
        for row in projection.query(cypher, seconds=seconds):
            typer.echo(json.dumps(row, default=str))
