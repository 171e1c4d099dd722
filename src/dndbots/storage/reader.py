"""What a viewer may read: every answer here is made from rows of events that the viewer perceived."""

from collections.abc import Collection

from dndbots.ids import DM
from dndbots.storage.happened import Happenings
from dndbots.storage.knowledge import Knowledge
from dndbots.storage.people import Called, called_by
from dndbots.storage.ports import NameRow


class View(Knowledge, Happenings):
    """The campaign as one viewer sees it, up to a place in the log. The DM sees everything."""

    def common_to(self, people: frozenset[str]) -> "CommonNames":
        """The names that are common to some people. Whoever asks must be the DM."""
        common = CommonNames(self._store, self._lineage, DM, self._at_hand)
        common.people = people
        return common


class CommonNames(View):
    """Names by events that all of some people perceived. What one of them heard alone is not in it.

    It is the DM's view in all but names.
    """

    people: frozenset[str] = frozenset()

    def given(self, names: Collection[str]) -> dict[str, set[str]]:
        wanted = set(names)
        uids = {uid for found in super().given(names).values() for uid in found}
        common: dict[str, set[str]] = {}
        for row in self._common(uids):
            if row.folded in wanted:
                common.setdefault(row.folded, set()).add(row.uid)
        return common

    def called(self, uids: Collection[str]) -> dict[str, Called]:
        rows: dict[str, list[NameRow]] = {uid: [] for uid in uids}
        for row in self._common(uids):
            rows[row.uid].append(row)
        return {uid: called_by(uid, own) for uid, own in rows.items()}

    def _common(self, uids: Collection[str]) -> list[NameRow]:
        rows = self._store.names_of(self._lineage, sorted(uids), None)
        groups = self._store.members({row.audience for row in rows})
        # Characters and others who perceived one event stand in two groups.
        heard: dict[tuple[int, str, int, int], set[str]] = {}
        for row in rows:
            heard.setdefault((row.branch, row.uid, row.seq, row.n), set()).update(groups[row.audience])
        once = {(row.branch, row.uid, row.seq, row.n): row for row in rows}
        return [row for key, row in once.items() if self.people <= heard[key]]
