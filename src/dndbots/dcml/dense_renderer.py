"""The dense spelling: the same statements in far fewer tokens, still readable.

Names stand for uids, and a line leaves out everything that follows from the lines above. `shorthand` has
the rules; this module only decides when each of them applies.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from dndbots.dcml import notation
from dndbots.dcml.plain_renderer import plain_ref, section_title
from dndbots.dcml.shorthand import (
    COMPANY,
    NO_PLACE,
    NOBODY,
    SAME,
    SAME_OTHERS,
    SELF,
    Cast,
    Running,
    condense,
    handles,
    name_slug,
    ranks,
    uid_parts,
)
from dndbots.dcml.tree import (
    Atom,
    DCMLCategory,
    DCMLEntity,
    Deed,
    Definition,
    Document,
    Event,
    Group,
    Ref,
    Relation,
    Section,
    Statement,
    Text,
    Word,
)

_BARE_NAME = re.compile(r"[^\W_](?:[\w'.-]| (?=[\w'.-]))*")


def dense(document: Document) -> str:
    """Return the document in the dense spelling: names for uids, and nothing repeated."""
    lines: list[str] = []
    if document.lexicon:
        lines.append("## LEXICON")
        lines += dense_lexicon(document.lexicon)
    writer = _Writer(document.lexicon)
    for section in document.sections:
        lines += writer.section(section)
    return "\n".join(lines)


def dense_lexicon(lexicon: tuple[DCMLEntity, ...]) -> list[str]:
    """Return one line for each run of entries of one category: `PC_001: Throk, Zara`."""
    return [
        f"{category.value}{'_001' if numbered else ''}: {', '.join(map(_entry, run))}"
        for (category, numbered), run in groupby(lexicon, key=lambda e: (e.category, _is_numbered(e)))
    ]


def _is_numbered(entity: DCMLEntity) -> bool:
    parts = uid_parts(entity)
    return parts is not None and parts[1] is not None


def _entry(entity: DCMLEntity) -> str:
    bare = _BARE_NAME.fullmatch(entity.name)
    return (entity.name if bare else notation.quote(entity.name)) + _uid_suffix(entity)


def _uid_suffix(entity: DCMLEntity) -> str:
    """Return the part of a uid that does not follow from the name: nothing, `=2`, `=middle` or `==uid`."""
    slug = name_slug(entity.name)
    parts = uid_parts(entity)
    if parts is None:
        return f"=={entity.uid}"
    middle, number = parts
    if slug and middle == slug:
        if number in (None, "001"):
            return ""
        if number != "000":
            return f"={int(number)}"
    if number in (None, "001") and not middle.isdigit():
        return f"={middle}"
    return f"=={entity.uid}"


class _Writer:
    """Writes sections with the handles of one lexicon."""

    def __init__(self, lexicon: tuple[DCMLEntity, ...]) -> None:
        self._rank = ranks(lexicon)
        self._handles: dict[str, str] = {}
        self._taken: set[str] = set()
        for entity, handle in zip(lexicon, handles(lexicon), strict=True):
            if handle is not None:
                self._handles.setdefault(entity.uid, handle)
                self._taken.add(handle)
        self._spelled: dict[Ref, str] = {}

    def ref(self, ref: Ref) -> str:
        """Return a reference, by the handle of its entity if it has one."""
        if ref.category is None and ref.count == 1 and (handle := self._handles.get(ref.uid)):
            return handle
        spelled = self._spelled.get(ref)
        if spelled is None:
            spelled = self._spelled[ref] = self._spell(ref)
        return spelled

    def _spell(self, ref: Ref) -> str:
        handle = self._handles.get(ref.uid)
        if handle is None:
            return plain_ref(ref, self._rank)
        word = handle if ref.count == 1 else f"{handle}x{ref.count}"
        return f"{ref.category.value}:{word}" if ref.category else word

    def refs(self, refs: tuple[Ref, ...]) -> str:
        """Return references joined by commas."""
        return ",".join([self.ref(ref) for ref in refs])

    def section(self, section: Section) -> list[str]:
        """Return the lines of a section."""
        lines = [section_title(section, taken=self._taken, handle=self._owner(section))]
        for group in section.groups:
            if group.title is not None:
                lines.append(f"# {notation.escape_title(group.title)}")
            lines += self._group(group)
        return lines

    def _owner(self, section: Section) -> str | None:
        """Return the handle of the owner of a memory, if a title can hold it."""
        handle = self._handles.get(section.owner) or ""
        return handle if handle.isascii() and handle.isalnum() else None

    def _group(self, group: Group) -> list[str]:
        lines: list[str] = []
        running = Running(self._rank)
        pending: list[Statement] = []
        for item in group.items:
            if not isinstance(item, Event):
                pending.append(item)
                continue
            if pending:
                lines += self.statements(pending)
                pending = []
            if item.location != running.place:
                running.place = item.location
                lines.append(f"@{self.ref(item.location) if item.location else NO_PLACE}")
            self._event(item, running, lines)
        return lines + self.statements(pending)

    def _event(self, event: Event, running: Running, lines: list[str]) -> None:
        cast, summary, rest = condense(event)
        # A cast that begins with an event would be read as the line's own id.
        ambiguous = bool(cast) and cast[0][0].category is DCMLCategory.EVT
        short_id = None if ambiguous else running.shorten(event.id)
        event_id = plain_ref(event.ref, self._rank) if short_id is None else short_id
        who, spelled = self._cast(cast, running)
        words = [word for word in (event_id, who) if word]
        if summary is not None:
            words.append(notation.quote(summary))
        elif not who:
            words.append(SAME)
        running.happened(event.id, cast, spelled=spelled)
        lines.append(event.certainty.value + " ".join(words))
        if rest:
            lines += [" " + line for line in self.statements(rest, self_ref=event.ref)]

    def _cast(self, cast: Cast, running: Running) -> tuple[str, bool]:
        """Return the cast as text, and True if its first group is spelled out."""
        if cast == running.cast:
            return "", False
        if not cast:
            return NOBODY, False
        first = cast[0]
        if len(cast) > 1 and cast[1:] == running.cast[1:]:
            others = SAME_OTHERS
        else:
            others = "".join([f"|{self.refs(who)}" for who in cast[1:]])
        if running.company:
            if first == running.company:
                return COMPANY + others, False
            if len(first) >= len(running.company) and first == running.led_by(first[:1]):
                return self.ref(first[0]) + COMPANY + others, False
        return self.refs(first) + others, True

    def statements(self, lines: Sequence[Statement], *, self_ref: Ref | None = None) -> list[str]:
        """Return statements as lines; those with the same subjects and certainty share one."""
        return [
            certainty.value + self._subjects(subjects, self_ref) + self._predicates(list(run), self_ref)
            for (subjects, certainty), run in groupby(lines, key=lambda s: (s.subjects, s.certainty))
        ]

    def _subjects(self, subjects: tuple[Ref, ...], self_ref: Ref | None) -> str:
        return ",".join([self._or_self(ref, self_ref) for ref in subjects])

    def _or_self(self, ref: Ref, self_ref: Ref | None) -> str:
        return SELF if ref == self_ref else self.ref(ref)

    def _predicates(self, run: list[Statement], self_ref: Ref | None) -> str:
        text = ""
        before: Statement | None = None
        for line in run:
            if isinstance(line, Relation):
                again = isinstance(before, Relation) and before.op is line.op
                text += "," if again else f" {line.op.value} "
                text += self._or_self(line.object, self_ref)
            elif isinstance(line, Deed):
                again = isinstance(before, Deed) and before.verb == line.verb
                text += "," if again else f" -> {line.verb}:"
                text += self._or_self(line.object, self_ref)
            elif isinstance(line, Definition):
                text += f" := {notation.quote(line.text)}"
            else:
                values = [f"{p.key}->{','.join([self._atom(v) for v in p.values])}" for p in line.properties]
                text += f"{' ' if text else ''}::{','.join(values)}"
            before = line
        return text

    def _atom(self, value: Atom) -> str:
        if isinstance(value, Text):
            return notation.quote(value.value)
        if isinstance(value, Word):
            return value.value
        if isinstance(value, Ref):
            handle = self._handles.get(value.uid)
            return f"@{handle}" if handle else value.uid
        return notation.spell_number(value)
