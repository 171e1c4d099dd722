"""BM25 on single lines, by SQLite's full-text search, among what the viewer perceived: the baseline."""

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from bench.rot.memory import Line, Memory, Reply, fit, written

TITLE = "BM25 (SQLite FTS5)"
REQUIRES: tuple[str, ...] = ()
ABOUT = "single lines by bm25, filtered by witness"
_CANDIDATES = 400


class _Bm25:
    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "lines.db")
        self._db.execute(
            "CREATE VIRTUAL TABLE lines USING fts5(text, heard UNINDEXED, tokenize='porter unicode61')"
        )

    def add(self, lines: Sequence[Line]) -> None:
        rows = [(written(line), "|" + "|".join(line["witnesses"]) + "|") for line in lines]
        with self._db:
            self._db.executemany("INSERT INTO lines VALUES (?, ?)", rows)

    def context(self, viewer: str, budget: int) -> str:
        rows = self._db.execute(
            "SELECT text FROM lines WHERE instr(heard, ?) ORDER BY rowid DESC LIMIT ?",
            (f"|{viewer}|", _CANDIDATES),
        )
        return "\n".join(reversed(fit([text for (text,) in rows], budget).split("\n")))

    def ask(self, viewer: str, question: str, budget: int) -> Reply:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = self._db.execute(
            "SELECT text FROM lines WHERE lines MATCH ? AND instr(heard, ?)"
            " ORDER BY bm25(lines), rowid LIMIT ?",
            (words, f"|{viewer}|", _CANDIDATES),
        ).fetchall()
        return Reply(text=fit([text for (text,) in rows], budget), refused=not rows)

    def close(self) -> None:
        self._db.close()


def open_memory(folder: Path) -> Memory:
    """A new database."""
    return _Bm25(folder)
