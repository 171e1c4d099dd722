"""Campaigns that stay open from job to job, so that what is at hand of them stays so too."""

from contextlib import suppress
from pathlib import Path

from dndbots.campaign import Campaign

_MOST_OPEN = 8


class Opened:
    """The campaigns that were worked on last. Used by one thread."""

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

    def close(self) -> None:
        for key in [*self._open]:
            self.drop(*key)


def _folder(where: str) -> tuple[int, ...]:
    """What tells a campaign from another that was made in its place since; nothing, on a server."""
    with suppress(OSError):
        return tuple(one.stat().st_ino for one in (Path(where), Path(where, "campaign.db")))
    return ()
