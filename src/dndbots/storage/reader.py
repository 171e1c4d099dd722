"""What a viewer may read: every answer here is made from rows of events that the viewer perceived."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots._json import as_json
from dndbots.canon import claims, fold
from dndbots.canon.claims import Certainty, HeldClaim, Reading, Shelf, reading_of
from dndbots.canon.fold import Past, Settled
from dndbots.canon.holding import EXTRACTED
from dndbots.canon.marks import session_mark
from dndbots.canon.values import Entity, Fact, Knowing, Milestone, Moment
from dndbots.errors import AmbiguousName, UnknownEntity, UnknownViewer
from dndbots.events import GameEvent, is_storable
from dndbots.ids import (
    CATEGORIES,
    DM,
    SYSTEM,
    category_of,
    folded,
    is_description,
    is_uid,
    mint,
    name_from_uid,
    slug,
)
from dndbots.storage.apart import Apart
from dndbots.storage.at_hand import EventsAtHand, Read
from dndbots.storage.codec import CERTAINTY, held_claim, held_place, said_at
from dndbots.storage.finding import Index
from dndbots.storage.linking import Link, Links
from dndbots.storage.ports import (
    ClaimKey,
    ClaimRow,
    Lineage,
    NameRow,
    Store,
)

PAGE: Final = 1_000
_NAMED_IN_AN_ERROR: Final = 10
_PEOPLE: Final = ("pc_", "npc_", "mon_")
# What was recorded since the last time is read by all who perceived it, one after the other.
_A_FEW: Final = 256


class Called(NamedTuple):
    """What somebody is called, as far as a viewer knows."""

    name: str
    aliases: tuple[str, ...]


class Asked(NamedTuple):
    """A fact to ask about: in one of some slots, with one of some values as JSON, or with any."""

    subject: str
    slots: tuple[str, ...]
    values: tuple[str, ...] | None = None


class Belief(NamedTuple):
    """What some people hold true without having seen it."""

    fact: Fact
    holders: frozenset[str]


class View:
    """The campaign as one viewer sees it, up to a place in the log. The DM sees everything."""

    def __init__(
        self, store: Store, lineage: Lineage, viewer: str, at_hand: EventsAtHand | None = None
    ) -> None:
        """With events `at_hand`, those that others read are shared with them, so nobody may change one."""
        self._store, self._lineage, self.viewer = store, lineage, viewer
        self._at_hand = at_hand

    def of(self, viewer: str) -> "View":
        """The campaign as somebody else sees it, up to the same place. Whoever asks must be the DM."""
        return View(self._store, self._lineage, viewer, self._at_hand)

    def by_itself(self) -> "View":
        """The same view, whose events are made anew: for those who may do with them as they like."""
        return View(self._store, self._lineage, self.viewer)

    # Who is who.

    def find(self, who: str) -> list[str]:
        """Somebody this viewer knows, by uid or by name: the uid they go by, then their others."""
        if is_uid(who) and self._store.sighted(self._lineage, [who], self.viewer):
            return self.persons(who)
        persons = self.persons_of(self.bearers(who) - {DM})
        candidates = {same[0]: same for same in persons.values()}
        if len(candidates) > 1:
            raise AmbiguousName(who, candidates=sorted(candidates))
        if not candidates:
            raise UnknownEntity(who)
        return next(iter(candidates.values()))

    def perceiver(self, viewer: str) -> str:
        """Whoever perceives under a uid, or bears a name. This view is the DM's, who knows them all."""
        if viewer.casefold() == DM:
            return DM
        if is_uid(viewer) and self._store.sighted(self._lineage, [viewer]):
            return viewer
        bearers = sorted(self.bearers(viewer))
        # A place may be called like somebody, but it does not look on. The DM's name is one like any
        # other: shared with somebody, it is nobody's.
        bearers = [uid for uid in bearers if uid == DM or uid.startswith(_PEOPLE)] or bearers
        if len(bearers) > 1 and len({self.persons(uid)[0] for uid in bearers}) > 1:
            raise AmbiguousName(viewer, candidates=bearers)
        if not bearers:
            # Whoever asks is not the DM, so only the characters are named.
            raise UnknownViewer(viewer, known=self.everybody("pc_")[:_NAMED_IN_AN_ERROR])
        return bearers[0]

    def bearers(self, name: str) -> set[str]:
        """Those who were given a name, or, nameless, go by what their uid says."""
        return self.bearers_of([name])[name]

    def bearers_of(self, names: Collection[str]) -> dict[str, set[str]]:
        """The same for several names, in one look."""
        wanted = {name: folded(name) if is_storable(name) else "" for name in names}
        given = self._store.named(self._lineage, sorted({*wanted.values()} - {""}), self.viewer)
        missing = {name for name in names if wanted[name] and not given.get(wanted[name])}
        nameless = self._nameless(missing) if missing else {}
        return {name: given.get(wanted[name]) or nameless.get(wanted[name], set()) for name in names}

    def given(self, names: Collection[str]) -> dict[str, set[str]]:
        """Those who were given some names, by the folded name. Who is only known by a uid is left out."""
        return self._store.named(self._lineage, sorted(names), self.viewer)

    def minted(self, category: str, name: str, *, taken: Collection[str] = ()) -> str:
        """A uid that nobody has in any branch, for somebody or something new."""
        stem = mint(category, name).rpartition("_")[0]
        return mint(category, name, taken={*taken, *self._store.uids_like(stem)})

    def _nameless(self, names: Collection[str]) -> dict[str, set[str]]:
        """Those whom nobody gave a name, by the names that their uids say."""
        starts = sorted({_first_word(name) for name in names} - {""})
        prefixes = [f"{category.lower()}_{start}" for category in CATEGORIES for start in starts]
        numbers = {"", *(_number_of(slug(name)) for name in names)}
        likely = [uid for uid in self._store.uids_with(self._lineage, prefixes) if _number_of(uid) in numbers]
        wanted = {folded(name) for name in names}
        said = {uid: name for uid in likely if (name := folded(name_from_uid(uid))) in wanted}
        sighted = self._store.sighted(self._lineage, sorted(said), self.viewer)
        named = {row.uid for row in self._store.names_of(self._lineage, sorted(sighted), self.viewer)}
        found: dict[str, set[str]] = {}
        for uid in sighted - named:
            found.setdefault(said[uid], set()).add(uid)
        return found

    def persons(self, uid: str) -> list[str]:
        """All uids that this viewer knows to be one and the same; the one it goes by comes first."""
        return self.persons_of([uid])[uid]

    def persons_of(self, uids: Collection[str]) -> dict[str, list[str]]:
        """The same for several, in one look."""
        into: dict[str, str] = {}
        known, new = set(uids), set(uids)
        while new:
            for row in self._store.identities(self._lineage, sorted(new), self.viewer):
                into[row.uid] = row.same_as
            new = {*into, *into.values()} - known
            known |= new
        together: dict[str, list[str]] = {}
        for uid in sorted(known):
            together.setdefault(_last(uid, into), []).append(uid)
        firsts = {uid: first for first, same in together.items() for uid in same}
        return {
            uid: [firsts[uid], *(other for other in together[firsts[uid]] if other != firsts[uid])]
            for uid in uids
        }

    def everybody(self, prefix: str = "") -> list[str]:
        """Every entity that this viewer knows of, or those of a kind, each under the uid it goes by."""
        if prefix:
            sighted = self._store.sighted(self._lineage, sorted(self._store.uids_like(prefix)), self.viewer)
        else:
            sighted = set(self._store.all_sighted(self._lineage, self.viewer))
        found = {same[0] for same in self.persons_of(sighted).values()}
        return sorted(uid for uid in found if uid.startswith(prefix))

    def first_seen(self, uids: Collection[str]) -> dict[str, int]:
        """Where this viewer learned of those of some entities that it knows of."""
        return self._store.first_sighted(self._lineage, sorted(uids), self.viewer)

    def called(self, uids: Collection[str]) -> dict[str, Called]:
        """What some entities are called: by their newest name, a description, or else what their uid says."""
        return self._called(self.persons_of(uids))

    def _called(self, persons: Mapping[str, list[str]]) -> dict[str, Called]:
        rows: dict[str, list[NameRow]] = {}
        everyone = {other for same in persons.values() for other in same}
        for row in self._store.names_of(self._lineage, sorted(everyone), self.viewer):
            rows.setdefault(row.uid, []).append(row)
        return {
            uid: _called(same[0], [row for other in same for row in rows.get(other, ())])
            for uid, same in persons.items()
        }

    # What is true, as far as the viewer knows.

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

    def links(self, uids: Collection[str]) -> list[Link]:
        """What some entities have to do with others, in either direction."""
        links = Links(
            self._store, self._lineage, self.viewer, persons_of=self.persons_of, settled=self._settled
        )
        return links.of(uids)

    # What is noted down.

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

    # What happened.

    def until(self, seq: int | None) -> "View":
        """The same view when the log had come to a place: what is later costs nothing there."""
        if seq is None:
            return self
        earlier = tuple(part._replace(upto=min(part.upto, seq)) for part in self._lineage)
        return View(self._store, earlier, self.viewer, self._at_hand)

    def index(self) -> Index:
        """The words of all that this viewer perceived at the table."""
        return Index(self._store, self._lineage, self.viewer)

    def apart_from(self, other: str) -> Apart:
        """What this viewer perceived at the table and somebody else did not. It is for the DM to know."""
        return Apart(self._store, self._lineage, self.viewer, other)

    def seqs_of(self, ids: Collection[str]) -> dict[str, int]:
        """The places of those of some events that this viewer perceived."""
        places = self._store.places_of(self._lineage, [one for one in ids if is_storable(one)])
        rows = self._perceived(list(places.values()))
        return {name: seq for name, seq in places.items() if seq in rows}

    def perceived(self, seq: int) -> bool:
        """Whether this viewer perceived the event at a place."""
        return bool(self._perceived([seq]))

    def place_of(self, event_id: str) -> int | None:
        """The place of an event that this viewer perceived."""
        place = (
            self._store.places_of(self._lineage, [event_id]).get(event_id) if is_storable(event_id) else None
        )
        return place if place is not None and self.perceived(place) else None

    def by_id(self, ids: Collection[str]) -> dict[str, GameEvent]:
        """Those of some events that this viewer perceived."""
        places = self._store.places_of(self._lineage, ids)
        return {event.event_id: event for event in self.at(places.values())}

    def at(self, seqs: Iterable[int]) -> list[GameEvent]:
        """The events at some places that this viewer perceived, oldest first."""
        return list(self.placed(list(seqs)).values())

    def placed(self, seqs: Collection[int]) -> dict[int, GameEvent]:
        """The same, each with its place."""
        found = self._perceived(seqs)
        return {seq: self._shown(found[seq]) for seq in sorted(found)}

    def _perceived(self, seqs: Collection[int]) -> dict[int, Read]:
        found = self._read(seqs)
        if self.viewer == DM:
            return found
        members = self._members({group for one in found.values() for group in (one.audience, one.others)})
        mine = {group for group, people in members.items() if self.viewer in people}
        return {seq: one for seq, one in found.items() if not mine.isdisjoint((one.audience, one.others))}

    def _read(self, seqs: Collection[int]) -> dict[int, Read]:
        if self._at_hand is None:
            return {seq: Read(row) for seq, row in self._store.events_at(self._lineage, seqs).items()}
        return self._at_hand.at(self._store, self._lineage, seqs)

    def _members(self, groups: Iterable[int | None]) -> dict[int, frozenset[str]]:
        wanted = [group for group in groups if group]
        if self._at_hand is None:
            return self._store.members(wanted)
        return self._at_hand.members(self._store, wanted)

    def places(self, *, limit: int, about: Collection[str] | None = None) -> list[int]:
        """Where the newest of what this viewer perceived is in the log, or what mentions somebody."""
        if about is None:
            return self._store.newest_perceived(self._lineage, self.viewer, limit=limit)
        return self._store.newest_mentions(self._lineage, about, self.viewer, limit=limit)

    def marked(self, mark: str, *, limit: int) -> list[GameEvent]:
        """The newest events with a mark that this viewer perceived, oldest first."""
        return self.at(self._store.newest_mentions(self._lineage, [mark], self.viewer, limit=limit))

    def sessions(self) -> dict[str, int]:
        """The sessions that this viewer perceived anything of and where each began for it, oldest first."""
        prefix = session_mark("")
        first = self._store.first_marked(self._lineage, prefix, self.viewer)
        return {mark.removeprefix(prefix): seq for mark, seq in sorted(first.items(), key=lambda one: one[1])}

    def oldest(self, limit: int, *, after: int) -> list[GameEvent]:
        """The first events after a place that this viewer perceived at the table, oldest first."""
        found: list[int] = []
        first, width = after + 1, 2 * limit
        while len(found) < limit and first <= self.head:
            last = min(first + width, self.head)
            found += sorted(self._store.lines_between(self._lineage, self.viewer, [(first, last)]))
            first, width = last + 1, 4 * width
        return self.at(found[:limit])

    @property
    def head(self) -> int:
        """The place in the log that this view goes up to."""
        return self._lineage[-1].upto if self._lineage else 0

    def events(self, *, after: int = 0) -> Iterator[GameEvent]:
        """All events that this viewer perceived, oldest first, read as they are needed."""
        if self._at_hand is not None and self.head - after <= _A_FEW:
            yield from self.at(range(after + 1, self.head + 1))
            return
        perceives: dict[int, bool] = {}
        while rows := self._store.events(self._lineage, after=after, limit=PAGE):
            after = rows[-1].seq
            new = {group for row in rows for group in (row.audience, row.others) if group} - perceives.keys()
            members = self._members(new) if self.viewer != DM else {}
            perceives.update({group: self.viewer == DM or self.viewer in members[group] for group in new})
            for row in rows:
                if perceives[row.audience] or (row.others and perceives[row.others]):
                    yield self._shown(Read(row))

    def play(self, *, after: int = 0, upto: int | None = None) -> Iterator[tuple[int, GameEvent]]:
        """What this viewer perceived at the table between two places of the log, with the place of each."""
        if self.viewer == DM:
            # It perceived everything, so that the log is read as it is.
            for event in self.until(upto).events(after=after):
                if not event.is_note:
                    yield event.seq or 0, event
            return
        wanted = self.until(upto).places_after(after)
        for start in range(0, len(wanted), PAGE):
            found = self._read(wanted[start : start + PAGE])
            for seq in sorted(found):
                yield seq, self._shown(found[seq])

    def places_after(self, after: int, *, about: Collection[str] | None = None) -> list[int]:
        """Where in the log is what this viewer perceived after a place; oldest first.

        The index knows the newest, so it is asked for more until it has gone back far enough.
        """
        limit = 256
        while True:
            found = self.places(limit=limit, about=about)
            if len(found) < limit or found[-1] <= after:
                return sorted(seq for seq in found if seq > after)
            limit *= 4

    def newest(self, limit: int, *, about: str | None = None) -> list[GameEvent]:
        """The newest events that this viewer perceived, or those about somebody; oldest first."""
        seqs = self.places(limit=limit, about=None if about is None else self.find(about))
        found = self._read(seqs)
        return [self._shown(found[seq]) for seq in sorted(found)]

    def _shown(self, read: Read) -> GameEvent:
        """Places in the log would tell a viewer how much it missed; only the DM gets them."""
        return read.event if self.viewer == DM else read.placeless

    def moments(self, events: Iterable[GameEvent]) -> list[Moment]:
        """Events as lines of a timeline, in the names that this viewer knows."""
        shown = [(event, event.known) for event in events]
        uids = {
            uid for event, known in shown for uid in (event.source, known.location, *known.together) if uid
        }
        names = {uid: called.name for uid, called in self.called(sorted(uids - {DM, SYSTEM})).items()}
        names |= {DM: "DM", SYSTEM: "system"}
        return [
            Moment(
                event_id=event.event_id,
                kind=event.event_type.value,
                session=event.session_id,
                turn=event.turn,
                time=event.timestamp.isoformat() if event.timestamp else None,
                who=" and ".join(names[uid] for uid in known.together or [event.source]),
                where=names[known.location] if known.location else None,
                text=event.content,
            )
            for event, known in shown
        ]


