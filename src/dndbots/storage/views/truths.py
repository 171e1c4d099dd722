"""The facts that one viewer holds true, now and in the past: claims it perceived or was told, folded."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from dndbots.canon import claims, fold
from dndbots.canon.certainty import EXTRACTED
from dndbots.canon.claims import CertaintyRank, HeldClaim, SlotReading, reading_of
from dndbots.canon.entities import Entity, Fact, Milestone, restore_model
from dndbots.canon.fold import PastClaim, Settled
from dndbots.ids import PARTY_UID, category_of
from dndbots.storage.codec import CERTAINTY, claim_from_row, place_from_row, said_seq
from dndbots.storage.ports import ClaimKey
from dndbots.storage.views.links import Link, Links
from dndbots.storage.views.notebook import Notebook
from dndbots.storage.views.people import PEOPLE, People


class Truths(People, Notebook):
    """Entities with their facts, their history, and their links."""

    def entity(self, who: str) -> Entity:
        """Return an entity by uid or name."""
        persons = self.find(who)
        return self.entities_of({persons[0]: persons})[persons[0]]

    def entities(self, uids: Collection[str]) -> dict[str, Entity]:
        """Return several entities, by their current uid."""
        return self.entities_of({same[0]: same for same in self.persons_of(uids).values()})

    def entities_of(self, persons: Mapping[str, list[str]]) -> dict[str, Entity]:
        """Return entities whose uids are all known; the first uid of each is the current one."""
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

    def known_people(self) -> list[Entity]:
        """Return everybody that this viewer knows of: characters, NPCs and monsters, each once."""
        uids = [uid for prefix in PEOPLE for uid in self.everybody(prefix)]
        return list(self.entities(uids).values())

    def party(self) -> list[str]:
        """Return the living of the party, as far as this viewer knows."""
        people = self.known_people()
        alive = {entity.uid: entity.alive for entity in people}
        return fold.find_party(
            [entity.uid for entity in people if any(map(_is_in_party, entity.facts))],
            lambda: [entity.uid for entity in people if entity.category == "PC"],
            lambda uid: not alive[uid],
        )

    def _facts(self, persons: Mapping[str, list[str]]) -> dict[str, list[Fact]]:
        """Return the current facts of some subjects, each under one or more uids."""
        first = {uid: head for head, same in persons.items() for uid in same}
        held: dict[str, list[HeldClaim]] = {head: [] for head in persons}
        for row in self._store.latest(self._lineage, subjects=list(first), viewer=self.viewer):
            if row.slot != claims.SAME:
                held[first[row.subject]].append(claim_from_row(row))
        for place in self._store.latest_places(self._lineage, list(first), self.viewer):
            held[first[place.uid]].append(place_from_row(place))
        settled = [(head, value) for head, own in held.items() for value in self._settled(own)]
        facts = self._as_facts(settled)
        found: dict[str, list[Fact]] = {head: [] for head in persons}
        for (head, _), fact in zip(settled, facts, strict=True):
            found[head].append(fact)
        return found

    def _settled(self, held: Iterable[HeldClaim]) -> list[Settled]:
        return fold.settle_claims(held, self._total_before)

    def truths(self, slots: Collection[str]) -> Iterator[tuple[str, Settled]]:
        """Yield the facts that this viewer holds in some slots, of every subject."""
        wanted = [*slots, *map(claims.change_slot, slots)]
        held = [
            claim_from_row(row) for row in self._store.latest(self._lineage, slots=wanted, viewer=self.viewer)
        ]
        if claims.AT in slots:
            everybody = self._store.all_sighted(self._lineage, self.viewer)
            held += map(place_from_row, self._store.latest_places(self._lineage, everybody, self.viewer))
        for subject, same in groupby(sorted(held, key=_subject), _subject):
            for settled in self._settled(same):
                if settled.certainty == CertaintyRank.FACT:
                    yield subject, settled

    def _as_facts(self, settled: Sequence[tuple[str, Settled]]) -> list[Fact]:
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
        """Return everything that this viewer ever held true of an entity, oldest first."""
        persons = self.find(who)
        known = [claim_from_row(row) for row in self._store.all_claims(self._lineage, persons, self.viewer)]
        known += map(place_from_row, self._store.all_places(self._lineage, persons, self.viewer))
        return self._as_past_facts(persons[0], fold.claim_history(known))

    def _as_past_facts(self, subject: str, past: Sequence[PastClaim]) -> list[Fact]:
        held = [one.claim for one in past] + [one.superseded_by for one in past if one.superseded_by]
        ids = self._store.ids_at(self._lineage, sorted({seq for one in held for seq in (one.at, one.seq)}))
        return [
            _fact(subject, reading_of(claim.slot, claim.value), claim, claim.certainty, ids).model_copy(
                update={"superseded_by": ids[said_seq(newer)] if newer else None}
            )
            for claim, newer in past
        ]

    def histories(self, persons: Mapping[str, Collection[str]]) -> dict[str, list[Fact]]:
        """Return the history of some entities in plain keys, oldest first. `persons` has all uids of each."""
        first = {uid: head for head, same in persons.items() for uid in same}
        held: dict[str, list[HeldClaim]] = {head: [] for head in persons}
        for row in self._store.all_claims(self._lineage, sorted(first), self.viewer):
            if row.slot.isidentifier():
                held[first[row.subject]].append(claim_from_row(row))
        return {head: self._as_past_facts(head, fold.claim_history(own)) for head, own in held.items()}

    def past_of(self, uid: str, slot: str, *, limit: int) -> list[Fact]:
        """Return the newest values that this viewer ever held in one slot of an entity, oldest first."""
        rows = self._store.newest_claims(self._lineage, uid, slot, self.viewer, limit=limit)
        return self._as_past_facts(uid, fold.claim_history(map(claim_from_row, rows)))

    def milestones(self, kind: str) -> list[Milestone]:
        """Return the acts or the encounters that this viewer knows of, by id."""
        found = []
        subjects = [f"{kind} {name}" for name in self.subjects(kind)]
        for subject, facts in self._facts({subject: [subject] for subject in subjects}).items():
            for fact in facts:
                if fact.key == "state" and fact.value is not None:
                    name = subject.removeprefix(f"{kind} ")
                    found.append(Milestone(id=name, state=str(fact.value), since=fact.valid_from))
        return found

    def links(self, uids: Collection[str]) -> list[Link]:
        """Return the links of some entities to others, in either direction."""
        links = Links(
            self._store, self._lineage, self.viewer, persons_of=self.persons_of, settled=self._settled
        )
        return links.of(uids)


def _subject(claim: HeldClaim) -> str:
    return claim.subject


def _is_in_party(fact: Fact) -> bool:
    return fact.op == claims.IN and fact.object == PARTY_UID and not fact.ended


def _fact(subject: str, said: SlotReading, claim: HeldClaim, certainty: int, ids: dict[int, str]) -> Fact:
    key, value, op, other, ended = said
    fields = {
        "subject": subject,
        "key": key,
        "value": value,
        "op": op,
        "object": other,
        "ended": ended,
        "certainty": CERTAINTY[certainty],
        "how": claim.how,
        "said_by": claim.said_by,
        "valid_from": ids[claim.at],
        "learned_from": ids[said_seq(claim)],
        "superseded_by": None,
        "extracted_in": ids[claim.seq] if claim.how == EXTRACTED else None,
    }
    return restore_model(Fact, fields)
