"""OpenAI Agents SDK: one `SQLiteSession` a viewer. It keeps a history and has no search."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agents import SQLiteSession
from bench.rot.memory import Line, Memory, Reply, fit, written

TITLE = "OpenAI Agents session"
REQUIRES = ("openai-agents",)
ABOUT = "a session for each viewer with the lines it perceived; the newest that fit are read back; no search"
_READ = 400  # items: more than any budget here holds


class _Sessions:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._sessions: dict[str, SQLiteSession] = {}

    def _session(self, viewer: str) -> SQLiteSession:
        if viewer not in self._sessions:
            self._sessions[viewer] = SQLiteSession(viewer, self._folder / "sessions.db")
        return self._sessions[viewer]

    def add(self, lines: Sequence[Line]) -> None:
        for viewer in sorted({viewer for line in lines for viewer in line["witnesses"]}):
            items = [
                {"role": "user", "content": written(line)} for line in lines if viewer in line["witnesses"]
            ]
            self._loop.run_until_complete(self._session(viewer).add_items(items))

    def context(self, viewer: str, budget: int) -> str:
        items = self._loop.run_until_complete(self._session(viewer).get_items(limit=_READ))
        newest_first = [str(item["content"]) for item in reversed(items)]
        return "\n".join(reversed(fit(newest_first, budget).split("\n")))

    def ask(self, viewer: str, question: str, budget: int) -> Reply:  # noqa: ARG002 - it has no search
        return Reply(text=self.context(viewer, budget))

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._loop.close()


def open_memory(folder: Path) -> Memory:
    """A new database of sessions."""
    return _Sessions(folder)
