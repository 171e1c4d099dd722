"""The words of a model on the terminal as they come, and a line that says who is thinking.

Viewers see what they will perceive. The words vanish when the answer is over: what was told of it is printed
as events.
"""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from dndbots.cli import console
from dndbots.game.live_words import LiveState, LiveWords
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.game.game import Game


class Watch:
    """Shows answers as they come on a terminal; shows nothing elsewhere. `waits` is true meanwhile.

    `viewers` see what is shown; without any, everybody sees everything.
    """

    def __init__(self, game: "Game | None" = None, *, viewers: frozenset[str] = frozenset()) -> None:
        self._game, self._viewers = game, viewers
        self.waits = False
        self._shown = ExitStack()
        self._show: Callable[[str, str], None] | None = None
        self._text = ""
        self._began = 0.0

    def hear(self, words: LiveWords) -> None:
        """Show a piece of an answer to those who may see it."""
        if words.state is LiveState.ASKED:
            self._begin(words)
        elif words.state is LiveState.COMES:
            if self._show is not None and self._sees(words):
                self._text += words.text
                self._show(self._text, self._line(words))
        else:
            self.waits, self._show = False, None
            self._shown.close()

    def _begin(self, words: LiveWords) -> None:
        self.waits, self._text, self._began = True, "", time.monotonic()
        if console.output().is_terminal and sys.stdin.isatty():
            self._show = self._shown.enter_context(console.live_words(self._line(words)))

    def _sees(self, words: LiveWords) -> bool:
        return not self._viewers or bool(self._viewers & words.viewers)

    def _line(self, words: LiveWords) -> str:
        seconds = time.monotonic() - self._began
        passed = f", {seconds:.0f} s" if seconds >= 1 else ""
        return f"{self._who(words)} is thinking{passed} ..."

    def _who(self, words: LiveWords) -> str:
        """Return the speaker's name as those who watch know it."""
        if words.speaker == DM:
            return "the DM"
        tables = {} if self._game is None else self._game.tables
        known = [tables[who] for who in (self._viewers or {DM}) if who in tables]
        names = [table.names[words.speaker] for table in known if words.speaker in table.names]
        return names[0] if names else "somebody"
