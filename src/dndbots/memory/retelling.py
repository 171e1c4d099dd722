"""Events as an agent would retell them: who spoke, what was said, and what the rules decided.

Works on events that the agent perceived, in the names that the agent knows.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from dndbots.canon.loot import holder_of, loot_of
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of
from dndbots.memory.entries import Entry
from dndbots.memory.gates import Gates
from dndbots.memory.inflection import is_plural
from dndbots.storage.reader import View
from dndbots.text.cleaning import one_line
from dndbots.text.labels import label_of

_WORD: Final = re.compile(r"\w")
Called = Callable[[str], str]
# What those who look back on a session or two have to do with.
_KEPT: Final = 1 << 11


class AsSaid:
    """An event, equal to any other that says the same: to know by what was made of it before."""

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
        return isinstance(other, AsSaid) and self._key == other._key


def retold(
    view: View, events: Iterable[GameEvent], gates: Gates, *, called: Mapping[str, str] | None = None
) -> list[Entry]:
    """What is worth telling of some events, oldest first. What says nothing is left out.

    `called` has the names that the viewer knows of all who are spoken of, where they are at hand.
    """
    shown = [AsSaid(event) for event in gates.shown(event for event in events if not event.is_note)]
    uids = list(map(_named_in, shown))
    if called is None:
        called = {uid: one.name for uid, one in view.called(sorted(set().union(*uids))).items()}
    told = (
        _entry(one, tuple([called[uid] for uid in named])) for one, named in zip(shown, uids, strict=True)
    )
    return [entry for entry in told if entry is not None]


def named_in(event: GameEvent) -> tuple[str, ...]:
    """All whose names a retelling may need."""
    return _named_in(AsSaid(event))


@lru_cache(maxsize=_KEPT)
def _named_in(one: AsSaid) -> tuple[str, ...]:
    event, known = one.event, one.event.known
    uids = {event.source, *speakers_of(event, known), *spoken_of(event, known)}
    return tuple(sorted(uids - {DM, SYSTEM}))


# Most of those who perceived something call everybody by the same names.
@lru_cache(maxsize=_KEPT)
def _entry(one: AsSaid, names: tuple[str, ...]) -> Entry | None:
    """An event, retold in the names of those who are named in it; nothing, if it says nothing."""
    event, known = one.event, one.event.known
    called = dict(zip(_named_in(one), names, strict=True))

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
    """Who speaks or acts in an event: several, where they do so together."""
    return known.together or [event.source]


def spoken_of(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Whose names stand in what is told of an event, beside its speakers: nobody's whom it only shows."""
    uids = [*known.killed, *_killers(known), *known.revived, *known.discovered, *_whispered_to(event, known)]
    for entry in map(loot_of, known.loot):
        uids += [uid for uid in (entry.to, entry.item) if uid]
    moves = event.event_type is EventType.LOCATION_CHANGE
    uids += [PARTY_UID] if known.loot else []
    uids += known.participants if known.loot or moves else []
    uids += [known.location] if known.location and (moves or known.danger_level is not None) else []
    return uids + ([known.quest_id] if known.quest_id else [])


def _whispered_to(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Whom a whisper is for. Who takes it for talk would answer it aloud, so it is told as what it is."""
    if event.event_type is not EventType.WHISPER:
        return []
    return [uid for uid in dict.fromkeys((*known.told_to, *known.participants)) if uid != event.source]


def _killers(known: KnownMetadata) -> list[str]:
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
    return [who for who in killers if who not in (DM, SYSTEM)]


def _outcomes(event: GameEvent, known: KnownMetadata, called: Called) -> Iterable[str]:
    """What the rules decided, as sentences."""
    if known.killed:
        killers = _killers(known)
        by = f" by {_listed(map(called, killers))}" if killers else ""
        dead = dict(_fallen(known, called))
        several = len(dead) > 1 or max(dead.values()) > 1
        yield f"{_listed(dead)} {'were' if several else 'was'} killed{by}."
    if known.revived:
        yield f"{_listed(map(called, known.revived))} came back to life."
    if known.discovered:
        found = list(dict.fromkeys(map(called, known.discovered)))
        yield f"{_listed(found)} {'was' if len(found) == 1 else 'were'} found."
    yield from _steps(known, called)
    yield from _spoils(event, known, called)
    if event.event_type is EventType.LOCATION_CHANGE and known.location is not None:
        movers = [who for who in (event.source, *known.participants) if who not in (DM, SYSTEM)]
        if movers and not _says(event, [called(known.location)]):
            yield f"{_listed(dict.fromkeys(map(called, movers)))} went to {called(known.location)}."


_NUMBERS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _fallen(known: KnownMetadata, called: Called) -> Iterable[tuple[str, int]]:
    """Who fell, and how many that are: somebody by name, or so many of a group that others are left of."""
    for uid, times in Counter(known.killed).items():
        name, count = called(uid), known.enemy_count if known.enemies[:1] == [uid] else None
        count = None if count is None or count < times else count  # nobody counted before they fell
        if category_of(uid) != "MON" or not (is_plural(name) or times > 1 or (count or 0) > 1):
            yield name, 1
            continue
        group = next((name.removeprefix(one) for one in _ARTICLES if name.startswith(one)), name)
        if count == 1:
            yield f"The last of the {group}", 1
        elif count == times:
            yield f"All {_number(count)} of the {group}", count
        else:
            of = group if count is None else f"{_number(count)} {group}"
            yield f"{_number(times).capitalize()} of the {of}", times


_ARTICLES: Final = ("the ", "some ", "a ", "an ")


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _steps(known: KnownMetadata, called: Called) -> Iterable[str]:
    """How far the story has come."""
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


def _spoils(event: GameEvent, known: KnownMetadata, called: Called) -> Iterable[str]:
    by_holder: dict[str, list[str]] = {}
    if event.event_type is EventType.SYSTEM:
        return  # what stands on a sheet was not found by anybody
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
    """Whether an event's own words name all of some things, so that they need not be told again."""
    text = event.content.casefold()
    return all(name.casefold() in text for name in names)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
