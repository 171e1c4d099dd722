"""The plain spelling: every uid spelled out. It is the reference form, and its strings are fixed."""

from collections.abc import Container, Iterable

from dndbots.dcml import notation
from dndbots.dcml.shorthand import handles
from dndbots.dcml.tree import (
    Atom,
    DCMLCategory,
    DCMLEntity,
    Deed,
    Definition,
    Document,
    Event,
    Group,
    Properties,
    Ref,
    Relation,
    Section,
    SectionKind,
    Statement,
    Text,
    Word,
    owner_of,
)

INDENT = "    "


def plain(document: Document) -> str:
    """Return the document with every uid spelled out."""
    declared = {entity.uid for entity in document.lexicon}
    blocks = [plain_lexicon(document.lexicon)] if document.lexicon else []
    names = {handle for handle in handles(document.lexicon) if handle}
    blocks += [plain_section(section, declared, names) for section in document.sections]
    return "\n\n".join(blocks)


def plain_lexicon(entities: Iterable[DCMLEntity]) -> str:
    """Return the lexicon section: one entry per line."""
    return "\n".join(["## LEXICON", *map(plain_entry, entities)])


def plain_entry(entity: DCMLEntity) -> str:
    """Return one lexicon entry, `[PC:pc_throk_001:Throk]`."""
    return f"[{entity.category.value}:{entity.uid}:{notation.escape_name(entity.name)}]"


def section_title(section: Section, *, taken: Container[str], handle: str | None = None) -> str:
    """Return the title line of a section.

    `taken` are the handles of the lexicon. An owner that only looks like one of them is quoted.
    """
    if section.kind is SectionKind.STATIC_RELATIONS:
        return "## STATIC_RELATIONS"
    if section.kind is SectionKind.SESSION:
        return f"## SESSION_{_owner(section.owner)}_GLOBAL"
    return f"## MEMORY_{handle or _owner(section.owner, taken)}"


def _owner(owner: str, taken: Container[str] = ()) -> str:
    plain_word = owner.isascii() and owner.replace("_", "a").isalnum() and owner not in taken
    return owner if plain_word else notation.quote(owner)


def plain_section(section: Section, declared: Container[str], names: Container[str]) -> str:
    """Return a section with its groups. `declared` are the uids of the lexicon, `names` its handles."""
    blocks = [section_title(section, taken=names)]
    for group in section.groups:
        body = "\n".join(plain_group(group, declared))
        if group.title is None:
            blocks[0] += "\n" + body
        else:
            blocks.append(f"# {notation.escape_title(group.title)}\n{body}")
    return "\n\n".join(blocks)


def plain_group(group: Group, declared: Container[str]) -> list[str]:
    """Return the lines of a group, without its title."""
    lines: list[str] = []
    event_above: str | None = None
    for item in group.items:
        if isinstance(item, Event):
            lines += plain_event(item, declared, event_above=event_above)
            event_above = item.id
        else:
            lines.append(plain_statement(item, declared))
            event_above = None
    return lines


def plain_event(event: Event, declared: Container[str] = (), *, event_above: str | None = None) -> list[str]:
    """Return the lines of an event.

    An event without a place has no header line, unless it could be taken for the event above.
    """
    lines = [INDENT + plain_statement(line, declared) for line in event.lines]
    ref = plain_ref(event.ref, declared)
    end = ";" if event.closed else ""
    if event.location:
        place = plain_ref(event.location, declared)
        return [f"{event.certainty.value}{ref} @ {place}{end}", *lines]
    names_its_event = lines and not event.certainty.value and owner_of(event.lines[0]) == event.id
    if names_its_event and event_above != event.id:
        return lines
    return [f"{event.certainty.value}{ref}{end}", *lines]


def plain_statement(line: Statement, declared: Container[str] = ()) -> str:
    """Return a statement as one line."""
    subjects = ",".join([plain_ref(ref, declared) for ref in line.subjects])
    if isinstance(line, Relation):
        text = f"{subjects} {line.op.value} {plain_ref(line.object, declared)}"
    elif isinstance(line, Deed):
        text = f"{subjects} -> {line.verb}:{plain_ref(line.object, declared)}"
    elif isinstance(line, Definition):
        text = f"{subjects} := {notation.quote(line.text)}"
    else:
        text = f"{subjects}::{plain_properties(line)}"
    return f"{line.certainty.value}{text}{';' if line.closed else ''}"


def plain_properties(line: Properties) -> str:
    """Return `key->value,key->v1,v2`."""
    return ",".join([f"{prop.key}->{','.join(map(plain_atom, prop.values))}" for prop in line.properties])


def plain_atom(value: Atom) -> str:
    """Return one value of a property: quoted text, a word, a uid or a number."""
    if isinstance(value, Text):
        return notation.quote(value.value)
    if isinstance(value, Word):
        return value.value
    return value.uid if isinstance(value, Ref) else notation.spell_number(value)


def plain_ref(ref: Ref, declared: Container[str] = ()) -> str:
    """Return a reference: `uid`, `CAT:uid`, `uidx4` with a count, or `EVT:"…"` for any other event id."""
    if ref.category is DCMLCategory.EVT and not notation.UID.fullmatch(ref.uid):
        return f"EVT:{notation.quote(ref.uid)}"
    word = notation.spell_uid(ref.uid, ref.count, declared)
    return f"{ref.category.value}:{word}" if ref.category else word
