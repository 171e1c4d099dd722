"""Lines as lark returns them: tuples of tokens, before any word has a meaning.

Also the refusal of a wrong word, with its position in the text.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

from dndbots.dcml import notation
from dndbots.errors import DCMLSyntaxError, DndbotsError

if TYPE_CHECKING:
    from lark import Token

T = TypeVar("T")


class RawSection(NamedTuple):
    """`## TITLE`"""

    title: "Token"


class RawGroup(NamedTuple):
    """`# title`"""

    title: "Token"


class RawEntry(NamedTuple):
    """`[CAT:uid:Name]`"""

    category: "Token"
    uid: "Token"
    name: "Token"


class RawLexiconRun(NamedTuple):
    """`PC_001: Throk, Zara`"""

    head: "Token"
    names: "list[list[Token]]"


class RawTail(NamedTuple):
    """An operator and its objects; a line may have several after its subjects."""

    kind: str
    head: "Token"
    tokens: "list[Token]"


class RawStatement(NamedTuple):
    """Subjects, and one or more statements about them."""

    certainty: "Token | None"
    subjects: "list[Token]"
    tails: list[RawTail]
    closed: bool


class RawPlace(NamedTuple):
    """`@place`, for the event lines that follow."""

    place: "Token"


class RawCast(NamedTuple):
    """The participants of an event line: names, or marks that refer to the lines before."""

    first: "list[Token] | None"
    mark: "Token | None"
    others: "tuple[list[Token], ...]"
    same_others: "Token | None"


class RawOccurrence(NamedTuple):
    """An event on a single line of the dense spelling."""

    certainty: "Token | None"
    counter: "Token | None"
    own_id: "list[Token] | None"
    cast: RawCast | None
    text: "Token | None"
    closed: bool


RawLine = RawSection | RawGroup | RawEntry | RawLexiconRun | RawStatement | RawPlace | RawOccurrence
Raw = list[tuple[bool, RawLine]]


class SourcePosition(NamedTuple):
    """A position in the text. Lines and columns count from 1."""

    line: int
    column: int


def position_of(token: "Token", offset: int = 0) -> SourcePosition:
    """Return the position of a token, `offset` characters into it."""
    # The text was read with one newline in front.
    return SourcePosition((token.line or 2) - 1, (token.column or 1) + offset)


def refuse(token: "Token", expected: str, *, found: str | None = None, offset: int = 0) -> NoReturn:
    """Raise `DCMLSyntaxError` at a token, with what was expected instead."""
    at = position_of(token, offset)
    shown = found if found is not None else str(token)
    raise DCMLSyntaxError(line=at.line, column=at.column, found=repr(shown[:60]), expected=(expected,))


def unescaped(token: "Token", start: int, end: int | None) -> str:
    """Return a part of a token without escapes."""
    try:
        return notation.unescape(token[start:end])
    except notation.BadEscape as error:
        refuse(token, r"an escape: \" \\ \n \r \t \uXXXX", found=error.found, offset=start + error.offset)


def text(token: "Token") -> str:
    """Return the text of a quoted string."""
    return unescaped(token, 1, -1)


def built(build: Callable[[], T], token: "Token", expected: str) -> T:
    """Return what `build` makes; if the tree refuses it, raise a syntax error at the token."""
    try:
        return build()
    except DndbotsError:
        refuse(token, expected)


def first_token(line: RawStatement | RawPlace | RawOccurrence) -> "Token":
    """Return a token of the line to name in an error, the first if possible."""
    if isinstance(line, RawPlace):
        return line.place
    if isinstance(line, RawStatement):
        return line.subjects[0]
    cast = line.cast
    tokens = (
        line.own_id[0] if line.own_id else None,
        line.counter,
        cast.first[0] if cast and cast.first else None,
        cast.mark if cast else None,
        line.text,
    )
    return next(token for token in tokens if token is not None)
