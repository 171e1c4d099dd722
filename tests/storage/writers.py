"""Programs that play at a campaign in a process of their own, and how a test starts, watches and kills them.

A program says `ready`, waits for a line, and then prints one line for each event once it is recorded: what
it has printed is promised. It ends when its input is closed.
"""

import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Self

from tests.storage.nursery import Process
from tests.table import event
from tests.waiting import HANG, wait_until

from dndbots.campaign import Campaign
from dndbots.compaction.run import compact_once
from dndbots.errors import DndbotsError, DuplicateEvent, StaleNote, StoreBusy, StoreUnavailable
from dndbots.events import EventType, GameEvent
from dndbots.extraction.english import RuleExtractor

ROOT = Path(__file__).parents[2]
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
HERO, FRIEND, STRANGER = "pc_throk_001", "pc_zara_001", "npc_elena_001"
HALL = "loc_hall_001"
WORDS = [
    "torch",
    "sword",
    "goblin",
    "bridge",
    "river",
    "crown",
    "oath",
    "bell",
    "wolf",
    "door",
    "map",
    "salt",
]
# Patience of the tests with their programs, in seconds; only what hangs takes as long.


def opening_scene() -> GameEvent:
    """Everybody comes to life."""
    return event(
        "opening-0-1of1",
        "dm",
        "They meet in the hall.",
        kind=EventType.DM_NARRATION,
        location=HALL,
        participants=[HERO, FRIEND, STRANGER],
        names={HERO: "Throk", FRIEND: "Zara"},
    )


def scene(writer: str, number: int, rng: random.Random) -> list[GameEvent]:
    """Events that belong together. What the first one hurts, the last one heals.

    So half a scene is to be seen: in the ids, which count its parts, and in the hero's health.
    """
    size = rng.choice([1, 1, 2, 3, 5])
    others = rng.sample([FRIEND, STRANGER], rng.randint(0, 2))
    hurt = rng.randint(1, 9)
    made = []
    for part in range(1, size + 1):
        said = " ".join(rng.choices(WORDS, k=8))
        told = {"location": HALL, "participants": [HERO, *others]}
        if size > 1 and part in (1, size):
            kind = EventType.DAMAGE if part == 1 else EventType.HEALING
            told["hp_delta"] = {HERO: -hurt if part == 1 else hurt}
        elif rng.random() < 0.5:
            kind, told["loot"] = EventType.LOOT, [{"gold": rng.randint(1, 9), "to": HERO}]
        else:
            kind, told["facts"] = EventType.DISCOVERY, [{"subject": HERO, "key": "mood", "value": said[:5]}]
        made.append(event(f"{writer}-{number}-{part}of{size}", "dm", f"{writer}: {said}", kind=kind, **told))
    return made


# The programs.


def write(where: str, writer: str, scenes: str, branch: str = "main", patient: str = "") -> None:
    """Plays scenes until there are enough of them, or its input ends."""
    rng = random.Random(writer)
    campaign = _opened(where, branch, patient=bool(patient))
    for number in range(int(scenes)):
        if is_over():
            break
        _record(campaign, scene(writer, number, rng), patient=bool(patient))
    campaign.close()


def _opened(where: str, branch: str, *, patient: bool) -> Campaign:
    while True:
        try:
            return Campaign.open(where, branch=branch)
        except StoreUnavailable as exc:
            if not patient or type(exc) not in (StoreUnavailable, StoreBusy):
                raise
            time.sleep(0.02)


def _record(campaign: Campaign, events: list[GameEvent], *, patient: bool) -> None:
    """Records a scene. Whoever is patient tries again; then a duplicate says that it was in after all."""
    is_again = False
    while True:
        try:
            if len(events) == 1:
                campaign.record(events[0])
            else:
                campaign.record_many(events)
            break
        except StoreUnavailable as exc:
            if not patient or type(exc) not in (StoreUnavailable, StoreBusy):
                raise
            is_again = True
            time.sleep(0.02)
        except DuplicateEvent:
            if not is_again:
                raise
            break
    say(*(one.event_id for one in events))


