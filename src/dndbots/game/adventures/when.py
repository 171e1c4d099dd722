"""Conditions: short sentences that say when a way is open, a person talks, a quest ends.

Text becomes a tree once and is kept; what the tree asks is answered by whoever knows what happened so far.
Which keys exist is the module's business: `keys` names those that a condition speaks of.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast, get_args

from dndbots.errors import InvalidCondition

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Question = Literal[
    "found", "has", "visited", "at", "killed", "spared", "met", "heard", "quest", "step", "rounds", "happened"
]
QUESTIONS: Final[tuple[str, ...]] = get_args(Question)
JOINING: Final = frozenset({"and", "or", "not"})
LONGEST_CONDITION: Final = 1_000


class SoFar(Protocol):
    """What happened in a module so far, as its conditions ask for it."""

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
    """One question: of a key, a topic or a number. `state` is a quest's; `quest` is whose step it is."""

    question: Question
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


def topic(text: str) -> str:
    """A topic as it is compared: in lower case, with single spaces."""
    return " ".join(text.casefold().split())


@lru_cache(maxsize=4_096)
def parse(text: str) -> Condition:
    """The tree of a condition. Anything else is an InvalidCondition that says where it goes wrong."""
    from lark.exceptions import UnexpectedInput, UnexpectedToken

    if len(text) > LONGEST_CONDITION:
        raise InvalidCondition(text[:40] + "…", column=1, reason=f"is longer than {LONGEST_CONDITION}")
    try:
        return _built(_grammar().parse(text))
    except UnexpectedInput as exc:
        ended = isinstance(exc, UnexpectedToken) and exc.token.type == "$END"
        column = len(text) + 1 if ended or exc.pos_in_stream is None else exc.pos_in_stream + 1
        raise InvalidCondition(text, column=column, reason=_reason(text, column)) from None


def holds(condition: str | Condition | None, so_far: SoFar) -> bool:
    """Whether a condition is met by what happened so far. No condition is always met."""
    match parse(condition) if isinstance(condition, str) else condition:
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


def keys(condition: str | Condition) -> tuple[Asks, ...]:
    """The questions of a condition, in its order: what it names, and as what."""
    return tuple(_leaves(parse(condition) if isinstance(condition, str) else condition))


def spelled(condition: Condition) -> str:
    """The text of a tree, which parses into the same tree."""
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
    text = spelled(condition)
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
    """Lark's tree as ours. Its depth is bounded by the length of a condition."""
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
        return Asks(question="heard", key=topic(" ".join(map(str, said.children)).strip('"')))
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
        case _:  # the grammar has no other form
            raise AssertionError(node)


def _reason(text: str, column: int) -> str:
    rest = text[column - 1 :].split()
    found = f"{rest[0]!r}" if rest else "the end"
    return f"{found} does not fit there; a condition asks {', '.join(QUESTIONS)}, joined by and, or, not"
