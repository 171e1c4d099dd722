"""Many campaigns on one PostgreSQL: what is lost or doubled, how long a record takes, and who does the work.

    python bench/shared.py                              200 campaigns, 8 writers, 2 workers, 5 minutes
    python bench/shared.py --campaigns 12 --writers 2 --seconds 20
    python bench/shared.py --rate 2                     writers that play, two events a second each
    python bench/shared.py --server postgresql://…/postgres

Without `--server`, one is started for it on this machine, which keeps what it has committed (fsync on).
Writers are processes. Each has its share of the campaigns and plays one after another of them; every tenth
event goes to a campaign of somebody else, so that two write to one. An event counts when `record` has
returned; what was acknowledged is compared with the log at the end. Writers only ask for compaction, the
workers do it. In the middle, a worker is killed (-9) with a job in its hands.

nothing lost, nothing doubled: every acknowledged event is in its campaign's log once, and nothing else is;
    every turn was read by exactly one run of compaction; log and views agree (`verify`), in every campaign.
record: wall time of one call, events of a sentence or two, each one a transaction on disk.
floor: the same payload, by as many processes, as a plain INSERT with psycopg: no views, no laws, no order.
waited: from the moment that somebody asked to the moment that a worker began.

It would lie if writers stopped to count while others wrote: all begin and end by the clock. It would flatter
if the server, writers and workers did not share the machine; they do, so that with more processors all of it
is faster. As fast as they can, writers measure the machine; `--rate` measures what players would notice.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

sys.path.append(str(Path(__file__).parent.parent))  # for the server and the checks of the tests

from sqlalchemy.engine import make_url
from tests.compaction.readers import assert_tiled
from tests.postgres import PostgresServer

from dndbots.campaign import Campaign
from dndbots.errors import StoreUnavailable
from dndbots.events import EventType, GameEvent
from dndbots.jobs.queue import JobQueue, JobState
from dndbots.jobs.sql_queue import open_queue
from dndbots.storage.address import address_of

# A server as one would run it, but for its size.
DURABLE = {"shared_buffers": "512MB", "max_connections": "120", "max_wal_size": "2GB"}
LEASE = 10.0
ALL = ["pc_throk_001", "pc_zara_001", "pc_mira_001", "npc_elena_001"]
PLACES = ["loc_hall_001", "loc_mill_001", "loc_road_001"]
TALK = [
    "Elena is the smith of Oakhurst, and has been for thirty years.",
    "Throk draws his axe and listens at the door, but nothing stirs behind it.",
    "You meet Joss Voss, the innkeeper of Oakhurst, who fears the wolves of the northern road.",
    "Zara counts the torches along the wall; the fourth one burns blue.",
    "Elena's brother is Tam Holt. Tam Holt serves the Red Hand.",
    "A long silence. Somewhere below, water drips on stone, and somebody counts the drops.",
]


def events(writer: str, seed: int) -> Iterator[GameEvent]:
    """What one writer says, under ids that nobody else uses."""
    rng = random.Random(seed)
    for number in count():
        present = rng.sample(ALL, rng.randint(2, 4))
        is_told = rng.random() < 0.6
        metadata: dict[str, Any] = {"participants": present, "location": rng.choice(PLACES)}
        if rng.random() < 0.1:
            metadata["hp_delta"] = {ALL[0]: rng.choice([-2, 2])}
        yield GameEvent(
            event_id=f"{writer}-{number}",
            event_type=EventType.DM_NARRATION if is_told else EventType.PLAYER_ACTION,
            source="dm" if is_told else rng.choice(ALL[:3]),
            content=f"{rng.choice(TALK)} {rng.choice(TALK)}" if rng.random() < 0.3 else rng.choice(TALK),
            session_id=f"s{number // 400:02}",
            metadata=metadata,
        )


# The programs that write.


def write(given: argparse.Namespace) -> None:
    """Plays until the time is over; then says what was acknowledged, and how long each took."""
    address = address_of(given.server)
    names = [f"campaign_{n:03}" for n in range(given.campaigns)]
    own = names[given.number :: given.writers]
    rng, source = random.Random(given.number), events(f"w{given.number}", given.number)
    stored: dict[str, list[str]] = {}
    took: list[float] = []
    with ExitStack() as stack:
        opened: dict[str, Campaign] = {}

        def open_one(name: str) -> None:
            opened[name] = stack.enter_context(Campaign.open(address.of(name)))
            stack.enter_context(opened[name].compacting(queue=True))

        for name in own:
            open_one(name)
        begin = _begin()
        spent = time.process_time()
        for number in count():
            if time.time() >= begin + given.seconds:
                break
            name = rng.choice(names) if number % 10 == 9 else own[number % len(own)]
            if name not in opened:
                open_one(name)
            event = next(source)
            began = time.perf_counter()
            opened[name].record(event)
            took.append(time.perf_counter() - began)
            stored.setdefault(name, []).append(event.event_id)
            if given.rate:
                _wait_until(begin + (number + 1) / given.rate)
    said = {"stored": stored, "took": took, "cpu": time.process_time() - spent}
    Path(given.out).write_text(json.dumps(said))


def insert(given: argparse.Namespace) -> None:
    """The floor: as many plain rows as it can."""
    took: list[float] = []
    with psycopg.connect(given.server, autocommit=True) as connection:
        begin = _begin()
        spent = time.process_time()
        for number, event in enumerate(events(f"w{given.number}", given.number)):
            if time.time() >= begin + given.seconds:
                break
            row = (event.event_id, number, event.content, json.dumps(event.metadata))
            began = time.perf_counter()
            connection.execute("INSERT INTO floor VALUES (%s, %s, %s, %s)", row)
            took.append(time.perf_counter() - began)
    said = {"stored": {}, "took": took, "cpu": time.process_time() - spent}
    Path(given.out).write_text(json.dumps(said))


def _begin() -> float:
    """Says that it is ready, and waits for the moment at which all begin."""
    print("ready", flush=True)
    begin = float(sys.stdin.readline())
    _wait_until(begin)
    return begin


def _wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


class Written(NamedTuple):
    stored: dict[str, list[str]]
    took: list[float]
    seconds: float
    cpu: float


@contextmanager
def writing(role: str, server: str, given: argparse.Namespace, folder: Path, seconds: float) -> Iterator[Any]:
    """Starts the writers; what is given back waits for their end, and gathers what they said."""
    programs = []
    for number in range(given.writers):
        out = folder / f"{role}{number}.json"
        options = {
            "role": role,
            "server": server,
            "number": number,
            "out": out,
            "seconds": seconds,
            "rate": given.rate,
            "campaigns": given.campaigns,
            "writers": given.writers,
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        programs.append((subprocess.Popen([sys.executable, __file__, *words], **pipes), out))
    for program, _ in programs:
        assert program.stdout.readline() == "ready\n", "a writer does not begin"
    begin = time.time() + 0.5
    for program, _ in programs:
        program.stdin.write(f"{begin}\n")
        program.stdin.flush()

    def gathered() -> Written:
        stored: dict[str, list[str]] = {}
        took: list[float] = []
        cpu = 0.0
        for program, out in programs:
            assert program.wait() == 0, "a writer failed"
            said = json.loads(out.read_text())
            took += said["took"]
            cpu += said["cpu"]
            for name, ids in said["stored"].items():
                stored.setdefault(name, []).extend(ids)
        return Written(stored, took, seconds, cpu)

    try:
        yield gathered
    finally:
        for program, _ in programs:
            program.kill()
            program.wait()


# The workers.


class Workers:
    """`dndbots worker`, so many times; what they say is kept."""

    def __init__(self, server: str, folder: Path) -> None:
        self._server, self._folder = server, folder
        self._programs: list[tuple[subprocess.Popen[bytes], Path]] = []
        self.cpu = 0.0

    def start(self) -> None:
        out = self._folder / f"worker{len(self._programs)}.log"
        words = ["worker", self._server, "--kinds", "compact", "--lease", str(LEASE)]
        with out.open("wb") as told:
            program = subprocess.Popen([sys.executable, "-m", "dndbots", *words], stdout=told)
        self._programs.append((program, out))

    def kill_one_at_work(self, queue: JobQueue) -> tuple[str, Any, float]:
        """Kills one with a job in its hands, and waits until the job is done; says by whom it was done."""
        while True:
            for job in queue.jobs(state=JobState.RUNNING):
                pid = int(str(job.worker).split(":")[1])
                # Held, so that it cannot finish between the look and the kill.
                os.kill(pid, signal.SIGSTOP)
                still = [one for one in queue.jobs(state=JobState.RUNNING) if one[:3] == job[:3]]
                if still and still[0].takes == job.takes:
                    self.cpu += _cpu(pid)
                    os.kill(pid, signal.SIGKILL)
                    return str(job.worker), job, time.monotonic()
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.002)

    def lines(self) -> list[str]:
        return [line for _, out in self._programs for line in out.read_text().splitlines()]

    def stop(self) -> None:
        self.cpu += sum(_cpu(program.pid) for program, _ in self._programs if program.poll() is None)
        for program, _ in self._programs:
            if program.poll() is None:
                program.terminate()
        for program, _ in self._programs:
            with suppress(subprocess.TimeoutExpired):
                program.wait(60)
            program.kill()
            program.wait()


def wait_for(is_so: Callable[[], Any], seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it does not come to it"
        time.sleep(0.05)


# The run.


def main() -> None:
    given = options()
    if given.role:
        {"write": write, "insert": insert}[given.role](given)
        return
    with tempfile.TemporaryDirectory() as scratch, served(given.server) as server:
        run(server, given, Path(scratch))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=0, help="events a second of each writer; 0: all it can")
    parser.add_argument("--server", help="a server that runs already, by a database in which others are made")
    for name in ("role", "out"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


@contextmanager
def served(given: str | None) -> Iterator[str]:
    """An empty database, gone afterwards."""
    if given is not None:
        os.environ["DNDBOTS_TEST_POSTGRES"] = given
    server = PostgresServer(settings=DURABLE)
    try:
        server.start()
        url = make_url(server.url(database=server.new_database())).difference_update_query(["campaign"])
        yield url.render_as_string(hide_password=False)
    finally:
        server.close()


def run(server: str, given: argparse.Namespace, folder: Path) -> None:
    print(f"{os.cpu_count()} processors, {_memory():.0f} GiB, load {os.getloadavg()[0]:.1f} before")
    with closing(open_queue(server)) as queue, psycopg.connect(server, autocommit=True) as asks:
        prepare(server, given)
        empty, idle = _size(asks), _cpu_of_server(asks)
        workers = Workers(server, folder)
        try:
            written, connections, killed = play(server, given, folder, queue, workers, asks)
            began = time.monotonic()
            wait_for(lambda: _is_idle(queue))
            drained = time.monotonic() - began
        finally:
            workers.stop()
        grown = _size(asks) - empty
        report(written, grown, connections, asks)
        report_work(workers.lines(), queue, killed, drained)
        number = len(written.took) / 1e3
        used = workers.cpu / number, (_cpu_of_server(asks) - idle) / number
        print(f"processors      {used[0]:.2f} ms of the workers and {used[1]:.2f} ms of the server an event")
        check(server, given, written, asks)
        asks.execute("CREATE TABLE floor (event_id text, seq bigint, content text, metadata text)")
        asks.execute("CREATE UNIQUE INDEX ON floor (event_id)")
    with writing("insert", server, given, folder, min(20.0, given.seconds)) as floor:
        told("floor: INSERT", floor())
    print(f"load {os.getloadavg()[0]:.1f} after")


def prepare(server: str, given: argparse.Namespace) -> None:
    """The campaigns, with their people."""
    for n in range(given.campaigns):
        with Campaign.open(address_of(server).of(f"campaign_{n:03}")) as campaign:
            names = {uid: uid.split("_")[1].title() for uid in ALL}
            campaign.record(
                GameEvent(
                    event_id="opening",
                    event_type=EventType.SESSION_START,
                    source="dm",
                    content="They meet.",
                    session_id="s00",
                    metadata={"participants": ALL, "location": PLACES[0], "names": names},
                )
            )


def play(
    server: str,
    given: argparse.Namespace,
    folder: Path,
    queue: JobQueue,
    workers: Workers,
    asks: "psycopg.Connection[Any]",
) -> tuple[Written, Counter[str], list[str]]:
    for _ in range(given.workers):
        workers.start()
    connections: Counter[str] = Counter()
    with writing("write", server, given, folder, given.seconds) as gathered:
        half = time.monotonic() + given.seconds / 2
        while time.monotonic() < half:
            _count_connections(asks, connections)
            time.sleep(1)
        who, job, at = workers.kill_one_at_work(queue)
        wait_for(lambda: _now(queue, job.id).done > job.done)
        now = _now(queue, job.id)
        killed = [
            f"a worker killed (-9) with a job in its hands: {job.kind} {job.campaign}, taken by {who}",
            f"    done by {now.worker} {time.monotonic() - at:.1f} s later (a lease is {LEASE:.0f} s)",
        ]
        assert now.worker != who
        workers.start()
        written = gathered()
        _count_connections(asks, connections)
    return written, connections, killed


def _now(queue: JobQueue, number: int) -> Any:
    return next(one for one in queue.jobs(limit=100_000) if one.id == number)


def _is_idle(queue: JobQueue) -> bool:
    counts = queue.counts()
    return not counts[JobState.WAITING] and not counts[JobState.RUNNING]


def _count_connections(asks: "psycopg.Connection[Any]", most: Counter[str]) -> None:
    found = asks.execute(
        "SELECT count(*), count(*) FILTER (WHERE state = 'active') FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ).fetchone()
    if found is not None:
        most["open"], most["active"] = max(most["open"], found[0]), max(most["active"], found[1])


def _size(asks: "psycopg.Connection[Any]") -> int:
    found = asks.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(found[0]) if found else 0


def _cpu(pid: int, *, children: bool = False) -> float:
    """Seconds of a processor that a process used; with those of its children that have ended."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks if children else ticks[:2])) / os.sysconf("SC_CLK_TCK")


