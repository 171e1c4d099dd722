"""Conditions: short sentences that say when a way is open, a person talks or a quest ends.

A text is parsed once into a tree. A `SoFar` answers the questions of the tree. The module decides which keys
exist; `list_questions` returns those that a condition names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast, get_args

from dndbots.errors import InvalidCondition

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

QuestionKind = Literal[
    "found", "has", "visited", "at", "killed", "spared", "met", "heard", "quest", "step", "rounds", "happened"
]
QUESTIONS: Final[tuple[str, ...]] = get_args(QuestionKind)
JOINING: Final = frozenset({"and", "or", "not"})
LONGEST_CONDITION: Final = 1_000


class SoFar(Protocol):
    """The state of play, as conditions ask for it."""

    def found(self, key: str) -> bool: ...
    def has(self, key: str) -> bool: ...
    def visited(self, key: str) -> bool: ...
    def at(self, key: str) -> bool: ...
    def killed(self, key: str) -> bool: ...
    def spared(self, key: str) -> bool: ...
    def met(self, key: str) -> bool: ...
    def heard(self, topic: str) -> bool: ...
    def quest(self, key: str) -> str | None: ...
    def step(self, quest: str | None, key: str) -> bool: ...
    def rounds(self) -> int: ...
    def happened(self, key: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """A question about a key, a topic or a number. `state` is for quests, `quest` owns a step."""

    question: QuestionKind
    key: str
    state: str | None = None
    quest: str | None = None


@dataclass(frozen=True, slots=True)
class Not:
    of: "Condition"


@dataclass(frozen=True, slots=True)
class Both:
    of: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Either:
    of: tuple["Condition", ...]


Condition = Asks | Not | Both | Either


def normalize_topic(text: str) -> str:
    """Return a topic as it is compared: in lower case, with single spaces."""
    return " ".join(text.casefold().split())


@lru_cache(maxsize=4_096)
def parse_condition(text: str) -> Condition:
    """Return the tree of a condition. Raises InvalidCondition with the column of the error."""
    from lark.exceptions import UnexpectedInput, UnexpectedToken

    if len(text) > LONGEST_CONDITION:
        raise InvalidCondition(
            text[:40] + "…", column=1, reason=f"it is longer than {LONGEST_CONDITION} characters"
        )
    try:
        return _built(_grammar().parse(text))
    except UnexpectedInput as exc:
        ended = isinstance(exc, UnexpectedToken) and exc.token.type == "$END"
        column = len(text) + 1 if ended or exc.pos_in_stream is None else exc.pos_in_stream + 1
        raise InvalidCondition(text, column=column, reason=_reason(text, column)) from None


def holds(condition: str | Condition | None, so_far: SoFar) -> bool:
    """Return whether a condition holds. No condition always does."""
    match parse_condition(condition) if isinstance(condition, str) else condition:
        case None:
            return True
        case Not(of=inner):
            return not holds(inner, so_far)
        case Both(of=parts):
            return all(holds(part, so_far) for part in parts)
        case Either(of=parts):
            return any(holds(part, so_far) for part in parts)
        case Asks() as asked:
            return _answer(asked, so_far)


def list_questions(condition: str | Condition) -> tuple[Asks, ...]:
    """Return the questions of a condition, in order."""
    return tuple(_leaves(parse_condition(condition) if isinstance(condition, str) else condition))


def render_condition(condition: Condition) -> str:
    """Return the text of a tree; it parses back into the same tree."""
    match condition:
        case Asks():
            return _asked(condition)
        case Not(of=inner):
            return f"not {_inside(inner)}"
        case Both(of=parts):
            return " and ".join(map(_inside, parts))
        case Either(of=parts):
            return " or ".join(map(_inside, parts))


def _inside(condition: Condition) -> str:
    text = render_condition(condition)
    return f"({text})" if isinstance(condition, Both | Either) else text


def _asked(asked: Asks) -> str:
    match asked.question:
        case "quest":
            return f"quest {asked.key} {asked.state}"
        case "step":
            return f"step {f'{asked.quest}.' if asked.quest else ''}{asked.key} done"
        case "heard":
            return f'heard "{asked.key}"'
        case question:
            return f"{question} {asked.key}"


def _answer(asked: Asks, so_far: SoFar) -> bool:
    match asked.question:
        case "quest":
            return so_far.quest(asked.key) == asked.state
        case "step":
            return so_far.step(asked.quest, asked.key)
        case "rounds":
            return so_far.rounds() >= int(asked.key)
        case question:
            return bool(getattr(so_far, question)(asked.key))


def _leaves(condition: Condition) -> Iterator[Asks]:
    match condition:
        case Asks():
            yield condition
        case Not(of=inner):
            yield from _leaves(inner)
        case Both(of=parts) | Either(of=parts):
            for part in parts:
                yield from _leaves(part)


@lru_cache(maxsize=1)
def _grammar() -> "Lark":
    from lark import Lark

    grammar = resources.files("dndbots.game.adventures").joinpath("when.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _built(node: "Tree[Token]") -> Condition:
    """Convert Lark's tree. The length limit of a condition bounds the recursion."""
    rule = str(node.data)
    if rule in ("either", "both"):
        parts = tuple(_built(cast("Tree[Token]", child)) for child in node.children)
        return (Either if rule == "either" else Both)(parts)
    if rule == "not_":
        return Not(_built(cast("Tree[Token]", node.children[0])))
    return _question(rule, node)


def _question(rule: str, node: "Tree[Token]") -> Asks:
    if rule == "heard":
        (said,) = cast("list[Tree[Token]]", node.children)
        return Asks(question="heard", key=normalize_topic(" ".join(map(str, said.children)).strip('"')))
    words = [str(child) for child in node.children]
    match rule, words:
        case "about", [question, key]:
            return Asks(question=cast("Any", question.lower()), key=key)
        case "quest", [key, state]:
            return Asks(question="quest", key=key, state=state)
        case "step", [quest, key]:
            return Asks(question="step", key=key, quest=quest)
        case _, [key]:
            return Asks(question=cast("Any", rule), key=key)
        case _:  # unreachable: the grammar has no other form
            raise AssertionError(node)


def _reason(text: str, column: int) -> str:
    rest = text[column - 1 :].split()
    found = f"{rest[0]!r}" if rest else "the end"
    return f"{found} is not expected here; use {', '.join(QUESTIONS)}, joined by and, or, not"
