"""Events as an agent would retell them: the speaker, the words, and the outcomes that the rules decided.

Works on events that the agent perceived, and uses the names that the agent knows.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from dndbots.canon.certainty import whispered_to
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, SYSTEM
from dndbots.memory.deeds import StoryDeed, deeds_of, join_names, outcomes_of, uids_in_deeds
from dndbots.memory.entries import Entry
from dndbots.memory.human_gates import Gates
from dndbots.storage.views.people import KnownAs
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line
from dndbots.text.labels import label_of

_TALK: Final = frozenset(("whisper", "tell", "ask", "accept", "refuse", "parley"))  # deeds of words
_WORD: Final = re.compile(r"\w")
# The key of an event whose words matter little, such as the weather.
ASIDE: Final = "aside"
_LOOKS: Final = "looks"
# Uids of those whom the DM plays.
_PLAYED: Final = ("npc_", "mon_")
# Enough for the window of a long story, which is read again after an edit; and for a few very long events.
_KEPT: Final = 1 << 13
_FEW: Final = 1 << 8
_SHORT: Final = 4_000


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

    @property
    def is_short(self) -> bool:
        """Return whether many such events can be kept."""
        return len(self.event.content) + len(self.event.metadata_text) <= _SHORT

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
    uids = list(map(_names_needed, shown))
    if called is None:
        called = {uid: known_as.name for uid, known_as in view.called(sorted(set().union(*uids))).items()}
    entries = (
        (_kept_entry if key.is_short else _long_entry)(key, tuple([called[uid] for uid in named]))
        for key, named in zip(shown, uids, strict=True)
    )
    return [entry for entry in entries if entry is not None]


def uids_to_name(event: GameEvent) -> tuple[str, ...]:
    """Return the uids whose names a retelling of the event may need."""
    return _names_needed(EventKey(event))


def _names_needed(key: EventKey) -> tuple[str, ...]:
    return _kept_uids(key) if key.is_short else _uids_to_name(key)


def _uids_to_name(key: EventKey) -> tuple[str, ...]:
    event, known = key.event, key.event.known
    uids = {event.source, *speakers_of(event, known), *spoken_of(event, known)}
    return tuple(sorted(uids - {DM, SYSTEM}))


_kept_uids: Final = lru_cache(maxsize=_KEPT)(_uids_to_name)


def _entry(key: EventKey, names: tuple[str, ...]) -> Entry | None:
    """Return an event as an entry with these names of its uids; None if it says nothing."""
    event, known = key.event, key.event.known
    called = dict(zip(_names_needed(key), names, strict=True))

    def named(uid: str) -> str:
        return label_of(uid, called.get(uid, uid))

    hearers = [named(uid) for uid in whispered_to(event, known)]
    deeds = tuple(deeds_of(event, known, named))
    entry = Entry(
        text=one_line(f"(whispers to {join_names(hearers)}) {event.content}" if hearers else event.content),
        who=" and ".join(map(named, speakers_of(event, known))),
        event_id=event.event_id,
        session=event.session_id,
        narrated=event.source == DM,
        outcomes=tuple(outcomes_of(deeds)),
        deeds=deeds,
        aside=_is_aside(event, deeds),
        whispered=bool(hearers),
        played=_is_told_of(event, named(event.source)),
        scenery=any(fact.key == _LOOKS and fact.subject.startswith("loc_") for fact in known.facts),
        shown=_shown_in(event, known),
        acted=_is_deed(event),
    )
    if entry.aside and event.event_type is EventType.SYSTEM:
        return None  # the engine marks time
    return entry if entry.outcomes or _WORD.search(event.content) else None


# Most viewers of an event use the same names, and share this cache.
_kept_entry: Final = lru_cache(maxsize=_KEPT)(_entry)
_long_entry: Final = lru_cache(maxsize=_FEW)(_entry)


def _is_aside(event: GameEvent, deeds: Sequence[StoryDeed]) -> bool:
    """Return whether the words matter little: the game says so, or they only tell the way somewhere."""
    if event.metadata.get(ASIDE) is True:
        return True
    return event.source == DM and bool(deeds) and all(deed.kind == "moved" for deed in deeds)


def _is_told_of(event: GameEvent, name: str) -> bool:
    """Return whether the DM tells what somebody does whom the DM plays: a blow, or a gesture by name."""
    fights = event.event_type is EventType.COMBAT_ROUND
    return event.source.startswith(_PLAYED) and (fights or event.content.startswith(f"{name} "))


def _is_deed(event: GameEvent) -> bool:
    """Return whether a player does something, as the game's own note says: all but talk."""
    note = event.metadata.get("play")
    act = note.get("act") if isinstance(note, dict) else None
    verb = act.get("verb") if isinstance(act, dict) else None
    return isinstance(verb, str) and verb not in _TALK


def _shown_in(event: GameEvent, known: KnownMetadata) -> tuple[str, ...]:
    """Return the ways, things and people that a narration lists, as the game's own note says."""
    note = event.metadata.get("play")
    sights = note.get("sights") if isinstance(note, dict) and event.source == DM else None
    if not isinstance(sights, dict):
        return ()
    ways, things = sights.get("ways"), sights.get("things")
    listed: list[object] = list(ways) if isinstance(ways, list) else []
    listed += things.values() if isinstance(things, dict) else ()
    listed += known.names.values()
    return tuple(one_line(text) for text in listed if isinstance(text, str) and text)


def speakers_of(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids that speak or act in an event; several if they do so together."""
    return known.together or [event.source]


def spoken_of(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids, beside the speakers, whose names a retelling uses; not those that are only present."""
    return [*uids_in_deeds(event, known), *whispered_to(event, known)]


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
