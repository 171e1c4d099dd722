"""A digest of one event: the entities it mentions and the changes it makes, shared by all who perceived it.

It depends on the words and metadata of the event alone, and on no viewer.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.canon.certainty import event_effects
from dndbots.canon.claims import NUMBER, change_slot
from dndbots.canon.event_marks import marks_of
from dndbots.canon.laws import uses_of
from dndbots.canon.reducers import seen_in
from dndbots.events import EventType, GameEvent, KnownMetadata, audience
from dndbots.ids import DM, SYSTEM, fold_name, is_uid
from dndbots.memory.retold_events import EventKey, spoken_of
from dndbots.text.names import possible_names

# Enough for the events of a few rounds; one event may have a hundred thousand characters.
_KEPT: Final = 256


class EventMentions(NamedTuple):
    """The mentions in an event: uids in its metadata, names in its words, uids that a retelling names."""

    uids: tuple[str, ...]
    names: tuple[str, ...]
    told: frozenset[str]


class EventChanges(NamedTuple):
    """The changes that an event makes to a viewer's cache.

    - `said`: subjects of its claims. `seen`: entities that it only shows at its place.
    - `met`: all uids in it. `near`: these and the audience. `there`: participants at its place.
    - `read_out`: subjects of facts that were extracted from words. `named`: uids that get names.
    - `ends`: whether an open thread may be over. `joins`: whether two entities turn out to be one.
    - `place`: its location. `shelf`: holder and shelf of the memory that it adds.
    """

    said: frozenset[str]
    seen: frozenset[str]
    met: frozenset[str]
    near: frozenset[str]
    there: tuple[str, ...]
    read_out: tuple[str, ...]
    marks: tuple[str, ...]
    named: dict[str, tuple[str, ...]]
    ends: bool
    joins: bool
    place: str | None
    shelf: tuple[str, str] | None

    @property
    def names(self) -> set[str]:
        """Return the names that it gives, case-folded."""
        return {fold_name(name) for names in self.named.values() for name in names}


def changes_of(event: GameEvent) -> EventChanges:
    """Return the changes that an event makes to a viewer's cache."""
    return _changes_of(EventKey(event))


@lru_cache(maxsize=_KEPT)
def _changes_of(key: EventKey) -> EventChanges:
    event, known, people = key.event, key.event.known, audience(key.event)
    effects, met = event_effects(event), _uids_in(event, known)
    claims = [held.claim for held in effects.holdings]
    # A death ends the open threads with whoever died.
    died = any(claim.slot in (NUMBER, change_slot(NUMBER)) for claim in claims)
    return EventChanges(
        said=frozenset(claim.subject for claim in claims),
        seen=frozenset(effects.seen),
        met=met,
        near=met | people,
        there=() if event.is_note else tuple(seen_in(event, known)),
        read_out=subjects_of(event) if event.event_type is EventType.EXTRACTION else (),
        marks=tuple(marks_of(event, claims)),
        named={
            uid: (names,) if isinstance(names, str) else tuple(names) for uid, names in known.names.items()
        },
        ends=died or bool(known.threads),
        joins=bool(known.same_as),
        place=known.location,
        shelf=(known.memory.holder, known.memory.shelf) if known.memory is not None else None,
    )


def mentions_in(event: GameEvent) -> EventMentions:
    """Return the entities and names that an event mentions."""
    key = EventKey(event)
    return _kept_mentions(key) if key.is_short else _mentions_in(key)


def _mentions_in(key: EventKey) -> EventMentions:
    event, known = key.event, key.event.known
    shown = sorted(uid for uid in _uids_in(event, known) if is_uid(uid))
    told = frozenset((event.source, *known.together, *spoken_of(event, known))) - {DM, SYSTEM}
    return EventMentions(tuple(shown), possible_names(event.content), told)


# A long story reads its window again after an edit.
_kept_mentions: Final = lru_cache(maxsize=1 << 13)(_mentions_in)


def subjects_of(event: GameEvent) -> tuple[str, ...]:
    """Return the subjects of the facts that an event states."""
    return tuple(dict.fromkeys(fact.subject for fact in event.known.facts))


def _uids_in(event: GameEvent, known: KnownMetadata) -> frozenset[str]:
    uses = uses_of(event, known)
    return frozenset((*uses.shown, *(uid for _, uid in uses.referred))) - {DM, SYSTEM}
