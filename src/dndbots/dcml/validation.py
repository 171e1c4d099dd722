"""What is wrong with a document that is otherwise well formed."""

from dataclasses import dataclass

from dndbots.dcml.assemble import Assembly
from dndbots.dcml.parser import parse_with_places
from dndbots.dcml.raw import Place
from dndbots.dcml.render_plain import plain
from dndbots.dcml.shorthand import DM
from dndbots.dcml.tree import DCMLCategory, DCMLEntity, Document, SectionKind


@dataclass(frozen=True, slots=True, order=True)
class Breach:
    """One thing wrong with a document, and where. Lines and columns count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


def validate(document: Document | str) -> list[Breach]:
    """Every breach of the language's rules, in order of place; an empty list is a valid document.

    For a tree, the places are those of its plain spelling.
    """
    assembly = parse_with_places(plain(document) if isinstance(document, Document) else document)
    found = [
        Breach(place.line, place.column, message)
        for check in (_lexicon, _references, _sections)
        for place, message in check(assembly)
    ]
    return sorted(set(found))


def _lexicon(assembly: Assembly) -> list[tuple[Place, str]]:
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


def _references(assembly: Assembly) -> list[tuple[Place, str]]:
    """Events declare themselves, and a uid of no category cannot be listed; all else must be."""
    listed: dict[str, DCMLCategory] = {}
    for entity, _ in assembly.entries:
        listed.setdefault(entity.uid, entity.category)
    breaches: list[tuple[Place, str]] = []
    for ref, place in assembly.refs:
        category = listed.get(ref.uid)
        if category is None:
            category = DCMLCategory.by_prefix(ref.uid)
            if (ref.category or category) not in (None, DCMLCategory.EVT):
                breaches.append((place, f"{ref.uid} is not in the lexicon"))
        if ref.category and category and ref.category is not category:
            breaches.append((place, f"{ref.uid} is {category}, not {ref.category}"))
    return breaches


def _sections(assembly: Assembly) -> list[tuple[Place, str]]:
    listed = {entity.uid for entity, _ in assembly.entries}
    breaches: list[tuple[Place, str]] = []
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
