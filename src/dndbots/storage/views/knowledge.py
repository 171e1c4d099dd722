"""Questions about what everybody knows and believes. Only the DM may ask them."""

from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from pydantic import ValidationError

from dndbots._jsontext import as_json
from dndbots.canon import claims, fold
from dndbots.canon.claims import AT, IN, PART_OF, CertaintyRank, HeldClaim, claim_of
from dndbots.canon.entities import Fact, HeldFact, restore_model
from dndbots.canon.fold import Settled
from dndbots.errors import InvalidSetting
from dndbots.events import StatedFact
from dndbots.ids import DM, SYSTEM
from dndbots.storage.codec import claim_from_row, place_from_row
from dndbots.storage.views.truths import Truths


class FactQuestion(NamedTuple):
    """A fact to ask about: a subject, the slots it may stand in, and its values as JSON; None for any."""

    subject: str
    slots: tuple[str, ...]
    values: tuple[str, ...] | None = None


class Belief(NamedTuple):
    """A fact that some people hold true without having seen it."""

    fact: Fact
    holders: frozenset[str]


class Knowledge(Truths):
    """The facts that others hold, as far as the DM may know."""

    def beliefs_of(self, uids: Collection[str]) -> list[Belief]:
        """Return what others were told or believe about some entities, in plain keys, oldest first.

        Only the DM may ask.
        """
        rows = self._store.latest(self._lineage, subjects=sorted(uids))
        plain = sorted((claim_from_row(row) for row in rows if row.slot.isidentifier()), key=fold.claim_order)
        groups = self._store.members({claim.holders for claim in plain})
        newer: dict[tuple[str, str], list[tuple[int, frozenset[str]]]] = {}
        holders: dict[tuple[str, str, int, int], frozenset[str]] = {}
        held: dict[tuple[str, str, int, int], HeldClaim] = {}
        for claim in reversed(plain):
            # People who learned something at least as sure since then hold that instead.
            known = newer.setdefault((claim.subject, claim.slot), [])
            gone = [people for certainty, people in known if certainty >= claim.certainty]
            believers = groups[claim.holders].difference((DM, SYSTEM), *gone)
            known.append((claim.certainty, groups[claim.holders]))
            if claim.certainty < CertaintyRank.FACT and believers:
                key = claim.subject, claim.slot, claim.seq, claim.n
                held[key] = claim
                holders[key] = holders.get(key, frozenset()) | believers
        ordered = sorted(held.items(), key=lambda item: (fold.claim_order(item[1]), item[0]))
        facts = self._as_facts(
            [
                (claim.subject, Settled(claim.slot, claim.value, claim.certainty, claim))
                for _, claim in ordered
            ]
        )
        return [
            Belief(fact, holders[key])
            for (key, _), fact in zip(ordered, facts, strict=True)
            if not fact.ended
        ]

    def who_knows(self, asked: FactQuestion) -> list[HeldFact]:
        """Return everybody but the DM who holds a fact: how surely, and from which event."""
        persons = self.persons(asked.subject)
        slots = [*asked.slots, *map(claims.change_slot, asked.slots)]
        rows = self._store.latest(self._lineage, subjects=persons, slots=slots)
        held = [claim_from_row(row) for row in rows]
        if claims.AT in asked.slots:
            held += map(place_from_row, self._store.latest_places(self._lineage, persons))
        groups = self._store.members({claim.holders for claim in held})
        by_holder: dict[str, list[int]] = {}
        for number, claim in enumerate(held):
            for who in groups[claim.holders]:
                by_holder.setdefault(who, []).append(number)
        holders = sorted(by_holder.keys() - {DM, SYSTEM})
        # What several people hold alike is settled once for all of them.
        alike: dict[tuple[tuple[int, ...], tuple[str, ...]], list[str]] = {}
        for holder, same in self._as_known_to(holders, persons):
            alike.setdefault((tuple(by_holder[holder]), same), []).append(holder)
        known = [
            (together, settled)
            for (numbers, same), together in alike.items()
            for settled in self._settled([held[n] for n in numbers if held[n].subject in same])
            if asked.values is None or as_json(settled.value) in asked.values
        ]
        facts = self._as_facts([(persons[0], settled) for _, settled in known])
        answers = [
            restore_model(HeldFact, {"holder": holder, "fact": fact})
            for (together, _), fact in zip(known, facts, strict=True)
            for holder in together
            if not fact.ended
        ]
        return sorted(answers, key=attrgetter("holder"))

    def _as_known_to(self, holders: list[str], persons: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each holder with the uids of one person that it takes for one: it may not know of all."""
        for holder in holders:
            if len(persons) == 1:
                yield holder, tuple(persons)
            else:
                known = self.of(holder).persons_of(persons)
                for same in sorted({tuple(sorted(same)) for same in known.values()}):
                    yield holder, same


def fact_question(fact: StatedFact | Fact | Mapping[str, Any], view: Knowledge) -> FactQuestion:
    """Turn a fact that somebody asks about into a question, with its names resolved by a view."""
    given = dict(fact) if isinstance(fact, Mapping) else fact.model_dump(exclude_none=True)
    stated = {key: given[key] for key in ("op", "object", "key", "value") if given.get(key) is not None}
    subject = view.find(str(given.get("subject", "")))[0]
    for field in ("op", "key"):
        if set(stated) == {field} and (field == "key" or stated["op"] in (AT, IN, PART_OF)):
            return FactQuestion(subject, (str(stated[field]),))
    others = view.persons(str(stated["object"])) if "object" in stated else [None]
    try:
        meant = [stated if other is None else {**stated, "object": other} for other in others]
        wanted = [claim_of(StatedFact(subject=subject, **fields)) for fields in meant]
    except ValidationError as exc:
        reason = f"is not a fact to ask about: {exc.errors()[0]['msg']}"
        raise InvalidSetting("fact", given, reason=reason) from exc
    slots = tuple(dict.fromkeys(claim.slot for claim in wanted))
    values = tuple(dict.fromkeys(as_json(claim.value) for claim in wanted))
    return FactQuestion(wanted[0].subject, slots, values)
