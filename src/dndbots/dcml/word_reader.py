"""The meaning of words in a text, by its lexicon: references, values, statements."""

from functools import partial
from typing import TYPE_CHECKING

from dndbots.dcml import notation, shorthand
from dndbots.dcml.raw_lines import (
    RawStatement,
    RawTail,
    SourcePosition,
    built,
    position_of,
    refuse,
    text,
    unescaped,
)
from dndbots.dcml.tree import (
    Atom,
    Certainty,
    DCMLCategory,
    DCMLEntity,
    DCMLOp,
    Deed,
    Definition,
    Properties,
    Property,
    Ref,
    Relation,
    Statement,
    Text,
    Word,
    is_reference,
)

if TYPE_CHECKING:
    from lark import Token


class WordReader:
    """Reads words by one lexicon, and keeps the position of each reference."""

    def __init__(self, lexicon: list[DCMLEntity]) -> None:
        self.rank = shorthand.ranks(lexicon)
        self.handles = {
            handle: entity.uid
            for entity, handle in zip(lexicon, shorthand.handles(lexicon), strict=True)
            if handle is not None
        }
        self.uses: list[tuple[Ref, SourcePosition]] = []
        self._known: dict[str, Ref] = {}

    def refs(self, tokens: "list[Token] | tuple[Token, ...]", event_id: str | None = None) -> tuple[Ref, ...]:
        """Return the entities that the tokens refer to."""
        return tuple([self.ref(token, event_id) for token in tokens])

    def ref(self, token: "Token", event_id: str | None = None) -> Ref:
        """Return the entity that a token refers to. `EVT` alone refers to `event_id`."""
        if token == shorthand.SELF:
            if event_id is None:
                refuse(token, "an event above: EVT alone means that event")
            return Ref(event_id, DCMLCategory.EVT)
        ref = self._known.get(token)
        if ref is None:
            ref = self._known[str(token)] = self._meaning(token)
        self.uses.append((ref, position_of(token)))
        return ref

    def _meaning(self, token: "Token") -> Ref:
        if token.type == "QUOTED_REF":
            event_id = unescaped(token, len('EVT:"'), -1)
            return built(partial(Ref, event_id, DCMLCategory.EVT), token, "an event id")
        code, colon, word = str(token).rpartition(":")
        category = DCMLCategory(code) if colon else None
        spelled_out = "_" in word
        names = self.rank if spelled_out else self.handles
        count = 1
        if word not in names and (parts := notation.split_count(word)):
            base, number = parts
            if base in names or (spelled_out and notation.UID.fullmatch(base)):
                word, count = base, number
        uid = word if spelled_out else self.handles.get(word)
        if uid is None:
            refuse(token, "a uid, or a name from the lexicon")
        return built(partial(Ref, uid, category, count), token, "a uid such as pc_throk_001")

    def statements(self, line: RawStatement, event_id: str | None = None) -> list[Statement]:
        """Return the statements of a line: one in plain DCML, several with one subject in dense."""
        certainty = certainty_of(line.certainty)
        subjects = self.refs(line.subjects, event_id)
        statements: list[Statement] = []
        for tail in line.tails:
            closed = line.closed and tail is line.tails[-1]
            statements += self._tail(tail, subjects, certainty, event_id, closed=closed)
        return statements

    def _tail(
        self,
        tail: RawTail,
        subjects: tuple[Ref, ...],
        certainty: Certainty,
        event_id: str | None,
        *,
        closed: bool,
    ) -> list[Statement]:
        if tail.kind == "relation":
            op = DCMLOp(str(tail.head))
            return [
                Relation(subjects=subjects, op=op, object=ref, certainty=certainty, closed=closed)
                for ref in self.refs(tail.tokens, event_id)
            ]
        if tail.kind == "deed":
            verb = tail.head[:-1]
            return [
                Deed(subjects=subjects, verb=verb, object=ref, certainty=certainty, closed=closed)
                for ref in self.refs(tail.tokens, event_id)
            ]
        if tail.kind == "definition":
            defined = text(tail.tokens[0])
            return [Definition(subjects=subjects, text=defined, certainty=certainty, closed=closed)]
        properties = self._properties(tail.tokens)
        return [Properties(subjects=subjects, properties=properties, certainty=certainty, closed=closed)]

    def _properties(self, tokens: "list[Token]") -> tuple[Property, ...]:
        properties: list[Property] = []
        key, values = "", list[Atom]()
        for token in tokens:
            if token.type == "KEY":
                if values:
                    properties.append(Property(key, tuple(values)))
                key, values = str(token), []
            elif token.type not in ("ARROW", "COMMA"):
                values.append(self._atom(token))
        properties.append(Property(key, tuple(values)))
        return tuple(properties)

    def _atom(self, token: "Token") -> Atom:
        if token.type == "STRING":
            return Text(text(token))
        if token.type == "NUMBER":
            return _number(token)
        if token.type == "HANDLE":
            uid = self.handles.get(token[1:])
            if uid is None:
                refuse(token, "a name from the lexicon", found=token[1:], offset=1)
            return self._used(uid, token)
        return self._used(str(token), token) if is_reference(token) else Word(str(token))

    def _used(self, uid: str, token: "Token") -> Ref:
        if not is_reference(uid):
            refuse(token, "a name whose uid has a known prefix")
        ref = Ref(uid)
        self.uses.append((ref, position_of(token)))
        return ref


def certainty_of(token: "Token | None") -> Certainty:
    """Return the certainty that a mark stands for; no mark is a fact."""
    return Certainty("" if token is None else str(token))


def _number(token: "Token") -> int | float:
    if len(token) > notation.LONGEST_NUMBER:
        refuse(token, "a number of at most 40 characters")
    value = int(token) if token.lstrip("-").isdigit() else float(token)
    if abs(value) >= notation.LARGEST_NUMBER:
        refuse(token, "a number below 1e30")
    return value
