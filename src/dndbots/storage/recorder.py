"""The only way into the log: events are checked, stamped with witnesses, and written with all they change."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from pydantic import ValidationError

from dndbots.canon import laws
from dndbots.canon.claims import Certainty
from dndbots.canon.holding import effects_of
from dndbots.errors import DuplicateEvent, EventRefused, InvalidSetting, SequenceConflict
from dndbots.events import GameEvent, KnownMetadata, audience
from dndbots.ids import DM, SYSTEM
from dndbots.storage.ports import BLOCK, Branch, Lineage, Rows, Store
from dndbots.storage.rowmaking import Prepared, RowMaker, at_of
from dndbots.storage.standing import Standing
from dndbots.storage.stating import terms_stated

CHUNK: Final = 4 * BLOCK
# Where an event is in the log, and who perceived it.
Perceived = tuple[int, frozenset[str]]


class Recorder:
    """Appends to one branch. `at_hand` bounds what is kept in memory between appends; None keeps all.

    `undone` is called when what was written is not kept: somebody may have read it meanwhile.
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
        self._standing = Standing(store, branch.id, at_hand=at_hand)
        self._maker = RowMaker(store, branch.id, at_hand=at_hand)
        self._undone = undone
        self._head = -1

    def record(
        self, events: Iterable[GameEvent], *, expected: int | None = None, lawful: bool = True
    ) -> list[GameEvent]:
        """Appends events in one transaction, all of them or none; gives them back as they were stored.

        Other writers wait meanwhile, so the events are checked against what is true when they are
        written. `lawful=False` takes events that a log held before, as they are.
        """
        stored: list[GameEvent] = []
        self.append(events, stored.extend, expected=expected, lawful=lawful)
        return stored

    def append(
        self,
        events: Iterable[GameEvent],
        told: Callable[[list[GameEvent]], None],
        *,
        expected: int | None = None,
        lawful: bool = True,
        from_elsewhere: bool = False,
    ) -> int:
        """The same for any number of events: each chunk is told as it is written, and none is kept.

        What comes `from_elsewhere` is checked by itself, and not against what is true here.
        """
        standing = laws.Unquestioned(self._standing) if from_elsewhere else self._standing
        try:
            with self._store.appending(self._branch) as before:
                self._begin(before, expected)
                head = self._write(iter(events), before, told, standing if lawful else None)
        except BaseException:
            # Also when it is the commit that fails: what is at hand speaks of rows that are not there.
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
        told: Callable[[list[GameEvent]], None],
        standing: laws.Standing | None,
    ) -> int:
        while chunk := list(map(_event, islice(source, CHUNK))):
            prepared = self._prepare(chunk, head, standing)
            head += len(prepared)
            self._store.write(self._rows(prepared, head, log=True))
            told([one.event for one in prepared])
        return head

    def refold(self, events: Iterable[GameEvent], head: int, *, words: bool = True) -> Iterator[Rows]:
        """The rows of every view for events that are in the log after `head`, a chunk at a time.

        Without `words`, those of the text index are left out.
        """
        self.forget()
        source = iter(events)
        # Whole blocks, so that a row of postings is never in two parts.
        while chunk := list(islice(source, BLOCK - (head + 1) % BLOCK)):
            prepared = self._prepare(chunk, head, None, is_stored=True, words=words)
            head += len(prepared)
            yield self._rows(prepared, head, log=False)
        self.forget()

    def forget(self) -> None:
        """Drops all that is at hand: somebody else may have written, or nothing was written after all."""
        self._head = -1
        self._standing.forget()
        self._maker.forget()

    def _prepare(
        self,
        events: list[GameEvent],
        head: int,
        standing: laws.Standing | None,
        *,
        is_stored: bool = False,
        words: bool = True,
    ) -> list[Prepared]:
        """Events as they are to be written; without a `standing` to check them by, taken as they are."""
        lawful = standing is not None
        lineage = self._lineage_to(head)
        self._standing.begin(lineage)
        here: dict[str, Prepared] = {}
        taken = {} if is_stored else self._store.places_of(lineage, [one.event_id for one in events])
        sound = events if is_stored else list(map(_checked, events))
        sources = self._sources(sound, lineage) if lawful else {}
        for seq, given in enumerate(sound, head + 1):
            if given.event_id in taken or given.event_id in here:
                raise DuplicateEvent(given.event_id)
            event, known = given, given.known
            uses = laws.uses_of(event, known)
            if standing is not None:
                laws.check(event, known, uses, standing)
            if not is_stored:
                event, known = self._stamped(event, known, seq)
            people = audience(event)
            if lawful and event.is_note:
                self._check_sources(event, known, people, here, sources)
            at = seq
            if known.valid_from is not None:
                learning = people if lawful else frozenset[str]()
                at = self._past(event, known, learning, here, lineage)
            effects = effects_of(event, known, people)
            terms = terms_stated(event, known) if words and not event.is_note else {}
            one = Prepared(event, seq, at, known, uses, people, effects, terms)
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
        """The place of the event that the facts of this one speak of. All who learn them perceived it.

        Of a log that one viewer perceived nobody asks that: it does not say who else did.
        """
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
        here: dict[str, Prepared],
        stored: dict[str, Perceived],
    ) -> None:
        """A note is made from events that all its readers perceived."""
        for name in _sources_of(known):
            perceivers = here[name].perceivers if name in here else stored.get(name, (0, None))[1]
            if perceivers is None:
                raise EventRefused(event.event_id, field="sources", reason=f"there is no event {name!r} yet")
            strangers = people - perceivers - {DM, SYSTEM}
            if strangers:
                reason = f"{', '.join(sorted(strangers))} did not perceive {name!r}"
                raise EventRefused(event.event_id, field="sources", reason=reason)

    def _sources(self, events: Iterable[GameEvent], lineage: Lineage) -> dict[str, Perceived]:
        """What the notes among some events were made from, as far as the log has it: in one look."""
        names = dict.fromkeys(name for one in events if one.is_note for name in _sources_of(one.known))
        return self._perceived(names, {}, lineage) if names else {}

    def _perceived(
        self, names: Iterable[str], here: dict[str, Prepared], lineage: Lineage
    ) -> dict[str, Perceived]:
        """Where events are in the log, and who perceived them; those that there are."""
        wanted = list(names)
        found = {name: (here[name].seq, here[name].perceivers) for name in wanted if name in here}
        places = self._store.places_of(lineage, [name for name in wanted if name not in here])
        rows = self._store.events_at(lineage, list(places.values()))
        groups = {group for row in rows.values() for group in (row.audience, row.others) if group}
        members = self._store.members(groups)
        for name, place in places.items():
            row = rows[place]
            perceivers = members[row.audience] | (members[row.others] if row.others else frozenset())
            found[name] = place, perceivers
        return found

    def _take_in(self, one: Prepared) -> None:
        """What is true for the laws that check the next event."""
        self._standing.meet((*one.uses.shown, *one.perceivers, *(uid for _, uid in one.uses.referred)))
        if one.effects.seen:
            self._standing.see(one.effects.seen, str(one.known.location), one.seq)
        for held in one.effects.holdings:
            if held.certainty is Certainty.FACT and DM in held.holders:
                self._standing.apply(held.claim, at=at_of(held, one), seq=one.seq)

    def _rows(self, prepared: list[Prepared], head: int, *, log: bool) -> Rows:
        rows = self._maker.rows(prepared, head, log=log)
        rows.truth = self._standing.changes()
        return rows


def _sources_of(known: KnownMetadata) -> list[str]:
    """The events that a note was made from, or is about."""
    named = list(known.sources)
    if known.memory is not None:
        note = known.memory
        named += [one for one in (note.after, note.upto) if one is not None]
        named += [source for line in note.line_sources for source in line]
    if known.gate is not None:
        named.append(known.gate.target)
    return list(dict.fromkeys(named))


def _event(given: object) -> GameEvent:
    if not isinstance(given, GameEvent):
        reason = "is no GameEvent; make one with GameEvent(...), or GameEvent.model_validate(...) of a dict"
        raise InvalidSetting("event", type(given).__name__, reason=reason)
    return given


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
