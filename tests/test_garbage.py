"""Python's garbage collector: paused where that pays, and working where a program runs on."""

import gc
import subprocess
import sys
import threading

from tests.waiting import HANG

from dndbots._garbage import NO_COLLECTION


def test_the_collector_stays_paused_until_the_last_thread_leaves() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with NO_COLLECTION:
            inside.set()
            leave.wait(HANG)

    thread = threading.Thread(target=other)
    with NO_COLLECTION:
        thread.start()
        assert inside.wait(HANG)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_a_program_that_runs_on_collects_its_garbage() -> None:
    """A short one does not; from the first collection on, what was loaded at the start is left out."""
    code = (
        "import gc; from dndbots._garbage import spare_short_commands; spare_short_commands()\n"
        "class Ring:\n"
        "    def __init__(self): self.own = self\n"
        "def left(): return sum(isinstance(thing, Ring) for thing in gc.get_objects())\n"
        "made = [Ring() for _ in range(1_000)]; made.clear(); print(left() == 1_000)\n"
        "for _ in range(500_000): Ring()\n"
        "print(left() < 100_000, gc.get_freeze_count() > 0, gc.get_threshold()[0])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["True", "True", "True", "50000"]
