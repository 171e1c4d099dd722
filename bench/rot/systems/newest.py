"""The newest lines that fit: what a chat without a memory has. The floor."""

from collections.abc import Sequence
from pathlib import Path

from bench.rot.memory import Line, Memory, Reply, fit, written

TITLE = "newest lines"
REQUIRES: tuple[str, ...] = ()
ABOUT = "the newest lines that the viewer perceived; the floor"
_KEPT = 2_000


class _Newest:
    def __init__(self, folder: Path) -> None:
        self._file = (folder / "lines.txt").open("a", encoding="utf-8")
        self._lines: list[tuple[frozenset[str], str]] = []

    def add(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self._file.write(written(line) + "\n")
            self._lines.append((frozenset(line["witnesses"]), written(line)))
        self._file.flush()

    def context(self, viewer: str, budget: int) -> str:
        newest = [text for witnesses, text in self._lines[-_KEPT:] if viewer in witnesses]
        return "\n".join(reversed(fit(newest[::-1], budget).split("\n")))

    def ask(self, viewer: str, question: str, budget: int) -> Reply:  # noqa: ARG002 - it reads no question
        return Reply(text=self.context(viewer, budget))

    def close(self) -> None:
        self._file.close()


def open_memory(folder: Path) -> Memory:
    """A new list of lines."""
    return _Newest(folder)
