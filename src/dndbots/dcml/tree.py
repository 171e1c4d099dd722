"""The tree of a DCML document: frozen values that know the language and no game.

Both renderers walk this tree and the parser builds it. Every tree can be written in both spellings and read
back equal, so a value that could not be is refused when the tree is built.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from dndbots.dcml import notation
from dndbots.errors import DCMLValueError, UnknownCategory


class DCMLCategory(StrEnum):
    """The kind of an entity. The lower-case value is also the prefix of its uid."""

    PC = "PC"
    NPC = "NPC"
    MON = "MON"
    LOC = "LOC"
    FAC = "FAC"
    ITEM = "ITEM"
    QST = "QST"
    EVT = "EVT"

    @classmethod
    def of(cls, value: object) -> "DCMLCategory":
        """Return the category that `value` names; raise `UnknownCategory`, which lists the eight."""
        if isinstance(value, str) and value in cls.__members__:
            return cls.__members__[value]
        raise UnknownCategory(value, known=cls.__members__)

    @classmethod
    def by_prefix(cls, uid: str) -> "DCMLCategory | None":
        """Return the category that a uid's prefix stands for; None for `race_elves`."""
        return cls.__members__.get(uid.partition("_")[0].upper())


class DCMLOp(Enum):
    """The operators. They are ASCII, because models and tools mangle mathematical symbols."""

    CONTAINS = ">"
    PART_OF = "<"
    AT = "@"
    IN = "in"
    LEADS_TO = "->"
    CAUSED_BY = "<-"
    ASSOC = "~"
    DEFINED_AS = ":="
    PROPS = "::"


class Certainty(Enum):
    """The certainty of a statement. The value is the prefix that it is written with."""

    FACT = ""
    BELIEF = "!"
    RUMOR = "?"


@dataclass(frozen=True, slots=True)
class DCMLEntity:
    """A lexicon entry: the name of a uid."""

    uid: str
    category: DCMLCategory
    name: str

    def __post_init__(self) -> None:
        notation.require_uid(self.uid)
        notation.require_name(self.name, where=f"name of {self.uid}")
        object.__setattr__(self, "category", DCMLCategory.of(self.category))


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to an entity, with its category if that is spelled out, and a count.

    Event ids may come from outside, so with the category EVT the uid may be any text.
    """

    uid: str
    category: DCMLCategory | None = None
    count: int = 1

    def __post_init__(self) -> None:
        if type(self.count) is not int or not 1 <= self.count <= notation.LARGEST_COUNT:
            raise DCMLValueError(
                self.count, where=f"count of {self.uid}", reason="is not a whole number from 1 to 999,999,999"
            )
        if self.category is not None:
            object.__setattr__(self, "category", DCMLCategory.of(self.category))
        if self.category is DCMLCategory.EVT:
            check_event_id(self.uid)
            if not notation.UID.fullmatch(self.uid) and self.count != 1:
                raise DCMLValueError(self.count, where=f"EVT:{self.uid!r}", reason="cannot be counted")
        else:
            notation.require_uid(self.uid)


LONGEST_EVENT_ID = 1_000


def check_event_id(event_id: str) -> str:
    """Return an event id; raise an error if it is blank or too long."""
    notation.require_name(event_id, where="event id")
    if len(event_id) > LONGEST_EVENT_ID:
        raise DCMLValueError(event_id[:40] + "…", where="event id", reason="is longer than 1,000 characters")
    return event_id


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word in a property: FTR, STR17, accepted."""

    value: str

    def __post_init__(self) -> None:
        if not notation.WORD.fullmatch(_checked_text(self.value)):
            raise DCMLValueError(self.value, where="word", reason="is not one plain word; use Text")
        if is_reference(self.value):
            raise DCMLValueError(self.value, where="word", reason="is the uid of an entity; use Ref")


@dataclass(frozen=True, slots=True)
class Text:
    """Quoted text: anything a player typed, including newlines and quotes."""

    value: str

    def __post_init__(self) -> None:
        _checked_text(self.value)


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise DCMLValueError(text, where="text", reason="is not text")
    return text


Atom = Word | Text | Ref | int | float


