"""The links of some entities, as one viewer holds them: the one look that every question of the graph takes.

A link is a claim that ties two entities, or a deed of one with the other. Claims are settled as in every
view: the newest that the viewer holds wins, and what has ended is gone.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from dndbots.canon import claims, fold
from dndbots.canon.claims import HeldClaim
from dndbots.canon.fold import Settled
from dndbots.canon.ties import MET, kind_of, tied_by, verb_of
from dndbots.canon.values import CertaintyName
from dndbots.storage.codec import CERTAINTY, held_claim, held_place, said_at
from dndbots.storage.ports import Lineage, Store, Tied

Persons = Mapping[str, list[str]]
_Key = tuple[str, str, str]


class Link(BaseModel):
    """That a viewer holds two to have to do with one another, since an event, and from which events.

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
        """The end that is not this one."""
        return self.object if uid == self.subject else self.subject


class _Found(NamedTuple):
    """A link before its events have names. The greater one is told where two say the same."""

    certainty: int
    rank: tuple[int, int, int]
    since: int
    said: int


class Links:
    """Reads links for one viewer; who is who, and what is settled, it asks the viewer's view."""

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
        """All links from or to some entities, each end under the uid that it goes by, in one order."""
        near = {uid for same in self._persons_of(uids).values() for uid in same}
        rows = self._known(self._store.links(self._lineage, sorted(near), self._viewer))
        ends = {uid for row in rows for uid in (row.subject, row.object)}
        persons = self._persons_of(sorted(ends))
        first = {other: same[0] for same in persons.values() for other in same}
        found: dict[_Key, _Found] = {}
        for row in rows:
            if (verb := verb_of(row.slot)) is not None:
                # Of a deed the earliest counts: it is not done again.
                deed = _Found(row.certainty, (-row.seq, 0, 0), row.seq, row.seq)
                _keep(found, _key(first[row.subject], verb, first[row.object]), deed)
        for head, one in self._claimed(rows, {same[0]: same for same in persons.values()}, first):
            for other in tied_by(one.slot, one.value):
                if other in first:
                    held = _Found(one.certainty, fold.order(one.claim), one.claim.at, said_at(one.claim))
                    _keep(found, (head, kind_of(one.slot), first[other]), held)
        heads = {first[uid] for uid in near if uid in first}
        return self._told({key: one for key, one in found.items() if _touches(key, heads)})

    def _known(self, rows: Sequence[Tied]) -> list[Tied]:
        """Without those whose value only reads like somebody: whom nobody showed the viewer."""
        named = {row.object for row in rows if row.slot.isidentifier() and row.slot != claims.IN}
        strangers = named - self._store.sighted(self._lineage, sorted(named), self._viewer)
        return [row for row in rows if row.object not in strangers]

    def _claimed(
        self, rows: list[Tied], persons: Persons, first: Mapping[str, str]
    ) -> Iterable[tuple[str, Settled]]:
        """What is held true in the slots that ever tied anybody, of each subject under all its uids."""
        slots: dict[str, dict[str, None]] = {}
        for row in rows:
            if verb_of(row.slot) is None:
                slots.setdefault(first[row.subject], {})[row.slot] = None
        placed = [uid for head, own in slots.items() if claims.AT in own for uid in persons[head]]
        held: dict[str, list[HeldClaim]] = {head: [] for head in slots}
        for place in self._store.latest_places(self._lineage, placed, self._viewer):
            held[first[place.uid]].append(held_place(place))
        keys = [(uid, slot) for head, own in slots.items() for uid in persons[head] for slot in own]
        for claim in self._store.latest_in(self._lineage, keys, self._viewer):
            held[first[claim.subject]].append(held_claim(claim))
        for head, own in held.items():
            for one in self._settled(own):
                yield head, one

    def _told(self, found: Mapping[_Key, _Found]) -> list[Link]:
        seqs = {seq for one in found.values() for seq in (one.since, one.said)}
        ids = self._store.ids_at(self._lineage, sorted(seqs))
        return [
            Link.model_construct(
                subject=subject,
                kind=kind,
                object=other,
                certainty=CERTAINTY[one.certainty],
                since=ids[one.since],
                sources=tuple(dict.fromkeys((ids[one.since], ids[one.said]))),
            )
            for (subject, kind, other), one in sorted(found.items())
        ]


def _key(subject: str, verb: str, other: str) -> _Key:
    """To meet is mutual, so it is told in one way, whoever turned out to be whom since."""
    return (min(subject, other), verb, max(subject, other)) if verb == MET else (subject, verb, other)


def _keep(found: dict[_Key, _Found], key: _Key, one: _Found) -> None:
    if key not in found or one > found[key]:
        found[key] = one


def _touches(key: _Key, heads: Collection[str]) -> bool:
    subject, _, other = key
    return subject != other and (subject in heads or other in heads)


SURENESS: Final[dict[str, int]] = {"fact": 0, "belief": 1, "rumor": 2}
