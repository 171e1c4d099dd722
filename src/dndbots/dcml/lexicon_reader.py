"""The lexicon of a text, read in either spelling: entries in brackets, or runs of names."""

from functools import partial
from typing import TYPE_CHECKING

from dndbots.dcml import notation, shorthand
from dndbots.dcml.raw_lines import (
    Raw,
    RawEntry,
    RawLexiconRun,
    RawSection,
    SourcePosition,
    built,
    position_of,
    refuse,
    text,
    unescaped,
)
from dndbots.dcml.tree import DCMLCategory, DCMLEntity

if TYPE_CHECKING:
    from lark import Token


def read_lexicon(raw: Raw) -> list[tuple[DCMLEntity, SourcePosition]]:
    """Return the entries of the lexicon, each with its position in the text."""
    entries: list[tuple[DCMLEntity, SourcePosition]] = []
    inside = False
    for indented, line in raw:
        if isinstance(line, RawSection):
            inside = line.title[2:].strip() == "LEXICON"
            continue
        if isinstance(line, RawEntry | RawLexiconRun):
            head = line[0]
            if not inside or indented:
                refuse(head, "a statement: entries belong under ## LEXICON, not indented")
            entries += [_entry(line)] if isinstance(line, RawEntry) else _lexicon_run(line)
    return entries


def _entry(line: RawEntry) -> tuple[DCMLEntity, SourcePosition]:
    if line.category not in DCMLCategory.__members__:
        refuse(line.category, f"a category ({' '.join(DCMLCategory.__members__)})")
    if not notation.UID.fullmatch(line.uid):
        refuse(line.uid, "a uid such as pc_throk_001")
    name = unescaped(line.name, 0, None)
    category = DCMLCategory(str(line.category))
    entity = built(partial(DCMLEntity, str(line.uid), category, name), line.name, "a name")
    return entity, position_of(line.category, -1)


def _lexicon_run(line: RawLexiconRun) -> list[tuple[DCMLEntity, SourcePosition]]:
    code, _, number = line.head[:-1].partition("_")
    category = DCMLCategory(code)
    entries: list[tuple[DCMLEntity, SourcePosition]] = []
    for token, *suffix in line.names:
        name = text(token) if token.startswith('"') else str(token)
        uid = _uid_of(category, name, number or None, suffix[0] if suffix else None)
        entity = built(partial(DCMLEntity, uid, category, name), token, "a name and its uid")
        entries.append((entity, position_of(token)))
    return entries


def _uid_of(category: DCMLCategory, name: str, number: str | None, suffix: "Token | None") -> str:
    slug = shorthand.name_slug(name)
    if suffix is None:
        return shorthand.join_uid(category, slug, number)
    if suffix.startswith("=="):
        return suffix[2:]
    part = suffix[1:]
    if part.isdigit():
        return shorthand.join_uid(category, slug, part.zfill(3))
    return shorthand.join_uid(category, part, number)
