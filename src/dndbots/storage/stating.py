"""What an event states beside its words: facts, and who gets what. Recall finds them by their words.

A line seldom says what the rules or a person put into its metadata: "You learn more", and the fact is
that Rurik is the captain. So the words of such statements stand in the index beside those of the line.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dndbots.canon import claims
from dndbots.canon.loot import holder_of, loot_of
from dndbots.events import GameEvent, KnownMetadata
from dndbots.ids import is_opaque, is_uid, name_from_uid
from dndbots.storage.terms import terms_of


class Statement(NamedTuple):
    """Something that an event states of somebody: the key or the operator of the fact, and its words."""

    subject: str
    about: str
    text: str


def statements_of(event: GameEvent, known: KnownMetadata) -> Iterator[Statement]:
    for fact in known.facts:
        if fact.key is not None:
            yield Statement(fact.subject, fact.key, f"{fact.key.replace('_', ' ')} {_said(fact.value)}")
        elif fact.op is not None:
            claim = claims.claim_of(fact)
            yield Statement(claim.subject, claim.slot.partition(" ")[0], _said(fact.object))
    for loot in map(loot_of, known.loot):
        if loot.item is not None:
            holder = loot.to or holder_of(event, known)
            yield Statement(holder, f"{claims.ITEM} {loot.item}", _said(loot.item))


def terms_stated(event: GameEvent, known: KnownMetadata) -> dict[str, int]:
    """How often each term stands in an event: in its words, or else in what it states."""
    terms = terms_of(event.content)
    if known.facts or known.loot:
        for statement in statements_of(event, known):
            for term in terms_of(statement.text):
                terms.setdefault(term, 1)
    return terms


def _said(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_said, value))
    text = "" if value is None or isinstance(value, bool) else str(value)
    if not is_uid(text):
        return text
    return "" if is_opaque(text) else name_from_uid(text)
