"""Single pieces of plain DCML as strings, for code that writes one line at a time."""

import re
from collections.abc import Mapping
from typing import Any

from dndbots.dcml import notation
from dndbots.dcml.plain_renderer import plain_atom, plain_entry
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
from dndbots.errors import DCMLValueError, DndbotsError, InvalidUid

_QUOTED = r'EVT:"(?:[^"\\]|\\.)+"'
_REFERENCE = re.compile(rf"(?:(?:{'|'.join(DCMLCategory)}):)?{notation.UID.pattern}|{_QUOTED}")
_REFERENCES = re.compile(rf"(?:{_REFERENCE.pattern})(?:,(?:{_REFERENCE.pattern}))*")
_STATEMENT = re.compile(rf"(?:{_REFERENCES.pattern})(?: (?:>|<|@|in|->|<-|~|:=) |::).+", re.DOTALL)


def render_lexicon_entry(category: DCMLCategory, uid: str, name: str) -> str:
    """Return a lexicon entry: `[PC:pc_throk_001:Throk]`."""
    return plain_entry(DCMLEntity(uid, category, name))


def render_relation(subject: str, op: DCMLOp, obj: str) -> str:
    """Return `a OP b`. `subject` may be several, joined by commas; `obj` may be a deed, `KILLED:uid`.

    With `DEFINED_AS` the object is text, and is quoted.
    """
    if op is DCMLOp.PROPS:
        raise DCMLValueError(op, where="relation", reason="needs properties; use render_properties")
    _check(_REFERENCES, subject, where="subject")
    if op is DCMLOp.DEFINED_AS:
        return f"{subject} := {notation.quote(obj)}"
    verb, colon, target = obj.partition(":")
    is_verb = notation.VERB.fullmatch(verb) and verb not in DCMLCategory.__members__
    is_deed = colon and op is DCMLOp.LEADS_TO and is_verb
    _check(_REFERENCE, target if is_deed else obj, where="object")
    return f"{subject} {op.value} {obj}"


def render_properties(subject: str, props: Mapping[str, Any]) -> str:
    """Return `a::key->value,key->v1,v2`, without empty lists and None; empty if no property is left."""
    _check(_REFERENCES, subject, where="subject")
    made = [prop for key, value in props.items() if (prop := make_property(key, value))]
    if not made:
        return ""
    return f"{subject}::" + ",".join(f"{p.key}->{','.join(map(plain_atom, p.values))}" for p in made)


def render_fact(statement: str, certainty: Certainty = Certainty.FACT) -> str:
    """Return a statement with the mark of its certainty: none, `!` or `?`."""
    if not (_STATEMENT.fullmatch(statement) and notation.is_one_line(statement)):
        raise DCMLValueError(statement, where="statement", reason="is not one unmarked line of DCML")
    return f"{certainty.value}{statement}"


def make_property(key: str, value: Any) -> Property | None:
    """A property from a Python value; None where there is nothing to say.

    A string of plain words joined by commas is words, any other string is text, and every element
    of a list is text.
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
        if all(notation.WORD.fullmatch(word) for word in words):
            return tuple(Ref(word) if is_reference(word) else Word(word) for word in words)
        return (Text(value),)
    if isinstance(value, Word | Text | Ref | int | float):
        return (value,)
    raise DCMLValueError(value, where=f"property {key}", reason="is not a string, a number or a list")


def _element(value: Any) -> Atom:
    if isinstance(value, Word | Text | Ref):
        return value
    if isinstance(value, bool):
        return Text(str(value).lower())
    if isinstance(value, int | float):
        return Text(notation.spell_number(value))
    return Text(value)


def _check(form: re.Pattern[str], text: str, *, where: str) -> None:
    """Raise `InvalidUid` unless a text is `uid` or `CAT:uid`, with or without a count, or `EVT:"…"`."""
    if not (form.fullmatch(text) and notation.is_one_line(text)):
        raise InvalidUid(text, where=where)
    for quoted in re.findall(_QUOTED, text):
        try:
            Ref(notation.unescape(quoted[len('EVT:"') : -1]), DCMLCategory.EVT)
        except (notation.BadEscape, DndbotsError):
            raise InvalidUid(text, where=where) from None
