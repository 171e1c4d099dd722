"""DCML, the condensed memory language that the engine writes and models read.

The package knows no game. Rendering loads nothing beyond the standard library. What reads a text is loaded on
first use, and the first call of `parse` loads lark.
"""

from typing import TYPE_CHECKING

from dndbots import _lazy
from dndbots.dcml.dense_renderer import dense
from dndbots.dcml.fragments import (
    make_property,
    render_fact,
    render_lexicon_entry,
    render_properties,
    render_relation,
)
from dndbots.dcml.plain_renderer import plain
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
from dndbots.errors import DCMLError, DCMLSyntaxError, DCMLValueError

if TYPE_CHECKING:
    from dndbots.dcml.parser import parse
    from dndbots.dcml.validation import Breach, validate


def render(document: Document, *, dense: bool = False) -> str:
    """Return the document as text: in the plain spelling, or in the dense one."""
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

__getattr__ = _lazy.exports(
    __name__,
    {
        "Breach": "dndbots.dcml.validation",
        "parse": "dndbots.dcml.parser",
        "validate": "dndbots.dcml.validation",
    },
)
