"""The interface that every system is measured through. It has no dependencies: peers load it, too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict


class Line(TypedDict):
    """A line of play. `witnesses` perceived it, and the DM."""

    id: str
    session: str
    speaker: str
    role: str
    text: str
    location: str
    witnesses: list[str]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a system found. `refused` says that it has no record, whatever the text is."""

    text: str
    refused: bool = False


class Memory(Protocol):
    """A system that remembers a campaign. `viewer` is the character whose model would read the text."""

    def add(self, lines: Sequence[Line]) -> None: ...

    def context(self, viewer: str, budget: int) -> str: ...

    def ask(self, viewer: str, question: str, budget: int) -> Reply: ...

    def close(self) -> None: ...


def written(line: Line) -> str:
    """A line as every system is given it: who speaks, and what."""
    return f"{line['speaker']}: {line['text']}"


def fit(lines: Sequence[str], budget: int) -> str:
    """As many lines as the budget holds, from the first on, by exact count."""
    import toktok

    kept, cost = [], 0
    for line, tokens in zip(
        lines, toktok.batch_count([f"{line}\n" for line in lines], "cl100k_base"), strict=True
    ):
        if cost + tokens > budget:
            break
        kept.append(line)
        cost += tokens
    return "\n".join(kept)
