"""Uids under the names that a viewer knows them by."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dndbots.campaign import Campaign


class Names:
    """What a viewer calls somebody; a uid that it does not know stays a uid."""

    def __init__(self, source: "Campaign", viewer: str, as_of: str | None) -> None:
        self._source, self._viewer, self._as_of = source, viewer, as_of

    def known(self, uid: str) -> tuple[str, str]:
        """The name, and the uid that it goes by now: two may have turned out to be one."""
        from dndbots.errors import UnknownEntity

        try:
            found = self._source.entity(uid, viewer=self._viewer, as_of=self._as_of)
        except UnknownEntity:
            return uid, uid
        return found.name, found.uid

    def of(self, uid: str | None) -> str:
        """For a cell of a table: the uid on a line of its own, so that tables stay narrow."""
        if uid is None:
            return ""
        name, now = self.known(uid)
        return uid if name == uid == now else f"{name}\n{uid}"
