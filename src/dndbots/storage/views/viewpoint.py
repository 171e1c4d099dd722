"""The viewpoint of a view: whose it is, and up to which event of the log it reads."""

from typing import Self

from dndbots.storage.ports import Lineage, Store
from dndbots.storage.views.event_cache import EventCache


class Viewpoint:
    """A viewer at one position of the log. The DM sees everything."""

    def __init__(
        self, store: Store, lineage: Lineage, viewer: str, at_hand: EventCache | None = None
    ) -> None:
        """Make a view. With a cache `at_hand`, events are shared with other views: nobody may change one."""
        self._store, self._lineage, self.viewer = store, lineage, viewer
        self._at_hand = at_hand

    def of(self, viewer: str) -> Self:
        """Return the view of another viewer at the same position. Only the DM may ask for it."""
        return type(self)(self._store, self._lineage, viewer, self._at_hand)

    def with_own_events(self) -> Self:
        """Return the same view with its own copies of events, which the caller may change."""
        return type(self)(self._store, self._lineage, self.viewer)

    def until(self, seq: int | None) -> Self:
        """Return the same view when the log ended at `seq`. Later events cost it nothing."""
        if seq is None:
            return self
        earlier = tuple(segment._replace(upto=min(segment.upto, seq)) for segment in self._lineage)
        return type(self)(self._store, earlier, self.viewer, self._at_hand)

    @property
    def head(self) -> int:
        """The seq of the last event that this view reads."""
        return self._lineage[-1].upto if self._lineage else 0
