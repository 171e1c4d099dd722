"""One viewer's story and what it knows, kept at hand while the log grows.

A view like any other: made cold from a bounded part of the log, or brought up to date by what is new,
it says the same. Nothing in it outlives the process.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from threading import RLock
from typing import Any, Final, TypeVar

from pydantic import JsonValue

from dndbots.canon.claims import AT
from dndbots.canon.holding import PERCEIVED
from dndbots.canon.marks import LEFT_OPEN, READ_OUT
from dndbots.canon.reducers import seen_in
from dndbots.canon.values import Entity, Fact
from dndbots.events import EventType, GameEvent
from dndbots.memory.context.happened import Happened, Spoken, happened, spoken_in, subjects_of
from dndbots.memory.context.stating import Stated, is_item, is_passing, lines_of
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates, without_hidden
from dndbots.memory.retelling import retold
from dndbots.memory.scoped import memories_on
from dndbots.memory.story import EARLY, OLDER, Part, Story, window_start
from dndbots.memory.threads import states_of
from dndbots.models import MemoryEntry
from dndbots.storage.reader import View

NOTES: Final = "notes"
_Made = TypeVar("_Made")
_SEEN_THERE: Final = 20
_TOLD_OF: Final = 60
# A part is made for a few budgets and rooms in turn.
_KEPT: Final = 4
# Of so many marks and shelves it is known what stands there.
_AT_HAND: Final = 128
# What is known of so many people, places and names; in a long campaign most of them never come back.
_MOST_KNOWN: Final = 2_048
# Of whom the newest events speak, those may matter now.
LATELY: Final = 40
# The sessions that are read whole, as far as a story goes back.
WHOLE: Final = 2
# What is further behind than this is read anew.
_FAR_BEHIND: Final = 2_000


class Following:
    """What there is to tell one viewer, up to a place in the log."""

    def __init__(self, encoding: str) -> None:
        self.lock = RLock()
        self._encoding = encoding
        self._at = -1
        self._gates = Gates()
        self._forget()

    def _forget(self) -> None:
        self.story = Story(encoding=self._encoding)
        self.session = ""
        self._sessions: set[str] = set()
        self._called: dict[str, str] = {}
        self._called_at_first = 0
        self._lately: deque[Spoken] = deque(maxlen=LATELY)
        self._kinds: dict[str, list[str]] = {}
        self._marked: dict[str, deque[GameEvent]] = {}
        self._memories: dict[tuple[str, str], list[MemoryEntry]] = {}
        self._told_of: deque[tuple[str, ...]] | None = None
        self._let_go()
        self.before_last = 0

    def _let_go(self) -> None:
        """Lets go of what is read again for whoever is asked for, and of all that was made of it."""
        self._bearers: dict[str, str | None] = {}
        self._entities: dict[str, Entity] = {}
        self._merged: set[str] = set()
        self._first_seen: dict[str, int] = {}
        self._seen_at: dict[str, deque[tuple[str, ...]]] = {}
        self._states: dict[str, JsonValue] = {}
        self._stated: dict[str, tuple[Entity, list[Stated]]] = {}
        self._carried: dict[str, tuple[Entity, list[Stated]]] = {}
        self._names: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        self._given: dict[str, tuple[str, ...]] = {}
        self._kept: dict[str, deque[tuple[object, Any]]] = {}
        # Counted for what is kept, so these go with it.
        self.changes: Counter[str] = Counter()

    def _thin_out(self) -> None:
        sizes = [len(self._bearers), len(self._entities), len(self._first_seen), len(self._seen_at)]
        sizes += [len(self._stated), len(self._carried), len(self._names), len(self._given)]
        sizes += [len(self._spelled)]
        if max(*sizes, len(self._states), len(self.changes)) > _MOST_KNOWN:
            self._let_go()

    @property
    def _is_full(self) -> bool:
        """Whether it was told under more names than a story that begins anew could hold."""
        return len(self._called) > self._called_at_first + _MOST_KNOWN

    def catch_up(self, view: View, gates: Gates) -> None:
        """Brings it to the view's place, which is an earlier one if somebody who asked later came first."""
        # Whatever fails on the way, it begins anew next time.
        at, self._at = self._at, -1
        self._thin_out()
        decided = (gates.forgotten, gates.corrected)
        if (
            at < 0
            or decided != (self._gates.forgotten, self._gates.corrected)
            or not at <= view.head <= at + _FAR_BEHIND
            or self._is_full
            or not self._went_on(view, gates, at)
        ):
            self._begin(view, gates)
        self._at, self._gates = view.head, gates

    @property
    def at(self) -> int:
        """The place in the log that it came to; -1 before anything."""
        return self._at

    def lately(self, view: View) -> list[str]:
        """Whom the newest events show or name, the newest first."""
        missing = {name for one in self._lately for name in one.names} - self._bearers.keys()
        if missing:
            given = view.given(missing)
            self._bearers |= {name: _only(given.get(name, ())) for name in missing}
        found: dict[str, None] = {}
        for one in reversed(self._lately):
            named = (self._bearers[name] for name in one.names)
            found |= dict.fromkeys((*one.uids, *(uid for uid in named if uid is not None)))
        return list(found)

    # What is new.

    def _went_on(self, view: View, gates: Gates, at: int) -> bool:
        """Takes in what is new after a place; says no if that changes what was told before."""
        new = list(view.events(after=at)) if view.head > at else []
        said = [self._as_news(happened(event)) for event in new]
        seen: dict[str, tuple[str, str | None]] = {}
        for event, one in zip(new, said, strict=True):
            self._touch(event, one)
            seen |= dict.fromkeys(one.seen, (event.event_id, one.place))
        # Where somebody was seen last is where they are.
        for uid in seen.keys() & self._entities.keys():
            self._see(uid, self._entities[uid], *seen[uid])
        if not self._are_called_so(view, at, said):
            return False
        begun = any(event.session_id not in self._sessions for event in new if not event.is_note)
        self._add(view, [event for event in new if not event.is_note], gates)
        if begun:
            self.before_last = _last_but_one(view.sessions())
        return True

    def _as_news(self, one: Happened) -> Happened:
        """What an event says, without the names that were given just so the last time."""
        if not one.named:
            return one
        new = {uid: names for uid, names in one.named.items() if self._given.get(uid) != names}
        self._given |= new
        return one._replace(named=new)

    def _are_called_so(self, view: View, at: int, new: Sequence[Happened]) -> bool:
        """Whether all of whom was told go by their names still; forgets what was made with others.

        Somebody who was never heard of before gets a name without changing anything.
        """
        named = {uid for one in new for uid in one.named}
        told = set(self._called)
        if any(one.joins for one in new):
            self._bearers.clear()
            self._names.clear()
            self._spelled.clear()
            self._given.clear()
            self._kept.clear()
        elif named:
            for name in {name for one in new for name in one.names} & self._bearers.keys():
                del self._bearers[name]
            for uid in named & self._spelled.keys():
                del self._spelled[uid]
            persons = view.persons_of(named)
            people = {uid for same in persons.values() for uid in same}
            for uid in (uid for uid in named if len(persons[uid]) > 1):
                # Of one who goes by several uids, the one that was named last counts.
                del self._given[uid]
            if people & self._names.keys() or view.until(at).first_seen(people):
                self._names.clear()
                self._kept.clear()
            told &= people
        else:
            return True
        called = view.called(sorted(told)) if told else {}
        return all(called[uid].name == self._called[uid] for uid in told)

    def _touch(self, event: GameEvent, one: Happened) -> None:
        """What an event says makes old what is at hand of those it says it of."""
        if one.joins:
            self._entities.clear()
            self._merged.clear()
            self._kinds.clear()
        said = one.said.union(one.named)
        for uid in said & self._entities.keys():
            self._drop(uid)
        for uid in [*self._merged]:
            own = (uid, self._entities[uid].uid, *self._entities[uid].merged)
            if not (said.isdisjoint(own) and one.seen.isdisjoint(own)):
                self._drop(uid)
        if self._told_of is not None and event.event_type is EventType.EXTRACTION:
            self._told_of.append(one.read_out)
        self._meet(one.near)
        self._mark(event, one)
        if not event.is_note:
            for place in one.met & self._seen_at.keys():
                self._seen_at[place].append(one.there)

    def _drop(self, uid: str) -> None:
        del self._entities[uid]
        self._merged.discard(uid)

    def _meet(self, uids: Collection[str]) -> None:
        """Some are part of an event, and perhaps are met for the first time."""
        if any(uid in self._names and uid not in self._first_seen for uid in uids):
            # Names stand in the order of meeting, so that of whom there was only talk moves up.
            self._kept.clear()
        for prefix, known in list(self._kinds.items()):
            if any(uid.startswith(prefix) and uid not in known for uid in uids):
                del self._kinds[prefix]

    def _mark(self, event: GameEvent, one: Happened) -> None:
        """Counts what changed, for those who keep what follows from it."""
        self.changes.update(one.marks)
        # What models took is no memory: it would have all that is kept of memories made again.
        self.changes[NOTES] += event.is_note and event.event_type is not EventType.USAGE
        self.changes[LEFT_OPEN] += one.ends
        if one.ends:
            self._states.clear()
        if one.shelf is not None:
            self._memories.pop(one.shelf, None)
        if event.event_type is EventType.GATE:
            self._memories.clear()
        for mark in one.marks if not event.is_note else ():
            if mark in self._marked:
                self._marked[mark].append(event)

    def _see(self, uid: str, entity: Entity, event_id: str, place: str | None) -> None:
        """Somebody was seen somewhere, and nothing else is new of them."""
        was = [n for n, fact in enumerate(entity.facts) if fact.op == AT]
        if not was:
            self._drop(uid)
            return
        seen = Fact.restored(
            subject=uid,
            key=None,
            value=None,
            op=AT,
            object=place,
            ended=False,
            certainty="fact",
            how=PERCEIVED,
            said_by=None,
            valid_from=event_id,
            learned_from=event_id,
            superseded_by=None,
            extracted_in=None,
        )
        facts = [fact for n, fact in enumerate(entity.facts) if n not in was]
        facts.insert(was[0], seen)
        # Made anew, since a copy would bring along what was worked out from the old facts.
        now = self._entities[uid] = Entity(
            uid=entity.uid,
            category=entity.category,
            name=entity.name,
            aliases=entity.aliases,
            facts=tuple(facts),
        )
        if all(is_passing(entity, fact) for fact in (seen, *(entity.facts[n] for n in was))):
            for made in (self._stated, self._carried):
                before, lines = made.get(uid, (None, []))
                if before is entity:
                    made[uid] = (now, lines)

    def _add(self, view: View, play: list[GameEvent], gates: Gates) -> None:
        if play:
            self._note(view, play)
            self.story.add(self._entries(view, play, gates))

    def _note(self, view: View, play: Iterable[GameEvent]) -> None:
        """Whom events speak of, and under which names that was told."""
        used: set[str] = set()
        for event in play:
            spoken = spoken_in(event)
            used |= spoken.told
            self._lately.append(spoken)
        new = used - self._called.keys()
        if new:
            self._called |= {uid: one.name for uid, one in view.called(sorted(new)).items()}

    def _entries(self, view: View, play: list[GameEvent], gates: Gates) -> Iterator[Entry]:
        """One entry for each event, also for those that say nothing: places in the story are counted.

        A session goes on until another begins; who goes back to an earlier one goes on with this one.
        """
        told = {entry.event_id: entry for entry in retold(view, play, gates, called=self._called)}
        for event in play:
            if event.session_id not in self._sessions:
                self._sessions.add(event.session_id)
                self.session = event.session_id
            entry = told.get(event.event_id) or Entry(text="", event_id=event.event_id)
            yield _in_session(entry, self.session)

    # From a bounded part of the log.

    def _begin(self, view: View, gates: Gates) -> None:
        self._forget()
        sessions = view.sessions()
        ends = [*(start - 1 for start in list(sessions.values())[1:]), view.head]
        spans = list(zip(sessions.items(), ends, strict=False))[-(OLDER + WHOLE) :]
        self.before_last = _last_but_one(sessions)
        self._sessions = set(sessions)
        parts = []
        for left, ((session, start), end) in zip(range(len(spans), 0, -1), spans, strict=True):
            self.session = session
            parts.append(self._part(view, gates, start, end, whole=left <= WHOLE))
        self.story = Story.of(parts, lost=len(sessions) > len(spans), encoding=self._encoding)
        self._note(view, view.newest(LATELY))
        self._called_at_first = len(self._called)

    def _part(self, view: View, gates: Gates, start: int, end: int, *, whole: bool) -> Part:
        until = view.until(end)
        count = until.index().heard.lines - view.until(start - 1).index().heard.lines
        opening = until.oldest(EARLY, after=start - 1)
        window: list[GameEvent] = []
        if whole:
            window = until.at(until.places(limit=count - window_start(count)))
        self._note(view, chain(opening, window))
        return Part(
            count=count,
            opening=list(self._entries(view, opening, gates)),
            window=list(self._entries(view, window, gates)),
        )

    # Who is who.

    def entities(self, view: View, uids: Collection[str]) -> dict[str, Entity]:
        """Those of some entities that the viewer knows of, each under the uid it goes by."""
        missing = [uid for uid in uids if uid not in self._entities]
        if missing:
            seen, persons = self.first_seen(view, missing), view.persons_of(missing)
            known = view.entities_of({same[0]: same for uid, same in persons.items() if uid in seen})
            self._entities |= {uid: without_hidden(view, one, self._gates) for uid, one in known.items()}
            for uid in missing:
                head = persons[uid][0]
                if head in self._entities:
                    entity = self._entities[uid] = self._entities[head]
                    if entity.merged:
                        self._merged |= {uid, head}
        found = [self._entities[uid] for uid in uids if uid in self._entities]
        return {entity.uid: entity for entity in found}

    def first_seen(self, view: View, uids: Collection[str]) -> dict[str, int]:
        """Where the viewer met those of some entities that it knows of."""
        missing = [uid for uid in uids if uid not in self._first_seen]
        if missing:
            self._first_seen |= view.first_seen(missing)
        return {uid: self._first_seen[uid] for uid in uids if uid in self._first_seen}

    def named(self, view: View, uids: Collection[str]) -> dict[str, str]:
        """What some entities are called, in the order in which the viewer met them."""
        missing = [uid for uid in uids if uid not in self._names]
        if missing:
            self._names |= {uid: called.name for uid, called in view.called(missing).items()}
        met = self.first_seen(view, uids)
        last = view.head + 1
        return {uid: self._names[uid] for uid in sorted(uids, key=lambda uid: (met.get(uid, last), uid))}

    def spelled(self, view: View, uids: Collection[str]) -> dict[str, str]:
        """How the viewer may see the uids of some entities."""
        missing = [uid for uid in uids if uid not in self._spelled]
        if missing:
            self._spelled |= view.spelled(missing)
        return {uid: self._spelled[uid] for uid in uids}

    def kept(self, name: str, key: object, make: Callable[[], _Made]) -> _Made:
        """Something that is made again only when what it depends on is another."""
        shelf = self._kept.setdefault(name, deque(maxlen=_KEPT))
        for known, value in shelf:
            if known == key:
                found: _Made = value
                return found
        made = make()
        shelf.appendleft((key, made))
        return made

    def everybody(self, view: View, prefix: str) -> list[str]:
        """Every entity of a kind that the viewer knows of."""
        if prefix not in self._kinds:
            self._kinds[prefix] = view.everybody(prefix)
        return self._kinds[prefix]

    def seen_at(self, view: View, place: str) -> list[str]:
        """Who took part in the newest events that have to do with a place, the newest first."""
        if place not in self._seen_at:
            events = view.at(view.places(limit=_SEEN_THERE, about=[place]))
            seen = (tuple(seen_in(event, event.known)) for event in events)
            self._seen_at[place] = deque(seen, maxlen=_SEEN_THERE)
        return list(dict.fromkeys(chain.from_iterable(reversed(self._seen_at[place]))))

    def marked(self, view: View, mark: str, *, limit: int) -> list[GameEvent]:
        """The newest events of play with a mark, oldest first. The limit of a mark is always the same."""
        if mark not in self._marked:
            _make_room(self._marked)
            self._marked[mark] = deque(view.marked(mark, limit=limit), maxlen=limit)
        return list(self._marked[mark])

    def states(self, view: View, threads: Collection[str]) -> dict[str, JsonValue]:
        """How some threads stand, by their ids; nothing is said of those that nobody has ended."""
        missing = [one for one in threads if one not in self._states]
        if missing:
            self._states |= dict.fromkeys(missing) | states_of(view, missing)
        return {one: self._states[one] for one in threads}

    def memories(self, view: View, holder: str, shelf: str, *, limit: int) -> list[MemoryEntry]:
        """The newest that somebody remembers on a shelf, oldest first. The limit is always the same."""
        if (holder, shelf) not in self._memories:
            _make_room(self._memories)
            gates = self._gates if holder == view.viewer else None
            self._memories[holder, shelf] = memories_on(view, holder, shelf, gates=gates, newest=limit)
        return self._memories[holder, shelf]

    def told_of(self, view: View) -> list[str]:
        """Of whom something was read out of the newest words, the newest first."""
        if self._told_of is None:
            self._told_of = deque(map(subjects_of, view.marked(READ_OUT, limit=_TOLD_OF)), maxlen=_TOLD_OF)
        return list(dict.fromkeys(chain.from_iterable(reversed(self._told_of))))

    def stated(self, entity: Entity) -> list[Stated]:
        """What lasts of what is known of somebody, as lines of DCML."""
        return self._lines(self._stated, entity, lambda fact: not is_passing(entity, fact))

    def carried(self, entity: Entity) -> list[Stated]:
        """What somebody has on them."""
        return self._lines(self._carried, entity, is_item)

    def _lines(
        self,
        made: dict[str, tuple[Entity, list[Stated]]],
        entity: Entity,
        wanted: Callable[[Fact], bool],
    ) -> list[Stated]:
        found = made.get(entity.uid)
        if found is None or found[0] is not entity:
            facts = [one for one in entity.facts if not self._gates.hides(one) and wanted(one)]
            found = made[entity.uid] = (entity, lines_of(entity, facts))
        return found[1]


def _make_room(kept: dict[Any, Any]) -> None:
    """Who and where one has to do with changes: what is not asked for any more is forgotten in the end."""
    if len(kept) >= _AT_HAND:
        kept.clear()


def _only(bearers: Collection[str]) -> str | None:
    """Who bears a name, if it is one and no other."""
    return next(iter(bearers)) if len(bearers) == 1 else None


def _last_but_one(sessions: dict[str, int]) -> int:
    """Where the first of the sessions that are told whole begins; 0 if nothing came before it."""
    starts = list(sessions.values())
    return starts[-WHOLE] if len(starts) > WHOLE else 0


def _in_session(entry: Entry, session: str) -> Entry:
    if entry.session == session:
        return entry
    return Entry(
        text=entry.text,
        who=entry.who,
        event_id=entry.event_id,
        session=session,
        narrated=entry.narrated,
        outcomes=entry.outcomes,
    )
