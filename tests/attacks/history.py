"""Writers and readers that note when each call began and ended, and a check of what they noted.

The clock is the machine's monotonic one, which all its processes share, so that the history of several
processes has one order in time wherever calls did not overlap.
"""

import json
import random
import time
from dataclasses import dataclass, field

from tests.storage.writers import Child, is_over, main, say, scene

from dndbots.campaign import Campaign
from dndbots.errors import StoreBusy


class Witness(Child):
    _module = "tests.attacks.history"


@dataclass
class History:
    """What all processes noted. A call that was killed has a beginning and no end."""

    began: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)  # call: when, event ids
    ended: dict[str, tuple[float, tuple[int, ...]]] = field(
        default_factory=dict
    )  # call: when, places in the log
    looks: list[tuple[float, float, int]] = field(
        default_factory=list
    )  # began, ended, the head that was seen

    def add(self, lines: list[str]) -> None:
        for line in lines:
            kind, *noted = json.loads(line)
            if kind == "look":
                began, ended, head = noted
                self.looks.append((began, ended, head))
            else:
                call, when, *values = noted
                (self.began if kind == "began" else self.ended)[call] = (when, tuple(values))


def write_and_note(where: str, writer: str) -> None:
    """Record scenes until the input ends; note each call before and after it."""
    rng = random.Random(writer)
    with Campaign.open(where) as campaign:
        number = 0
        while not is_over():
            events = scene(writer, number, rng)
            call = f"{writer}-{number}"
            say(json.dumps(["began", call, time.monotonic(), *(one.event_id for one in events)]))
            try:
                stored = campaign.record_many(events)
            except StoreBusy:  # somebody who was stopped has the lock: nothing was written
                number += 1
                continue
            say(json.dumps(["ended", call, time.monotonic(), *(one.seq for one in stored)]))
            number += 1


def look_and_note(where: str) -> None:
    """Read the head of the log until the input ends; note when, and what was there."""
    with Campaign.open(where) as campaign:
        while not is_over():
            began = time.monotonic()
            head = campaign.head
            say(json.dumps(["look", began, time.monotonic(), head]))
            time.sleep(0.002)


def check_history(history: History, campaign: Campaign) -> None:
    """Compare a history with the log: kept, once, whole, in order of time, seen once promised."""
    log = {one.event_id: one.seq for one in campaign.events(viewer="dm")}
    assert sorted(log.values()) == list(range(1, len(log) + 1))
    acknowledged = []
    for call, (began, ids) in history.began.items():
        places = [log[one] for one in ids if one in log]
        assert len(places) in (0, len(ids)), f"{call} is in the log by half"
        assert not places or places == list(range(places[0], places[0] + len(ids))), f"{call} is torn"
        if call in history.ended:
            ended, promised = history.ended[call]
            assert places == list(promised), f"{call} was promised at {promised} and is at {places}"
            acknowledged.append((began, ended, places[0], places[-1], call))
    assert set(log) <= {one for _, ids in history.began.values() for one in ids}, "nobody wrote this"
    _check_order(acknowledged)
    _check_looks(history.looks, acknowledged)


def _check_order(acknowledged: list[tuple[float, float, int, int, str]]) -> None:
    """A call that began after another had ended stands behind it in the log."""
    by_end = sorted(acknowledged, key=lambda one: one[1])
    by_beginning = sorted(acknowledged)
    newest, which, position = 0, "", 0
    for began, _, first, _, call in by_beginning:
        while position < len(by_end) and by_end[position][1] < began:
            if by_end[position][3] > newest:
                newest, which = by_end[position][3], by_end[position][4]
            position += 1
        assert first > newest, f"{call} began after {which} had ended, and stands before it"


def _check_looks(
    looks: list[tuple[float, float, int]], acknowledged: list[tuple[float, float, int, int, str]]
) -> None:
    """Whoever looks sees all that was acknowledged before, and nothing that nobody had begun to write."""
    for began, ended, head in looks:
        promised = max((last for _, done, _, last, _ in acknowledged if done < began), default=0)
        assert head >= promised, f"the head was {head} after {promised} was promised"
        too_early = [call for start, _, first, _, call in acknowledged if start > ended and first <= head]
        assert too_early == []


if __name__ == "__main__":
    main({one.__name__: one for one in (write_and_note, look_and_note)})