def is_reference(word: str) -> bool:
    """Return True if a word is the uid of an entity, by its prefix: `giver->npc_elena_001`."""
    return DCMLCategory.by_prefix(word) is not None and notation.UID.fullmatch(word) is not None


@dataclass(frozen=True, slots=True)
class Property:
    """`key->value,value`"""

    key: str
    values: tuple[Atom, ...]

    def __post_init__(self) -> None:
        if not notation.KEY.fullmatch(_checked_text(self.key)):
            raise DCMLValueError(self.key, where="property key", reason="is not one plain word")
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise DCMLValueError(self.values, where=f"property {self.key}", reason="has no value")
        for value in self.values:
            if isinstance(value, Ref):
                if value.category or value.count != 1 or not is_reference(value.uid):
                    raise DCMLValueError(
                        value, where=f"property {self.key}", reason="is not a bare uid with a known prefix"
                    )
            elif isinstance(value, bool) or not isinstance(value, Word | Text | int | float):
                raise DCMLValueError(value, where=f"property {self.key}", reason="is not a DCML value")
            elif isinstance(value, int | float):
                notation.spell_number(value)


def _checked_ref(ref: object) -> None:
    if not isinstance(ref, Ref):
        raise DCMLValueError(ref, where="statement", reason="is not a Ref")


def _checked_certainty(certainty: object) -> None:
    if not isinstance(certainty, Certainty):
        raise DCMLValueError(certainty, where="statement", reason="is not a Certainty")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stated:
    """The common part of all statements. `closed` (a `;` at the end) is spelling, not meaning."""

    subjects: tuple[Ref, ...]
    certainty: Certainty = Certainty.FACT
    closed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "subjects", tuple(self.subjects))
        if not self.subjects:
            raise DCMLValueError(self.subjects, where="statement", reason="has no subject")
        for subject in self.subjects:
            _checked_ref(subject)
        _checked_certainty(self.certainty)


