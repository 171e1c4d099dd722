"""While a model is asked: a line that says who thinks, and for how long. It is gone once there is an answer.

Words show in it as they come only to those who may perceive all of them: they have not passed the engine yet,
and nobody knows who will hear them.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dndbots.cli import show

if TYPE_CHECKING:
    from dndbots.llm.asking import Answer, Hear, Question, Role, Voice

_LAST_WORDS: Final = 50
_NAMES: Final = {"dm": "the DM", "player": "a player", "npc": "somebody they meet"}


class Watch:
    """Shows who is asked on a terminal; elsewhere, nothing. `waits` while anybody is."""

    def __init__(self, *, sees_all: bool = False) -> None:
        self.sees_all = sees_all
        self.waits = False

    @contextmanager
    def asking(self, role: "Role") -> "Iterator[Hear | None]":
        self.waits = True
        try:
            with self._shown(role) as hear:
                yield hear
        finally:
            self.waits = False

    @contextmanager
    def _shown(self, role: "Role") -> "Iterator[Hear | None]":
        output = show.output()
        if not (output.is_terminal and sys.stdin.isatty()):
            yield None
            return
        began, who = time.monotonic(), _NAMES.get(role.value, role.value)
        with show.status(f"{who} is thinking …") as change:
            said: list[str] = []

            def hear(words: str) -> None:
                said.append(words)
                tail = show.inert("".join(said[-40:]))[-_LAST_WORDS:] if self.sees_all else ""
                change(f"{who} is thinking, {time.monotonic() - began:.0f} s … {tail}")

            yield hear


class _Watched:
    """A voice that is seen to think."""

    def __init__(self, voice: "Voice", watch: Watch) -> None:
        self._voice, self._watch = voice, watch

    def ask(self, question: "Question", *, hear: "Hear | None" = None) -> "Answer":
        with self._watch.asking(question.role) as shown:
            return self._voice.ask(question, hear=hear or shown)


def watched(voices: "Callable[[Role], Voice | None]", watch: Watch) -> "Callable[[Role], Voice | None]":
    def voice(role: "Role") -> "Voice | None":
        found = voices(role)
        return None if found is None else _Watched(found, watch)

    return voice