def read(where: str, branch: str, viewer: str) -> None:
    """Reads all the while, and says what it should not have seen."""
    times, before = 0, list[str]()
    with Campaign.open(where, branch=branch) as campaign:
        while times == 0 or not is_over():
            moments = campaign.timeline(viewer=viewer, last=7)
            number, _, size = moments[-1].event_id.rpartition("-")[2].partition("of")
            if number != size:
                say(f"a scene breaks off at {moments[-1].event_id}")
            hero = campaign.entity(HERO, viewer=viewer)
            if hero.properties.get("hp_change", 0) != 0:
                say(f"the hero's health is that of half a scene: {hero.properties}")
            seen = [one.event_id for one in campaign.events(viewer=viewer)] if times % 10 == 0 else before
            if seen[: len(before)] != before or len(seen) != len(set(seen)):
                say(f"events are gone, twice or elsewhere: {before[-3:]} became {seen[-5:]}")
            times, before = times + 1, seen
    say(f"read {times} times")


def compress(where: str, writer: str) -> None:
    """Plays, and summarises for everybody after each scene, until its input ends."""
    with Campaign.open(where) as campaign:
        for number in range(10**6):
            if is_over():
                break
            for part, seen in enumerate(([HERO, FRIEND], [HERO], [FRIEND], [])):
                session = f"{writer}-{number // 3}"
                name = f"{writer}-{number}-{part}"
                campaign.record(event(name, "dm", f"Deed {number} {part}.", witnesses=seen, session=session))
            for viewer in ("dm", HERO, FRIEND):
                campaign.compress(viewer, retain=number % 3)
            say(name)


TALK = [
    "Elena is a smith.",
    "Elena is the mayor of Oakhurst.",
    "You meet Joss Voss, the innkeeper of Oakhurst.",
    "Elena's brother is Tam Holt. Tam Holt fears wolves.",
    "Nobody speaks for a while.",
]


def talk(where: str, writer: str, number: str = "1000000") -> None:
    """Plays turns that say something of somebody, until there are enough of them or its input ends."""
    with Campaign.open(where) as campaign:
        for n in range(int(number)):
            if is_over():
                break
            told = {"participants": [HERO, FRIEND, STRANGER][: 1 + n % 3], "location": HALL}
            kind = EventType.DM_NARRATION
            campaign.record(event(f"{writer}-{n}", "dm", TALK[n % len(TALK)], kind=kind, **told))
            say(f"{writer}-{n}")


def compact(where: str, most: str) -> None:
    """Compacts again and again, so many events at a time, until its input ends and nothing is left."""
    with Campaign.open(where) as campaign:
        reader = RuleExtractor()
        while True:
            is_last = is_over()
            with suppress(StaleNote):
                run = compact_once(campaign, reader, most=int(most))
                if run is not None:
                    say(run.run_id)
                elif is_last:
                    break
                campaign.save_data()


def look(*places: str) -> None:
    """Opens one campaign after the other, and says which branches it has."""
    for where in places:
        with Campaign.open(where) as campaign:
            say(*(f"{branch.name} {branch.head}" for branch in campaign.branches()))


def attempt(where: str) -> None:
    """Tries one thing after the other, and says how each went."""
    try:
        campaign = Campaign.open(where, timeout=0.2)
    except DndbotsError as exc:
        say(f"open {type(exc).__name__} {_line(exc)}")
        return
    say("open done")
    with campaign:
        for name, deed in (
            ("timeline", lambda: campaign.timeline(viewer="dm")),
            ("record", lambda: campaign.record(event("attempt", "dm", "An attempt."))),
            ("verify", campaign.verify),
        ):
            try:
                deed()
                say(f"{name} done")
            except DndbotsError as exc:
                say(f"{name} {type(exc).__name__} {_line(exc)}")


def _line(exc: Exception) -> str:
    return " ".join(str(exc).split())


def say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201


def is_over() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


PROGRAMS = {one.__name__: one for one in (write, read, compress, talk, compact, look, attempt)}


def main(programs: Mapping[str, Callable[..., None]] = PROGRAMS) -> None:
    program, *arguments = sys.argv[1:]
    say("ready")
    if sys.stdin.readline():
        programs[program](*arguments)


# What a test does with them.