RELATION_OPS = frozenset(DCMLOp) - {DCMLOp.DEFINED_AS, DCMLOp.PROPS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(_Stated):
    """`a,b OP c`"""

    op: DCMLOp
    object: Ref

    def __post_init__(self) -> None:
        _Stated.__post_init__(self)
        _checked_ref(self.object)
        if self.op not in RELATION_OPS:
            raise DCMLValueError(self.op, where="relation", reason="is not an operator between two entities")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed(_Stated):
    """`a -> VERB:b`"""

    verb: str
    object: Ref

    def __post_init__(self) -> None:
        _Stated.__post_init__(self)
        _checked_ref(self.object)
        if not notation.VERB.fullmatch(_checked_text(self.verb)) or self.verb in DCMLCategory.__members__:
            raise DCMLValueError(self.verb, where="deed", reason="is not a verb in capitals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(_Stated):
    """`a := "…"`"""

    text: str

    def __post_init__(self) -> None:
        _Stated.__post_init__(self)
        _checked_text(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties(_Stated):
    """`a::key->value,key->v1,v2`"""

    properties: tuple[Property, ...]

    def __post_init__(self) -> None:
        _Stated.__post_init__(self)
        object.__setattr__(self, "properties", tuple(self.properties))
        if not self.properties:
            raise DCMLValueError(self.properties, where="properties", reason="are empty")


Statement = Relation | Deed | Definition | Properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event: its place, and the statements that belong to it."""

    id: str
    location: Ref | None = None
    lines: tuple[Statement, ...] = ()
    certainty: Certainty = Certainty.FACT
    closed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_event_id(self.id)
        if self.location is not None:
            _checked_ref(self.location)
        _checked_certainty(self.certainty)
        object.__setattr__(self, "lines", tuple(self.lines))
        for line in self.lines:
            if owner_of(line) not in (None, self.id):
                raise DCMLValueError(line, where=f"event {self.id}", reason="belongs to another event")

    @property
    def ref(self) -> Ref:
        """A reference to this event."""
        return Ref(self.id, DCMLCategory.EVT)


def owner_of(line: Statement) -> str | None:
    """Return the event that a line belongs to by its own words: `… in EVT:id` and `EVT:id::…`."""
    if type(line) is Relation and line.op is DCMLOp.IN:
        ref = line.object
    elif type(line) is Properties and len(line.subjects) == 1:
        ref = line.subjects[0]
    else:
        return None
    return ref.uid if ref.category is DCMLCategory.EVT and ref.count == 1 else None


Item = Statement | Event


@dataclass(frozen=True, slots=True)
class Group:
    """`# title` and the items under it. Only the first group of a section may have no title."""

    title: str | None
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        if self.title is not None:
            notation.require_name(self.title, where="group title")
        object.__setattr__(self, "items", tuple(map(as_event, self.items)))


def as_event(item: Item) -> Item:
    """Return `EVT:id @ place` as an event, since both have the same text; any other item as it is."""
    if not (isinstance(item, Relation) and item.op is DCMLOp.AT and len(item.subjects) == 1):
        return item
    (event,) = item.subjects
    if event.category is not DCMLCategory.EVT or event.count != 1:
        return item
    return Event(id=event.uid, location=item.object, certainty=item.certainty, closed=item.closed)


class SectionKind(Enum):
    """The kind of a section. Only the DM reads `STATIC_RELATIONS` and `SESSION_<id>_GLOBAL`."""

    STATIC_RELATIONS = "STATIC_RELATIONS"
    SESSION = "SESSION"
    MEMORY = "MEMORY"


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a document. The owner is a session or the entity whose memory it is."""

    kind: SectionKind
    owner: str
    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", SectionKind(self.kind))
        if self.kind is SectionKind.STATIC_RELATIONS:
            if self.owner:
                raise DCMLValueError(
                    self.owner, where="STATIC_RELATIONS", reason="must be empty: this section has no owner"
                )
        else:
            notation.require_name(self.owner, where=f"{self.kind.value} section")
        groups = tuple(group for group in self.groups if group.items)
        if any(group.title is None for group in groups[1:]):
            raise DCMLValueError(
                self.owner, where=f"{self.kind.value} section", reason="has a later group without a title"
            )
        object.__setattr__(self, "groups", groups)


@dataclass(frozen=True, slots=True)
class Document:
    """A lexicon and sections, without empty groups and sections."""

    lexicon: tuple[DCMLEntity, ...] = ()
    sections: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lexicon", tuple(self.lexicon))
        object.__setattr__(self, "sections", tuple(s for s in self.sections if s.groups))


def refs_of(document: Document) -> Iterable[Ref]:
    """Yield every reference in the sections, in order of appearance."""
    for section in document.sections:
        for group in section.groups:
            for item in group.items:
                if isinstance(item, Event):
                    if item.location:
                        yield item.location
                    for line in item.lines:
                        yield from _refs_in(line)
                else:
                    yield from _refs_in(item)


def _refs_in(line: Statement) -> Iterable[Ref]:
    yield from line.subjects
    if isinstance(line, Relation | Deed):
        yield line.object
    elif isinstance(line, Properties):
        for prop in line.properties:
            for value in prop.values:
                if isinstance(value, Ref):
                    yield value


def replace_uids(document: Document, uids: Mapping[str, str]) -> Document:
    """Return the document with some uids replaced, in its lexicon, its titles and its statements."""

    def replaced(ref: Ref) -> Ref:
        return replace(ref, uid=uids[ref.uid]) if ref.uid in uids else ref

    def in_property(prop: Property) -> Property:
        return Property(
            prop.key, tuple(replaced(value) if isinstance(value, Ref) else value for value in prop.values)
        )

    def in_statement(line: Statement) -> Statement:
        subjects = tuple(map(replaced, line.subjects))
        if isinstance(line, Relation | Deed):
            return replace(line, subjects=subjects, object=replaced(line.object))
        if isinstance(line, Properties):
            return replace(line, subjects=subjects, properties=tuple(map(in_property, line.properties)))
        return replace(line, subjects=subjects)

    def in_item(item: Item) -> Item:
        if not isinstance(item, Event):
            return in_statement(item)
        location = item.location and replaced(item.location)
        return replace(item, location=location, lines=tuple(map(in_statement, item.lines)))

    return Document(
        tuple(replace(entity, uid=uids.get(entity.uid, entity.uid)) for entity in document.lexicon),
        tuple(
            Section(
                section.kind,
                uids.get(section.owner, section.owner),
                tuple(Group(group.title, tuple(map(in_item, group.items))) for group in section.groups),
            )
            for section in document.sections
        ),
    )