def _cpu_of_server(asks: "psycopg.Connection[Any]") -> float:
    """All that the server's processes used so far; nothing, if it runs elsewhere."""
    parent = Path(f"/proc/{asks.info.backend_pid}/stat")
    if not parent.exists():
        return 0.0
    postmaster = int(parent.read_text().rpartition(")")[2].split()[1])
    found = _cpu(postmaster, children=True)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == postmaster:
                found += _cpu(int(stat.parent.name))
    return found


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


# What came of it.


def told(name: str, written: Written) -> None:
    took = sorted(1e3 * one for one in written.took)
    cut = statistics.quantiles(took, n=1000)
    print(
        f"{name:<16}{len(took):>9,} events, {len(took) / written.seconds:>7,.0f}/s; "
        f"p50 {cut[499]:.1f} ms, p95 {cut[949]:.1f}, p99 {cut[989]:.1f}, p99.9 {cut[998]:.1f}, "
        f"most {took[-1]:.0f}; {1e3 * written.cpu / len(took):.2f} ms of a processor"
    )


def report(written: Written, grown: int, connections: Counter[str], asks: "psycopg.Connection[Any]") -> None:
    told("record", written)
    number = len(written.took)
    print(f"connections     {connections['open']} open at most, {connections['active']} of them busy")
    print(f"disk            {grown / number:,.0f} bytes an event, {grown / 2**20:,.0f} MiB grown")
    largest = asks.execute(
        "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables ORDER BY 2 DESC LIMIT 6"
    ).fetchall()
    print("    " + ", ".join(f"{name} {size / number:,.0f}" for name, size in largest) + " of them")


