"""Words of a model while its answer comes, for those who may hear them; and the signal that stops an answer.

What comes here is cleaned sentence by sentence, but nothing of it is recorded yet. The events that a game
hands to its `watch` are what was told.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dndbots.llm.protocol import Hear

# Returns the part of a begun answer that may be shown.
Cleaner = Callable[[str], str]

_ENDS: Final = (".", "!", "?", "…", '"', "”", "\n")


class LiveState(StrEnum):
    """The state of an answer: a model is asked, words come, the answer is over."""

    ASKED = "asked"
    COMES = "comes"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWords:
    """A piece of an answer. `viewers` may see it: the DM, and those who will perceive the words.

    `speaker` is `dm` or a uid, `text` the new words. An answer that is over has no text: the events that were
    made of it are recorded next, and may differ from what came.
    """

    state: LiveState
    speaker: str
    place: str | None
    viewers: frozenset[str]
    text: str = ""


LiveHear = Callable[[LiveWords], None]


class LiveAnswers:
    """The answers of a game's models as they come. Another thread may stop the one that is coming."""

    def __init__(self) -> None:
        self.hear: LiveHear | None = None
        self.stop = threading.Event()
        self.waits = False

    def stop_answer(self) -> bool:
        """Stop the answer that is coming; return False if none is."""
        if self.waits:
            self.stop.set()
        return self.waits

    @contextmanager
    def coming(
        self, speaker: str, *, place: str | None, viewers: Iterable[str], clean: Cleaner
    ) -> Iterator[Hear | None]:
        """Listen to one answer; yield the function that takes its words, or None if nobody listens."""
        hear, seen = self.hear, frozenset(viewers)
        self.stop.clear()
        self.waits = True

        def tell(state: LiveState, text: str = "") -> None:
            if hear is not None:
                hear(LiveWords(state=state, speaker=speaker, place=place, viewers=seen, text=text))

        tell(LiveState.ASKED)
        try:
            yield None if hear is None else _sentences(clean, lambda text: tell(LiveState.COMES, text))
        finally:
            self.waits = False
            tell(LiveState.OVER)


def _sentences(clean: Cleaner, tell: Callable[[str], None]) -> Hear:
    """Return a function that takes words, and tells each sentence once it is whole and clean."""
    come, told = "", ""

    def hear(words: str) -> None:
        nonlocal come, told
        come += words
        whole = come[: _last_end(come)]
        shown = clean(whole) if whole.strip() else ""
        if len(shown) > len(told) and shown.startswith(told):
            new, told = shown[len(told) :], shown
            tell(new)

    return hear


def _last_end(text: str) -> int:
    """Return where the last whole sentence of a begun text ends: a blank follows it."""
    ends = [at for at in range(len(text) - 1) if text[at] in _ENDS and text[at + 1].isspace()]
    return ends[-1] + 1 if ends else 0
