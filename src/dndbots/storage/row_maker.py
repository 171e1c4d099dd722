"""Turns checked events into rows: of the log, and of every view that is folded from it.

Rows carry running totals, so any moment of the past can be read without adding up everything before it. The
caches between appends are bounded, and can be dropped at any time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from dndbots._jsontext import as_json
from dndbots.canon.certainty import Effects, Holding
from dndbots.canon.claims import AT, CertaintyRank, is_counting
from dndbots.canon.event_marks import marks_of, session_mark
from dndbots.canon.laws import EventUids
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.canon.ties import EventDeed, deed_slot, tied_by
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, SYSTEM, fold_name, is_uid
from dndbots.storage import codec
from dndbots.storage.head_state import Bounded
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

# Hits by audience and block, then by term.
_Postings = defaultdict[tuple[int, int], defaultdict[str, list[str]]]


class PreparedEvent(NamedTuple):
    """An event that is going into the log, with its effects.

    `at` is the seq of the event that its facts speak of: its own, or an earlier prepared. `learners` are the
    names that only some of its perceivers learn. Equal sets of perceivers are one object in a batch, so that
    each is hashed once.
    """

    event: GameEvent
    seq: int
    at: int
    known: KnownMetadata
    uses: EventUids
    perceivers: frozenset[str]
    learners: dict[str, frozenset[str]]
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
        self._done: Bounded[tuple[tuple[EventDeed, ...], int, int], bool] = Bounded(at_hand)
        self._met: Bounded[tuple[object, ...], bool] = Bounded(at_hand)
        self._kept: tuple[Bounded[Any, Any], ...] = (
            self._groups,
            self._lines,
            self._totals,
            self._slots,
            self._sightings,
            self._perceivers,
            self._links,
            self._done,
            self._met,
        )

    def forget(self) -> None:
        """Drop all caches."""
        for kept in self._kept:
            kept.clear()

    def rows(self, events: list[PreparedEvent], head: int, *, log: bool) -> Rows:
        """Return the rows of some events; those of the log itself only with `log`."""
        for kept in self._kept:
            kept.trim()
        self._fetch_groups(events)
        self._fetch_totals(events)
        rows = Rows(branch=self._branch, head=head, version=FOLD_VERSION)
        postings: _Postings = defaultdict(lambda: defaultdict(list))
        for prepared in events:
            groups = [self._groups[part] for part in parts_of(prepared.perceivers)]
            if log:
                rows.events.append(codec.to_row(prepared.event, self._branch, *groups))
            is_note, learners = prepared.event.is_note, prepared.learners
            for group in () if is_note and prepared.event.event_type is not EventType.EXTRACTION else groups:
                if not is_note:
                    self._add_text(rows, prepared, group, postings)
                self._add_people(rows, prepared, group, learners, is_note=is_note)
            if not is_note:
                self._add_perceivers(rows, prepared)
            if learners:
                self._add_learners(rows, prepared, learners, is_note=is_note)
            self._add_claims(rows, prepared)
            self._add_deeds(rows, prepared)
        rows.postings = [
            (self._branch, term, group, block, len(hits), "".join(hits))
            for (group, block), terms in postings.items()
            for term, hits in terms.items()
        ]
        return rows

    def _fetch_groups(self, events: list[PreparedEvent]) -> None:
        wanted: list[frozenset[str]] = []
        seen: set[frozenset[str]] = set()
        for prepared in events:
            if prepared.perceivers not in seen:
                seen.add(prepared.perceivers)
                wanted += parts_of(prepared.perceivers)
                new = sorted(who for who in prepared.perceivers if who not in self._perceivers)
                wanted += [part for who in new for part in own_parts(who)]
            some = [*prepared.learners.values(), *(held.holders for held in prepared.effects.holdings)]
            some += [done.holders for done in prepared.effects.doings]
            wanted += [part for people in some if people not in seen for part in parts_of(people)]
        missing = {people: None for people in wanted if people not in self._groups}
        if missing:
            self._groups.update(self._store.intern(missing))

    def _fetch_totals(self, events: list[PreparedEvent]) -> None:
        """Read the running totals that are not cached, in one read for each kind."""
        everybody = {prepared.perceivers for prepared in events}
        groups = {self._groups[part] for people in everybody for part in parts_of(people)}
        missing = groups - self._lines.keys()
        if missing:
            self._lines.update(dict.fromkeys(missing, (0, 0)))
            self._lines.update(self._store.line_totals(self._branch, missing))
        keys = [
            key
            for prepared in events
            for held in prepared.effects.holdings
            if is_counting(held.claim.slot)
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

    def _add_text(self, rows: Rows, prepared: PreparedEvent, group: int, postings: _Postings) -> None:
        words = sum(prepared.terms.values())
        ordinal, total = self._lines[group]
        self._lines[group] = ordinal + 1, total + words
        rows.lines.append(LineRow(self._branch, group, prepared.seq, ordinal + 1, words, total + words))
        block, offset = divmod(prepared.seq, BLOCK)
        hits, hit = postings[group, block], f" {offset}"
        for term, times in prepared.terms.items():
            hits[term].append(hit if times == 1 else f"{hit}*{times}")

    def _add_people(
        self, rows: Rows, prepared: PreparedEvent, group: int, learners: Collection[str], *, is_note: bool
    ) -> None:
        """Add sightings, mentions, names and identities. A note adds no mentions of entities."""
        branch, seq = self._branch, prepared.seq
        seen, place = prepared.effects.seen, prepared.known.location
        mentioned = dict.fromkeys(prepared.uses.shown)
        if prepared.uses.referred:
            mentioned.update(dict.fromkeys(uid for _, uid in prepared.uses.referred))
        for uid in (DM, SYSTEM, *(_only_named(prepared, learners) if learners else ())):
            mentioned.pop(uid, None)
        marks = marks_of(prepared.event, (held.claim for held in prepared.effects.holdings))
        met = list(mentioned)
        if not is_note:
            rows.mentions += [(branch, uid, group, seq, place if uid in seen else None) for uid in mentioned]
            met += [*marks, session_mark(prepared.event.session_id)]
        rows.mentions += [(branch, mark, group, seq, None) for mark in marks]
        # Of a scene, most events show the same people in the same place.
        whole = (is_note, group, place, len(seen), *seen, *met)
        if whole not in self._met:
            self._met[whole] = True
            for uid in () if is_note else seen:
                self._add_link(rows, uid, AT, str(place), group, int(CertaintyRank.FACT), seq)
            for uid in met:
                self._add_sighting(rows, uid, group, seq)
        for uid in prepared.known.names:
            if uid not in learners:
                self._add_names(rows, prepared, uid, group)
        for uid, other in prepared.known.same_as.items():
            rows.identities.append(IdentityRow(branch, uid, other, seq, group))

    def _add_perceivers(self, rows: Rows, prepared: PreparedEvent) -> None:
        """Add a sighting of each perceiver for itself and the DM; others may not know that it was there."""
        for uid in sorted(prepared.perceivers):
            if uid not in self._perceivers:
                self._perceivers[uid] = True
                for part in own_parts(uid):
                    self._add_sighting(rows, uid, self._groups[part], prepared.seq)

    def _add_learners(
        self, rows: Rows, prepared: PreparedEvent, learners: Mapping[str, frozenset[str]], *, is_note: bool
    ) -> None:
        """Add names that only some people learn, and sightings of entities that are shown only to them."""
        hidden = _only_named(prepared, learners)
        for uid, people in sorted(learners.items()):
            for group in (self._groups[part] for part in parts_of(people)):
                self._add_names(rows, prepared, uid, group)
                if uid in hidden:
                    self._add_sighting(rows, uid, group, prepared.seq)
                    if not is_note:
                        rows.mentions.append((self._branch, uid, group, prepared.seq, None))

    def _add_sighting(self, rows: Rows, uid: str, group: int, seq: int) -> None:
        if (uid, group) not in self._sightings:
            self._sightings[uid, group] = True
            if uid not in (DM, SYSTEM):
                rows.sightings.append(SightingRow(self._branch, uid, group, seq))

    def _add_names(self, rows: Rows, prepared: PreparedEvent, uid: str, group: int) -> None:
        given = prepared.known.names[uid]
        for n, name in enumerate([given] if isinstance(given, str) else given):
            rows.names.append(NameRow(self._branch, uid, prepared.seq, n, group, name, fold_name(name)))

    def _add_claims(self, rows: Rows, prepared: PreparedEvent) -> None:
        for n, held in enumerate(prepared.effects.holdings):
            value = as_json(held.claim.value)
            tied = tied_by(held.claim.slot, held.claim.value)
            for key in self._keys(held):
                for other in tied:
                    self._add_link(
                        rows, key.subject, key.slot, other, key.holders, key.certainty, prepared.seq
                    )
                total = self._counted(key, held) if is_counting(key.slot) else None
                if key not in self._slots:
                    self._slots[key] = True
                    rows.slots.append(SlotRow(self._branch, *key, prepared.seq))
                rows.claims.append(
                    ClaimRow(
                        self._branch,
                        *key,
                        valid_from_of(held, prepared),
                        prepared.seq,
                        n,
                        value,
                        total,
                        held.how,
                        held.said_by,
                    )
                )

    def _add_deeds(self, rows: Rows, prepared: PreparedEvent) -> None:
        """Add links for deeds. A set of deeds that a group has seen before is skipped as a whole."""
        for doings in prepared.effects.doings:
            certainty = int(doings.certainty)
            for group in (self._groups[part] for part in parts_of(doings.holders)):
                whole = doings.deeds, group, certainty
                if whole not in self._done:
                    self._done[whole] = True
                    for subject, verb, other in doings.deeds:
                        self._add_link(rows, subject, deed_slot(verb), other, group, certainty, prepared.seq)

    def _add_link(
        self, rows: Rows, subject: str, slot: str, other: str, group: int, certainty: int, seq: int
    ) -> None:
        key = subject, slot, other, group, certainty
        if key not in self._links:
            self._links[key] = True
            if is_uid(subject):  # a speaker without a uid is not an entity
                rows.links.append(LinkRow(self._branch, *key, seq))

    def _counted(self, key: ClaimKey, held: Holding) -> int:
        change = held.claim.value
        self._totals[key] += change if isinstance(change, int) else 0
        return self._totals[key]


def _only_named(prepared: PreparedEvent, learners: Collection[str]) -> list[str]:
    """Return those learned names whose entity the event shows or refers to in no other way."""
    referred = {uid for _, uid in prepared.uses.referred}
    return [uid for uid in learners if uid not in referred and prepared.uses.shown.count(uid) == 1]


def valid_from_of(held: Holding, prepared: PreparedEvent) -> int:
    """Return the seq of the event that a claim speaks of: an earlier one, if its event says so."""
    return prepared.at if held.stated and not is_counting(held.claim.slot) else prepared.seq


def read_hits(group: int, block: int, hits: str) -> list[Hit]:
    """Read the hits of a block of postings, oldest first, as `_add_text` wrote them."""
    first = block * BLOCK
    if "*" not in hits:
        if not hits.rfind(" "):  # most rows have a single line
            return [(first + int(hits), 1, group)]
        return [(first + int(offset), 1, group) for offset in hits.split()]
    return [
        (first + int(hit), 1, group) if "*" not in hit else _several(first, hit, group)
        for hit in hits.split()
    ]


def count_hits(block: int, hits: str, seqs: Collection[int]) -> list[tuple[int, int]]:
    """Return how often each of some lines of a block has the term; lines without it are left out."""
    if not hits.rfind(" ") and "*" not in hits:  # most rows have a single line
        seq = block * BLOCK + int(hits)
        return [(seq, 1)] if seq in seqs else []
    padded = f"{hits} "
    counts: list[tuple[int, int]] = []
    for seq in seqs:
        offset = f" {seq % BLOCK}"
        if f"{offset} " in padded:
            counts.append((seq, 1))
        elif (start := padded.find(f"{offset}*")) >= 0:
            counts.append((seq, int(padded[start + len(offset) + 1 :].partition(" ")[0])))
    return counts


def _several(first: int, hit: str, group: int) -> Hit:
    offset, _, times = hit.partition("*")
    return first + int(offset), int(times), group


@lru_cache(maxsize=1 << 16)
def parts_of(people: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Split a group in two: the DM with the characters, and everybody else.

    There are few parties, but countless groups of people that a party may meet. Rows are kept for each part,
    so a character's rows stand under only a few groups.
    """
    core = frozenset(who for who in people if who in (DM, SYSTEM) or who.startswith("pc_"))
    return tuple(part for part in (core, people - core) if part)


@lru_cache(maxsize=1 << 14)
def own_parts(who: str) -> tuple[frozenset[str], ...]:
    """Return the groups for rows that only one person and the DM may read."""
    return parts_of(frozenset((DM, who)))
