"""The view of one viewer, with all its questions, and the names that several people share."""

from collections.abc import Collection

from dndbots.ids import DM
from dndbots.storage.ports import NameRow
from dndbots.storage.views.knowledge import Knowledge
from dndbots.storage.views.people import KnownAs, known_as
from dndbots.storage.views.perceived_events import PerceivedEvents


class View(Knowledge, PerceivedEvents):
    """The campaign as one viewer sees it, up to one position of the log. The DM sees everything."""

    def common_to(self, people: frozenset[str]) -> "CommonNames":
        """Return a view with only the names that all of these people know. Only the DM may ask for it."""
        common = CommonNames(self._store, self._lineage, DM, self._at_hand)
        common.people = people
        return common


class CommonNames(View):
    """The DM's view, with names only from events that all of some people perceived."""

    people: frozenset[str] = frozenset()

    def given(self, names: Collection[str]) -> dict[str, set[str]]:
        wanted = set(names)
        uids = {uid for bearers in super().given(names).values() for uid in bearers}
        common: dict[str, set[str]] = {}
        for row in self._common(uids):
            if row.folded in wanted:
                common.setdefault(row.folded, set()).add(row.uid)
        return common

    def called(self, uids: Collection[str]) -> dict[str, KnownAs]:
        rows: dict[str, list[NameRow]] = {uid: [] for uid in uids}
        for row in self._common(uids):
            rows[row.uid].append(row)
        return {uid: known_as(uid, own) for uid, own in rows.items()}

    def _common(self, uids: Collection[str]) -> list[NameRow]:
        rows = self._store.names_of(self._lineage, sorted(uids), None)
        groups = self._store.members({row.audience for row in rows})
        # Characters and others who perceived one event stand in two groups.
        heard: dict[tuple[int, str, int, int], set[str]] = {}
        for row in rows:
            heard.setdefault((row.branch, row.uid, row.seq, row.n), set()).update(groups[row.audience])
        once = {(row.branch, row.uid, row.seq, row.n): row for row in rows}
        return [row for key, row in once.items() if self.people <= heard[key]]
