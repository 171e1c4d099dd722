"""Commands of a host with many campaigns on a server: workers, and what they have to do."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import faults, show
from dndbots.cli.options import NEO4J, AsJson
from dndbots.cli.stopping import stopped_by_signals
from dndbots.errors import InvalidSetting

if TYPE_CHECKING:
    from dndbots.storage.queue import QueuedJob

_MOST: Final = 64
_SHOWN: Final = 50
_LONGEST: Final = 200
_SHARES: Final = {"campaign": 1, "why": 2}

Server = Annotated[
    str,
    typer.Argument(
        metavar="ADDRESS", envvar="DNDBOTS_SERVER", help="The server's database: postgresql://…/database."
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command("worker")(worker)
    app.command("jobs")(jobs)


def worker(
    address: Server,
    *,
    at_once: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            max=_MOST,
            help="How many at once, for what waits; for more processors, start more workers.",
        ),
    ] = 1,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", metavar="KINDS", help="Only these kinds of work, as compact,project."),
    ] = None,
    lease: Annotated[
        float | None,
        typer.Option(
            "--lease",
            metavar="SECONDS",
            min=1,
            max=3_600,
            help="After how long in silence it counts as dead.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do what is due, and end.")] = False,
    neo4j: Annotated[
        str | None,
        typer.Option(
            "--neo4j",
            metavar="URI",
            envvar=NEO4J,
            help="Keep copies in Neo4j there: bolt://host:7687. Without it, that work is left to others. "
            "Its user and password are NEO4J_USERNAME and NEO4J_PASSWORD.",
        ),
    ] = None,
) -> None:
    """Does the work of all campaigns in a database, one job a campaign at a time, until it is stopped.

    SIGTERM or Ctrl-C lets it finish what is under way; a second one stops it at once, and the job goes back.
    A line a job goes to standard output. While the database is away, it waits; while Neo4j is, what would go
    there is tried again later. Any number of workers may serve one database; what one leaves undone, the next
    one does.
    """
    from dndbots.jobs.kinds import kinds_of
    from dndbots.jobs.working import LEASE, QueueWorker

    _check_server(address)
    wanted = kinds_of(None if kinds is None else _kinds(kinds), neo4j=neo4j)
    made = QueueWorker(
        address, kinds=wanted, at_once=at_once, lease=LEASE if lease is None else lease, tell=_tell
    )
    with stopped_by_signals(is_stopping=lambda: made.is_stopping, stop=made.stop):
        if not once:
            _tell(f"worker {made.name} takes {', '.join(wanted)}")
        made.run(once=once)


def _tell(line: str) -> None:
    typer.echo(show.inert(faults.without_password(line)))


def _check_server(address: str) -> None:
    from dndbots.storage.opening import is_server

    if not is_server(address):
        shown = faults.without_password(address)
        raise faults.Refusal(f"{shown} is no server; workers serve a postgresql://…/database")


def _kinds(given: str) -> list[str]:
    from dndbots.jobs.kinds import NAMES

    found = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    unknown = [name for name in found if name not in NAMES]
    if unknown or not found:
        shown = unknown[0] if unknown else given
        raise InvalidSetting("kinds", shown, reason=f"is no kind of work; there are {', '.join(NAMES)}")
    return found


def jobs(
    address: Server,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that were given up.")] = False,
    retry: Annotated[
        int | None, typer.Option("--retry", metavar="ID", help="Let a job that failed be tried again now.")
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option("--ask", metavar="KIND", help="Ask for this work for every branch of every campaign."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Shows what waits, what is under way, and what failed and why."""
    from dndbots.storage.queue import JobState, open_queue

    _check_server(address)
    with closing(open_queue(address)) as queue:
        if retry is not None:
            found = [queue.retry(retry)]
        elif ask is not None:
            (kind,) = _kinds(ask)[:1]
            for campaign, branch in queue.branches():
                queue.ask(campaign, branch, kind)
            found = queue.jobs(state=JobState.WAITING)
        else:
            found = queue.jobs(state=JobState.FAILED if failed else None)
        counts = {str(state): number for state, number in queue.counts().items()}
    if as_json:
        show.say_json({"counts": counts, "jobs": [one._asdict() for one in found]})
        return
    show.say(", ".join(f"{number} {state}" for state, number in counts.items()))
    if found:
        columns = ["id", "kind", "campaign", "branch", "state", "tries", "waited", "why"]
        shown = [_row(one) for one in found[:_SHOWN]]
        show.say_table(columns, shown, wide=_SHARES, numbers=["id", "tries", "waited"])
    if len(found) > _SHOWN:
        show.say(f"and {len(found) - _SHOWN} more; --json has them")


def _row(job: "QueuedJob") -> list[object]:
    waited = f"{job.waited:.0f} s" if job.state in ("waiting", "running") else ""
    why = "" if job.error is None else faults.without_password(job.error)[:_LONGEST]
    return [
        job.id,
        show.inert(job.kind),
        show.inert(job.campaign),
        show.inert(job.branch),
        str(job.state),
        job.attempts,
        waited,
        show.inert(why),
    ]
