"""Questions to chat models and their answers: plain values that know no provider.

A model answers with words and calls. The code that asks finds out whether the model calls by tools or by an
object that a schema describes; the code that reads an `Answer` need not know.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel


class Role(StrEnum):
    """The part that a model plays."""

    DM = "dm"
    PLAYER = "player"
    NPC = "npc"
    SUMMARIZER = "summarizer"
    EXTRACTOR = "extractor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call: its name, its purpose, and the form that the model fills in."""

    name: str
    purpose: str
    form: type[BaseModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A model's call of a tool, with the validated form. `id` is the provider's."""

    tool: str
    form: BaseModel
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of an answer, as the provider counts them; `cached` is the part of the input that costs less.

    `counted` is our own count of the input, made before asking.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    counted: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Words, calls, and faults, in words that may be shown to the model.

    `failed` lists the faults of calls that did not pass validation: the model wanted something to happen.
    `stopped` says that somebody stopped the answer before its end.
    """

    words: str = ""
    calls: tuple[Call, ...] = ()
    faults: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    stopped: bool = False
    model: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer and our reply to it: a result for each call, by its index, and a general text."""

    answer: Answer
    results: Mapping[int, str] = field(default_factory=dict)
    text: str = ""


class StopSignal(Protocol):
    """A signal that somebody wants no more of an answer; a `threading.Event` is one."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a model. `system` hardly changes from one question to the next, and stands first.

    `so_far` holds earlier answers to the same question, with our replies. Once `stop` is set, the answer ends
    with what has come so far.
    """

    role: Role
    system: str
    text: str
    tools: tuple[Tool, ...] = ()
    so_far: tuple[Reply, ...] = ()
    stop: StopSignal | None = field(default=None, compare=False, repr=False)


# Hears the words of an answer as they come.
Hear = Callable[[str], None]
# Hears the usage of each answer: role, model, tokens.
Heard = Callable[[Role, str, Usage], None]


class Voice(Protocol):
    """A model that can be asked. Raises `ModelUnavailable` if it gives no answer."""

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer: ...