def report_work(lines: list[str], queue: JobQueue, killed: list[str], drained: float) -> None:
    done = [re.search(r": (.*?); ([\d.]+) s, waited ([\d.]+) s", line) for line in lines]
    found = [(one[1], float(one[2]), float(one[3])) for one in done if one]
    turns = sum(int(said.split()[0]) for said, _, _ in found if said[0].isdigit())
    waited = statistics.quantiles([one[2] for one in found], n=100)
    busy = sum(one[1] for one in found)
    print(f"jobs            {len(found):,} done, {turns:,} turns read, {1e3 * busy / turns:.1f} ms a turn")
    print(
        f"waited          p50 {waited[49]:.1f} s, p99 {waited[98]:.1f} s; all done {drained:.1f} s after play"
    )
    print("\n".join(killed))
    failures = sum(job.failures for job in queue.jobs(limit=100_000))
    print(f"    attempts that failed in all: {failures}; given up: {queue.counts()[JobState.FAILED]}")


def check(server: str, given: argparse.Namespace, written: Written, asks: "psycopg.Connection[Any]") -> None:
    """Every acknowledged event is there once and nothing else is, compaction tiles the logs, all is sound."""
    began = time.monotonic()
    found: dict[str, Counter[str]] = {}
    rows = asks.execute(
        "SELECT campaigns.name, event_id FROM events JOIN branches ON branches.id = events.branch"
        " JOIN campaigns ON campaigns.id = branches.campaign WHERE event_id LIKE 'w%-%'"
    )
    for name, event_id in rows:
        found.setdefault(name, Counter())[event_id] += 1
    lost = sum(len(set(ids) - found.get(name, Counter()).keys()) for name, ids in written.stored.items())
    doubled = sum(times - 1 for own in found.values() for times in own.values())
    other = sum(len(own.keys() - set(written.stored.get(name, ()))) for name, own in found.items())
    wrong = 0
    for n in range(given.campaigns):
        with _patiently(address_of(server).of(f"campaign_{n:03}")) as campaign:
            assert_tiled(campaign)
            wrong += len(campaign.verify()) + campaign.compaction(last=1).turns_waiting
    print(f"acknowledged    {len(written.took):,}: {lost} lost, {doubled} doubled, {other} not acknowledged")
    print(
        f"verified        {given.campaigns} campaigns: {wrong} problems or turns unread, "
        f"every turn read by one run ({time.monotonic() - began:.0f} s)"
    )
    assert (lost, doubled, other, wrong) == (0, 0, 0, 0)


def _patiently(where: str) -> Campaign:
    try:
        return Campaign.open(where)
    except StoreUnavailable:
        time.sleep(1)
        return Campaign.open(where)


if __name__ == "__main__":
    main()
