"""A cache of one viewer's story and knowledge, kept up to date while the log grows.

It answers the same whether it was built from a bounded part of the log or brought up to date event by event.
It lives in memory only.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from threading import RLock
from typing import Any, Final, TypeVar

from pydantic import JsonValue

from dndbots._garbage import NO_COLLECTION
from dndbots.canon.certainty import PERCEIVED
from dndbots.canon.claims import AT
from dndbots.canon.entities import Entity, Fact
from dndbots.canon.event_marks import LEFT_OPEN, READ_OUT
from dndbots.canon.reducers import seen_in
from dndbots.events import EventType, GameEvent
from dndbots.memory.context.event_digest import (
    EventChanges,
    EventMentions,
    changes_of,
    mentions_in,
    subjects_of,
)
from dndbots.memory.context.known_lines import SHEET, KnownLine, is_item, is_passing, known_lines_of
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates, drop_hidden_facts
from dndbots.memory.retold_events import retell_events
from dndbots.memory.scoped.shelves import memories_on
from dndbots.memory.story import EARLY, OLDER, RunPart, Story, window_start
from dndbots.memory.threads import find_thread_states
from dndbots.models import MemoryEntry
from dndbots.storage.views.view import View

NOTES: Final = "notes"
_Made = TypeVar("_Made")
_SEEN_THERE: Final = 20
_TOLD_OF: Final = 60
# Each cached block is kept for a few budgets and rooms.
_KEPT: Final = 4
# The most marks, and the most shelves, whose contents are cached.
_AT_HAND: Final = 128
# The most entries of each other table; in a long campaign most entities never come back.
_MOST_KNOWN: Final = 2_048
# Entities in this many of the newest events may matter now.
LATELY: Final = 40
# The newest sessions that are read whole, within the window of a story.
WHOLE: Final = 2
# A cache that is further behind is built again.
_FAR_BEHIND: Final = 2_000


class ViewerCache:
    """The story and knowledge of one viewer, up to one seq of the log."""

    def __init__(self, encoding: str) -> None:
        self.lock = RLock()
        self._encoding = encoding
        self._at = -1
        self._gates = Gates()
        self.behind: ViewerCache | None = None  # follows at a distance
        self._start_empty()

    def _start_empty(self) -> None:
        self.story = Story(encoding=self._encoding)
        self.session = ""
        self._sessions: set[str] = set()
        self._called: dict[str, str] = {}
        self._called_at_first = 0
        self._lately: deque[EventMentions] = deque(maxlen=LATELY)
        self._kinds: dict[str, list[str]] = {}
        self._marked: dict[str, deque[GameEvent]] = {}
        self._memories: dict[tuple[str, str], list[MemoryEntry]] = {}
        self._told_of: deque[tuple[str, ...]] | None = None
        self._empty_tables()
        self.before_last = 0

    def _empty_tables(self) -> None:
        """Empty all tables that can be read again, and everything made from them."""
        self._bearers: dict[str, str | None] = {}
        self._entities: dict[str, Entity] = {}
        self._merged: set[str] = set()
        self._first_seen: dict[str, int] = {}
        self._seen_at: dict[str, deque[tuple[str, ...]]] = {}
        self._states: dict[str, JsonValue] = {}
        self._stated: dict[str, tuple[Entity, list[KnownLine]]] = {}
        self._with_sheet: dict[str, tuple[Entity, list[KnownLine]]] = {}
        self._carried: dict[str, tuple[Entity, list[KnownLine]]] = {}
        self._names: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        self._given: dict[str, tuple[str, ...]] = {}
        self._kept: dict[str, deque[tuple[object, Any]]] = {}
        # Keys of cached values contain these counts, so both are emptied together.
        self.changes: Counter[str] = Counter()

    def _thin_out(self) -> None:
        sizes = [len(self._bearers), len(self._entities), len(self._first_seen), len(self._seen_at)]
        sizes += [len(self._stated), len(self._carried), len(self._names), len(self._given)]
        sizes += [len(self._spelled)]
        if max(*sizes, len(self._states), len(self.changes)) > _MOST_KNOWN:
            self._empty_tables()

    @property
    def _is_full(self) -> bool:
        """Return whether far more names were collected than a fresh start would hold."""
        return len(self._called) > self._called_at_first + _MOST_KNOWN

    def catch_up(self, view: View, gates: Gates) -> None:
        """Bring the cache to the head of the view, which may also be an earlier seq than its own."""
        # If anything fails on the way, the next call builds the cache again.
        at, self._at = self._at, -1
        self._thin_out()
        decided = (gates.forgotten, gates.corrected)
        if (
            at < 0
            or decided != (self._gates.forgotten, self._gates.corrected)
            or not at <= view.head <= at + _FAR_BEHIND
            or self._is_full
            or not self._take_in(view, gates, at)
        ):
            with NO_COLLECTION:
                self._begin(view, gates)
        self._at, self._gates = view.head, gates

    @property
    def at(self) -> int:
        """Return the seq that the cache has reached; -1 if it is empty."""
        return self._at

    def lately(self, view: View) -> list[str]:
        """Return the uids that the newest events show or name, newest first."""
        missing = {name for mentions in self._lately for name in mentions.names} - self._bearers.keys()
        if missing:
            given = view.given(missing)
            self._bearers |= {name: _only_bearer(given.get(name, ())) for name in missing}
        uids: dict[str, None] = {}
        for mentions in reversed(self._lately):
            named = (self._bearers[name] for name in mentions.names)
            uids |= dict.fromkeys((*mentions.uids, *(uid for uid in named if uid is not None)))
        return list(uids)

    # New events.

    def _take_in(self, view: View, gates: Gates, at: int) -> bool:
        """Take in the events after seq `at`; return False if they change names that the story used."""
        new = list(view.events(after=at)) if view.head > at else []
        changes = [self._without_known_names(changes_of(event)) for event in new]
        seen: dict[str, tuple[str, str | None]] = {}
        for event, change in zip(new, changes, strict=True):
            self._invalidate(event, change)
            seen |= dict.fromkeys(change.seen, (event.event_id, change.place))
        # The last event that shows somebody decides where they are.
        for uid in seen.keys() & self._entities.keys():
            self._move(uid, self._entities[uid], *seen[uid])
        if not self._keep_names(view, at, changes):
            return False
        begun = any(event.session_id not in self._sessions for event in new if not event.is_note)
        self._add(view, [event for event in new if not event.is_note], gates)
        if begun:
            self.before_last = _last_but_one(view.sessions())
        return True

    def _without_known_names(self, change: EventChanges) -> EventChanges:
        """Return the changes of an event without names that were given in the same way before."""
        if not change.named:
            return change
        new = {uid: names for uid, names in change.named.items() if self._given.get(uid) != names}
        self._given |= new
        return change._replace(named=new)

    def _keep_names(self, view: View, at: int, new: Sequence[EventChanges]) -> bool:
        """Drop what was made with outdated names; return whether all names in the story are still right.

        A name for an entity that was unknown before changes nothing.
        """
        named = {uid for change in new for uid in change.named}
        told = set(self._called)
        if any(change.joins for change in new):
            self._bearers.clear()
            self._names.clear()
            self._spelled.clear()
            self._given.clear()
            self._kept.clear()
        elif named:
            for name in {name for change in new for name in change.names} & self._bearers.keys():
                del self._bearers[name]
            for uid in named & self._spelled.keys():
                del self._spelled[uid]
            persons = view.persons_of(named)
            people = {uid for same in persons.values() for uid in same}
            for uid in (uid for uid in named if len(persons[uid]) > 1):
                # For an entity with several uids, the name given last counts, whichever uid got it.
                del self._given[uid]
            if people & self._names.keys() or view.until(at).first_seen(people):
                self._names.clear()
                self._kept.clear()
            told &= people
        else:
            return True
        called = view.called(sorted(told)) if told else {}
        return all(called[uid].name == self._called[uid] for uid in told)

    def _invalidate(self, event: GameEvent, change: EventChanges) -> None:
        """Drop the cached values that an event makes outdated."""
        if change.joins:
            self._entities.clear()
            self._merged.clear()
            self._kinds.clear()
        said = change.said.union(change.named)
        for uid in said & self._entities.keys():
            self._drop(uid)
        for uid in [*self._merged]:
            own = (uid, self._entities[uid].uid, *self._entities[uid].merged)
            if not (said.isdisjoint(own) and change.seen.isdisjoint(own)):
                self._drop(uid)
        if self._told_of is not None and event.event_type is EventType.EXTRACTION:
            self._told_of.append(change.read_out)
        self._meet(change.near)
        self._count_changes(event, change)
        if not event.is_note:
            for place in change.met & self._seen_at.keys():
                self._seen_at[place].append(change.there)

    def _drop(self, uid: str) -> None:
        del self._entities[uid]
        self._merged.discard(uid)

    def _meet(self, uids: Collection[str]) -> None:
        """Update the caches for entities in an event, which may be met for the first time."""
        if any(uid in self._names and uid not in self._first_seen for uid in uids):
            # Names stand in the order of meeting: an entity that was only mentioned so far moves up.
            self._kept.clear()
        for prefix, known in list(self._kinds.items()):
            if any(uid.startswith(prefix) and uid not in known for uid in uids):
                del self._kinds[prefix]

    def _count_changes(self, event: GameEvent, change: EventChanges) -> None:
        """Count changes by kind: cached values have these counts in their keys."""
        self.changes.update(change.marks)
        # Usage notes hold no memories, so memories stay cached.
        self.changes[NOTES] += event.is_note and event.event_type is not EventType.USAGE
        self.changes[LEFT_OPEN] += change.ends
        if change.ends:
            self._states.clear()
        if change.shelf is not None:
            self._memories.pop(change.shelf, None)
        if event.event_type is EventType.GATE:
            self._memories.clear()
        for mark in change.marks if not event.is_note else ():
            if mark in self._marked:
                self._marked[mark].append(event)

    def _move(self, uid: str, entity: Entity, event_id: str, place: str | None) -> None:
        """Set the place of an entity of which nothing else has changed."""
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
        # A new object: a copy would keep cached properties of the old facts.
        now = self._entities[uid] = Entity(
            uid=entity.uid,
            category=entity.category,
            name=entity.name,
            aliases=entity.aliases,
            facts=tuple(facts),
        )
        if all(is_passing(entity, fact) for fact in (seen, *(entity.facts[n] for n in was))):
            for made in (self._stated, self._with_sheet, self._carried):
                before, lines = made.get(uid, (None, []))
                if before is entity:
                    made[uid] = (now, lines)

    def _add(self, view: View, play: list[GameEvent], gates: Gates) -> None:
        if play:
            self._note(view, play)
            self.story.add(self._entries(view, play, gates))

    def _note(self, view: View, play: Iterable[GameEvent]) -> None:
        """Collect the mentions in events, and the names that their retelling uses."""
        used: set[str] = set()
        for event in play:
            mentions = mentions_in(event)
            used |= mentions.told
            self._lately.append(mentions)
        new = used - self._called.keys()
        if new:
            self._called |= {uid: one.name for uid, one in view.called(sorted(new)).items()}

    def _entries(self, view: View, play: list[GameEvent], gates: Gates) -> Iterator[Entry]:
        """Yield one entry for each event, also for silent ones, since a story counts its entries.

        A session lasts until a new one begins. Events of an earlier session belong to the current one.
        """
        told = {entry.event_id: entry for entry in retell_events(view, play, gates, called=self._called)}
        for event in play:
            if event.session_id not in self._sessions:
                self._sessions.add(event.session_id)
                self.session = event.session_id
            entry = told.get(event.event_id) or Entry(text="", event_id=event.event_id)
            yield _in_session(entry, self.session)

    # A start from a bounded part of the log.

    def _begin(self, view: View, gates: Gates) -> None:
        self._start_empty()
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

    def _part(self, view: View, gates: Gates, start: int, end: int, *, whole: bool) -> RunPart:
        until = view.until(end)
        count = until.index().heard.lines - view.until(start - 1).index().heard.lines
        opening = until.oldest(EARLY, after=start - 1)
        window: list[GameEvent] = []
        if whole:
            window = until.at(until.newest_seqs(limit=count - window_start(count)))
        self._note(view, chain(opening, window))
        return RunPart(
            count=count,
            opening=list(self._entries(view, opening, gates)),
            window=list(self._entries(view, window, gates)),
        )

    # Entities and names.

    def entities(self, view: View, uids: Collection[str]) -> dict[str, Entity]:
        """Return the entities that the viewer knows, each under the uid that it goes by."""
        missing = [uid for uid in uids if uid not in self._entities]
        if missing:
            seen, persons = self.first_seen(view, missing), view.persons_of(missing)
            known = view.entities_of({same[0]: same for uid, same in persons.items() if uid in seen})
            self._entities |= {uid: drop_hidden_facts(view, one, self._gates) for uid, one in known.items()}
            for uid in missing:
                head = persons[uid][0]
                if head in self._entities:
                    entity = self._entities[uid] = self._entities[head]
                    if entity.merged:
                        self._merged |= {uid, head}
        found = [self._entities[uid] for uid in uids if uid in self._entities]
        return {entity.uid: entity for entity in found}

    def first_seen(self, view: View, uids: Collection[str]) -> dict[str, int]:
        """Return the seq at which the viewer met each of the entities that it knows."""
        missing = [uid for uid in uids if uid not in self._first_seen]
        if missing:
            self._first_seen |= view.first_seen(missing)
        return {uid: self._first_seen[uid] for uid in uids if uid in self._first_seen}

    def named(self, view: View, uids: Collection[str]) -> dict[str, str]:
        """Return the names of entities, in the order in which the viewer met them."""
        missing = [uid for uid in uids if uid not in self._names]
        if missing:
            self._names |= {uid: called.name for uid, called in view.called(missing).items()}
        met = self.first_seen(view, uids)
        last = view.head + 1
        return {uid: self._names[uid] for uid in sorted(uids, key=lambda uid: (met.get(uid, last), uid))}

    def spelled(self, view: View, uids: Collection[str]) -> dict[str, str]:
        """Return uids as the viewer may see them."""
        missing = [uid for uid in uids if uid not in self._spelled]
        if missing:
            self._spelled |= view.spell_uids(missing)
        return {uid: self._spelled[uid] for uid in uids}

    def cached(self, name: str, key: object, make: Callable[[], _Made]) -> _Made:
        """Return the value cached under `name` for `key`, or make it."""
        shelf = self._kept.setdefault(name, deque(maxlen=_KEPT))
        for known, value in shelf:
            if known == key:
                hit: _Made = value
                return hit
        made = make()
        shelf.appendleft((key, made))
        return made

    def everybody(self, view: View, prefix: str) -> list[str]:
        """Return the uids with a prefix that the viewer knows."""
        if prefix not in self._kinds:
            self._kinds[prefix] = view.everybody(prefix)
        return self._kinds[prefix]

    def seen_at(self, view: View, place: str) -> list[str]:
        """Return who took part in the newest events at a place, newest first."""
        if place not in self._seen_at:
            events = view.at(view.newest_seqs(limit=_SEEN_THERE, about=[place]))
            seen = (tuple(seen_in(event, event.known)) for event in events)
            self._seen_at[place] = deque(seen, maxlen=_SEEN_THERE)
        return list(dict.fromkeys(chain.from_iterable(reversed(self._seen_at[place]))))

    def marked(self, view: View, mark: str, *, limit: int) -> list[GameEvent]:
        """Return the newest events of play with a mark, oldest first. A mark always has the same limit."""
        if mark not in self._marked:
            _make_room(self._marked)
            self._marked[mark] = deque(view.marked(mark, limit=limit), maxlen=limit)
        return list(self._marked[mark])

    def states(self, view: View, threads: Collection[str]) -> dict[str, JsonValue]:
        """Return the states of threads by id; None for a thread whose state nobody ever set."""
        missing = [thread for thread in threads if thread not in self._states]
        if missing:
            self._states |= dict.fromkeys(missing) | find_thread_states(view, missing)
        return {thread: self._states[thread] for thread in threads}

    def memories(self, view: View, holder: str, shelf: str, *, limit: int) -> list[MemoryEntry]:
        """Return the newest memories on a holder's shelf, oldest first. The limit is always the same."""
        if (holder, shelf) not in self._memories:
            _make_room(self._memories)
            gates = self._gates if holder == view.viewer else None
            self._memories[holder, shelf] = memories_on(view, holder, shelf, gates=gates, newest=limit)
        return self._memories[holder, shelf]

    def told_of(self, view: View) -> list[str]:
        """Return the subjects of the newest extracted facts, newest first."""
        if self._told_of is None:
            self._told_of = deque(map(subjects_of, view.marked(READ_OUT, limit=_TOLD_OF)), maxlen=_TOLD_OF)
        return list(dict.fromkeys(chain.from_iterable(reversed(self._told_of))))

    def stated(self, entity: Entity) -> list[KnownLine]:
        """Return the lasting facts on an entity as lines of DCML, without the numbers of its sheet."""
        return self._lines(
            self._stated, entity, lambda fact: not is_passing(entity, fact) and not _is_untold(entity, fact)
        )

    def stated_with_sheet(self, entity: Entity) -> list[KnownLine]:
        """Return the lasting facts on an entity as lines of DCML, with the numbers of its sheet."""
        return self._lines(self._with_sheet, entity, lambda fact: not is_passing(entity, fact))

    def carried(self, entity: Entity) -> list[KnownLine]:
        """Return the items that an entity carries as lines of DCML."""
        return self._lines(self._carried, entity, is_item)

    def _lines(
        self,
        made: dict[str, tuple[Entity, list[KnownLine]]],
        entity: Entity,
        wanted: Callable[[Fact], bool],
    ) -> list[KnownLine]:
        found = made.get(entity.uid)
        if found is None or found[0] is not entity:
            facts = [fact for fact in entity.facts if not self._gates.hides(fact) and wanted(fact)]
            found = made[entity.uid] = (entity, known_lines_of(entity, facts))
        return found[1]


def _is_untold(entity: Entity, fact: Fact) -> bool:
    """Return whether a fact is a number of a sheet, or the looks of a place, which matter only there."""
    return fact.key in SHEET or (fact.key == "looks" and entity.category == "LOC")


def _make_room(kept: dict[Any, Any]) -> None:
    """Empty a full table: most of its entries are no longer asked for."""
    if len(kept) >= _AT_HAND:
        kept.clear()


def _only_bearer(bearers: Collection[str]) -> str | None:
    """Return the only bearer of a name, or None if there are several."""
    return next(iter(bearers)) if len(bearers) == 1 else None


def _last_but_one(sessions: dict[str, int]) -> int:
    """Return the seq at which the sessions that are read whole begin; 0 if nothing came before them."""
    starts = list(sessions.values())
    return starts[-WHOLE] if len(starts) > WHOLE else 0


def _in_session(entry: Entry, session: str) -> Entry:
    return entry if entry.session == session else replace(entry, session=session, deeds=())
