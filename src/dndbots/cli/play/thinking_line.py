"""A line on the terminal while a model answers: who is thinking, and for how long.

The words of the answer show in it only to viewers who see everything: the engine has not checked them yet,
and their audience is not known.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dndbots.cli import console

if TYPE_CHECKING:
    from dndbots.llm.protocol import Answer, Hear, Question, Role, Voice

_LAST_WORDS: Final = 50
_NAMES: Final = {"dm": "the DM", "player": "a player", "npc": "somebody they meet"}


class Watch:
    """Shows on a terminal who is thinking; shows nothing elsewhere. `waits` is true meanwhile."""

    def __init__(self, *, sees_all: bool = False) -> None:
        self.sees_all = sees_all
        self.waits = False

    @contextmanager
    def asking(self, role: "Role") -> "Iterator[Hear | None]":
        """Show the line while a role is asked; yield a function for the words of the answer."""
        self.waits = True
        try:
            with self._shown(role) as hear:
                yield hear
        finally:
            self.waits = False

    @contextmanager
    def _shown(self, role: "Role") -> "Iterator[Hear | None]":
        output = console.output()
        if not (output.is_terminal and sys.stdin.isatty()):
            yield None
            return
        began, who = time.monotonic(), _NAMES.get(role.value, role.value)
        with console.status(f"{who} is thinking …") as change:
            chunks: list[str] = []

            def hear(words: str) -> None:
                chunks.append(words)
                tail = console.inert("".join(chunks[-40:]))[-_LAST_WORDS:] if self.sees_all else ""
                change(f"{who} is thinking, {time.monotonic() - began:.0f} s … {tail}")

            yield hear


class _Watched:
    """A voice that shows the line while it answers."""

    def __init__(self, voice: "Voice", watch: Watch) -> None:
        self._voice, self._watch = voice, watch

    def ask(self, question: "Question", *, hear: "Hear | None" = None) -> "Answer":
        with self._watch.asking(question.role) as shown:
            return self._voice.ask(question, hear=hear or shown)


def watched(voices: "Callable[[Role], Voice | None]", watch: Watch) -> "Callable[[Role], Voice | None]":
    """Return the same voices, each with the line while it answers."""

    def voice(role: "Role") -> "Voice | None":
        chosen = voices(role)
        return None if chosen is None else _Watched(chosen, watch)

    return voice
