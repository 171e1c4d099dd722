"""BM25 among everything that anybody perceived: one store for all viewers. A control, which must leak."""

from collections.abc import Sequence
from pathlib import Path

from bench.rot.memory import Line, Memory, Reply
from bench.rot.systems import bm25

TITLE = "one store for all (control)"
REQUIRES: tuple[str, ...] = ()
ABOUT = "BM25 over single lines without a filter by viewer: shows what the leak figure would catch"
_ALL = "everybody"


class _Shared:
    def __init__(self, folder: Path) -> None:
        self._memory = bm25.open_memory(folder)

    def add(self, lines: Sequence[Line]) -> None:
        self._memory.add([{**line, "witnesses": [_ALL]} for line in lines])

    def context(self, viewer: str, budget: int) -> str:  # noqa: ARG002 - it knows no viewers
        return self._memory.context(_ALL, budget)

    def ask(self, viewer: str, question: str, budget: int) -> Reply:  # noqa: ARG002 - the same
        return self._memory.ask(_ALL, question, budget)

    def close(self) -> None:
        self._memory.close()


def open_memory(folder: Path) -> Memory:
    """A new database."""
    return _Shared(folder)
