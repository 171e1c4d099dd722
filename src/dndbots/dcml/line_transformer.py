"""The lark transformer that turns each parsed line into a small tuple of tokens."""

from typing import Any

from lark import Token, Transformer

from dndbots.dcml.raw_lines import (
    RawCast,
    RawEntry,
    RawGroup,
    RawLexiconRun,
    RawLine,
    RawOccurrence,
    RawPlace,
    RawSection,
    RawStatement,
    RawTail,
)


class RawLines(Transformer[Token, list[tuple[bool, RawLine]]]):
    """Lists the lines of a text, each with True if it is indented. Methods are named after grammar rules."""

    def start(self, children: list[Any]) -> list[tuple[bool, RawLine]]:
        lines: list[tuple[bool, RawLine]] = []
        indented = False
        for child in children:
            if isinstance(child, Token):
                indented = child.type == "INDENT"
            else:
                lines.append((indented, child))
        return lines

    def section(self, children: list[Token]) -> RawSection:
        return RawSection(children[0])

    def group(self, children: list[Token]) -> RawGroup:
        return RawGroup(children[0])

    def entry(self, children: list[Token]) -> RawEntry:
        return RawEntry(*children)

    def lexicon_name(self, children: list[Token]) -> list[Token]:
        return children

    def lexicon_run(self, children: list[Any]) -> RawLexiconRun:
        return RawLexiconRun(children[0], [c for c in children[1:] if not isinstance(c, Token)])

    def refs(self, children: list[Token]) -> list[Token]:
        return children[::2]

    def relation(self, children: list[Any]) -> RawTail:
        return RawTail("relation", children[0], children[1])

    def deed(self, children: list[Any]) -> RawTail:
        return RawTail("deed", children[1], children[2])

    def definition(self, children: list[Token]) -> RawTail:
        return RawTail("definition", children[0], children[1:])

    def properties(self, children: list[Token]) -> RawTail:
        return RawTail("properties", children[0], children[1:])

    def statement(self, children: list[Any]) -> RawStatement:
        certainty = children.pop(0) if isinstance(children[0], Token) else None
        closed = isinstance(children[-1], Token)
        if closed:
            children.pop()
        return RawStatement(certainty, children[0], children[1:], closed)

    def place(self, children: list[Token]) -> RawPlace:
        return RawPlace(children[1])

    def others(self, children: list[Any]) -> tuple[list[Token], ...]:
        return tuple(children[1::2])

    def cast(self, children: list[Any]) -> RawCast:
        mark = same_others = None
        first: list[Token] | None = None
        others: tuple[list[Token], ...] = ()
        for child in children:
            if isinstance(child, Token):
                if child.type == "BAR":
                    same_others = child
                else:
                    mark = child
            elif isinstance(child, tuple):
                others = child
            else:
                first = child
        return RawCast(first, mark, others, same_others)

    after_id = cast

    def occurrence(self, children: list[Any]) -> RawOccurrence:
        parts: dict[str, Any] = {}
        for child in children:
            if isinstance(child, RawCast):
                parts["cast"] = child
            elif isinstance(child, list):
                parts["own_id"] = child
            else:
                parts[child.type.lower()] = child
        return RawOccurrence(
            certainty=parts.get("certainty"),
            counter=parts.get("counter"),
            own_id=parts.get("own_id"),
            cast=parts.get("cast"),
            text=parts.get("string"),
            closed="semicolon" in parts,
        )
