"""An entity's known facts as lines of DCML, with lasting facts kept apart from those of the moment."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pydantic import JsonValue

from dndbots._jsontext import as_json
from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
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
from dndbots.dcml.notation import KEY, LARGEST_COUNT, LARGEST_NUMBER
from dndbots.ids import category_of, is_uid
from dndbots.memory.documents.event_dcml import certainty_named, properties_of
from dndbots.text.clean import one_line

# Facts that the next blow or step may change. They stand last in a prompt, so that its prefix stays the same.
PASSING: Final = frozenset(("hp", "hp_change", "gold"))
# Numbers of a character sheet: the rules use them, and a story does not.
SHEET: Final = frozenset(("str", "dex", "con", "int", "wis", "cha", "ac", "xp", "hp_max", "spells_ready"))
_CREATURES: Final = ("PC", "NPC", "MON")
_UNTOLD: Final = frozenset(("discovered",))
_LONGEST_TEXT: Final = 200


class KnownLine(NamedTuple):
    """A line of DCML: statements with one subject and one certainty, with their source events.

    `uids` are all uids in it.
    """

    statements: tuple[Statement, ...]
    sources: tuple[str, ...]
    uids: tuple[str, ...] = ()


def is_passing(entity: Entity, fact: Fact) -> bool:
    """Return whether a fact holds only for now: a creature's place, condition, hit points or items."""
    if fact.op in (claims.AT, claims.IN) and fact.object and category_of(fact.object) == "LOC":
        return entity.category in (*_CREATURES, "ITEM")
    key = fact.key or ""
    return key in PASSING or key.partition(" ")[0] in (claims.CONDITION, claims.ITEM)


def is_item(fact: Fact) -> bool:
    """Return whether a fact is about an item that somebody carries."""
    return (fact.key or "").startswith(f"{claims.ITEM} ")


def known_lines_of(entity: Entity, facts: Iterable[Fact]) -> list[KnownLine]:
    """Return the current facts of an entity as lines, one for each certainty, in the order of the facts."""
    lines: dict[tuple[tuple[Ref, ...], Certainty], KnownLine] = {}
    for fact in facts:
        if fact.ended:
            continue
        for statement in _statements(entity, fact):
            key = statement.subjects, statement.certainty
            before = lines.get(key, KnownLine((), ()))
            sources = dict.fromkeys((*before.sources, fact.learned_from))
            lines[key] = KnownLine((*before.statements, statement), tuple(sources))
    joined = [(_joined(line.statements), line.sources) for line in lines.values()]
    return [KnownLine(statements, sources, uids_in(statements)) for statements, sources in joined]


def uids_in(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    """Return all uids in some statements, each once."""
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
        properties = properties_of(_property(entity, fact, kind, rest))
        if properties:
            yield Properties(subjects=(own,), properties=properties, certainty=certainty)


def _property(entity: Entity, fact: Fact, kind: str, rest: str) -> dict[str, object]:
    """Return the key and value of a fact, under the keys that DCML has of its own where possible."""
    if fact.key == claims.NUMBER:
        return _number(entity, fact.value)
    if rest and kind in (claims.CONDITION, claims.ITEM, claims.OBJECTIVE):
        return _listed_under(kind, rest, fact.value)
    if fact.key == "hp_change":
        return {"hpD": _value(fact.value)}
    key = claims.plain_key(fact.key or "")
    return {key: _value(fact.value)} if KEY.fullmatch(key) else {"info": [f"{key}: {_shown(fact.value)}"]}


def _number(entity: Entity, value: JsonValue) -> dict[str, object]:
    """Return the size of a group: none left is `dead`, and a single creature needs no number."""
    if not entity.alive:
        return {"status": "dead"}
    return {} if value == 1 or entity.category == "PC" else {"number": _value(value)}


def _listed_under(kind: str, rest: str, value: JsonValue) -> dict[str, object]:
    """Return a condition, item or objective as an element of a list under one key."""
    if kind == claims.OBJECTIVE:
        return {"steps": [f"{one_line(rest)}: {_shown(value)}"]}
    # A negative number: somebody used up items, and nobody knows how many they had.
    if not value or (isinstance(value, int) and value < 0):
        return {}
    if kind == claims.CONDITION:
        return {"cond": [one_line(rest)]}
    return {"has": [one_line(rest) if value in (1, True) else f"{one_line(rest)} x{_shown(value)}"]}


def _value(value: JsonValue) -> object:
    """Return a value that DCML can write; other types become text, and long text is cut."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < LARGEST_NUMBER else Text(str(value)[:_LONGEST_TEXT])
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, list):
        return [_element(element) for element in value]
    return Text(_shown(value))


def _element(value: JsonValue) -> Ref | str:
    is_reference = isinstance(value, str) and is_uid(value) and category_of(value) is not None
    return Ref(str(value)) if is_reference else _shown(value)


def _shown(value: JsonValue) -> str:
    text = one_line(value if isinstance(value, str) else as_json(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _listed(value: JsonValue) -> list[str]:
    return [str(element) for element in value] if isinstance(value, list) else [str(value)]


def _joined(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Join the properties of a line into one statement, and several values of a key into one property."""
    first = next((statement for statement in statements if isinstance(statement, Properties)), None)
    if first is None:
        return statements
    values: dict[str, Property] = {}
    for statement in statements:
        for prop in statement.properties if isinstance(statement, Properties) else ():
            before = values.get(prop.key)
            values[prop.key] = Property(prop.key, (*before.values, *prop.values)) if before else prop
    joined = Properties(subjects=first.subjects, properties=tuple(values.values()), certainty=first.certainty)
    return (*(statement for statement in statements if not isinstance(statement, Properties)), joined)
