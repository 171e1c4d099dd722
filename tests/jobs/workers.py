"""Programs that play on a server and work for it, each in a process of its own."""

import sys
import threading
import time
from itertools import count

from tests.storage.writers import HALL, TALK, Child, is_over, main, say
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.compaction.run import compact_once
from dndbots.errors import DuplicateEvent, StaleNote, StoreBusy, StoreUnavailable
from dndbots.events import EventType
from dndbots.extraction.english import RuleExtractor
from dndbots.jobs.kinds import Done
from dndbots.jobs.queue import COMPACT, JobPatience
from dndbots.jobs.sql_queue import open_queue
from dndbots.jobs.worker import Worker

PARTY = ["pc_throk_001", "pc_zara_001"]
# Tests wait for nothing that they need not wait for.
QUICK = JobPatience(attempts=50, first=0.05, longest=0.2)


class Program(Child):
    _module = "tests.jobs.workers"


def make(where: str) -> None:
    """Opens the queue, which may not be there yet."""
    open_queue(where).close()
    say("made")


def work(where: str, most: str, lease: str = "3600") -> None:
    """Compacts so many events at a time, and says each run; ends when its input does."""

    def compact(campaign: Campaign) -> Done:
        reader, name = RuleExtractor(), campaign.address
        say(f"begun {name}")
        for number in count():
            try:
                run = compact_once(campaign, reader, most=int(most))
            except StaleNote:
                continue
            if run is None:
                return Done(f"{number} runs")
            say(f"run {name}")
        raise AssertionError

    worker = Worker(
        where, Campaign.open, kinds={COMPACT: compact}, lease=float(lease), patience=QUICK, tell=say
    )
    # Who waits for its input in a thread of its own notices the end of it at once.
    threading.Thread(target=lambda: (sys.stdin.read(), worker.stop()), daemon=True).start()
    worker.run()


def play(where: str, writer: str, number: str = "1000000") -> None:
    """Says things, and asks for compaction of them; says each that is recorded. Tries again if it must."""
    with Campaign.open(where) as campaign, campaign.compacting(every=3, queue=True):
        for n in range(int(number)):
            if is_over():
                break
            told = {"participants": PARTY, "location": HALL}
            said = event(f"{writer}-{n}", "dm", TALK[n % len(TALK)], kind=EventType.DM_NARRATION, **told)
            is_again = False
            while True:
                try:
                    campaign.record(said)
                except (StoreUnavailable, StoreBusy):
                    is_again = True
                    time.sleep(0.02)
                except DuplicateEvent:
                    assert is_again
                    break
                else:
                    break
            say(said.event_id)


if __name__ == "__main__":
    main({one.__name__: one for one in (make, work, play)})
