"""The only way into the log: it checks events, stamps witnesses, and writes them with all view rows."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from pydantic import ValidationError

from dndbots._garbage import NO_COLLECTION
from dndbots.canon import laws
from dndbots.canon.certainty import effects_of, event_effects
from dndbots.canon.claims import CertaintyRank
from dndbots.errors import DuplicateEvent, EventRefused, InvalidSetting, SequenceConflict
from dndbots.events import GameEvent, KnownMetadata, audience, learners_of
from dndbots.ids import DM, SYSTEM
from dndbots.storage.head_state import HeadState
from dndbots.storage.ports import BLOCK, Branch, Lineage, Rows, Store
from dndbots.storage.row_maker import PreparedEvent, RowMaker, valid_from_of
from dndbots.storage.stated_terms import terms_of_event

CHUNK: Final = 4 * BLOCK
_FEW: Final = 32
# The seq of an event, and its perceivers.
Perceived = tuple[int, frozenset[str]]


class Recorder:
    """Appends events to one branch.

    `at_hand` bounds the caches between appends; None keeps everything. `undone` is called when a write is
    rolled back: somebody may have read it meanwhile.
    """

    def __init__(
        self,
        store: Store,
        branch: Branch,
        lineage_to: Callable[[int], Lineage],
        *,
        at_hand: int | None = 200_000,
        undone: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._branch, self._lineage_to = store, branch.id, lineage_to
        self._standing = HeadState(store, branch.id, at_hand=at_hand)
        self._maker = RowMaker(store, branch.id, at_hand=at_hand)
        self._undone = undone
        self._head = -1

    def record(
        self, events: Iterable[GameEvent], *, expected: int | None = None, lawful: bool = True
    ) -> list[GameEvent]:
        """Append events in one transaction, all or none; return them as stored.

        Other writers wait meanwhile, so the events are checked against what is true when they are written.
        `lawful=False` accepts events from an earlier log unchecked.
        """
        stored: list[GameEvent] = []
        self.append(events, stored.extend, expected=expected, lawful=lawful)
        return stored

    def append(
        self,
        events: Iterable[GameEvent],
        on_chunk: Callable[[list[GameEvent]], None],
        *,
        expected: int | None = None,
        lawful: bool = True,
        from_elsewhere: bool = False,
    ) -> int:
        """Append any number of events; return how many. `on_chunk` gets each chunk as it is written.

        Events `from_elsewhere` are checked one by one, but not against what is true here.
        """
        standing = laws.LenientTruth(self._standing) if from_elsewhere else self._standing
        try:
            with self._store.appending(self._branch) as before:
                self._begin(before, expected)
                head = self._write(iter(events), before, on_chunk, standing if lawful else None)
        except BaseException:
            # Also when the commit fails: the caches speak of rows that are not stored.
            self.forget()
            self._undone()
            raise
        self._head = head
        return head - before

    def _begin(self, head: int, expected: int | None) -> None:
        if expected is not None and expected != head:
            raise SequenceConflict(expected=expected, actual=head)
        if head != self._head:
            self.forget()

    def _write(
        self,
        source: Iterator[GameEvent],
        head: int,
        on_chunk: Callable[[list[GameEvent]], None],
        standing: laws.TruthLookup | None,
    ) -> int:
        while True:
            with NO_COLLECTION:
                chunk = list(map(_event, islice(source, CHUNK)))
                if not chunk:
                    return head
                prepared = self._prepare(chunk, head, standing)
                head += len(prepared)
                self._store.write(self._rows(prepared, head, log=True))
                stored = [item.event for item in prepared]
                del chunk, prepared  # or else the next collection goes through all of it
            on_chunk(stored)

    def refold(self, events: Iterable[GameEvent], head: int, *, words: bool = True) -> Iterator[Rows]:
        """Yield the rows of every view for stored events after `head`, a chunk at a time.

        Without `words`, the rows of the word index are left out.
        """
        self.forget()
        source = iter(events)
        while True:
            with NO_COLLECTION:
                # Whole blocks, so that a row of postings is never split.
                chunk = list(islice(source, CHUNK - (head + 1) % BLOCK))
                if not chunk:
                    break
                prepared = self._prepare(chunk, head, None, is_stored=True, words=words)
                head += len(prepared)
                rows = self._rows(prepared, head, log=False)
                del chunk, prepared
            yield rows
        self.forget()

    def forget(self) -> None:
        """Drop all caches: somebody else may have written, or a write was rolled back."""
        self._head = -1
        self._standing.forget()
        self._maker.forget()

    def _prepare(
        self,
        events: list[GameEvent],
        head: int,
        standing: laws.TruthLookup | None,
        *,
        is_stored: bool = False,
        words: bool = True,
    ) -> list[PreparedEvent]:
        """Check, stamp and prepare events for writing. Without a `standing`, nothing is checked."""
        lawful = standing is not None
        lineage = self._lineage_to(head)
        self._standing.begin(lineage)
        here: dict[str, PreparedEvent] = {}
        taken = {} if is_stored else self._store.seqs_of(lineage, [event.event_id for event in events])
        sound = events if is_stored else list(map(_checked, events))
        sources = self._sources(sound, lineage) if lawful else {}
        same: dict[frozenset[str], frozenset[str]] = {}
        for seq, checked in enumerate(sound, head + 1):
            if checked.event_id in taken or checked.event_id in here:
                raise DuplicateEvent(checked.event_id)
            event, known = checked, checked.known
            uses = laws.uses_of(event, known)
            if standing is not None:
                laws.check_event(event, known, uses, standing)
            if not is_stored:
                event, known = self._stamped(event, known, seq)
            people = audience(event)
            people = same.setdefault(people, people)
            if lawful and event.is_note:
                self._check_sources(event, known, people, here, sources)
            at = seq
            if known.valid_from is not None:
                # A log from elsewhere may be one viewer's: it does not say who else perceived an event.
                is_checked = lawful and not isinstance(standing, laws.LenientTruth)
                learning = people if is_checked else frozenset[str]()
                at = self._past(event, known, learning, here, lineage)
            # Few new events are read at once by all who perceived them, which shares their effects.
            effects = event_effects(event) if len(sound) <= _FEW else effects_of(event, known, people)
            terms = terms_of_event(event, known) if words and not event.is_note else {}
            learners = learners_of(event)
            prepared = PreparedEvent(event, seq, at, known, uses, people, learners, effects, terms)
            here[event.event_id] = prepared
            self._take_in(prepared)
        return list(here.values())

    def _stamped(self, event: GameEvent, known: KnownMetadata, seq: int) -> tuple[GameEvent, KnownMetadata]:
        """Stamp an event that names nobody: its witnesses are those at its location, or else the party."""
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
        here: dict[str, PreparedEvent],
        lineage: Lineage,
    ) -> int:
        """Return the seq of the event that these facts speak of; check that `people` perceived it."""
        name = str(known.valid_from)
        at, perceivers = self._perceived([name], here, lineage).get(name, (0, people))
        if not at:
            raise EventRefused(event.event_id, field="valid_from", reason=f"there is no event {name!r} yet")
        if not people <= perceivers:
            strangers = ", ".join(sorted(people - perceivers))
            raise EventRefused(
                event.event_id,
                field="valid_from",
                reason=f"{strangers} did not perceive {name!r}; tell them in an event of its own",
            )
        return at

    def _check_sources(
        self,
        event: GameEvent,
        known: KnownMetadata,
        people: frozenset[str],
        here: dict[str, PreparedEvent],
        stored: dict[str, Perceived],
    ) -> None:
        """Refuse a note that was made from an event that not all of its readers perceived."""
        for name in _sources_of(known):
            perceivers = here[name].perceivers if name in here else stored.get(name, (0, None))[1]
            if perceivers is None:
                raise EventRefused(event.event_id, field="sources", reason=f"there is no event {name!r} yet")
            strangers = people - perceivers - {DM, SYSTEM}
            if strangers:
                reason = f"{', '.join(sorted(strangers))} did not perceive {name!r}"
                raise EventRefused(event.event_id, field="sources", reason=reason)

    def _sources(self, events: Iterable[GameEvent], lineage: Lineage) -> dict[str, Perceived]:
        """Look up all stored events that the notes among some events were made from, in one read."""
        names = dict.fromkeys(name for event in events if event.is_note for name in _sources_of(event.known))
        return self._perceived(names, {}, lineage) if names else {}

    def _perceived(
        self, names: Iterable[str], here: dict[str, PreparedEvent], lineage: Lineage
    ) -> dict[str, Perceived]:
        """Return the seq and the perceivers of those of some events that exist, by event id."""
        wanted = list(names)
        found = {name: (here[name].seq, here[name].perceivers) for name in wanted if name in here}
        seqs = self._store.seqs_of(lineage, [name for name in wanted if name not in here])
        rows = self._store.events_at(lineage, list(seqs.values()))
        groups = {group for row in rows.values() for group in (row.audience, row.others) if group}
        members = self._store.members(groups)
        for name, seq in seqs.items():
            row = rows[seq]
            perceivers = members[row.audience] | (members[row.others] if row.others else frozenset())
            found[name] = seq, perceivers
        return found

    def _take_in(self, prepared: PreparedEvent) -> None:
        """Take an event into the head state, which the laws check the next event against."""
        self._standing.meet(
            (*prepared.uses.shown, *prepared.perceivers, *(uid for _, uid in prepared.uses.referred))
        )
        if prepared.effects.seen:
            self._standing.see(prepared.effects.seen, str(prepared.known.location), prepared.seq)
        for held in prepared.effects.holdings:
            if held.certainty is CertaintyRank.FACT and DM in held.holders:
                self._standing.apply(held.claim, at=valid_from_of(held, prepared), seq=prepared.seq)

    def _rows(self, prepared: list[PreparedEvent], head: int, *, log: bool) -> Rows:
        rows = self._maker.rows(prepared, head, log=log)
        rows.truth = self._standing.changes()
        return rows


def _sources_of(known: KnownMetadata) -> list[str]:
    """Return the ids of the events that a note was made from, or is about."""
    named = list(known.sources)
    if known.memory is not None:
        note = known.memory
        named += [one for one in (note.after, note.upto) if one is not None]
        named += [source for line in note.line_sources for source in line]
    if known.gate is not None:
        named.append(known.gate.target)
    return list(dict.fromkeys(named))


def _event(value: object) -> GameEvent:
    if not isinstance(value, GameEvent):
        reason = "is not a GameEvent; make one with GameEvent(...) or GameEvent.model_validate(a dict)"
        raise InvalidSetting("event", type(value).__name__, reason=reason)
    return value


def _checked(event: GameEvent) -> GameEvent:
    """Check an event again if it was changed in place since it was made."""
    if event.is_as_checked:
        return event
    try:
        return GameEvent.model_validate(event.__dict__)
    except ValidationError as exc:
        first = exc.errors()[0]
        field = ".".join(map(str, first["loc"])) or "event"
        raise EventRefused(event.event_id, field=field, reason=first["msg"]) from exc
