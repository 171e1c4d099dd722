"""Checks of a document that can be parsed, but may break the rules of the language."""

from dataclasses import dataclass

from dndbots.dcml.document_reader import Assembly
from dndbots.dcml.parser import parse_with_positions
from dndbots.dcml.plain_renderer import plain
from dndbots.dcml.raw_lines import SourcePosition
from dndbots.dcml.shorthand import DM
from dndbots.dcml.tree import DCMLCategory, DCMLEntity, Document, SectionKind


@dataclass(frozen=True, slots=True, order=True)
class Breach:
    """A broken rule, and its position in the document. Lines and columns count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


def validate(document: Document | str) -> list[Breach]:
    """Return every broken rule, in order of position; a valid document has none.

    For a tree, the positions are those of its plain spelling.
    """
    assembly = parse_with_positions(plain(document) if isinstance(document, Document) else document)
    found = [
        Breach(place.line, place.column, message)
        for check in (_lexicon, _references, _sections)
        for place, message in check(assembly)
    ]
    return sorted(set(found))


def _lexicon(assembly: Assembly) -> list[tuple[SourcePosition, str]]:
    breaches = [(place, "a second lexicon") for place in assembly.lexicons[1:]]
    names: dict[str, DCMLEntity] = {}
    for entity, place in assembly.entries:
        earlier = names.setdefault(entity.uid, entity)
        if earlier is not entity:
            breaches.append((place, f"{entity.uid} is in the lexicon twice"))
        by_prefix = DCMLCategory.by_prefix(entity.uid)
        if by_prefix not in (None, entity.category):
            breaches.append(
                (place, f"{entity.uid} is listed as {entity.category}, its prefix says {by_prefix}")
            )
    return breaches


def _references(assembly: Assembly) -> list[tuple[SourcePosition, str]]:
    """Find references that the lexicon lacks. Events, and uids without a category, need no entry."""
    listed: dict[str, DCMLCategory] = {}
    for entity, _ in assembly.entries:
        listed.setdefault(entity.uid, entity.category)
    breaches: list[tuple[SourcePosition, str]] = []
    for ref, place in assembly.refs:
        category = listed.get(ref.uid)
        if category is None:
            category = DCMLCategory.by_prefix(ref.uid)
            if (ref.category or category) not in (None, DCMLCategory.EVT):
                breaches.append((place, f"{ref.uid} is not in the lexicon"))
        if ref.category and category and ref.category is not category:
            breaches.append((place, f"{ref.uid} is {category}, not {ref.category}"))
    return breaches


def _sections(assembly: Assembly) -> list[tuple[SourcePosition, str]]:
    listed = {entity.uid for entity, _ in assembly.entries}
    breaches: list[tuple[SourcePosition, str]] = []
    seen: set[tuple[SectionKind, str]] = set()
    private = [owner for kind, owner, _ in assembly.sections if kind is SectionKind.MEMORY and owner != DM]
    for kind, owner, place in assembly.sections:
        if (kind, owner) in seen:
            breaches.append((place, "a second section with this title"))
        seen.add((kind, owner))
        if kind is SectionKind.MEMORY and owner not in (DM, *listed):
            breaches.append((place, f"{owner} is not in the lexicon"))
        if private and (kind, owner) != (SectionKind.MEMORY, private[0]):
            whose = (
                f"the memory of {owner}" if kind is SectionKind.MEMORY and owner != DM else "the DM's alone"
            )
            breaches.append((place, f"{whose}, beside the memory of {private[0]}"))
    return breaches
