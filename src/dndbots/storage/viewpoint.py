"""From where a campaign is looked at: whose eyes, and up to which place of the log."""

from typing import Self

from dndbots.storage.at_hand import EventsAtHand
from dndbots.storage.ports import Lineage, Store


class Viewpoint:
    """One viewer, at a place in the log. The DM sees everything."""

    def __init__(
        self, store: Store, lineage: Lineage, viewer: str, at_hand: EventsAtHand | None = None
    ) -> None:
        """With events `at_hand`, those that others read are shared with them, so nobody may change one."""
        self._store, self._lineage, self.viewer = store, lineage, viewer
        self._at_hand = at_hand

    def of(self, viewer: str) -> Self:
        """The campaign as somebody else sees it, up to the same place. Whoever asks must be the DM."""
        return type(self)(self._store, self._lineage, viewer, self._at_hand)

    def by_itself(self) -> Self:
        """The same view, whose events are made anew: for those who may do with them as they like."""
        return type(self)(self._store, self._lineage, self.viewer)

    def until(self, seq: int | None) -> Self:
        """The same view when the log had come to a place: what is later costs nothing there."""
        if seq is None:
            return self
        earlier = tuple(part._replace(upto=min(part.upto, seq)) for part in self._lineage)
        return type(self)(self._store, earlier, self.viewer, self._at_hand)

    @property
    def head(self) -> int:
        """The place in the log that this view goes up to."""
        return self._lineage[-1].upto if self._lineage else 0
