"""Several processes write one campaign; some are stopped, woken, killed. Their history must be sound."""

import random
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.attacks.history import History, Witness, check_history
from tests.storage.writers import IS_LONG

from dndbots.campaign import Campaign

ROUNDS = 120 if IS_LONG else 8
WRITERS = 3


def test_a_history_under_kills_and_pauses_is_sound(tmp_path: Path) -> None:
    """Acknowledged calls are kept, once, whole, in order of time; others are there whole or not at all."""
    where = tmp_path / "campaign"
    Campaign.open(where).close()
    rng, history, names = random.Random(ROUNDS), History(), iter(range(10**6))

    def begin(stack: ExitStack, program: str, *arguments: object) -> Witness:
        child = stack.enter_context(Witness(program, where, *arguments))
        child.wait_until_ready()
        child.go()
        return child

    with ExitStack() as stack:
        writers = [begin(stack, "write_and_note", f"w{next(names)}") for _ in range(WRITERS)]
        reader = begin(stack, "look_and_note")
        for writer in writers:
            writer.wait_for_lines(2)
        for _ in range(ROUNDS):
            victim = rng.randrange(WRITERS)
            if rng.random() < 0.5:
                writers[victim].signal(signal.SIGSTOP)
                time.sleep(rng.uniform(0, 0.3))
                writers[victim].signal(signal.SIGCONT)
            else:
                history.add(writers[victim].kill())
                writers[victim] = begin(stack, "write_and_note", f"w{next(names)}")
            time.sleep(rng.uniform(0, 0.2))
        for child in (*writers, reader):
            history.add(child.stop())
    assert len(history.ended) > WRITERS
    assert history.looks
    with Campaign.open(where) as campaign:
        check_history(history, campaign)
        assert campaign.verify() == []


def test_the_check_finds_what_it_looks_for(tmp_path: Path) -> None:
    """A lost event, a torn call, a wrong order and a stale look are each told."""
    where = tmp_path / "campaign"
    with Witness("write_and_note", where, "w") as child:
        child.wait_until_ready()
        child.go()
        child.wait_for_lines(6)
        lines = child.stop()
    whole = History()
    whole.add(lines)
    calls = [call for call in whole.began if call in whole.ended]
    first, second = calls[:2]
    with Campaign.open(where) as campaign:
        check_history(whole, campaign)
        broken = {
            "promised at": lambda one: one.began.update({first: (0.0, ("lost-1",))}),
            "nobody wrote": lambda one: (one.began.pop(first), one.ended.pop(first)),
            "stands before": lambda one: _swap(one, first, second),
            "was promised": lambda one: one.looks.append((1e12, 1e12, 0)),
        }
        for told, breaks in broken.items():
            history = History()
            history.add(lines)
            breaks(history)
            with pytest.raises(AssertionError, match=told):
                check_history(history, campaign)


def _swap(history: History, first: str, second: str) -> None:
    """Pretend that the second call was over before the first began."""
    began = history.began[first][0]
    history.began[second] = (began - 3, history.began[second][1])
    history.ended[second] = (began - 2, history.ended[second][1])