def _first_word(name: str) -> str:
    return slug(name).partition("_")[0]


def _number_of(uid: str) -> str:
    """The number at the end of a uid, however it is written; the first has none."""
    number = uid.rpartition("_")[2].lstrip("0")
    return number if number.isdigit() and number != "1" else ""


def _seq(row: ClaimRow) -> int:
    return row.seq


def _subject(claim: HeldClaim) -> str:
    return claim.subject


def _last(uid: str, into: Mapping[str, str]) -> str:
    """Whom somebody turned out to be in the end. A log that nobody checked may go in circles."""
    seen: list[str] = []
    while uid in into and uid not in seen:
        seen.append(uid)
        uid = into[uid]
    return min(seen[seen.index(uid) :]) if uid in seen else uid


def _called(uid: str, rows: list[NameRow]) -> Called:
    if not rows:
        return Called(name_from_uid(uid) if is_uid(uid) else uid, ())
    # Whoever has a name keeps it when somebody who never heard it is shown them.
    newest = max(rows, key=lambda row: (row.uid == uid, not is_description(row.name), row.seq, -row.n))
    others = dict.fromkeys(row.name for row in sorted(rows, key=_first_said))
    return Called(newest.name, tuple(name for name in others if name != newest.name))


def _first_said(row: NameRow) -> tuple[int, int]:
    return row.seq, row.n


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
