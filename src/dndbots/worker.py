"""The process that compacts in the background: `python -m dndbots.worker`, started by a campaign.

A job a line comes in as JSON, an answer a line goes out. It ends when nobody asks any more.
"""

import json
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError

_MOST_OPEN = 8
# Play comes first.
_NICER = 10


class Opened:
    """Campaigns that stay open from job to job, so that what is at hand of them stays so too."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], tuple[Campaign, tuple[int, ...]]] = {}

    def of(self, where: str, branch: str) -> Campaign:
        key, folder = (where, branch), _folder(where)
        kept = self._open.pop(key, None)
        if kept is not None and kept[1] != folder:
            kept[0].close()
            kept = None
        self._open[key] = kept or (Campaign.open(where, create=False, branch=branch), folder)
        while len(self._open) > _MOST_OPEN:
            self.drop(*next(iter(self._open)))
        return self._open[key][0]

    def drop(self, where: str, branch: str) -> None:
        kept = self._open.pop((where, branch), None)
        if kept is not None:
            kept[0].close()


def _folder(where: str) -> tuple[int, ...]:
    """What tells a campaign from another that was made in its place since; nothing, on a server."""
    with suppress(OSError):
        return tuple(one.stat().st_ino for one in (Path(where), Path(where, "campaign.db")))
    return ()


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
    # Whoever interrupts the game at the keyboard does not mean this one; it ends with the game.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(_NICER)
    opened = Opened()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(done(json.loads(line), opened)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
