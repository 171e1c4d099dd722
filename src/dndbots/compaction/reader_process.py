"""The process that compacts in the background, for the program that started it.

It reads one job a line from standard input, as JSON, writes one answer a line, and ends with its input. A
`dndbots.jobs.worker` is something else: it serves all campaigns of a database, from its queue.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Sized
from contextlib import suppress
from typing import Any, Final, Protocol

from dndbots.errors import DndbotsError
from dndbots.ids import inert
from dndbots.jobs.open_campaigns import OpenCampaign, OpenCampaigns

# Play has priority. DNDBOTS_NICE=0 lifts that on a machine with nothing else to do.
_NICENESS: Final = "10"


class CompactableCampaign(Protocol):
    """The part of a campaign that this process uses."""

    def compact(self) -> Sized: ...
    def close(self) -> None: ...


class _InertFormatter(logging.Formatter):
    """Formats log lines without terminal control characters, whatever names and words they quote."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(inert, super().format(record).split("\n")))


def answer_job(job: dict[str, Any], campaigns: OpenCampaigns[CompactableCampaign]) -> dict[str, Any]:
    """Compact the campaign of a job; return the number of runs, or the error."""
    where, branch = str(job["where"]), str(job["branch"])
    try:
        return {"runs": len(campaigns.of(where, branch).compact())}
    except Exception as exc:  # noqa: BLE001 - the caller gets the error, and other campaigns are waiting
        campaigns.drop(where, branch)
        return {"error": str(exc) if isinstance(exc, DndbotsError) else f"{type(exc).__name__}: {exc}"}


def run_reader(open_campaign: OpenCampaign[CompactableCampaign]) -> None:
    """Answer jobs from standard input until it ends."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_InertFormatter(logging.BASIC_FORMAT))
    # Ctrl-C at the keyboard is meant for the game; this process ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError, ValueError):
        os.nice(int(os.environ.get("DNDBOTS_NICE", _NICENESS)))
    campaigns = OpenCampaigns(open_campaign)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer_job(json.loads(line), campaigns)) + "\n")
        sys.stdout.flush()
