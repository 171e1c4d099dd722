"""The links of some entities, as one viewer knows them. Every graph question reads them here.

A link is a claim that ties two entities, or a deed of one with the other. Claims are folded as in every view:
the newest one that the viewer holds wins, and an ended one is gone.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots.canon import claims, fold
from dndbots.canon.claims import HeldClaim
from dndbots.canon.entities import CertaintyName
from dndbots.canon.fold import Settled
from dndbots.canon.ties import MET, kind_of, tied_by, verb_of
from dndbots.storage.codec import CERTAINTY, claim_from_row, place_from_row, said_seq
from dndbots.storage.ports import Lineage, Store, TieRow

Persons = Mapping[str, list[str]]
_Key = tuple[str, str, str]


class Link(BaseModel):
    """A tie between two entities that a viewer knows: since which event, and from which events.

    `kind` is the verb of a deed, the operator of a relation, or the key of a fact that names the other.
    """

    model_config = ConfigDict(frozen=True)

    subject: str
    kind: str
    object: str
    certainty: CertaintyName
    since: str
    sources: tuple[str, ...]

    def other(self, uid: str) -> str:
        """Return the other end of the link."""
        return self.object if uid == self.subject else self.subject


class _LinkEvidence(NamedTuple):
    """A link by seqs, before event ids are looked up. Of two that say the same, the greater one counts."""

    certainty: int
    rank: tuple[int, int, int]
    since: int
    said: int


class Links:
    """Reads links for one viewer. The viewer's view resolves identities and folds claims."""

    def __init__(
        self,
        store: Store,
        lineage: Lineage,
        viewer: str,
        *,
        persons_of: Callable[[Collection[str]], Persons],
        settled: Callable[[Iterable[HeldClaim]], list[Settled]],
    ) -> None:
        self._store, self._lineage, self._viewer = store, lineage, viewer
        self._persons_of, self._settled = persons_of, settled

    def of(self, uids: Collection[str]) -> list[Link]:
        """Return all links from or to some entities, in a fixed order, each end under its current uid."""
        near = {uid for same in self._persons_of(uids).values() for uid in same}
        rows = self._known(self._store.links(self._lineage, sorted(near), self._viewer))
        ends = {uid for row in rows for uid in (row.subject, row.object)}
        persons = self._persons_of(sorted(ends))
        first = {other: same[0] for same in persons.values() for other in same}
        found: dict[_Key, _LinkEvidence] = {}
        for row in rows:
            if (verb := verb_of(row.slot)) is not None:
                # The earliest deed counts: a deed is done once.
                deed = _LinkEvidence(row.certainty, (-row.seq, 0, 0), row.seq, row.seq)
                _keep(found, _key(first[row.subject], verb, first[row.object]), deed)
        for head, settled in self._claimed(rows, {same[0]: same for same in persons.values()}, first):
            for other in tied_by(settled.slot, settled.value):
                if other in first:
                    claim = settled.claim
                    held = _LinkEvidence(
                        settled.certainty, fold.claim_order(claim), claim.at, said_seq(claim)
                    )
                    _keep(found, (head, kind_of(settled.slot), first[other]), held)
        heads = {first[uid] for uid in near if uid in first}
        return self._links({key: evidence for key, evidence in found.items() if _touches(key, heads)})

    def _known(self, rows: Sequence[TieRow]) -> list[TieRow]:
        """Drop rows whose value only reads like a uid: that entity was never shown to the viewer."""
        named = {row.object for row in rows if row.slot.isidentifier() and row.slot != claims.IN}
        strangers = named - self._store.sighted(self._lineage, sorted(named), self._viewer)
        return [row for row in rows if row.object not in strangers]

    def _claimed(
        self, rows: list[TieRow], persons: Persons, first: Mapping[str, str]
    ) -> Iterable[tuple[str, Settled]]:
        """Fold the claims of each subject, under all its uids, in the slots that ever tied it to another."""
        slots: dict[str, dict[str, None]] = {}
        for row in rows:
            if verb_of(row.slot) is None:
                slots.setdefault(first[row.subject], {})[row.slot] = None
        placed = [uid for head, own in slots.items() if claims.AT in own for uid in persons[head]]
        held: dict[str, list[HeldClaim]] = {head: [] for head in slots}
        for place in self._store.latest_places(self._lineage, placed, self._viewer):
            held[first[place.uid]].append(place_from_row(place))
        keys = [(uid, slot) for head, own in slots.items() for uid in persons[head] for slot in own]
        for claim in self._store.latest_in(self._lineage, keys, self._viewer):
            held[first[claim.subject]].append(claim_from_row(claim))
        for head, own in held.items():
            for settled in self._settled(own):
                yield head, settled

    def _links(self, found: Mapping[_Key, _LinkEvidence]) -> list[Link]:
        seqs = {seq for evidence in found.values() for seq in (evidence.since, evidence.said)}
        ids = self._store.ids_at(self._lineage, sorted(seqs))
        return [
            Link.model_construct(
                subject=subject,
                kind=kind,
                object=other,
                certainty=CERTAINTY[evidence.certainty],
                since=ids[evidence.since],
                sources=tuple(dict.fromkeys((ids[evidence.since], ids[evidence.said]))),
            )
            for (subject, kind, other), evidence in sorted(found.items())
        ]


def _key(subject: str, verb: str, other: str) -> _Key:
    """Return the key of a deed. To meet is mutual, so its two ends are sorted."""
    return (min(subject, other), verb, max(subject, other)) if verb == MET else (subject, verb, other)


def _keep(found: dict[_Key, _LinkEvidence], key: _Key, evidence: _LinkEvidence) -> None:
    if key not in found or evidence > found[key]:
        found[key] = evidence


def _touches(key: _Key, heads: Collection[str]) -> bool:
    subject, _, other = key
    return subject != other and (subject in heads or other in heads)


SURENESS: Final[dict[str, int]] = {"fact": 0, "belief": 1, "rumor": 2}
