"""The log's figures: what recording, reading, rebuilding, forking and importing cost, in CPU time.

Everything is printed beside a floor from the same run. The floor of `record` writes the same rows with
plain sqlite3, one event a transaction, to a copy of the same file.

    python bench/log.py --events 1000000
"""

import argparse
import gc
import itertools
import resource
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.storage.ports import VIEWS, Rows
from dndbots.storage.sql.sqlite import FILE, SqliteDialect
from saga import FOES, PARTY, PEOPLE, PLACES, saga

SAMPLE = 1_000
BATCH = 2_000
HOLDERS = 500


def cpu(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def speed_of_this_machine() -> float:
    """Microseconds for a thousand additions in Python: this machine's speed varies from minute to minute."""
    return min(cpu(lambda: [sum(range(1_000)) for _ in range(500)]) for _ in range(5)) / 500 * 1e6


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 2**20


class Floor:
    """Plain sqlite3 on a copy of the campaign's file, with the same settings."""

    def __init__(self, campaign: Campaign, folder: Path) -> None:
        campaign._store._db.all(_text("PRAGMA wal_checkpoint(TRUNCATE)"))
        folder.mkdir()
        shutil.copy(Path(campaign._store.where) / FILE, folder / FILE)
        dialect = SqliteDialect(folder, create=False, timeout=30)
        self._connection = dialect._connected()
        dialect.configure(self._connection)
        store = campaign._store
        self._inserts = {name: store._db._of(statement).sql for name, statement in store._say.append.items()}

    def write(self, rows: Rows) -> None:
        cursor = self._connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        for name in ("events", *VIEWS):
            new = getattr(rows, name)
            if new:
                cursor.executemany(self._inserts[name], new)
        cursor.execute("UPDATE branches SET head = ? WHERE id = 1", (rows.head,))
        cursor.execute("UPDATE cursors SET seq = ? WHERE branch = 1", (rows.head,))
        cursor.execute("COMMIT")

    def clear(self) -> None:
        """Read the log, as a rebuild does, and delete what it makes again."""
        self._connection.execute("SELECT * FROM events").fetchall()
        for view in VIEWS:
            self._connection.execute(f"DELETE FROM {view}")  # noqa: S608 - a name of our own

    def close(self) -> None:
        self._connection.close()


def _text(sql: str) -> Any:
    from sqlalchemy import text

    return text(sql)


def measure_record(
    campaign: Campaign, source: Iterator[GameEvent], folder: Path, *, at_once: bool = False
) -> tuple[float, float]:
    """Microseconds of `record` and of its floor, in turns, so that both see the same machine.

    `at_once` records a thousand events with each call of `record_many` instead.
    """
    floor = Floor(campaign, folder)
    written: list[Rows] = []
    write = campaign._store.write
    campaign._store.write = lambda rows: (written.append(rows), write(rows))  # type: ignore[method-assign]
    ours, theirs = [], []
    number = SAMPLE if at_once else SAMPLE // 10
    for _ in range(5 if at_once else 10):
        events = list(itertools.islice(source, number))
        gc.collect()
        calls = [events] if at_once else [[event] for event in events]
        ours.append(cpu(lambda calls=calls: [campaign.record_many(call) for call in calls]))
        theirs.append(cpu(lambda: [floor.write(rows) for rows in written]))
        written.clear()
    campaign._store.write = write  # type: ignore[method-assign]
    floor.close()
    shutil.rmtree(folder)
    each = number / 1e6
    return statistics.median(ours) / each, statistics.median(theirs) / each


READS: dict[str, Callable[[Campaign], Any]] = {
    "entity (a character, for itself)": lambda table: table.entity(PARTY[0], viewer=PARTY[0]),
    "entity (a person, for a character)": lambda table: table.entity(PEOPLE[7], viewer=PARTY[1]),
    "entity (a place, for the DM)": lambda table: table.entity(PLACES[5], viewer="dm"),
    "who_knows (where a character is)": lambda table: table.who_knows({"subject": PARTY[2], "op": "@"}),
    "who_knows (the mood of a place)": lambda table: table.who_knows({"subject": PLACES[5], "key": "mood"}),
    "timeline, newest 20 (a character)": lambda table: table.timeline(viewer=PARTY[3], last=20),
    "timeline, newest 20 (a person)": lambda table: table.timeline(viewer=PEOPLE[7], last=20),
    "timeline about a foe, newest 20": lambda table: table.timeline(viewer=PARTY[3], about=FOES[3], last=20),
}


def measure_reads(campaign: Campaign) -> dict[str, float]:
    """Milliseconds of each read, the median of thirty."""
    found = {}
    for name, read in READS.items():
        read(campaign)
        found[name] = statistics.median(cpu(lambda read=read: read(campaign)) for _ in range(30)) * 1e3
    return found


def grow(campaign: Campaign, source: Iterator[GameEvent], upto: int) -> float:
    """Records until the log has so many events; CPU seconds of `record_many` alone."""
    spent = 0.0
    while campaign.head < upto:
        events = list(itertools.islice(source, min(BATCH, upto - campaign.head)))
        spent += cpu(lambda events=events: campaign.record_many(events))
    return spent


def _rebuilt(campaign: Campaign, folder: Path) -> tuple[float, float]:
    """CPU seconds of a rebuild, and of plain sqlite3 that reads, deletes and writes the same, in turns."""
    floor, write = Floor(campaign, folder / "floor"), campaign._store.write
    theirs = cpu(floor.clear)

    def write_both(rows: Rows) -> None:
        nonlocal theirs
        write(rows)
        theirs += cpu(lambda: floor.write(rows))

    cleared = theirs
    campaign._store.write = write_both  # type: ignore[method-assign]
    both = cpu(campaign.rebuild)
    campaign._store.write = write  # type: ignore[method-assign]
    floor.close()
    shutil.rmtree(folder / "floor")
    return both - (theirs - cleared), theirs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument(
        "--transcripts", type=Path, help="a folder of episodes to import with `dndbots import`"
    )
    options = parser.parse_args()
    sizes = [size for size in (10_000, 100_000, 1_000_000) if size <= options.events] or [options.events]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with Campaign.open(folder / "campaign") as campaign:
            figures = run(campaign, sizes, folder)
            report_growth(figures)
            report_parts(campaign, saga_after(campaign.head))
            report_holders(folder)
            upkeep(campaign, folder)


def saga_after(number: int) -> Iterator[GameEvent]:
    return itertools.islice(saga(1), number, None)


def run(campaign: Campaign, sizes: list[int], folder: Path) -> list[dict[str, Any]]:
    source, found, before = saga(1), [], 0
    for upto in sizes:
        spent = grow(campaign, source, upto)
        figures: dict[str, Any] = {
            "events": upto,
            "record_many": (upto - before) / spent,
            "machine": speed_of_this_machine(),
            "file": size(folder / "campaign"),
        }
        figures["record"], figures["floor"] = measure_record(campaign, source, folder / "floor")
        figures["many"], figures["many floor"] = measure_record(
            campaign, source, folder / "floor", at_once=True
        )
        figures["reads"] = measure_reads(campaign)
        figures["memory"] = memory()
        before = campaign.head
        found.append(figures)
        print(f"… {upto:,} events", flush=True)
    return found


def report_growth(found: list[dict[str, Any]]) -> None:
    print(f"\n{'events in the log':<40}" + "".join(f"{one['events']:>14,}" for one in found))
    rows: dict[str, Callable[[dict[str, Any]], str]] = {
        "record, µs": lambda one: f"{one['record']:.0f}",
        "  plain sqlite3, one a transaction, µs": lambda one: f"{one['floor']:.0f}",
        "  ratio (≤ 3)": lambda one: f"{one['record'] / one['floor']:.2f}",
        "record_many, events/s (≥ 10,000)": lambda one: f"{one['record_many']:,.0f}",
        "  1,000 at once, µs an event": lambda one: f"{one['many']:.0f}",
        "  plain sqlite3, same rows, µs": lambda one: f"{one['many floor']:.0f}",
        "peak memory, MiB": lambda one: f"{one['memory']:.0f}",
        "file, MiB": lambda one: f"{one['file']:.0f}",
        "1,000 additions in Python, µs": lambda one: f"{one['machine']:.1f}",
    }
    for name, cell in rows.items():
        print(f"{name:<40}" + "".join(f"{cell(one):>14}" for one in found))
    for name in READS:
        print(f"{name + ', ms':<40}" + "".join(f"{one['reads'][name]:>14.2f}" for one in found))
    first, last = found[0], found[-1]
    print(f"\nflat? (≤ 1.3) record {last['record'] / first['record']:.2f}", end="")
    print(f", its floor {last['floor'] / first['floor']:.2f}")
    slowest = max(last["reads"].values())
    print(f"slowest read {slowest:.2f} ms (≤ 2)")


def report_parts(campaign: Campaign, source: Iterator[GameEvent]) -> None:
    """Print where the time of `record_many` goes, in microseconds an event."""
    store, recorder = campaign._store, campaign._log._recorder
    spent: Counter[str] = Counter()
    parts = {
        "to check, stamp and fold": (recorder, "_prepare"),
        "to make rows": (recorder, "_rows"),
        "to write rows and seal": (store, "write"),
        "  of this the checksum": (store, "_set_log"),
        "  of this sqlite3's inserts": (store._db, "insert"),
    }
    for name, (owner, method) in parts.items():
        setattr(owner, method, _timed(getattr(owner, method), name, spent))
    events = list(itertools.islice(source, 5 * BATCH))
    gc.collect()
    whole = cpu(
        lambda: [campaign.record_many(events[at : at + BATCH]) for at in range(0, len(events), BATCH)]
    )
    for owner, method in parts.values():
        delattr(owner, method)
    print(f"\nrecord_many, {BATCH:,} at once, µs an event: {whole / len(events) * 1e6:.0f}")
    for name in parts:
        print(f"  {name:<30}{spent[name] / len(events) * 1e6:>6.1f}")


def _timed(work: Callable[..., Any], name: str, spent: Counter[str]) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        began = time.process_time()
        made = work(*args, **named)
        spent[name] += time.process_time() - began
        return made

    return timed


def report_holders(folder: Path) -> None:
    """Print what `who_knows` takes for a fact that many were told, each alone, and its statements alone."""
    fact = {"subject": "npc_priest_001", "key": "role", "value": "a spy"}
    with Campaign.open(folder / "told") as campaign:
        campaign.record_many(_told(fact))
        reads: list[tuple[str, Any]] = []
        database = campaign._store._db

        def ask() -> None:
            campaign.who_knows({"subject": "npc_priest_001", "key": "role"})

        database.cursor.connection.set_trace_callback(lambda sql: reads.append((sql, ())))
        ask()
        database.cursor.connection.set_trace_callback(None)
        ours = min(cpu(ask) for _ in range(100)) * 1e3
        cursor = database.cursor
        floor = (
            min(cpu(lambda: [cursor.execute(*read).fetchall() for read in reads]) for _ in range(100)) * 1e3
        )
        print(f"who_knows, {HOLDERS} holders: {ours:.1f} ms; its statements alone {floor:.1f} ms")


def _told(fact: dict[str, Any]) -> Iterator[GameEvent]:
    shown = {"participants": ["npc_priest_001"]}
    for number in range(HOLDERS + 1):
        told = {"told_to": [f"npc_person_{number:03d}"], "facts": [fact]}
        yield GameEvent(
            event_id=f"evt_{number:08d}",
            event_type=EventType.DIALOGUE,
            source="npc_gossip_001",
            content="Have you heard? The priest is a spy.",
            session_id="s00001",
            turn=number,
            metadata=told if number else shown,
        )


def upkeep(campaign: Campaign, folder: Path) -> None:
    head = campaign.head
    spent, floor = _rebuilt(campaign, folder)
    print(f"rebuild: {head / spent:,.0f} events/s (≥ 10,000); plain sqlite3 {head / floor:,.0f}")
    spent = cpu(campaign.verify)
    print(f"verify: {head / spent:,.0f} events/s")
    before = size(folder / "campaign")
    at = next(iter(campaign.timeline(viewer="dm", last=1_000))).event_id
    began = time.perf_counter()
    campaign.fork("side", at=at).close()
    spent = time.perf_counter() - began
    grown = size(folder / "campaign") / before
    print(f"fork of {head:,} events: {spent:.2f} s (< 1), its file grew by the factor {grown:.3f}")


if __name__ == "__main__":
    main()
