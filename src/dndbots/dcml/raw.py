"""Lines as lark hands them over: tuples of tokens, before any word has a meaning.

Also how a wrong word is refused: with its place in the text.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

from dndbots.dcml import spelling
from dndbots.errors import DCMLSyntaxError, DndbotsError

if TYPE_CHECKING:
    from lark import Token

T = TypeVar("T")


class RawSection(NamedTuple):
    title: "Token"


class RawGroup(NamedTuple):
    title: "Token"


class RawEntry(NamedTuple):
    category: "Token"
    uid: "Token"
    name: "Token"


class RawLexiconRun(NamedTuple):
    head: "Token"
    names: "list[list[Token]]"


class RawTail(NamedTuple):
    kind: str
    head: "Token"
    tokens: "list[Token]"


class RawStatement(NamedTuple):
    certainty: "Token | None"
    subjects: "list[Token]"
    tails: list[RawTail]
    closed: bool


class RawPlace(NamedTuple):
    place: "Token"


class RawCast(NamedTuple):
    first: "list[Token] | None"
    mark: "Token | None"
    others: "tuple[list[Token], ...]"
    same_others: "Token | None"


class RawOccurrence(NamedTuple):
    certainty: "Token | None"
    counter: "Token | None"
    own_id: "list[Token] | None"
    cast: RawCast | None
    text: "Token | None"
    closed: bool


RawLine = RawSection | RawGroup | RawEntry | RawLexiconRun | RawStatement | RawPlace | RawOccurrence
Raw = list[tuple[bool, RawLine]]


class Place(NamedTuple):
    line: int
    column: int


def place_of(token: "Token", offset: int = 0) -> Place:
    # The text was read with one newline in front.
    return Place((token.line or 2) - 1, (token.column or 1) + offset)


def refuse(token: "Token", expected: str, *, found: str | None = None, offset: int = 0) -> NoReturn:
    place = place_of(token, offset)
    shown = found if found is not None else str(token)
    raise DCMLSyntaxError(line=place.line, column=place.column, found=repr(shown[:60]), expected=(expected,))


def unescaped(token: "Token", start: int, end: int | None) -> str:
    try:
        return spelling.unescape(token[start:end])
    except spelling.BadEscape as error:
        refuse(token, r"an escape: \" \\ \n \r \t \uXXXX", found=error.found, offset=start + error.offset)


def text(token: "Token") -> str:
    return unescaped(token, 1, -1)


def built(build: Callable[[], T], token: "Token", expected: str) -> T:
    """What the tree refuses is, in a text, a syntax error at the word that asked for it."""
    try:
        return build()
    except DndbotsError:
        refuse(token, expected)


def first_token(line: RawStatement | RawPlace | RawOccurrence) -> "Token":
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
