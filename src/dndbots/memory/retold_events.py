"""Events as an agent would retell them: the speaker, the words, and the outcomes that the rules decided.

Works on events that the agent perceived, and uses the names that the agent knows.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final

from dndbots.canon.loot import holder_of, loot_of
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.storage.views.people import KnownAs
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import label_of
from dndbots.text.word_forms import is_plural

_WORD: Final = re.compile(r"\w")
NameOf = Callable[[str], str]
# Enough for the events of a session or two.
_KEPT: Final = 1 << 11
_ARTICLES: Final = ("the ", "some ", "a ", "an ")
_NUMBERS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class EventKey:
    """An event as a cache key: equal to any event with the same content and metadata."""

    __slots__ = ("_key", "event")

    def __init__(self, event: GameEvent) -> None:
        self.event = event
        self._key = (
            event.event_id,
            event.event_type,
            event.source,
            event.content,
            event.session_id,
            event.metadata_text,
        )

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventKey) and self._key == other._key


def retell_events(
    view: View, events: Iterable[GameEvent], gates: Gates, *, called: Mapping[str, str] | None = None
) -> list[Entry]:
    """Return entries for events, in the given order; events that say nothing are left out.

    `called` holds the viewer's names of all uids that the entries need; without it, they are looked up.
    """
    shown = [EventKey(event) for event in gates.shown(event for event in events if not event.is_note)]
    uids = list(map(_uids_to_name, shown))
    if called is None:
        called = {uid: known_as.name for uid, known_as in view.called(sorted(set().union(*uids))).items()}
    entries = (
        _entry(key, tuple([called[uid] for uid in named])) for key, named in zip(shown, uids, strict=True)
    )
    return [entry for entry in entries if entry is not None]


def uids_to_name(event: GameEvent) -> tuple[str, ...]:
    """Return the uids whose names a retelling of the event may need."""
    return _uids_to_name(EventKey(event))


@lru_cache(maxsize=_KEPT)
def _uids_to_name(key: EventKey) -> tuple[str, ...]:
    event, known = key.event, key.event.known
    uids = {event.source, *speakers_of(event, known), *spoken_of(event, known)}
    return tuple(sorted(uids - {DM, SYSTEM}))


# Most viewers of an event use the same names, and share this cache.
@lru_cache(maxsize=_KEPT)
def _entry(key: EventKey, names: tuple[str, ...]) -> Entry | None:
    """Return an event as an entry with these names of its uids; None if it says nothing."""
    event, known = key.event, key.event.known
    called = dict(zip(_uids_to_name(key), names, strict=True))

    def named(uid: str) -> str:
        return label_of(uid, called.get(uid, uid))

    hearers = [named(uid) for uid in _whispered_to(event, known)]
    entry = Entry(
        text=one_line(f"(whispers to {_listed(hearers)}) {event.content}" if hearers else event.content),
        who=" and ".join(map(named, speakers_of(event, known))),
        event_id=event.event_id,
        session=event.session_id,
        narrated=event.source == DM,
        outcomes=tuple(_outcomes(event, known, named)),
    )
    return entry if entry.outcomes or _WORD.search(event.content) else None


def speakers_of(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids that speak or act in an event; several if they do so together."""
    return known.together or [event.source]