# What permissions say binds root too, once it has given up its capabilities. Another user would be bound
# as well, but might not be able to read the Python that runs the tests.
WITHOUT_PRIVILEGES = """
import ctypes, os
version_and_process = (ctypes.c_uint32 * 2)(0x20080522, 0)
if os.geteuid() == 0 and ctypes.CDLL(None).capset(version_and_process, (ctypes.c_uint32 * 6)()) != 0:
    raise SystemExit("capabilities cannot be given up")
"""
WITHOUT_PSYCOPG = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("psycopg", "psycopg_binary", "psycopg_c"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
"""


class Child:
    """A running program of this module. `first` is code that runs before it is loaded."""

    _module = "tests.storage.writers"

    def __init__(self, program: str, *arguments: object, first: str = "") -> None:
        # Files, not pipes: a pipe that nobody empties would make the program wait.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 see __exit__
        self._process = self._begun([program, *map(str, arguments)], first)

    def _begun(self, arguments: list[str], first: str) -> "Process | subprocess.Popen[bytes]":
        if not first:
            files = {"stdout": self._out.fileno(), "stderr": self._err.fileno()}
            return Process(self._module, arguments, **files)
        code = f"{first}\nimport runpy; runpy.run_module('{self._module}', run_name='__main__')"
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._err,
            bufsize=0,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._out.close()
        self._err.close()

    def wait_until_ready(self) -> None:
        """Until it has loaded all it needs, so that what follows is only its work."""
        self._wait(lambda: self._read(self._out), "a program begins")

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")

    def wait_for_lines(self, number: int) -> None:
        """Until it has said so many lines; how long that takes depends on the machine."""
        self._wait(lambda: len(self.lines) >= number, f"a program says {number} lines")

    def _wait(self, condition: Callable[[], object], what: str) -> None:
        def has_come() -> bool:
            is_running = self._process.poll() is None
            is_so = bool(condition())
            assert is_so or is_running, self.errors
            return is_so

        wait_until(has_come, what)

    @property
    def pid(self) -> int:
        return self._process.pid

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> list[str]:
        """Ends it without any warning (SIGKILL); gives the lines that it got out before."""
        self._process.kill()
        self._process.wait()
        return self.lines

    def stop(self) -> list[str]:
        """Lets it finish what it is doing; gives its lines."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.finish()

    def finish(self) -> list[str]:
        """Waits for its end, which must be a good one; gives its lines."""
        code = self._process.wait(HANG)
        # A driver may log that it lost its connection; what must not come out is an error.
        assert code == 0, self.errors
        assert "Traceback" not in self.errors, self.errors
        return self.lines

    @property
    def lines(self) -> list[str]:
        """Whole lines only: a line that breaks off was not said."""
        return self._read(self._out).split("\n")[1:-1]

    @property
    def errors(self) -> str:
        return self._read(self._err)

    @staticmethod
    def _read(file: IO[bytes]) -> str:
        # By position, as the program writes through the same open file.
        size = os.fstat(file.fileno()).st_size
        return os.pread(file.fileno(), size, 0).decode()


@contextmanager
def at_once(*programs: tuple[object, ...], kind: type[Child] = Child) -> Iterator[list[Child]]:
    """Programs that begin at the same moment."""
    with ExitStack() as stack:
        children = [stack.enter_context(kind(str(name), *rest)) for name, *rest in programs]
        for child in children:
            child.wait_until_ready()
        for child in children:
            child.go()
        yield children


def check_sound(campaign: Campaign, promised: list[str], *, told: str = "") -> None:
    """Everything promised is there, nothing is there twice or by half, and log and views agree."""
    found = list(campaign.events(viewer="dm"))
    ids = [one.event_id for one in found]
    assert [one.seq for one in found] == list(range(1, campaign.head + 1)), f"{told}: the log has gaps"
    assert len(ids) == len(set(ids)), f"{told}: events are there twice"
    lost = sorted(set(promised) - set(ids))
    assert lost == [], f"{told}: promised events are lost: {lost}"
    parts = Counter(one.rpartition("-")[0] for one in ids if "of" in one)
    sizes = {one.rpartition("-")[0]: int(one.rpartition("of")[2]) for one in ids if "of" in one}
    assert parts == sizes, f"{told}: scenes are there by half"
    problems = campaign.verify()
    assert problems == [], f"{told}: {problems}"


if __name__ == "__main__":
    main()
