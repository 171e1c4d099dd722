"""A campaign that stays on its branch: somebody may take back a round, and the branch continues elsewhere."""

from threading import RLock

from dndbots.campaign import Campaign


class BranchFollower:
    """Holds a connection to a branch. It belongs to this object, which closes it."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign, self._branch = campaign, campaign.branch
        self._lock = RLock()

    @property
    def campaign(self) -> Campaign:
        """The campaign on the branch that has this name now."""
        with self._lock:
            if self._campaign.branch != self._branch:
                old, self._campaign = self._campaign, self._campaign.another_branch(self._branch)
                old.close()
            return self._campaign

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._campaign.close()
