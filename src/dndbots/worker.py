"""The process that compacts in the background: `python -m dndbots.worker`, started by a campaign.

A job a line comes in as JSON, an answer a line goes out. It ends when nobody asks any more.
"""

import json
import logging
import os
import sys
from contextlib import suppress
from typing import Any

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError

_MOST_OPEN = 8
# Play comes first.
_NICER = 10


class Opened:
    """Campaigns that stay open from job to job, so that what is at hand of them stays so too."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Campaign] = {}

    def of(self, where: str, branch: str) -> Campaign:
        key = where, branch
        campaign = self._open.pop(key, None) or Campaign.open(where, create=False, branch=branch)
        self._open[key] = campaign
        while len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return campaign

    def drop(self, where: str, branch: str) -> None:
        campaign = self._open.pop((where, branch), None)
        if campaign is not None:
            campaign.close()


def done(job: dict[str, Any], opened: Opened) -> dict[str, Any]:
    """What came of a job: how many runs it took, or why it could not be done."""
    where, branch = str(job["where"]), str(job["branch"])
    try:
        return {"runs": len(opened.of(where, branch).compact())}
    except DndbotsError as exc:
        opened.drop(where, branch)
        return {"error": str(exc)}


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    with suppress(AttributeError, OSError):
        os.nice(_NICER)
    opened = Opened()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(done(json.loads(line), opened)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
