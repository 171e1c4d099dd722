"""What is asked of a chat model, and what it answers: plain values that know no provider.

A model answers with words and calls. Whether it calls by tools or by an object that a schema describes is
for whoever asks it to find out; who reads an `Answer` need not know.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel


class Role(StrEnum):
    """What a model is asked to be."""

    DM = "dm"
    PLAYER = "player"
    NPC = "npc"
    SUMMARIZER = "summarizer"
    EXTRACTOR = "extractor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that a model may call for: its name, what it is for, and the form that it fills in."""

    name: str
    purpose: str
    form: type[BaseModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that a model called for, with its form as it passed validation. `id` is the provider's."""

    tool: str
    form: BaseModel
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an answer took, as the provider counts tokens; `cached` are those of the input that cost less.

    `counted` is how many tokens of input we had counted ourselves, before it was asked.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    counted: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: words, calls, and what was wrong with it, in words that may be shown to the model.

    `failed` are those of the faults that are of calls which did not pass: something was meant to happen.
    """

    words: str = ""
    calls: tuple[Call, ...] = ()
    faults: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that was given, and what it is told to it: for each call by its place, and in general."""

    answer: Answer
    results: Mapping[int, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. `system` is what hardly changes from one to the next, and stands first.

    `so_far` are earlier answers to this same question, with what was said to them.
    """

    role: Role
    system: str
    text: str
    tools: tuple[Tool, ...] = ()
    so_far: tuple[Reply, ...] = ()


# Is told the words of an answer as they come.
Hear = Callable[[str], None]
# Is told what each answer took: who asked, which model, how much.
Heard = Callable[[Role, str, Usage], None]


class Voice(Protocol):
    """A model that can be asked. It raises `ModelUnavailable` where there is no answer to be had."""

    def ask(self, question: Question, *, hear: Hear | None = None) -> Answer: ...
