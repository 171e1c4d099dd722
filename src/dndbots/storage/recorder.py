"""Events become rows: checked, stamped with witnesses, folded, and written with all they change at once.

This is the only way into the log. Everything a view will need is computed here, from the event and
from running totals; nothing is ever updated in place but what is true at the head.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from dndbots._json import as_json
from dndbots.canon import laws
from dndbots.canon.claims import Certainty, counts
from dndbots.canon.holding import Effects, Holding, effects_of
from dndbots.canon.laws import Uses
from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import DuplicateEvent, EventRefused, SequenceConflict
from dndbots.events import GameEvent, KnownMetadata, audience
from dndbots.ids import DM, SYSTEM, folded
from dndbots.storage import codec
from dndbots.storage.ports import (
    BLOCK,
    Branch,
    ClaimKey,
    ClaimRow,
    IdentityRow,
    Lineage,
    LineRow,
    NameRow,
    Rows,
    SightingRow,
    SlotRow,
    Store,
)
from dndbots.storage.standing import Bounded, Standing
from dndbots.storage.terms import terms_of

CHUNK: Final = 4 * BLOCK
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


class Recorder:
    """Appends to one branch. `at_hand` bounds what is kept in memory between appends; None keeps all."""

    def __init__(
        self,
        store: Store,
        branch: Branch,
        lineage_to: Callable[[int], Lineage],
        *,
        at_hand: int | None = 200_000,
    ) -> None:
        self._store, self._branch, self._lineage_to = store, branch.id, lineage_to
        self._standing = Standing(store, branch.id, at_hand=at_hand)
        self._head = -1
        self._groups: Bounded[frozenset[str], int] = Bounded(at_hand)
        self._lines: Bounded[int, tuple[int, int]] = Bounded(at_hand)
        self._totals: Bounded[ClaimKey, int] = Bounded(at_hand)
        self._slots: Bounded[ClaimKey, bool] = Bounded(at_hand)
        self._sightings: Bounded[tuple[str, int], bool] = Bounded(at_hand)
        self._kept: tuple[Bounded[Any, Any], ...] = (
            self._groups,
            self._lines,
            self._totals,
            self._slots,
            self._sightings,
        )

    def record(
        self, events: Iterable[GameEvent], *, expected: int | None = None, lawful: bool = True
    ) -> list[GameEvent]:
        """Appends events in one transaction, all of them or none; gives them back as they were stored.

        Other writers wait meanwhile, so the events are checked against what is true when they are
        written. `lawful=False` takes events that a log held before, as they are.
        """
        stored: list[GameEvent] = []
        with self._store.appending(self._branch) as head:
            if expected is not None and expected != head:
                raise SequenceConflict(expected=expected, actual=head)
            try:
                if head != self._head:
                    self.forget()
                source = iter(events)
                while chunk := list(islice(source, CHUNK)):
                    prepared = self._prepare(chunk, head + len(stored), lawful=lawful)
                    stored += [one.event for one in prepared]
                    self._store.write(self._rows(prepared, head + len(stored), log=True))
            except BaseException:
                self.forget()
                raise
            self._head = head + len(stored)
        self._trim()
        return stored

    def refold(self, events: Iterable[GameEvent], head: int) -> Iterator[Rows]:
        """The rows of every view for events that are in the log after `head`, a chunk at a time."""
        self.forget()
        source = iter(events)
        # Whole blocks, so that a row of postings is never in two parts.
        while chunk := list(islice(source, BLOCK - (head + 1) % BLOCK)):
            prepared = self._prepare(chunk, head, lawful=False, is_stored=True)
            head += len(prepared)
            yield self._rows(prepared, head, log=False)
            self._trim()
        self.forget()

    def forget(self) -> None:
        """Drops all that is at hand: somebody else may have written, or nothing was written after all."""
        self._head = -1
        self._standing.forget()
        for kept in self._kept:
            kept.clear()

    def _trim(self) -> None:
        for kept in self._kept:
            kept.trim()

    def _prepare(
        self, events: list[GameEvent], head: int, *, lawful: bool, is_stored: bool = False
    ) -> list[Prepared]:
        lineage = self._lineage_to(head)
        self._standing.begin(lineage)
        here: dict[str, Prepared] = {}
        taken = {} if is_stored else self._store.places_of(lineage, [one.event_id for one in events])
        for seq, given in enumerate(events, head + 1):
            if given.event_id in taken or given.event_id in here:
                raise DuplicateEvent(given.event_id)
            event = given if is_stored else _checked(given)
            known = event.known
            uses = laws.uses_of(event, known)
            if lawful:
                laws.check(event, known, uses, self._standing)
            if not is_stored:
                event, known = self._stamped(event, known, seq)
            people = audience(event)
            at = seq if known.valid_from is None else self._past(event, known, people, here, lineage)
            effects = effects_of(event, known, people)
            one = Prepared(event, seq, at, known, uses, people, effects, terms_of(event.content))
            here[event.event_id] = one
            self._take_in(one)
        return list(here.values())

    def _stamped(self, event: GameEvent, known: KnownMetadata, seq: int) -> tuple[GameEvent, KnownMetadata]:
        """An event that names nobody is perceived by those who are where it happens, or by the party."""
        if known.witnesses is not None or known.participants or known.told_to:
            return event.placed(seq), known
        present = self._standing.at(known.location) if known.location else self._standing.party()
        stamped = event.placed(seq, {**event.metadata, "witnesses": [*present]})
        return stamped, stamped.known

    def _past(
        self,
        event: GameEvent,
        known: KnownMetadata,
        people: frozenset[str],
        here: dict[str, Prepared],
        lineage: Lineage,
    ) -> int:
        """The place of the event that the facts of this one speak of. All who learn them perceived it."""
        name = str(known.valid_from)
        if name in here:
            at, perceivers = here[name].seq, here[name].perceivers
        else:
            found = self._store.places_of(lineage, [name]).get(name)
            if found is None:
                raise EventRefused(
                    event.event_id, field="valid_from", reason=f"there is no event {name!r} yet"
                )
            row = self._store.events_at(lineage, [found])[found]
            at, perceivers = found, self._store.members([row.audience])[row.audience]
        if not people <= perceivers:
            strangers = ", ".join(sorted(people - perceivers))
            raise EventRefused(
                event.event_id,
                field="valid_from",
                reason=f"{strangers} did not perceive {name!r}; tell them in an event of its own",
            )
        return at

    def _take_in(self, one: Prepared) -> None:
        """What is true for the laws that check the next event."""
        self._standing.meet(one.uses.shown)
        if one.effects.seen:
            self._standing.see(one.effects.seen, str(one.known.location), one.seq)
        for held in one.effects.holdings:
            if held.certainty is Certainty.FACT and DM in held.holders:
                self._standing.apply(held.claim, at=_at(held, one), seq=one.seq)

    def _rows(self, prepared: list[Prepared], head: int, *, log: bool) -> Rows:
        self._fetch_groups(prepared)
        self._fetch_totals(prepared)
        rows = Rows(branch=self._branch, head=head, version=FOLD_VERSION)
        postings: _Postings = {}
        for one in prepared:
            group = self._groups[one.perceivers]
            if log:
                rows.events.append(codec.to_row(one.event, branch=self._branch, audience=group))
            self._add_text(rows, one, group, postings)
            self._add_people(rows, one, group)
            self._add_claims(rows, one)
        rows.postings = [
            (self._branch, term, group, block, len(hits), "".join(hits))
            for (group, block), terms in postings.items()
            for term, hits in terms.items()
        ]
        rows.truth = self._standing.changes()
        return rows

    def _fetch_groups(self, prepared: list[Prepared]) -> None:
        missing: dict[frozenset[str], None] = {}
        for one in prepared:
            if one.perceivers not in self._groups:
                missing[one.perceivers] = None
            for held in one.effects.holdings:
                if held.holders not in self._groups:
                    missing[held.holders] = None
        if missing:
            self._groups.update(self._store.intern(missing))

    def _fetch_totals(self, prepared: list[Prepared]) -> None:
        """The running totals that are not at hand, in one look for each kind."""
        missing = {self._groups[one.perceivers] for one in prepared} - self._lines.keys()
        if missing:
            self._lines.update(dict.fromkeys(missing, (0, 0)))
            self._lines.update(self._store.line_totals(self._branch, missing))
        keys = [
            key
            for one in prepared
            for held in one.effects.holdings
            if counts(held.claim.slot) and (key := self._key(held)) not in self._totals
        ]
        if keys:
            self._totals.update(dict.fromkeys(keys, 0))
            self._totals.update(self._store.claim_totals(self._branch, list(dict.fromkeys(keys))))

    def _key(self, held: Holding) -> ClaimKey:
        return ClaimKey(held.claim.subject, held.claim.slot, self._groups[held.holders], int(held.certainty))

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

    def _add_people(self, rows: Rows, one: Prepared, group: int) -> None:
        branch, seq, sightings = self._branch, one.seq, self._sightings
        seen, place = one.effects.seen, one.known.location
        mentioned = dict.fromkeys(one.uses.shown)
        if one.uses.referred:
            mentioned.update(dict.fromkeys(uid for _, uid in one.uses.referred))
        mentioned.pop(DM, None)
        mentioned.pop(SYSTEM, None)
        rows.mentions += [(branch, uid, group, seq, place if uid in seen else None) for uid in mentioned]
        for uid in (*mentioned, *one.perceivers):
            if (uid, group) not in sightings:
                sightings[uid, group] = True
                if uid not in (DM, SYSTEM):
                    rows.sightings.append(SightingRow(branch, uid, group, seq))
        for uid, names in one.known.names.items():
            for n, name in enumerate([names] if isinstance(names, str) else names):
                rows.names.append(NameRow(self._branch, uid, one.seq, n, group, name, folded(name)))
        for uid, other in one.known.same_as.items():
            rows.identities.append(IdentityRow(self._branch, uid, other, one.seq, group))

    def _add_claims(self, rows: Rows, one: Prepared) -> None:
        for n, held in enumerate(one.effects.holdings):
            key, total = self._key(held), None
            if counts(key.slot):
                change = held.claim.value
                total = self._totals[key] + (change if isinstance(change, int) else 0)
                self._totals[key] = total
            if key not in self._slots:
                self._slots[key] = True
                rows.slots.append(SlotRow(self._branch, *key, one.seq))
            rows.claims.append(
                ClaimRow(
                    self._branch,
                    *key,
                    _at(held, one),
                    one.seq,
                    n,
                    as_json(held.claim.value),
                    total,
                    held.how,
                    held.said_by,
                )
            )


def _checked(event: GameEvent) -> GameEvent:
    """An event was checked when it was made; it is again, if it was changed in place since."""
    if event.is_as_checked:
        return event
    try:
        return GameEvent.model_validate(event.__dict__)
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(map(str, first["loc"])) or "event"
        raise EventRefused(event.event_id, field=field, reason=first["msg"]) from exc


def _at(held: Holding, one: Prepared) -> int:
    return one.at if held.stated and not counts(held.claim.slot) else one.seq
