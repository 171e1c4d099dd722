"""What one event says by itself, worked out once for all who perceived it.

It follows from the words and the metadata of the event alone, and knows no viewer.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.canon.claims import NUMBER, change
from dndbots.canon.holding import effects_of
from dndbots.canon.laws import uses_of
from dndbots.canon.marks import marks_of
from dndbots.canon.reducers import seen_in
from dndbots.events import EventType, GameEvent, KnownMetadata, audience
from dndbots.ids import DM, SYSTEM, folded, is_uid
from dndbots.memory.extract.names import names_said
from dndbots.memory.retelling import AsSaid, spoken_of

# What a few rounds bring; an event may have a hundred thousand characters.
_KEPT: Final = 256


class Spoken(NamedTuple):
    """Whom an event shows, the names in its words, and whom one speaks of who retells it."""

    uids: tuple[str, ...]
    names: tuple[str, ...]
    told: frozenset[str]


class Happened(NamedTuple):
    """What changes with an event for who perceived it.

    `said` are those of whom it says anything, `seen` who is at its place and no more than that, `met`
    all who are part of it, and `near` also those who perceived it. `there` are who took part at its
    place, `read_out` of whom something was read out of words, `named` who gets which names. `ends` says
    that something which was left open may be over, `joins` that two are one. `place` is where it was, and
    `shelf` whose shelf it puts a memory on, and which.
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
        """The names that are given, folded."""
        return {folded(name) for names in self.named.values() for name in names}


def happened(event: GameEvent) -> Happened:
    return _happened(AsSaid(event))


@lru_cache(maxsize=_KEPT)
def _happened(one: AsSaid) -> Happened:
    event, known, people = one.event, one.event.known, audience(one.event)
    effects, met = effects_of(event, known, people), _uids_in(event, known)
    claims = [held.claim for held in effects.holdings]
    # With somebody who is dead, nothing is left open.
    died = any(claim.slot in (NUMBER, change(NUMBER)) for claim in claims)
    return Happened(
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


def spoken_in(event: GameEvent) -> Spoken:
    return _spoken_in(AsSaid(event))


@lru_cache(maxsize=_KEPT)
def _spoken_in(one: AsSaid) -> Spoken:
    event, known = one.event, one.event.known
    shown = sorted(uid for uid in _uids_in(event, known) if is_uid(uid))
    told = frozenset((event.source, *known.together, *spoken_of(event, known))) - {DM, SYSTEM}
    return Spoken(tuple(shown), names_said(event.content), told)


def subjects_of(event: GameEvent) -> tuple[str, ...]:
    """Of whom an event states anything."""
    return tuple(dict.fromkeys(fact.subject for fact in event.known.facts))


def _uids_in(event: GameEvent, known: KnownMetadata) -> frozenset[str]:
    uses = uses_of(event, known)
    return frozenset((*uses.shown, *(uid for _, uid in uses.referred))) - {DM, SYSTEM}
