"""Campaigns that stay open from job to job, so that their caches stay warm."""

from contextlib import suppress
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

_MOST_OPEN: Final = 8


class _Closable(Protocol):
    def close(self) -> None: ...


Opened = TypeVar("Opened", bound=_Closable)
_Opened_co = TypeVar("_Opened_co", covariant=True)


class OpenCampaign(Protocol[_Opened_co]):
    """A function that opens one branch of a campaign, such as `Campaign.open`."""

    def __call__(self, where: str, /, *, create: bool, branch: str) -> _Opened_co: ...


class OpenCampaigns(Generic[Opened]):
    """The campaigns that were used last. For one thread only."""

    def __init__(self, open_campaign: OpenCampaign[Opened]) -> None:
        self._open_campaign = open_campaign
        self._open: dict[tuple[str, str], tuple[Opened, tuple[int, ...]]] = {}

    def of(self, where: str, branch: str) -> Opened:
        """Return the campaign at an address, opened if it is not open yet."""
        key, files = (where, branch), _file_numbers(where)
        kept = self._open.pop(key, None)
        if kept is not None and kept[1] != files:
            kept[0].close()
            kept = None
        self._open[key] = kept or (self._open_campaign(where, create=False, branch=branch), files)
        while len(self._open) > _MOST_OPEN:
            self.drop(*next(iter(self._open)))
        return self._open[key][0]

    def drop(self, where: str, branch: str) -> None:
        """Close a campaign, if it is open."""
        kept = self._open.pop((where, branch), None)
        if kept is not None:
            kept[0].close()

    def close(self) -> None:
        """Close all campaigns."""
        for key in [*self._open]:
            self.drop(*key)


def _file_numbers(where: str) -> tuple[int, ...]:
    """Return the inodes of a campaign's folder and database: another campaign in its place has others.

    Empty for a campaign on a server.
    """
    with suppress(OSError):
        return tuple(path.stat().st_ino for path in (Path(where), Path(where, "campaign.db")))
    return ()
