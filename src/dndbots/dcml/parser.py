"""The parser: a document from its text. Exceptions of lark become `DCMLSyntaxError` here."""

from collections.abc import Iterable
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from dndbots._garbage import NO_COLLECTION
from dndbots.dcml.document_reader import Assembly, assemble
from dndbots.dcml.raw_lines import Raw
from dndbots.dcml.tree import Document
from dndbots.errors import DCMLSyntaxError

if TYPE_CHECKING:
    from lark import Lark

# Characters from which on a document makes so many objects that looking for garbage among them shows.
_LARGE = 100_000
# Plain words for the terminals of the grammar.
_TERMINALS = {
    "NEWLINE": "the end of the line",
    "INDENT": "the end of the line",
    "$END": "the end of the line",
    "SECTION": "a section (## …)",
    "GROUP": "a group (# …)",
    "LSQB": "a lexicon entry ([CAT:uid:Name])",
    "LEXICON_RUN": "a lexicon line (CAT: …)",
    "CATEGORY": "a category",
    "ENTRY_UID": "a uid",
    "NAME": "a name",
    "LEXICON_NAME": "a name",
    "RSQB": "']'",
    "COLON": "':'",
    "UID_SUFFIX": "'=uid'",
    "REF": "a reference",
    "QUOTED_REF": "a reference",
    "VERB": "a deed (KILLED:…)",
    "OPERATOR": "an operator",
    "AT": "an operator",
    "ARROW": "'->'",
    "DEFINE": "':='",
    "PROPS": "'::'",
    "KEY": "a key (key->)",
    "WORD": "a word",
    "NUMBER": "a number",
    "HANDLE": "'@Name'",
    "STRING": "quoted text",
    "CERTAINTY": "'!'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "COUNTER": "an event line",
    "PLUS": "an event line",
    "DASH": "an event line",
    "EQUAL": "an event line",
    "BAR": "an event line",
}


def parse(text: str) -> Document:
    """Return the document that a text spells, plain or dense; raise `DCMLSyntaxError` if it is none."""
    return parse_with_positions(text).document


def parse_with_positions(text: str) -> Assembly:
    """Return the document, and the position of each reference and entry in its text."""
    # The collector would visit the growing tree again and again: a megabyte takes two fifths more time in a
    # document of four.
    with NO_COLLECTION if len(text) >= _LARGE else nullcontext():
        return assemble(_read(text))


@lru_cache(maxsize=1)
def _engine() -> "Lark":
    # Loading lark and building its tables takes longer than reading most documents, and
    # programs that only render never need it.
    from importlib import resources

    from lark import Lark

    from dndbots.dcml.line_transformer import RawLines

    grammar = resources.files("dndbots.dcml").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=RawLines(), maybe_placeholders=False)


def _read(text: str) -> Raw:
    engine = _engine()
    from lark import exceptions

    try:
        # Every line is introduced by a newline, the first one too.
        return cast("Raw", engine.parse("\n" + text.removeprefix("\ufeff")))
    except exceptions.UnexpectedToken as error:
        if error.token.type == "$END":
            raise _ends_too_soon(text, error.expected) from None
        line, column, found = error.token.line or 2, error.token.column or 1, str(error.token)
        raise _syntax_error(line - 1, column, _shown(found), error.expected) from None
    except exceptions.UnexpectedCharacters as error:
        raise _syntax_error(error.line - 1, error.column, _shown(error.char), error.allowed or ()) from None
    except exceptions.UnexpectedEOF as error:
        raise _ends_too_soon(text, error.expected) from None


def _ends_too_soon(text: str, expected: Iterable[str]) -> DCMLSyntaxError:
    lines = text.removeprefix("\ufeff").split("\n")
    return _syntax_error(len(lines), len(lines[-1]) + 1, "the end", expected)


def _shown(found: str) -> str:
    """Return the first word of a token: lark may have taken the rest of the line with it."""
    words = found.split()
    return repr(words[0][:40]) if words else "the end of the line"


def _syntax_error(line: int, column: int, found: str, expected: Iterable[str]) -> DCMLSyntaxError:
    names = sorted({_TERMINALS.get(name, name) for name in expected if not name.startswith("__IGNORE")})
    return DCMLSyntaxError(line=max(line, 1), column=column, found=found, expected=names)
