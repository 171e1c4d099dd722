"""DCML, the condensed memory language: what the engine writes and models read.

The package knows no game. Rendering loads nothing beyond the standard library; lark is loaded by
the first call of `parse`.
"""

from dndbots.dcml.fragments import (
    make_property,
    render_fact,
    render_lexicon_entry,
    render_properties,
    render_relation,
)
from dndbots.dcml.parser import parse
from dndbots.dcml.render_dense import dense
from dndbots.dcml.render_plain import plain
from dndbots.dcml.tree import (
    Atom,
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Deed,
    Definition,
    Document,
    Event,
    Group,
    Item,
    Properties,
    Property,
    Ref,
    Relation,
    Section,
    SectionKind,
    Statement,
    Text,
    Word,
    refs_of,
)
from dndbots.dcml.validation import Breach, validate
from dndbots.errors import DCMLError, DCMLSyntaxError, DCMLValueError


def render(document: Document, *, dense: bool = False) -> str:
    """The document as text: plain, or dense."""
    return _dense(document) if dense else plain(document)


_dense = dense

__all__ = [
    "Atom",
    "Breach",
    "Certainty",
    "DCMLCategory",
    "DCMLEntity",
    "DCMLError",
    "DCMLOp",
    "DCMLSyntaxError",
    "DCMLValueError",
    "Deed",
    "Definition",
    "Document",
    "Event",
    "Group",
    "Item",
    "Properties",
    "Property",
    "Ref",
    "Relation",
    "Section",
    "SectionKind",
    "Statement",
    "Text",
    "Word",
    "dense",
    "make_property",
    "parse",
    "plain",
    "refs_of",
    "render",
    "render_fact",
    "render_lexicon_entry",
    "render_properties",
    "render_relation",
    "validate",
]
