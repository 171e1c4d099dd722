"""What one viewer holds true, now and ever: claims that it perceived or was told, settled into facts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from dndbots.canon import claims, fold
from dndbots.canon.claims import Certainty, HeldClaim, Reading, reading_of
from dndbots.canon.fold import Past, Settled
from dndbots.canon.holding import EXTRACTED
from dndbots.canon.values import Entity, Fact, Milestone
from dndbots.ids import category_of
from dndbots.storage.codec import CERTAINTY, held_claim, held_place, said_at
from dndbots.storage.linking import Link, Links
from dndbots.storage.noted import Notes
from dndbots.storage.people import People
from dndbots.storage.ports import ClaimKey


class Truths(People, Notes):
    """Entities with their facts, what was held before, and what ties one to another."""

    def entity(self, who: str) -> Entity:
        persons = self.find(who)
        return self.entities_of({persons[0]: persons})[persons[0]]

    def entities(self, uids: Collection[str]) -> dict[str, Entity]:
        """Several at once, each under the uid it goes by."""
        return self.entities_of({same[0]: same for same in self.persons_of(uids).values()})

    def entities_of(self, persons: Mapping[str, list[str]]) -> dict[str, Entity]:
        """The same, where all uids of each are known: the first is the one that it goes by."""
        called, facts = self._called(persons), self._facts(persons)
        return {
            uid: Entity(
                uid=uid,
                category=category_of(uid),
                name=called[uid].name,
                aliases=called[uid].aliases,
                merged=tuple(same[1:]),
                facts=tuple(facts[uid]),
            )
            for uid, same in persons.items()
        }

    def _facts(self, persons: Mapping[str, list[str]]) -> dict[str, list[Fact]]:
        """What is held true of some subjects, each under one or more uids."""
        first = {uid: head for head, same in persons.items() for uid in same}
        held: dict[str, list[HeldClaim]] = {head: [] for head in persons}
        for row in self._store.latest(self._lineage, subjects=list(first), viewer=self.viewer):
            if row.slot != claims.SAME:
                held[first[row.subject]].append(held_claim(row))
        for place in self._store.latest_places(self._lineage, list(first), self.viewer):
            held[first[place.uid]].append(held_place(place))
        settled = [(head, one) for head, own in held.items() for one in self._settled(own)]
        facts = self._told(settled)
        found: dict[str, list[Fact]] = {head: [] for head in persons}
        for (head, _), fact in zip(settled, facts, strict=True):
            found[head].append(fact)
        return found

    def _settled(self, held: Iterable[HeldClaim]) -> list[Settled]:
        return fold.current(held, self._total_before)

    def truths(self, slots: Collection[str]) -> Iterator[tuple[str, Settled]]:
        """What this viewer holds for a fact in some slots, of every subject there is."""
        wanted = [*slots, *map(claims.change, slots)]
        held = [
            held_claim(row) for row in self._store.latest(self._lineage, slots=wanted, viewer=self.viewer)
        ]
        if claims.AT in slots:
            everybody = self._store.all_sighted(self._lineage, self.viewer)
            held += map(held_place, self._store.latest_places(self._lineage, everybody, self.viewer))
        for subject, same in groupby(sorted(held, key=_subject), _subject):
            for settled in self._settled(same):
                if settled.certainty == Certainty.FACT:
                    yield subject, settled

    def _told(self, settled: Sequence[tuple[str, Settled]]) -> list[Fact]:
        seqs = {seq for _, one in settled for seq in (one.claim.at, one.claim.seq)}
        ids = self._store.ids_at(self._lineage, sorted(seqs))
        return [
            _fact(subject, reading_of(one.slot, one.value), one.claim, one.certainty, ids)
            for subject, one in settled
        ]

    def _total_before(self, claim: HeldClaim, seq: int) -> int:
        key = ClaimKey(claim.subject, claim.slot, claim.holders, claim.certainty)
        return self._store.total_before(self._lineage, key, seq) if seq else 0

    def history(self, who: str) -> list[Fact]:
        """Everything that this viewer ever held true of somebody, oldest first."""
        persons = self.find(who)
        known = [held_claim(row) for row in self._store.all_claims(self._lineage, persons, self.viewer)]
        known += map(held_place, self._store.all_places(self._lineage, persons, self.viewer))
        return self._retold(persons[0], fold.history(known))

    def _retold(self, subject: str, past: Sequence[Past]) -> list[Fact]:
        held = [one.claim for one in past] + [one.superseded_by for one in past if one.superseded_by]
        ids = self._store.ids_at(self._lineage, sorted({seq for one in held for seq in (one.at, one.seq)}))
        return [
            _fact(subject, reading_of(claim.slot, claim.value), claim, claim.certainty, ids).model_copy(
                update={"superseded_by": ids[said_at(newer)] if newer else None}
            )
            for claim, newer in past
        ]

    def histories(self, persons: Mapping[str, Collection[str]]) -> dict[str, list[Fact]]:
        """All that this viewer ever held true of some in plain keys, oldest first; each has all its uids."""
        first = {uid: head for head, same in persons.items() for uid in same}
        held: dict[str, list[HeldClaim]] = {head: [] for head in persons}
        for row in self._store.all_claims(self._lineage, sorted(first), self.viewer):
            if row.slot.isidentifier():
                held[first[row.subject]].append(held_claim(row))
        return {head: self._retold(head, fold.history(own)) for head, own in held.items()}

    def past_of(self, uid: str, slot: str, *, limit: int) -> list[Fact]:
        """The newest that this viewer ever held true of somebody in one slot, oldest first."""
        rows = self._store.newest_claims(self._lineage, uid, slot, self.viewer, limit=limit)
        return self._retold(uid, fold.history(map(held_claim, rows)))

    def milestones(self, kind: str) -> list[Milestone]:
        """The acts or the encounters that this viewer knows of, by id."""
        found = []
        subjects = [f"{kind} {one}" for one in self.subjects(kind)]
        for subject, facts in self._facts({one: [one] for one in subjects}).items():
            for fact in facts:
                if fact.key == "state" and fact.value is not None:
                    name = subject.removeprefix(f"{kind} ")
                    found.append(Milestone(id=name, state=str(fact.value), since=fact.valid_from))
        return found

    def links(self, uids: Collection[str]) -> list[Link]:
        """What some entities have to do with others, in either direction."""
        links = Links(
            self._store, self._lineage, self.viewer, persons_of=self.persons_of, settled=self._settled
        )
        return links.of(uids)


def _subject(claim: HeldClaim) -> str:
    return claim.subject


def _fact(subject: str, said: Reading, claim: HeldClaim, certainty: int, ids: dict[int, str]) -> Fact:
    return Fact.restored(
        subject=subject,
        key=said.key,
        value=said.value,
        op=said.op,
        object=said.object,
        ended=said.ended,
        certainty=CERTAINTY[certainty],
        how=claim.how,
        said_by=claim.said_by,
        valid_from=ids[claim.at],
        learned_from=ids[said_at(claim)],
        superseded_by=None,
        extracted_in=ids[claim.seq] if claim.how == EXTRACTED else None,
    )
