"""Who has to do with whom: what claims tie a subject to others, and what people did together in an event.

A tie by a claim holds as long as the claim does. A deed was done, and stays so. Like all claims, both come
from one event alone.
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


class Deed(NamedTuple):
    """That somebody did something with, to or for another, by a verb. To meet is mutual, and told once."""

    subject: str
    verb: str
    object: str


def deed_slot(verb: str) -> str:
    """A deed among the slots of claims; no slot of theirs begins like that."""
    return f"{_DID}{verb}"


def verb_of(slot: str) -> str | None:
    return slot.removeprefix(_DID) if slot.startswith(_DID) else None


def tied_by(slot: str, value: JsonValue) -> tuple[str, ...]:
    """Whom a claim ties its subject to: by a relation that holds, or because its value names them."""
    said = reading_of(slot, value)
    if said.op is not None:
        return () if said.ended or said.object is None or said.op == "=" else (said.object,)
    if not slot.isidentifier():
        return ()
    named = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(one for one in named if isinstance(one, str) and _is_entity(one)))


def kind_of(slot: str) -> str:
    """What a link is called: the verb of a deed, the operator of a relation, or the key of a fact."""
    return verb_of(slot) or slot.partition(" ")[0]


@lru_cache(maxsize=1 << 14)
def _is_entity(text: str) -> bool:
    """Values may be any text; one that reads as a uid of a category is taken for one."""
    return is_uid(text) and category_of(text) is not None


def deeds_of(event: GameEvent, known: KnownMetadata) -> tuple[Deed, ...]:
    """What those who took part in an event did, as far as it says so."""
    company = company_of(event, known)
    met = _meetings(company)
    if _TELLING.isdisjoint(event.metadata):
        return met
    return tuple(dict.fromkeys((*met, *_told(event, known, company))))


@lru_cache(maxsize=1 << 14)
def _meetings(company: tuple[str, ...]) -> tuple[Deed, ...]:
    return tuple(Deed(one, MET, other) for one, other in combinations(sorted(company), 2))


def _told(event: GameEvent, known: KnownMetadata, company: tuple[str, ...]) -> Iterator[Deed]:
    """Deeds beside meetings. Only entities do anything, and nobody to themselves."""
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
            yield Deed(subject, verb, other)
