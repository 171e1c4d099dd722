"""Ties between entities: by claims, and by deeds that people did together in an event.

A tie by a claim lasts as long as the claim. A deed lasts for ever. Like all claims, both come from one event
alone.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots.canon.claims import reading_of
from dndbots.canon.loot import loot_of
from dndbots.canon.reducers import company_of
from dndbots.events import GameEvent, KnownMetadata
from dndbots.ids import category_of, is_uid

MET: Final = "met"
TOLD: Final = "told"
KILLED: Final = "killed"
GAVE: Final = "gave"
INVOLVED: Final = "involved"
FOUND: Final = "found"
VERBS: Final = (MET, TOLD, KILLED, GAVE, INVOLVED, FOUND)
_DID: Final = "did "
# Without any of these in its metadata, an event has no deeds but meetings.
_TELLING: Final = frozenset(("told_to", "killed_by", "loot", "quest_id", "discovered"))


class EventDeed(NamedTuple):
    """A deed of somebody with, to or for another. A meeting is mutual, and listed once."""

    subject: str
    verb: str
    object: str


def deed_slot(verb: str) -> str:
    """Return the slot of a deed. No slot of a claim begins like it."""
    return f"{_DID}{verb}"


def verb_of(slot: str) -> str | None:
    """Return the verb of a deed's slot; None for the slot of a claim."""
    return slot.removeprefix(_DID) if slot.startswith(_DID) else None


def tied_by(slot: str, value: JsonValue) -> tuple[str, ...]:
    """Return the entities that a claim ties its subject to: by a relation, or by uids in its value."""
    reading = reading_of(slot, value)
    if reading.op is not None:
        is_tie = not reading.ended and reading.object is not None and reading.op != "="
        return (str(reading.object),) if is_tie else ()
    if not slot.isidentifier():
        return ()
    values = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(uid for uid in values if isinstance(uid, str) and _is_entity(uid)))


def kind_of(slot: str) -> str:
    """Return the kind of a link: the verb of a deed, the operator of a relation, or the key of a fact."""
    return verb_of(slot) or slot.partition(" ")[0]


@lru_cache(maxsize=1 << 14)
def _is_entity(text: str) -> bool:
    """Return True if a text is a uid of one of the categories."""
    return is_uid(text) and category_of(text) is not None


def deeds_of(event: GameEvent, known: KnownMetadata) -> tuple[EventDeed, ...]:
    """Return the deeds of the people who took part in an event, as far as its metadata has them."""
    company = company_of(event, known)
    met = _meetings(company)
    if _TELLING.isdisjoint(event.metadata):
        return met
    return tuple(dict.fromkeys((*met, *_other_deeds(event, known, company))))


@lru_cache(maxsize=1 << 14)
def _meetings(company: tuple[str, ...]) -> tuple[EventDeed, ...]:
    return tuple(EventDeed(one, MET, other) for one, other in combinations(sorted(company), 2))


def _other_deeds(event: GameEvent, known: KnownMetadata, company: tuple[str, ...]) -> Iterator[EventDeed]:
    """Yield deeds other than meetings, between two different entities."""
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
    spoils = [entry for entry in map(loot_of, known.loot) if entry.giver and entry.to]
    done: Iterable[tuple[str, str, str]] = (
        *((event.source, TOLD, other) for other in known.told_to if other not in company),
        *((killer, KILLED, victim) for killer in killers for victim in known.killed),
        *((str(entry.giver), GAVE, str(entry.to)) for entry in spoils),
        *((who, INVOLVED, known.quest_id) for who in company if known.quest_id is not None),
        *((who, FOUND, what) for who in company for what in known.discovered),
    )
    for subject, verb, other in done:
        if subject != other and is_uid(subject) and is_uid(other):
            yield EventDeed(subject, verb, other)
