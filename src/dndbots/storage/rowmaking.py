"""Checked events become rows: of the log, and of every view that is folded from it.

Rows carry running totals, so that any moment of the past can be read without adding up what came
before it. What is kept in memory between appends is bounded, and can be forgotten at any time.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from dndbots._jsontext import as_json
from dndbots.canon.claims import AT, Certainty, counts
from dndbots.canon.holding import Effects, Holding
from dndbots.canon.laws import Uses
from dndbots.canon.marks import marks_of, session_mark
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.canon.ties import Deed, deed_slot, tied_by
from dndbots.events import EventType, GameEvent, KnownMetadata, learners_of
from dndbots.ids import DM, SYSTEM, folded, is_uid
from dndbots.storage import codec
from dndbots.storage.ports import (
    BLOCK,
    ClaimKey,
    ClaimRow,
    Hit,
    IdentityRow,
    LineRow,
    LinkRow,
    NameRow,
    Rows,
    SightingRow,
    SlotRow,
    Store,
)
from dndbots.storage.standing import Bounded

# By audience and block, then by term: where it stands.
_Postings = dict[tuple[int, int], dict[str, list[str]]]


class Prepared(NamedTuple):
    """An event that is going into the log, and what it will change."""

    event: GameEvent
    seq: int
    at: int
    known: KnownMetadata
    uses: Uses
    perceivers: frozenset[str]
    effects: Effects
    terms: dict[str, int]


class RowMaker:
    """Makes the rows of one branch, in the order of its log."""

    def __init__(self, store: Store, branch: int, *, at_hand: int | None) -> None:
        self._store, self._branch = store, branch
        self._groups: Bounded[frozenset[str], int] = Bounded(at_hand)
        self._lines: Bounded[int, tuple[int, int]] = Bounded(at_hand)
        self._totals: Bounded[ClaimKey, int] = Bounded(at_hand)
        self._slots: Bounded[ClaimKey, bool] = Bounded(at_hand)
        self._sightings: Bounded[tuple[str, int], bool] = Bounded(at_hand)
        self._perceivers: Bounded[str, bool] = Bounded(at_hand)
        self._links: Bounded[tuple[str, str, str, int, int], bool] = Bounded(at_hand)
        self._done: Bounded[tuple[tuple[Deed, ...], int, int], bool] = Bounded(at_hand)
        self._kept: tuple[Bounded[Any, Any], ...] = (
            self._groups,
            self._lines,
            self._totals,
            self._slots,
            self._sightings,
            self._perceivers,
            self._links,
            self._done,
        )

    def forget(self) -> None:
        for kept in self._kept:
            kept.clear()

    def rows(self, prepared: list[Prepared], head: int, *, log: bool) -> Rows:
        for kept in self._kept:
            kept.trim()
        self._fetch_groups(prepared)
        self._fetch_totals(prepared)
        rows = Rows(branch=self._branch, head=head, version=FOLD_VERSION)
        postings: _Postings = {}
        for one in prepared:
            groups = [self._groups[part] for part in parts_of(one.perceivers)]
            if log:
                rows.events.append(codec.to_row(one.event, self._branch, *groups))
            is_note, learners = one.event.is_note, learners_of(one.event)
            for group in () if is_note and one.event.event_type is not EventType.EXTRACTION else groups:
                if not is_note:
                    self._add_text(rows, one, group, postings)
                self._add_people(rows, one, group, learners, is_note=is_note)
            if not is_note:
                self._add_perceivers(rows, one)
            if learners:
                self._add_learners(rows, one, learners, is_note=is_note)
            self._add_claims(rows, one)
            self._add_deeds(rows, one)
        rows.postings = [
            (self._branch, term, group, block, len(hits), "".join(hits))
            for (group, block), terms in postings.items()
            for term, hits in terms.items()
        ]
        return rows

    def _fetch_groups(self, prepared: list[Prepared]) -> None:
        missing: dict[frozenset[str], None] = {}
        for one in prepared:
            wanted = list(parts_of(one.perceivers))
            new = sorted(who for who in one.perceivers if who not in self._perceivers)
            wanted += [part for who in new for part in own_parts(who)]
            wanted += [part for people in learners_of(one.event).values() for part in parts_of(people)]
            wanted += [part for held in one.effects.holdings for part in parts_of(held.holders)]
            wanted += [part for done in one.effects.doings for part in parts_of(done.holders)]
            missing.update((people, None) for people in wanted if people not in self._groups)
        if missing:
            self._groups.update(self._store.intern(missing))

    def _fetch_totals(self, prepared: list[Prepared]) -> None:
        """The running totals that are not at hand, in one look for each kind."""
        groups = {self._groups[part] for one in prepared for part in parts_of(one.perceivers)}
        missing = groups - self._lines.keys()
        if missing:
            self._lines.update(dict.fromkeys(missing, (0, 0)))
            self._lines.update(self._store.line_totals(self._branch, missing))
        keys = [
            key
            for one in prepared
            for held in one.effects.holdings
            if counts(held.claim.slot)
            for key in self._keys(held)
            if key not in self._totals
        ]
        if keys:
            self._totals.update(dict.fromkeys(keys, 0))
            self._totals.update(self._store.claim_totals(self._branch, list(dict.fromkeys(keys))))

    def _keys(self, held: Holding) -> Iterator[ClaimKey]:
        subject, slot, certainty = held.claim.subject, held.claim.slot, int(held.certainty)
        for part in parts_of(held.holders):
            yield ClaimKey(subject, slot, self._groups[part], certainty)

    def _add_text(self, rows: Rows, one: Prepared, group: int, postings: _Postings) -> None:
        words = sum(one.terms.values())
        ordinal, total = self._lines[group]
        self._lines[group] = ordinal + 1, total + words
        rows.lines.append(LineRow(self._branch, group, one.seq, ordinal + 1, words, total + words))
        block, place = divmod(one.seq, BLOCK)
        hits, hit = postings.setdefault((group, block), {}), f" {place}"
        for term, times in one.terms.items():
            text = hit if times == 1 else f"{hit}*{times}"
            if term in hits:
                hits[term].append(text)
            else:
                hits[term] = [text]

    def _add_people(
        self, rows: Rows, one: Prepared, group: int, learners: Collection[str], *, is_note: bool
    ) -> None:
        """Whom an event shows, and is about. A note is no event of theirs: it only says who they are."""
        branch, seq = self._branch, one.seq
        seen, place = one.effects.seen, one.known.location
        mentioned = dict.fromkeys(one.uses.shown)
        if one.uses.referred:
            mentioned.update(dict.fromkeys(uid for _, uid in one.uses.referred))
        for uid in (DM, SYSTEM, *_only_named(one, learners)):
            mentioned.pop(uid, None)
        marks = marks_of(one.event, (held.claim for held in one.effects.holdings))
        met = list(mentioned)
        if not is_note:
            rows.mentions += [(branch, uid, group, seq, place if uid in seen else None) for uid in mentioned]
            for uid in seen:
                self._add_link(rows, uid, AT, str(place), group, int(Certainty.FACT), seq)
            met += [*marks, session_mark(one.event.session_id)]
        rows.mentions += [(branch, mark, group, seq, None) for mark in marks]
        for uid in met:
            self._add_sighting(rows, uid, group, seq)
        for uid in one.known.names:
            if uid not in learners:
                self._add_names(rows, one, uid, group)
        for uid, other in one.known.same_as.items():
            rows.identities.append(IdentityRow(branch, uid, other, seq, group))

    def _add_perceivers(self, rows: Rows, one: Prepared) -> None:
        """Who perceives an event is there for itself and for the DM; the others may not know of it."""
        for uid in sorted(one.perceivers):
            if uid not in self._perceivers:
                self._perceivers[uid] = True
                for part in own_parts(uid):
                    self._add_sighting(rows, uid, self._groups[part], one.seq)

    def _add_learners(
        self, rows: Rows, one: Prepared, learners: Mapping[str, frozenset[str]], *, is_note: bool
    ) -> None:
        """The names that only some learn, and whom the event shows to nobody but these."""
        hidden = _only_named(one, learners)
        for uid, people in sorted(learners.items()):
            for group in (self._groups[part] for part in parts_of(people)):
                self._add_names(rows, one, uid, group)
                if uid in hidden:
                    self._add_sighting(rows, uid, group, one.seq)
                    if not is_note:
                        rows.mentions.append((self._branch, uid, group, one.seq, None))

    def _add_sighting(self, rows: Rows, uid: str, group: int, seq: int) -> None:
        if (uid, group) not in self._sightings:
            self._sightings[uid, group] = True
            if uid not in (DM, SYSTEM):
                rows.sightings.append(SightingRow(self._branch, uid, group, seq))

    def _add_names(self, rows: Rows, one: Prepared, uid: str, group: int) -> None:
        given = one.known.names[uid]
        for n, name in enumerate([given] if isinstance(given, str) else given):
            rows.names.append(NameRow(self._branch, uid, one.seq, n, group, name, folded(name)))

    def _add_claims(self, rows: Rows, one: Prepared) -> None:
        for n, held in enumerate(one.effects.holdings):
            value = as_json(held.claim.value)
            tied = tied_by(held.claim.slot, held.claim.value)
            for key in self._keys(held):
                for other in tied:
                    self._add_link(rows, key.subject, key.slot, other, key.holders, key.certainty, one.seq)
                total = self._counted(key, held) if counts(key.slot) else None
                if key not in self._slots:
                    self._slots[key] = True
                    rows.slots.append(SlotRow(self._branch, *key, one.seq))
                rows.claims.append(
                    ClaimRow(
                        self._branch, *key, at_of(held, one), one.seq, n, value, total, held.how, held.said_by
                    )
                )

    def _add_deeds(self, rows: Rows, one: Prepared) -> None:
        """The same people do the same things together over and over: those are passed over as a whole."""
        for doings in one.effects.doings:
            certainty = int(doings.certainty)
            for group in (self._groups[part] for part in parts_of(doings.holders)):
                whole = doings.deeds, group, certainty
                if whole not in self._done:
                    self._done[whole] = True
                    for subject, verb, other in doings.deeds:
                        self._add_link(rows, subject, deed_slot(verb), other, group, certainty, one.seq)

    def _add_link(
        self, rows: Rows, subject: str, slot: str, other: str, group: int, certainty: int, seq: int
    ) -> None:
        key = subject, slot, other, group, certainty
        if key not in self._links:
            self._links[key] = True
            if is_uid(subject):  # whoever speaks may have no uid, and is no entity then
                rows.links.append(LinkRow(self._branch, *key, seq))

    def _counted(self, key: ClaimKey, held: Holding) -> int:
        change = held.claim.value
        self._totals[key] += change if isinstance(change, int) else 0
        return self._totals[key]


def _only_named(one: Prepared, learners: Collection[str]) -> list[str]:
    """Those of some whom an event names, and shows or refers to in no other way."""
    referred = {uid for _, uid in one.uses.referred}
    return [uid for uid in learners if uid not in referred and one.uses.shown.count(uid) == 1]


def at_of(held: Holding, one: Prepared) -> int:
    """The place in the log that a claim speaks of: an earlier one, if its event states it so."""
    return one.at if held.stated and not counts(held.claim.slot) else one.seq


def hits_in(block: int, hits: str) -> list[Hit]:
    """The lines of a block of postings, oldest first: what `_add_text` wrote."""
    first = block * BLOCK
    if "*" not in hits:
        return [(first + int(place), 1) for place in hits.split()]
    return [(first + int(hit), 1) if "*" not in hit else _several(first, hit) for hit in hits.split()]


def shared_by(hits: str, others: str) -> list[int]:
    """The places in a block of the lines that have both of two terms. The first is the rarer one."""
    others = f"{others} "
    places = [hit.partition("*")[0] for hit in hits.split()] if "*" in hits else hits.split()
    return [int(place) for place in places if f" {place} " in others or f" {place}*" in others]


def times_among(hits: str, seqs: Iterable[int]) -> Iterator[Hit]:
    """How often some lines of a block have the term, where they do."""
    padded = f"{hits} "
    for seq in seqs:
        place = f" {seq % BLOCK}"
        if f"{place} " in padded:
            yield seq, 1
        elif (start := padded.find(f"{place}*")) >= 0:
            yield seq, int(padded[start + len(place) + 1 :].partition(" ")[0])


def _several(first: int, hit: str) -> Hit:
    place, _, times = hit.partition("*")
    return first + int(place), int(times)


@lru_cache(maxsize=1 << 16)
def parts_of(people: frozenset[str]) -> tuple[frozenset[str], ...]:
    """A group in two: the DM with the characters, and everybody else.

    There are only so many parties, but as many groups as there are people whom a party may meet. Rows
    are kept for each part, so a character's rows stand under the few groups that it is in.
    """
    core = frozenset(who for who in people if who in (DM, SYSTEM) or who.startswith("pc_"))
    return tuple(part for part in (core, people - core) if part)


@lru_cache(maxsize=1 << 14)
def own_parts(who: str) -> tuple[frozenset[str], ...]:
    """The groups of rows that are for somebody alone, and for the DM."""
    return parts_of(frozenset((DM, who)))
