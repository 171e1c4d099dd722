"""`worker` and `jobs`: background work for the campaigns on a server."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console, failures
from dndbots.cli.options import NEO4J, AsJson
from dndbots.cli.signals import stopped_by_signals
from dndbots.errors import InvalidSetting

if TYPE_CHECKING:
    from dndbots.jobs.queue import QueuedJob

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
    """Add the commands to the program."""
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
            help="How many jobs at once. To use more processors, start more workers.",
        ),
    ] = 1,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", metavar="KINDS", help="Only these kinds of work, such as compact,project."),
    ] = None,
    lease: Annotated[
        float | None,
        typer.Option(
            "--lease",
            metavar="SECONDS",
            min=1,
            max=3_600,
            help="Seconds of silence after which the worker counts as dead.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do the jobs that are due, then exit.")] = False,
    neo4j: Annotated[
        str | None,
        typer.Option(
            "--neo4j",
            metavar="URI",
            envvar=NEO4J,
            help="Keep copies in Neo4j at this address, such as bolt://host:7687. Other workers do that "
            "if omitted. NEO4J_USERNAME and NEO4J_PASSWORD hold user and password.",
        ),
    ] = None,
) -> None:
    """Run jobs for all campaigns in a database until stopped, one job per campaign at a time.

    SIGTERM or Ctrl-C lets it finish the current jobs; a second one stops at once and returns the jobs to the
    queue. Prints one line per job. If the database is not reachable it waits; if Neo4j is not, it tries again
    later. Several workers can serve one database.
    """
    from dndbots.campaign import Campaign
    from dndbots.jobs.kinds import kinds_of
    from dndbots.jobs.worker import LEASE, Worker

    _check_server(address)
    wanted = kinds_of(None if kinds is None else _kinds(kinds), neo4j=neo4j)
    made = Worker(
        address,
        Campaign.open,
        kinds=wanted,
        at_once=at_once,
        lease=LEASE if lease is None else lease,
        tell=_tell,
    )
    with stopped_by_signals(is_stopping=lambda: made.is_stopping, stop=made.stop):
        if not once:
            _tell(f"worker {made.name} takes {', '.join(wanted)}")
        made.run(once=once)


def _tell(line: str) -> None:
    typer.echo(console.inert(failures.without_password(line)))


def _check_server(address: str) -> None:
    from dndbots.storage.address import is_server

    if not is_server(address):
        shown = failures.without_password(address)
        raise failures.Refusal(f"{shown} is not a server; give a postgresql://…/database address")


def _kinds(given: str) -> list[str]:
    from dndbots.jobs.kinds import NAMES

    found = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    unknown = [name for name in found if name not in NAMES]
    if unknown or not found:
        shown = unknown[0] if unknown else given
        raise InvalidSetting("kinds", shown, reason=f"is not a kind of work; choose from {', '.join(NAMES)}")
    return found


def jobs(
    address: Server,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Only jobs that failed for good.")] = False,
    retry: Annotated[
        int | None, typer.Option("--retry", metavar="ID", help="Try a failed job again now.")
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option("--ask", metavar="KIND", help="Queue this work for every branch of every campaign."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the jobs that wait, run or failed, and why."""
    from dndbots.jobs.queue import JobState
    from dndbots.jobs.sql_queue import open_queue

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
        console.say_json({"counts": counts, "jobs": [one._asdict() for one in found]})
        return
    console.say(", ".join(f"{number} {state}" for state, number in counts.items()))
    if found:
        columns = ["id", "kind", "campaign", "branch", "state", "tries", "waited", "why"]
        shown = [_row(one) for one in found[:_SHOWN]]
        console.say_table(columns, shown, wide=_SHARES, numbers=["id", "tries", "waited"])
    if len(found) > _SHOWN:
        console.say(f"and {len(found) - _SHOWN} more; --json has them")


def _row(job: "QueuedJob") -> list[object]:
    waited = f"{job.waited:.0f} s" if job.state in ("waiting", "running") else ""
    why = "" if job.error is None else failures.without_password(job.error)[:_LONGEST]
    return [
        job.id,
        console.inert(job.kind),
        console.inert(job.campaign),
        console.inert(job.branch),
        str(job.state),
        job.attempts,
        waited,
        console.inert(why),
    ]
