"""Claims about subjects that are not entities: shelves of memories, decisions, totals, acts, encounters."""

import json
from collections.abc import Collection

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Shelf
from dndbots.storage.ports import ClaimRow
from dndbots.storage.views.viewpoint import Viewpoint


class Notebook(Viewpoint):
    """The claims about subjects that are not entities, as far as a viewer knows them."""

    def shelf(self, holder: str, shelf: str) -> Shelf | None:
        """Return the state of a shelf of somebody's memories; None if nothing was ever put there."""
        subject = claims.shelf_subject(holder, shelf)
        rows = self._store.latest(
            self._lineage, subjects=[subject], slots=[claims.MEMORY], viewer=self.viewer
        )
        newest = max(rows, key=_seq, default=None)
        return None if newest is None else Shelf.of(json.loads(newest.value))

    def shelves(self, holder: str) -> list[str]:
        """Return the names of the shelves of somebody's memories."""
        prefix = claims.shelf_subject(holder, "")
        subjects = self._store.subjects(self._lineage, prefix, self.viewer)
        return [subject.removeprefix(prefix) for subject in subjects]

    def decided(self, kind: str) -> dict[str, dict[str, tuple[JsonValue, int]]]:
        """Return the newest value in each slot of each subject of a kind, with the seq of its claim."""
        found: dict[str, dict[str, tuple[JsonValue, int]]] = {}
        subjects = self._store.subjects(self._lineage, f"{kind} ", self.viewer)
        rows = self._store.latest(self._lineage, subjects=subjects, viewer=self.viewer)
        for row in sorted(rows, key=_seq):
            slots = found.setdefault(row.subject.removeprefix(f"{kind} "), {})
            slots[row.slot] = json.loads(row.value), row.seq
        return found

    def totals(self, subject: str) -> dict[str, int]:
        """Return the sum of each counting slot of a subject."""
        found: dict[str, int] = {}
        for row in self._store.latest(self._lineage, subjects=[subject], viewer=self.viewer):
            slot = row.slot.removeprefix("+")
            found[slot] = found.get(slot, 0) + (row.total or 0)
        return found

    def subjects(self, kind: str) -> list[str]:
        """Return the subjects of a kind that this viewer knows of, without the kind."""
        subjects = self._store.subjects(self._lineage, f"{kind} ", self.viewer)
        return sorted(subject.removeprefix(f"{kind} ") for subject in subjects)

    def newest_in(self, subject: str, slot: str, *, limit: int) -> list[JsonValue]:
        """Return the newest values in a slot of a subject, oldest first."""
        rows = self._store.newest_claims(self._lineage, subject, slot, self.viewer, limit=limit)
        return [json.loads(row.value) for row in sorted(rows, key=_seq)[-limit:]]

    def slots_of(self, subjects: Collection[str], slot: str) -> dict[str, JsonValue]:
        """Return the newest value in a slot of each of some subjects."""
        rows = self._store.latest(self._lineage, subjects=sorted(subjects), slots=[slot], viewer=self.viewer)
        return {row.subject: json.loads(row.value) for row in sorted(rows, key=_seq)}


def _seq(row: ClaimRow) -> int:
    return row.seq
