"""What is noted down beside the entities: shelves of memories, decisions, counts, acts and encounters."""

import json
from collections.abc import Collection

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.canon.claims import Shelf
from dndbots.storage.ports import ClaimRow
from dndbots.storage.viewpoint import Viewpoint


class Notes(Viewpoint):
    """The claims about subjects that are no entities, as far as a viewer knows them."""

    def shelf(self, holder: str, shelf: str) -> Shelf | None:
        """How a shelf of somebody's memories stands; None if nothing was ever put there."""
        subject = claims.shelf_subject(holder, shelf)
        rows = self._store.latest(
            self._lineage, subjects=[subject], slots=[claims.MEMORY], viewer=self.viewer
        )
        newest = max(rows, key=_seq, default=None)
        return None if newest is None else Shelf.of(json.loads(newest.value))

    def shelves(self, holder: str) -> list[str]:
        """The shelves of somebody's memories, by name."""
        prefix = claims.shelf_subject(holder, "")
        found = self._store.subjects(self._lineage, prefix, self.viewer)
        return [subject.removeprefix(prefix) for subject in found]

    def decided(self, kind: str) -> dict[str, dict[str, tuple[JsonValue, int]]]:
        """The newest claim in each slot of all subjects of a kind that are no entities, with its place."""
        found: dict[str, dict[str, tuple[JsonValue, int]]] = {}
        subjects = self._store.subjects(self._lineage, f"{kind} ", self.viewer)
        rows = self._store.latest(self._lineage, subjects=subjects, viewer=self.viewer)
        for row in sorted(rows, key=_seq):
            slots = found.setdefault(row.subject.removeprefix(f"{kind} "), {})
            slots[row.slot] = json.loads(row.value), row.seq
        return found

    def totals(self, subject: str) -> dict[str, int]:
        """What has added up in each counting slot of a subject that is no entity."""
        found: dict[str, int] = {}
        for row in self._store.latest(self._lineage, subjects=[subject], viewer=self.viewer):
            slot = row.slot.removeprefix("+")
            found[slot] = found.get(slot, 0) + (row.total or 0)
        return found

    def subjects(self, kind: str) -> list[str]:
        """What this viewer knows of a kind of subjects that are no entities, without the kind."""
        found = self._store.subjects(self._lineage, f"{kind} ", self.viewer)
        return sorted(one.removeprefix(f"{kind} ") for one in found)

    def newest_in(self, subject: str, slot: str, *, limit: int) -> list[JsonValue]:
        """The newest claims in a slot of a subject that is no entity, oldest first."""
        rows = self._store.newest_claims(self._lineage, subject, slot, self.viewer, limit=limit)
        return [json.loads(row.value) for row in sorted(rows, key=_seq)[-limit:]]

    def slots_of(self, subjects: Collection[str], slot: str) -> dict[str, JsonValue]:
        """The newest claim in a slot of each of some subjects that are no entities."""
        rows = self._store.latest(self._lineage, subjects=sorted(subjects), slots=[slot], viewer=self.viewer)
        return {row.subject: json.loads(row.value) for row in sorted(rows, key=_seq)}


def _seq(row: ClaimRow) -> int:
    return row.seq
