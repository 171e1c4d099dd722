"""Text to tree. The grammar is lark's business; no exception of lark's leaves this module."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, cast

from dndbots.dcml.assemble import Assembly, assemble
from dndbots.dcml.raw import Raw
from dndbots.dcml.tree import Document
from dndbots.errors import DCMLSyntaxError

if TYPE_CHECKING:
    from lark import Lark

_WORDS = {
    "NEWLINE": "a new line",
    "INDENT": "an indented line",
    "SECTION": "a section (## …)",
    "GROUP": "a group (# …)",
    "LSQB": "a lexicon entry ([CAT:uid:Name])",
    "CATEGORY": "a category",
    "ENTRY_UID": "a uid",
    "NAME": "a name",
    "RSQB": "]",
    "COLON": ":",
    "LEXICON_RUN": "a lexicon line (CAT: …)",
    "LEXICON_NAME": "a name",
    "UID_SUFFIX": "=uid",
    "REF": "a reference",
    "QUOTED_REF": "a quoted event id",
    "VERB": "a verb (KILLED:)",
    "OPERATOR": "an operator",
    "KEY": "a key (key->)",
    "WORD": "a word",
    "NUMBER": "a number",
    "HANDLE": "@handle",
    "COUNTER": "an event's number",
    "STRING": "quoted text",
    "CERTAINTY": "! or ?",
    "ARROW": "->",
    "DEFINE": ":=",
    "PROPS": "::",
    "AT": "@",
    "COMMA": ",",
    "SEMICOLON": ";",
    "PLUS": "+",
    "DASH": "-",
    "EQUAL": "=",
    "VBAR": "|",
    "$END": "the end",
}


def parse(text: str) -> Document:
    """The document that a text spells, plain or dense. Anything else is a DCMLSyntaxError."""
    return parse_with_places(text).document


def parse_with_places(text: str) -> Assembly:
    """The document, and where in the text each reference and entry stands."""
    return assemble(_read(text))


@lru_cache(maxsize=1)
def _engine() -> "Lark":
    # Loading lark and building its tables takes longer than reading most documents, and
    # programs that only render never need it.
    from lark import Lark

    from dndbots.dcml.rawlines import RawLines

    grammar = resources.files("dndbots.dcml").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=RawLines(), maybe_placeholders=False)


def _read(text: str) -> Raw:
    engine = _engine()
    from lark import exceptions

    try:
        # Every line is introduced by a newline, the first one too.
        return cast("Raw", engine.parse("\n" + text.removeprefix("\ufeff")))
    except exceptions.UnexpectedToken as error:
        token = error.token
        found = "the end" if token.type == "$END" else _shown(str(token))
        line, column = _place(error.line, error.column, text)
        raise _syntax_error(line, column, found, error.expected) from None
    except exceptions.UnexpectedCharacters as error:
        raise _syntax_error(error.line, error.column, _shown(error.char), error.allowed or ()) from None
    except exceptions.UnexpectedEOF as error:
        line, column = _place(-1, -1, text)
        raise _syntax_error(line, column, "the end", error.expected) from None


def _place(line: int | str, column: int | str, text: str) -> tuple[int, int]:
    """Where an error is; lark does not know the line and column of the end."""
    if isinstance(line, int) and isinstance(column, int) and line > 0:
        return line, column
    lines = text.split("\n")
    return len(lines) + 1, len(lines[-1]) + 1


def _shown(found: str) -> str:
    return repr(found if len(found) <= 40 else found[:37] + "...")


def _syntax_error(line: int, column: int, found: str, expected: Iterable[str]) -> DCMLSyntaxError:
    names = sorted({_WORDS.get(name, name) for name in expected if not name.startswith("__IGNORE")})
    return DCMLSyntaxError(line=max(line - 1, 1), column=column, found=found, expected=names)
