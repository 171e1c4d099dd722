"""Single pieces of plain DCML as strings, for code that writes a line at a time."""

import re
from collections.abc import Mapping
from typing import Any

from dndbots.dcml import spelling
from dndbots.dcml.render_plain import plain_atom, plain_entry
from dndbots.dcml.tree import (
    Atom,
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Property,
    Ref,
    Text,
    Word,
    is_reference,
)
from dndbots.errors import DCMLValueError, InvalidUid

_QUOTED = re.compile(r'"(?:[^"\\]|\\(?:["\\nrt]|u[0-9a-f]{4}))+"')


def render_lexicon_entry(category: DCMLCategory, uid: str, name: str) -> str:
    """`[PC:pc_throk_001:Throk]`"""
    return plain_entry(DCMLEntity(uid, category, name))


def render_relation(subject: str, op: DCMLOp, obj: str) -> str:
    """`a OP b`. Subjects may be several, joined by commas; an object may be a deed, `KILLED:uid`.

    With `DEFINED_AS` the object is text, and comes out quoted.
    """
    if op is DCMLOp.PROPS:
        raise DCMLValueError(op, where="relation", reason="has properties: use render_properties")
    for part in subject.split(","):
        _check_reference(part, where="subject")
    if op is DCMLOp.DEFINED_AS:
        return f"{subject} := {spelling.quote(obj)}"
    verb, colon, target = obj.partition(":")
    is_deed = colon and op is DCMLOp.LEADS_TO and spelling.VERB.fullmatch(verb)
    _check_reference(target if is_deed else obj, where="object")
    return f"{subject} {op.value} {obj}"


def render_properties(subject: str, props: Mapping[str, Any]) -> str:
    """`a::key->value,key->v1,v2`. Empty lists and None are left out; nothing left is an empty string."""
    _check_reference(subject, where="subject")
    said = [prop for key, value in props.items() if (prop := make_property(key, value))]
    if not said:
        return ""
    return f"{subject}::" + ",".join(f"{p.key}->{','.join(map(plain_atom, p.values))}" for p in said)


def render_fact(statement: str, certainty: Certainty = Certainty.FACT) -> str:
    """A statement with the mark of its certainty: none, `!` or `?`."""
    if not statement or statement[0] in "!? " or not spelling.is_one_line(statement):
        raise DCMLValueError(statement, where="statement", reason="is not one unmarked line of DCML")
    return f"{certainty.value}{statement}"


def make_property(key: str, value: Any) -> Property | None:
    """A property from a Python value; None where there is nothing to say.

    A string of plain words joined by commas is words, any other string is text, and every element
    of a list is text unless it is a number.
    """
    if value is None:
        return None
    atoms = tuple(map(_element, value)) if isinstance(value, list | tuple) else _atoms(key, value)
    return Property(key, atoms) if atoms else None


def _atoms(key: str, value: Any) -> tuple[Atom, ...]:
    if isinstance(value, bool):
        return (Word(str(value).lower()),)
    if isinstance(value, str):
        words = value.split(",")
        if all(spelling.WORD.fullmatch(word) for word in words):
            return tuple(Ref(word) if is_reference(word) else Word(word) for word in words)
        return (Text(value),)
    if isinstance(value, Word | Text | Ref | int | float):
        return (value,)
    raise DCMLValueError(value, where=f"property {key}", reason="is not a string, a number or a list")


def _element(value: Any) -> Atom:
    if isinstance(value, Word | Text | Ref):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return Text(str(value))


def _check_reference(text: str, *, where: str) -> None:
    """`uid` or `CAT:uid`, with or without a count; `EVT:"…"` for an event id from outside."""
    category, colon, uid = text.partition(":")
    if colon and category in DCMLCategory.__members__:
        if category == "EVT" and _QUOTED.fullmatch(uid) and spelling.is_one_line(uid):
            return
        if spelling.UID.fullmatch(uid):
            return
    elif spelling.UID.fullmatch(text):
        return
    raise InvalidUid(text, where=where)
