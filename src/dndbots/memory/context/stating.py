"""What is known of somebody as statements of DCML: what lasts, apart from what changes from turn to turn."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots._jsontext import as_json
from dndbots.canon import claims
from dndbots.canon.values import Entity, Fact
from dndbots.dcml import (
    Certainty,
    DCMLOp,
    Deed,
    Document,
    Group,
    Properties,
    Property,
    Ref,
    Relation,
    Section,
    SectionKind,
    Statement,
    Text,
    refs_of,
)
from dndbots.dcml.spelling import KEY, LARGEST_COUNT, LARGEST_NUMBER
from dndbots.ids import category_of, is_uid
from dndbots.memory.happenings import certainty_named, described
from dndbots.text.cleaning import one_line

# What the next blow or the next step changes. It is told last, so that all before it stays as it is.
PASSING: Final = frozenset(("hp", "hp_change", "gold"))
_CREATURES: Final = ("PC", "NPC", "MON")
_UNTOLD: Final = frozenset(("discovered",))
_LONGEST_TEXT: Final = 200


class Stated(NamedTuple):
    """A line of DCML: statements with one subject and one certainty, and the events that say so.

    `uids` are all whom it names.
    """

    statements: tuple[Statement, ...]
    sources: tuple[str, ...]
    uids: tuple[str, ...] = ()


def is_passing(entity: Entity, fact: Fact) -> bool:
    """Whether a fact is of the moment: where a creature is, how it fares, what it has on it."""
    if fact.op in (claims.AT, claims.IN) and fact.object and category_of(fact.object) == "LOC":
        return entity.category in (*_CREATURES, "ITEM")
    key = fact.key or ""
    return key in PASSING or key.partition(" ")[0] in (claims.CONDITION, claims.ITEM)


def is_item(fact: Fact) -> bool:
    return (fact.key or "").startswith(f"{claims.ITEM} ")


def lines_of(entity: Entity, facts: Iterable[Fact]) -> list[Stated]:
    """Facts of one entity as lines, the surest first; those of one certainty together."""
    lines: dict[tuple[tuple[Ref, ...], Certainty], Stated] = {}
    for fact in facts:
        if fact.ended:
            continue
        for statement in _statements(entity, fact):
            key = statement.subjects, statement.certainty
            before = lines.get(key, Stated((), ()))
            sources = dict.fromkeys((*before.sources, fact.learned_from))
            lines[key] = Stated((*before.statements, statement), tuple(sources))
    found = [(_joined(line.statements), line.sources) for line in lines.values()]
    return [Stated(statements, sources, uids_in(statements)) for statements, sources in found]


def uids_in(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    """All whom some statements name, each once."""
    section = Section(SectionKind.STATIC_RELATIONS, "", (Group(None, statements),))
    return tuple(dict.fromkeys(ref.uid for ref in refs_of(Document((), (section,)))))


def _statements(entity: Entity, fact: Fact) -> Iterator[Statement]:
    own, certainty = Ref(entity.uid), certainty_named(fact.certainty)
    if fact.op is not None:
        if fact.object and is_uid(fact.object):
            yield Relation(subjects=(own,), op=DCMLOp(fact.op), object=Ref(fact.object), certainty=certainty)
        return
    key = fact.key or ""
    kind, _, rest = key.partition(" ")
    if key == "killed_by":
        killers = tuple(Ref(who) for who in _listed(fact.value) if is_uid(who))
        if killers and not entity.alive:
            yield Deed(subjects=killers, verb="KILLED", object=own, certainty=certainty)
    elif kind == claims.ITEM and is_uid(rest):
        if isinstance(fact.value, int) and 0 < fact.value <= LARGEST_COUNT:
            held = Ref(rest, count=fact.value)
            yield Relation(subjects=(own,), op=DCMLOp.CONTAINS, object=held, certainty=certainty)
    elif key not in _UNTOLD:
        said = described(_property(entity, fact, kind, rest))
        if said:
            yield Properties(subjects=(own,), properties=said, certainty=certainty)


def _property(entity: Entity, fact: Fact, kind: str, rest: str) -> dict[str, object]:
    """A key and its value, in the words of the language where it has some."""
    if fact.key == claims.NUMBER:
        return _number(entity, fact.value)
    if rest and kind in (claims.CONDITION, claims.ITEM, claims.OBJECTIVE):
        return _listed_under(kind, rest, fact.value)
    if fact.key == "hp_change":
        return {"hpD": _value(fact.value)}
    key = claims.plain_key(fact.key or "")
    return {key: _value(fact.value)} if KEY.fullmatch(key) else {"info": [f"{key}: {_shown(fact.value)}"]}


def _number(entity: Entity, value: JsonValue) -> dict[str, object]:
    """How many there are of somebody: none is dead, and of one there is nothing to say."""
    if not entity.alive:
        return {"status": "dead"}
    return {} if value == 1 or entity.category == "PC" else {"number": _value(value)}


def _listed_under(kind: str, rest: str, value: JsonValue) -> dict[str, object]:
    """What there may be several of, under one key."""
    if kind == claims.OBJECTIVE:
        return {"steps": [f"{one_line(rest)}: {_shown(value)}"]}
    # Fewer than none: used up by somebody of whom nobody knows how many there were.
    if not value or (isinstance(value, int) and value < 0):
        return {}
    if kind == claims.CONDITION:
        return {"cond": [one_line(rest)]}
    return {"has": [one_line(rest) if value in (1, True) else f"{one_line(rest)} x{_shown(value)}"]}


def _value(value: JsonValue) -> object:
    """A value that DCML can write; anything else as text, and a long text only as far as it helps."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < LARGEST_NUMBER else Text(str(value)[:_LONGEST_TEXT])
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, list):
        return [_element(one) for one in value]
    return Text(_shown(value))


def _element(value: JsonValue) -> Ref | str:
    is_reference = isinstance(value, str) and is_uid(value) and category_of(value) is not None
    return Ref(str(value)) if is_reference else _shown(value)


def _shown(value: JsonValue) -> str:
    text = one_line(value if isinstance(value, str) else as_json(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _listed(value: JsonValue) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _joined(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Properties of one line as one statement, several values of a key as one property."""
    first = next((one for one in statements if isinstance(one, Properties)), None)
    if first is None:
        return statements
    values: dict[str, Property] = {}
    for one in statements:
        for prop in one.properties if isinstance(one, Properties) else ():
            before = values.get(prop.key)
            values[prop.key] = Property(prop.key, (*before.values, *prop.values)) if before else prop
    joined = Properties(subjects=first.subjects, properties=tuple(values.values()), certainty=first.certainty)
    return (*(one for one in statements if not isinstance(one, Properties)), joined)
