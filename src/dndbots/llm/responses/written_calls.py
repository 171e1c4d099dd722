"""Find calls that a model wrote into its text in other forms than JSON: as in Python, or in tags.

Small models write calls as they saw them in training: `give(item="rope", to="Zara")`, or
`<give><item>rope</item></give>`. Only names of tools that were offered count.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dndbots.llm.protocol import Tool
from dndbots.llm.responses.shapes import RawCall

_LONGEST: Final = 20_000
_LONGEST_CALL: Final = 2_000
_MOST_TRIES: Final = 50
_TAGGED: Final = re.compile(
    r"<(?:invoke|function|tool|tool_call|call)(?: name)?=\"?(\w{1,40})\"?>(.{0,2000}?)"
    r"</(?:invoke|function|tool|tool_call|call)>",
    re.DOTALL | re.IGNORECASE,
)
_FIELD: Final = re.compile(
    r"<(?:(?:parameter|param|arg|argument)(?: name)?=\"?)?(\w{1,40})\"?>(.{0,1000}?)</\w{1,40}>", re.DOTALL
)
_ATTRIBUTE: Final = re.compile(r"(\w{1,40})=\"([^\"]{0,500})\"")


class WrittenCall(NamedTuple):
    """A call and its position in the text."""

    call: RawCall
    start: int
    end: int


def find_written(text: str, tools: Sequence[Tool]) -> list[WrittenCall]:
    """Return the calls of known tools that are written in a text, in order. They never overlap."""
    text = text[:_LONGEST]
    known = {tool.name: [*tool.form.model_fields] for tool in tools}
    if not known:
        return []
    found = sorted((*_in_tags(text, known), *_in_parentheses(text, known)), key=lambda one: one.start)
    kept: list[WrittenCall] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _in_tags(text: str, known: Mapping[str, Sequence[str]]) -> Iterator[WrittenCall]:
    """Yield calls in tags: those of a tool's name, and the forms in which models are trained to call."""
    for match in _TAGGED.finditer(text):
        if match[1] in known:
            yield WrittenCall(RawCall(name=match[1], args=_fields(match[2])), *match.span())
    for name in known:
        for match in re.finditer(rf"<{name}>(.{{0,2000}}?)</{name}>", text, re.DOTALL):
            yield WrittenCall(RawCall(name=name, args=_fields(match[1])), *match.span())
        for match in re.finditer(rf"<{name}((?: \w{{1,40}}=\"[^\"]{{0,500}}\"){{1,12}}) ?/?>", text):
            fields = dict(_ATTRIBUTE.findall(match[1]))
            yield WrittenCall(RawCall(name=name, args=fields), *match.span())


def _fields(inner: str) -> object:
    fields = {name: value.strip() for name, value in _FIELD.findall(inner)}
    return fields or inner  # the inner text may be JSON


def _in_parentheses(text: str, known: Mapping[str, Sequence[str]]) -> Iterator[WrittenCall]:
    """Yield calls as in Python. Other values than literals and single words make no call."""
    names = "|".join(map(re.escape, known))
    matches = re.finditer(rf"(?<![\w.])(?:{names})\(", text)
    for match, _ in zip(matches, range(_MOST_TRIES), strict=False):
        end = _closing(text, match.end())
        name = match[0][:-1]
        args = None if end is None else _arguments(text[match.end() : end - 1], known[name])
        if end is not None and args:
            yield WrittenCall(RawCall(name=name, args=args), match.start(), end)


def _closing(text: str, at: int) -> int | None:
    """Return where the parenthesis that was opened before `at` ends; None if it stays open."""
    depth, quote = 1, ""
    for n in range(at, min(len(text), at + _LONGEST_CALL)):
        char = text[n]
        if quote:
            quote = "" if char == quote and text[n - 1] != "\\" else quote
        elif char in "\"'" and not (char == "'" and text[n - 1].isalnum()):
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return n + 1
    return None


def _value(node: ast.expr) -> Any:
    """Return a literal; a bare word is text without its quotation marks."""
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def _arguments(written: str, fields: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments of a call: literals by their names, or in the order of the form's fields."""
    try:
        parsed = ast.parse(f"f({' '.join(written.split())})", mode="eval").body
        if not isinstance(parsed, ast.Call) or len(parsed.args) > len(fields):
            return None
        named = {key.arg: _value(key.value) for key in parsed.keywords if key.arg}
        placed = [ast.literal_eval(value) for value in parsed.args]
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return {**dict(zip(fields, placed, strict=False)), **named}
