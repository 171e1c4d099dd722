"""Who knows what: the questions that look into everybody's head. They are for the DM to ask."""

from collections.abc import Collection
from typing import NamedTuple

from dndbots._jsontext import as_json
from dndbots.canon import claims, fold
from dndbots.canon.claims import Certainty, HeldClaim
from dndbots.canon.fold import Settled
from dndbots.canon.values import Fact, Knowing
from dndbots.ids import DM, SYSTEM
from dndbots.storage.codec import held_claim, held_place
from dndbots.storage.truths import Truths


class Asked(NamedTuple):
    """A fact to ask about: in one of some slots, with one of some values as JSON, or with any."""

    subject: str
    slots: tuple[str, ...]
    values: tuple[str, ...] | None = None


class Belief(NamedTuple):
    """What some people hold true without having seen it."""

    fact: Fact
    holders: frozenset[str]


class Knowledge(Truths):
    """What others hold, as the DM may know."""

    def beliefs_of(self, uids: Collection[str]) -> list[Belief]:
        """What others were told of some or believe, in plain keys, oldest first. It is for the DM to know."""
        rows = self._store.latest(self._lineage, subjects=sorted(uids))
        plain = sorted((held_claim(row) for row in rows if row.slot.isidentifier()), key=fold.order)
        groups = self._store.members({claim.holders for claim in plain})
        newer: dict[tuple[str, str], list[tuple[int, frozenset[str]]]] = {}
        holders: dict[tuple[str, str, int, int], frozenset[str]] = {}
        held: dict[tuple[str, str, int, int], HeldClaim] = {}
        for claim in reversed(plain):
            # Who learned something surer since, or as sure, holds that.
            known = newer.setdefault((claim.subject, claim.slot), [])
            gone = [people for certainty, people in known if certainty >= claim.certainty]
            believers = groups[claim.holders].difference((DM, SYSTEM), *gone)
            known.append((claim.certainty, groups[claim.holders]))
            if claim.certainty < Certainty.FACT and believers:
                one = claim.subject, claim.slot, claim.seq, claim.n
                held[one] = claim
                holders[one] = holders.get(one, frozenset()) | believers
        ordered = sorted(held.items(), key=lambda item: (fold.order(item[1]), item[0]))
        facts = self._told(
            [(one.subject, Settled(one.slot, one.value, one.certainty, one)) for _, one in ordered]
        )
        return [
            Belief(fact, holders[name])
            for (name, _), fact in zip(ordered, facts, strict=True)
            if not fact.ended
        ]

    def who_knows(self, asked: Asked) -> list[Knowing]:
        """Who holds a fact, the DM aside: each with certainty, and where it was learned."""
        persons = self.persons(asked.subject)
        slots = [*asked.slots, *map(claims.change, asked.slots)]
        held = [held_claim(row) for row in self._store.latest(self._lineage, subjects=persons, slots=slots)]
        if claims.AT in asked.slots:
            held += map(held_place, self._store.latest_places(self._lineage, persons))
        groups = self._store.members({claim.holders for claim in held})
        by_holder: dict[str, list[HeldClaim]] = {}
        for claim in held:
            for who in groups[claim.holders] - {DM, SYSTEM}:
                by_holder.setdefault(who, []).append(claim)
        known = [
            (holder, one)
            for holder, own in sorted(by_holder.items())
            for same in self._as_known_to(holder, persons)
            for one in self._settled(claim for claim in own if claim.subject in same)
            if asked.values is None or as_json(one.value) in asked.values
        ]
        facts = self._told([(persons[0], one) for _, one in known])
        return [
            Knowing(holder=holder, fact=fact)
            for (holder, _), fact in zip(known, facts, strict=True)
            if not fact.ended
        ]

    def _as_known_to(self, holder: str, persons: list[str]) -> list[list[str]]:
        """People who are one, as somebody who may not know that tells them apart."""
        if len(persons) == 1:
            return [persons]
        known = self.of(holder).persons_of(persons)
        return [list(same) for same in sorted({tuple(sorted(same)) for same in known.values()})]
