"""The statements of an event beside its text: facts and loot. Recall finds them by their words.

A line seldom says what its metadata state: the text is "You learn more", the fact is that Rurik is the
captain. So the words of such statements go into the index with those of the line.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dndbots.canon import claims
from dndbots.canon.loot import holder_of, loot_of
from dndbots.events import GameEvent, KnownMetadata
from dndbots.ids import is_opaque, is_uid, name_from_uid
from dndbots.text.terms import terms_of


class Statement(NamedTuple):
    """A statement of an event about a subject: the key or the operator of the fact, and its words."""

    subject: str
    about: str
    text: str


def statements_of(event: GameEvent, known: KnownMetadata) -> Iterator[Statement]:
    """Yield the statements of an event: its facts, and who gets which item."""
    for fact in known.facts:
        if fact.key is not None:
            yield Statement(fact.subject, fact.key, f"{fact.key.replace('_', ' ')} {_words(fact.value)}")
        elif fact.op is not None:
            claim = claims.claim_of(fact)
            yield Statement(claim.subject, claim.slot.partition(" ")[0], _words(fact.object))
    for loot in map(loot_of, known.loot):
        if loot.item is not None:
            holder = loot.to or holder_of(event, known)
            yield Statement(holder, f"{claims.ITEM} {loot.item}", _words(loot.item))


def terms_of_event(event: GameEvent, known: KnownMetadata) -> dict[str, int]:
    """Count the terms of an event: those of its text, and once each those of its statements only."""
    terms = terms_of(event.content)
    if known.facts or known.loot:
        for statement in statements_of(event, known):
            for term in terms_of(statement.text):
                terms.setdefault(term, 1)
    return terms


def _words(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_words, value))
    text = "" if value is None or isinstance(value, bool) else str(value)
    if not is_uid(text):
        return text
    return "" if is_opaque(text) else name_from_uid(text)