def spoken_of(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids, beside the speakers, whose names a retelling uses; not those that are only present."""
    uids = [*known.killed, *_killers(known), *known.revived, *known.discovered, *_whispered_to(event, known)]
    for entry in map(loot_of, known.loot):
        uids += [uid for uid in (entry.to, entry.item) if uid]
    moves = event.event_type is EventType.LOCATION_CHANGE
    uids += [PARTY_UID] if known.loot else []
    uids += known.participants if known.loot or moves else []
    uids += [known.location] if known.location and (moves or known.danger_level is not None) else []
    return uids + ([known.quest_id] if known.quest_id else [])


def _whispered_to(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids that a whisper is for. It is told as a whisper, so that nobody answers it aloud."""
    if event.event_type is not EventType.WHISPER:
        return []
    return [uid for uid in dict.fromkeys((*known.told_to, *known.participants)) if uid != event.source]


def _killers(known: KnownMetadata) -> list[str]:
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
    return [who for who in killers if who not in (DM, SYSTEM)]


def _outcomes(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterable[str]:
    """Yield the outcomes that the rules decided, as sentences."""
    if known.killed:
        killers = _killers(known)
        by = f" by {_listed(map(called, killers))}" if killers else ""
        dead = dict(_fallen(known, called))
        several = len(dead) > 1 or max(dead.values()) > 1
        yield f"{_listed(dead)} {'were' if several else 'was'} killed{by}."
    if known.revived:
        yield f"{_listed(map(called, known.revived))} came back to life."
    if known.discovered:
        names = list(dict.fromkeys(map(called, known.discovered)))
        yield f"{_listed(names)} {'was' if len(names) == 1 else 'were'} found."
    yield from _steps(known, called)
    yield from _spoils(event, known, called)
    if event.event_type is EventType.LOCATION_CHANGE and known.location is not None:
        movers = [who for who in (event.source, *known.participants) if who not in (DM, SYSTEM)]
        if movers and not _says(event, [called(known.location)]):
            yield f"{_listed(dict.fromkeys(map(called, movers)))} went to {called(known.location)}."


def _fallen(known: KnownMetadata, called: NameOf) -> Iterable[tuple[str, int]]:
    """Yield who fell and how many: somebody by name, or a number of a group."""
    for uid, times in Counter(known.killed).items():
        name, count = called(uid), known.enemy_count if known.enemies[:1] == [uid] else None
        count = None if count is None or count < times else count  # the group was counted after the fall
        if category_of(uid) != "MON" or not (is_plural(name) or times > 1 or (count or 0) > 1):
            yield name, 1
            continue
        group = next((name.removeprefix(article) for article in _ARTICLES if name.startswith(article)), name)
        if count == 1:
            yield f"The last of the {group}", 1
        elif count == times:
            yield f"All {_number(count)} of the {group}", count
        else:
            of = group if count is None else f"{_number(count)} {group}"
            yield f"{_number(times).capitalize()} of the {of}", times


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _steps(known: KnownMetadata, called: NameOf) -> Iterable[str]:
    """Yield sentences on quests, objectives, acts and the danger of a place."""
    quest = called(known.quest_id) if known.quest_id is not None else ""
    if quest and known.quest_state is not None:
        yield f"The quest {quest} is {one_line(known.quest_state)}."
    if quest and known.objective_id is not None:
        state = one_line(known.objective_state or "completed")
        yield f"The objective {one_line(known.objective_id)} of the quest {quest} is {state}."
    if known.act_id is not None:
        yield f"Act {one_line(known.act_id)} is {one_line(known.act_state or 'begun')}."
    if known.danger_level is not None and known.location is not None:
        yield f"{called(known.location)} is {one_line(known.danger_level).lower()}."


def _spoils(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterable[str]:
    """Yield a sentence on the loot of each holder, without items that the event's own words name."""
    by_holder: dict[str, list[str]] = {}
    if event.event_type is EventType.SYSTEM:
        return  # equipment from a sheet was not found in play
    for entry in map(loot_of, known.loot):
        who = entry.to or holder_of(event, known)
        if who is None or entry.giver is not None:
            continue
        if entry.item is not None and _says(event, [called(entry.item)]):
            continue
        got = by_holder.setdefault(called(who), [])
        if entry.item is not None and entry.quantity > 0:
            item = called(entry.item)
            got.append(item if entry.quantity == 1 else f"{item} x{entry.quantity}")
        if entry.gold > 0:
            got.append(f"{entry.gold} gold")
    for name, got in by_holder.items():
        if got:
            yield f"{name} got {_listed(got)}."


def _says(event: GameEvent, names: Iterable[str]) -> bool:
    """Return whether an event's own words have all of some names, so that they need not be told again."""
    text = event.content.casefold()
    return all(name.casefold() in text for name in names)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


class Reteller:
    """A reteller of events for several viewers: it looks up each viewer's names only once."""

    def __init__(self) -> None:
        self._called: dict[tuple[str, int], dict[str, KnownAs]] = {}

    def retell(self, view: View, events: Iterable[GameEvent], gates: Gates) -> list[Entry]:
        """Return the same entries as `retell_events`."""
        shown = [event for event in events if not event.is_note and event.event_id not in gates.forgotten]
        called = self.called(view, set().union(*map(uids_to_name, shown)))
        return retell_events(
            view, shown, gates, called={uid: known_as.name for uid, known_as in called.items()}
        )

    def called(self, view: View, uids: Collection[str]) -> dict[str, KnownAs]:
        """Return the viewer's names of some uids, together with all looked up before."""
        known = self._called.setdefault((view.viewer, view.head), {})
        missing = [uid for uid in uids if uid not in known]
        if missing:
            known |= view.called(sorted(missing))
        return known
