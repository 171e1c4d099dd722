"""A document from lines of tokens: its sections and groups, and the event that each line belongs to.

The lexicon is read first, wherever it stands, because counts and handles depend on it.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dndbots.dcml import notation, shorthand
from dndbots.dcml.lexicon_reader import read_lexicon
from dndbots.dcml.raw_lines import (
    Raw,
    RawCast,
    RawEntry,
    RawGroup,
    RawLexiconRun,
    RawOccurrence,
    RawPlace,
    RawSection,
    RawStatement,
    SourcePosition,
    built,
    first_token,
    position_of,
    refuse,
    text,
    unescaped,
)
from dndbots.dcml.tree import (
    Certainty,
    DCMLCategory,
    DCMLEntity,
    Document,
    Event,
    Group,
    Item,
    Ref,
    Section,
    SectionKind,
    Statement,
    as_event,
    check_event_id,
    owner_of,
)
from dndbots.dcml.word_reader import WordReader, certainty_of

if TYPE_CHECKING:
    from lark import Token

_SESSION = re.compile(r'SESSION_([A-Za-z0-9_]+|"(?:[^"\\]|\\.)*")_GLOBAL')
_MEMORY = re.compile(r'MEMORY_([A-Za-z0-9_]+|"(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class Assembly:
    """A document, and the positions in its text that `validate` reports."""

    document: Document
    entries: list[tuple[DCMLEntity, SourcePosition]]
    refs: list[tuple[Ref, SourcePosition]]
    sections: list[tuple[SectionKind, str, SourcePosition]]
    lexicons: list[SourcePosition]


@dataclass(slots=True)
class _OpenEvent:
    """An event whose lines are still being read."""

    id: str
    location: Ref | None
    certainty: Certainty
    closed: bool
    lines: list[Statement]


def assemble(raw: Raw) -> Assembly:
    """Return the document that the lines spell, with positions; raise `DCMLSyntaxError` where they do not."""
    entries = read_lexicon(raw)
    words = WordReader([entity for entity, _ in entries])
    body = _Body(words)
    for indented, line in raw:
        body.read(line, indented=indented)
    lexicon = tuple(entity for entity, _ in entries)
    return Assembly(
        document=Document(lexicon, tuple(body.finished())),
        entries=entries,
        refs=words.uses,
        sections=body.titles,
        lexicons=body.lexicons,
    )


class _Body:
    """Collects sections, groups and items from the lines, top to bottom."""

    def __init__(self, words: WordReader) -> None:
        self.titles: list[tuple[SectionKind, str, SourcePosition]] = []
        self.lexicons: list[SourcePosition] = []
        self._words = words
        self._done: list[Section] = []
        self._section: tuple[SectionKind, str] | None = None
        self._groups: list[Group] = []
        self._title: str | None = None
        self._items: list[Item] = []
        self._event: _OpenEvent | None = None
        self._running = shorthand.Running(words.rank)

    def read(self, line: object, *, indented: bool) -> None:
        """Add one line."""
        if isinstance(line, RawSection):
            self._open_section(line.title, indented=indented)
        elif isinstance(line, RawGroup):
            self._open_group(line.title, indented=indented)
        elif isinstance(line, RawStatement | RawPlace | RawOccurrence):
            self._read_content(line, indented=indented)
        else:
            assert isinstance(line, RawEntry | RawLexiconRun)  # noqa: S101 - the lexicon is read already

    def finished(self) -> list[Section]:
        """End the last section, and return all of them."""
        self._end_section()
        return self._done

    # Sections and groups

    def _open_section(self, token: "Token", *, indented: bool) -> None:
        if indented:
            refuse(token, "a section at the start of its line")
        self._end_section()
        title = token[2:].strip()
        if title == "LEXICON":
            self.lexicons.append(position_of(token))
            return
        if title == "STATIC_RELATIONS":
            self._section = (SectionKind.STATIC_RELATIONS, "")
        elif match := _SESSION.fullmatch(title):
            self._section = (SectionKind.SESSION, self._owner(token, match))
        elif match := _MEMORY.fullmatch(title):
            owner = self._owner(token, match)
            named = match[1] == owner
            self._section = (SectionKind.MEMORY, self._words.handles.get(owner, owner) if named else owner)
        else:
            known = "LEXICON, STATIC_RELATIONS, SESSION_<id>_GLOBAL or MEMORY_<uid>"
            refuse(token, known, found=title, offset=token.find(title))
        self.titles.append((*self._section, position_of(token)))

    def _owner(self, token: "Token", match: re.Match[str]) -> str:
        if not match[1].startswith('"'):
            return match[1]
        start = token.index(match[0]) + match.start(1)
        owner = unescaped(token, start + 1, start + len(match[1]) - 1)
        return built(partial(notation.require_name, owner), token, "the name or uid of an owner")

    def _end_section(self) -> None:
        self._end_group()
        if self._section is not None:
            self._done.append(Section(*self._section, tuple(self._groups)))
        self._section, self._groups, self._title = None, [], None

    def _open_group(self, token: "Token", *, indented: bool) -> None:
        if indented:
            refuse(token, "a group at the start of its line")
        if self._section is None:
            refuse(token, "a section (## …) first")
        self._end_group()
        title = unescaped(token, 2, None)
        self._title = built(partial(notation.require_name, title), token, "a title")

    def _end_group(self) -> None:
        self._end_event()
        if self._items:
            self._groups.append(Group(self._title, tuple(self._items)))
        self._items = []
        self._running = shorthand.Running(self._words.rank)

    # Lines

    def _read_content(self, line: RawStatement | RawPlace | RawOccurrence, *, indented: bool) -> None:
        if self._section is None:
            refuse(first_token(line), "a section (## …) first; a lexicon has entries only")
        if isinstance(line, RawStatement):
            if indented:
                self._add_to_event(line)
            else:
                self._add_item(line)
            return
        if indented:
            refuse(first_token(line), "a statement: an indented line belongs to the event above")
        self._end_event()
        if isinstance(line, RawPlace):
            nowhere = line.place == shorthand.NO_PLACE
            self._running.place = None if nowhere else self._words.ref(line.place)
        else:
            self._event = self._occurrence(line)

    def _end_event(self) -> None:
        event = self._event
        if event is None:
            return
        self._event = None
        self._items.append(
            Event(
                id=event.id,
                location=event.location,
                lines=tuple(event.lines),
                certainty=event.certainty,
                closed=event.closed,
            )
        )

    def _add_to_event(self, line: RawStatement) -> None:
        for statement in self._words.statements(line, self._event.id if self._event else None):
            owner = owner_of(statement)
            if owner is not None and (self._event is None or owner != self._event.id):
                self._end_event()
                self._event = _OpenEvent(owner, None, Certainty.FACT, closed=False, lines=[])
            if self._event is None:
                refuse(line.subjects[0], "an event above this indented line")
            self._event.lines.append(statement)

    def _add_item(self, line: RawStatement) -> None:
        for statement in self._words.statements(line):
            self._end_event()
            item = as_event(statement)
            if isinstance(item, Event):
                self._event = _OpenEvent(item.id, item.location, item.certainty, item.closed, [])
            else:
                self._items.append(item)

    # Event lines of the dense spelling

    def _occurrence(self, line: RawOccurrence) -> _OpenEvent:
        cast = line.cast
        if line.own_id is None and line.counter is None and cast and cast.first and len(cast.first) == 1:
            lead = self._words.ref(cast.first[0])
            if lead.category is DCMLCategory.EVT:
                return self._own_id_first(line, cast, lead)
        return self._happened(line, self._event_id(line), cast)

    def _own_id_first(self, line: RawOccurrence, cast: RawCast, own: Ref) -> _OpenEvent:
        """Read a line that starts with the event's own id. Without anything else it is a plain header."""
        if own.count != 1:
            refuse(first_token(line), "one event id without a count")
        if cast.mark is None and (cast.others or cast.same_others is not None):
            refuse(cast.same_others or cast.others[0][0], "the participants before |")
        if cast.mark is None and line.text is None:
            return _OpenEvent(own.uid, None, certainty_of(line.certainty), line.closed, [])
        return self._happened(line, own.uid, None if cast.mark is None else cast._replace(first=None))

    def _event_id(self, line: RawOccurrence) -> str:
        if line.own_id is not None:
            own = self._words.refs(line.own_id)
            if len(own) != 1 or own[0].category is not DCMLCategory.EVT or own[0].count != 1:
                refuse(line.own_id[0], "one event id (EVT:…) before the participants")
            return own[0].uid
        running = self._running
        event_id = running.next_id() if line.counter is None else running.with_counter(line.counter)
        if event_id is None:
            bare = line.text is None and line.counter is None
            expected = (
                "an operator after it" if bare else "EVT:id first: no event above has an id to continue"
            )
            refuse(first_token(line), expected)
        return built(partial(check_event_id, event_id), first_token(line), "a shorter event id")

    def _happened(self, line: RawOccurrence, event_id: str, cast: RawCast | None) -> _OpenEvent:
        who, spelled = self._cast(cast)
        summary = None if line.text is None else text(line.text)
        self._running.happened(event_id, who, spelled=spelled)
        self._words.uses.append((Ref(event_id, DCMLCategory.EVT), position_of(first_token(line))))
        lines = shorthand.expand(event_id, who, summary)
        return _OpenEvent(event_id, self._running.place, certainty_of(line.certainty), line.closed, lines)

    def _cast(self, cast: RawCast | None) -> tuple[shorthand.Cast, bool]:
        """Return the groups of participants, and True if the line spells them out."""
        if cast is None or cast.mark == shorthand.SAME:
            return self._running.cast, False
        if cast.mark == shorthand.NOBODY:
            return (), False
        leads = self._words.refs(cast.first or ())
        others = tuple(self._words.refs(who) for who in cast.others)
        if cast.same_others is not None:
            others = self._running.cast[1:]
            if not others:
                refuse(cast.same_others, "names after |, since the line before has none")
        if cast.mark is None:
            return (leads, *others), True
        if not self._running.company:
            refuse(cast.mark, "names, since no line before has two or more participants")
        return (self._running.led_by(leads), *others), False
