"""A process whose disk fails when a test says so: at the n-th call, once or for good; or a kill there.

`FaultyDisk` starts one child with `disk_faults.c` preloaded. The child loads dndbots once and forks for each
case, so a case costs a fraction of a second. Each case plays the same short campaign and notes what it was
promised (recorded and acknowledged) and what was refused.
"""

import ctypes
import errno
import json
import os
import random
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Self

from tests.storage.writers import opening_scene, scene

from dndbots.campaign import Campaign
from dndbots.compaction.run import compact_once
from dndbots.errors import DndbotsError
from dndbots.extraction.english import RuleExtractor

SOURCE = Path(__file__).with_name("disk_faults.c")
ROOT = Path(__file__).parents[2]


class Kind(IntEnum):
    OPEN = 0
    WRITE = 1
    SYNC = 2
    RENAME = 3


class Deed(IntEnum):
    FAIL_ONCE = 0
    FAIL_ALWAYS = 1
    KILL = 2


class Case(NamedTuple):
    """One run: which call fails, and how. `at` 0 lets all of them pass and counts them."""

    kind: Kind = Kind.OPEN
    at: int = 0
    deed: Deed = Deed.FAIL_ONCE
    error: int = errno.EIO


class Outcome(NamedTuple):
    code: int  # 0, or minus the signal that ended it
    promised: list[str]
    refused: list[str]
    seen: Mapping[str, int]  # how many calls of each kind there were
    errors: str


class NoCompiler(Exception):
    """The shim cannot be built here."""


class FaultyDisk:
    """The child that plays on a faulty disk. Close it when done."""

    def __init__(self, scratch: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None or sys.platform != "linux":
            raise NoCompiler("disk faults want Linux and a C compiler")
        self._shim = scratch / "disk_faults.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self._shim, SOURCE, "-ldl"], check=True)
        self._notes = scratch / "notes.json"
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.attacks.disk_faults import serve; serve()", self._shim],
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(self._shim)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._process.communicate()

    def play(self, where: Path, case: Case) -> Outcome:
        """Play a campaign in a folder while the disk fails as the case says."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._notes.unlink(missing_ok=True)
        self._process.stdin.write(json.dumps([str(where), str(self._notes), *case]) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        lines = self._notes.read_text(encoding="utf-8").splitlines() if self._notes.exists() else []
        notes: dict[str, list[str]] = {"promised": [], "refused": [], "seen": [], "errors": []}
        for line in lines:
            name, text = json.loads(line)
            notes[name].append(text)
        seen = json.loads(notes["seen"][-1]) if notes["seen"] else {}
        return Outcome(code, notes["promised"], notes["refused"], seen, "\n".join(notes["errors"]))


# In the child.


def serve() -> None:
    """Fork for each case that is asked for, and tell how it ended."""
    shim = ctypes.CDLL(sys.argv[1])
    for line in sys.stdin:
        where, notes, kind, at, deed, error = json.loads(line)
        child = os.fork()
        if not child:
            os._exit(_run(shim, Path(where), Path(notes), Case(Kind(kind), at, Deed(deed), error)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


def _run(shim: ctypes.CDLL, where: Path, notes: Path, case: Case) -> int:
    """Play a case; every word of it goes to a file that the faults do not touch."""
    file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(name: str, text: str) -> None:
        os.write(file, (json.dumps([name, text]) + "\n").encode())

    shim.disk_faults_arm(str(where).encode(), case.kind, ctypes.c_long(case.at), case.deed, case.error)
    code = 0
    try:
        _play(where, note)
    except BaseException:  # noqa: BLE001 - it is what the test looks for
        code = 1
        note("errors", traceback.format_exc())
    note("seen", json.dumps({kind.name: shim.disk_faults_seen(kind) for kind in Kind}))
    return code


def _play(where: Path, note: Callable[[str, str], None]) -> None:
    """A short campaign: play, compaction, its files, a fork. What is refused is noted, and play goes on."""
    rng = random.Random(1)

    def attempt(deed: Callable[[], object], *promised: str) -> None:
        try:
            deed()
        except DndbotsError as exc:
            note("refused", f"{type(exc).__name__}: {exc}")
        else:
            for one in promised:
                note("promised", one)

    def record(campaign: Campaign, number: int) -> None:
        events = scene(campaign.branch, number, rng)
        attempt(lambda: campaign.record_many(events), *(one.event_id for one in events))

    def on_a_fork(campaign: Campaign) -> None:
        with campaign.fork("aside") as fork:
            record(fork, 90)

    try:
        campaign = Campaign.open(where)
    except DndbotsError as exc:
        note("refused", f"{type(exc).__name__}: {exc}")
        return
    try:
        attempt(lambda: campaign.record(opening_scene()), opening_scene().event_id)
        for number in range(3):
            record(campaign, number)
        attempt(lambda: compact_once(campaign, RuleExtractor()))
        attempt(campaign.save_data)
        attempt(lambda: on_a_fork(campaign))
        record(campaign, 3)
    finally:
        attempt(campaign.close)
