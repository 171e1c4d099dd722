"""The process that compacts in the background: `python -m dndbots.worker`, started by a campaign.

A job a line comes in as JSON, an answer a line goes out. It ends when nobody asks any more. Workers that
serve all campaigns of a database, from its queue, are `dndbots.jobs`.
"""

import json
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from dndbots.errors import DndbotsError
from dndbots.ids import inert
from dndbots.jobs.opened import Opened

# Play comes first; a machine that has nothing else to do may say 0.
_NICER = "10"


class _InertFormatter(logging.Formatter):
    """Lines that steer no terminal, whatever names and words they quote."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(inert, super().format(record).split("\n")))


def done(job: dict[str, Any], opened: Opened) -> dict[str, Any]:
    """What came of a job: how many runs it took, or why it could not be done."""
    where, branch = str(job["where"]), str(job["branch"])
    try:
        return {"runs": len(opened.of(where, branch).compact())}
    except Exception as exc:  # noqa: BLE001 - other campaigns are waiting, and whoever asked has to know
        opened.drop(where, branch)
        return {"error": str(exc) if isinstance(exc, DndbotsError) else f"{type(exc).__name__}: {exc}"}


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_InertFormatter(logging.BASIC_FORMAT))
    # Whoever interrupts the game at the keyboard does not mean this one; it ends with the game.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError, ValueError):
        os.nice(int(os.environ.get("DNDBOTS_NICE", _NICER)))
    opened = Opened()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(done(json.loads(line), opened)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
