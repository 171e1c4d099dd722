"""Hand on words as they come: no thoughts, nothing invisible, no half of a call, nothing twice."""

from collections.abc import Callable
from typing import Final

from dndbots.llm.protocol import Hear
from dndbots.llm.responses.answers import LONGEST_WORDS, begun_words, clean
from dndbots.llm.responses.shapes import without_thoughts

# Starts of calls written as text, and of thoughts.
_MAYBE_A_CALL: Final = ("{", "[", "`", "<")
_LONGEST_TAG: Final = 14


class AnswerStream:
    """The words of one answer that were handed on so far. Text that does not continue them is dropped."""

    def __init__(self, hear: Hear | None) -> None:
        self._hear = hear
        self._told = ""
        self._fault: Exception | None = None
        self._whole = False

    @property
    def deaf(self) -> bool:
        """True if streaming is pointless: nobody listens, or a stream failed before."""
        return self._hear is None or self._whole

    def stop(self) -> None:
        """Stop streaming after a failed attempt: the next one is heard when it is whole."""
        self._whole = True

    def begin(self, *, in_object: bool) -> Callable[[str], None]:
        """Begin an attempt; return the function that takes each new piece."""
        come: list[str] = []

        def on(said: str) -> None:
            if not said or len(self._told) >= LONGEST_WORDS:
                return
            come.append(said)
            text = without_thoughts("".join(come)).lstrip()
            self._tell(clean(begun_words(text)) if in_object else _sure(text))

        return on

    def finish(self, words: str) -> None:
        """Hand on the rest of the final words, if they continue what was heard.

        Raises what the listener raised: that is not the model's fault.
        """
        self._tell(words)
        if self._fault is not None:
            raise self._fault

    def _tell(self, words: str) -> None:
        if self._hear is not None and len(words) > len(self._told) and words.startswith(self._told):
            new, self._told = words[len(self._told) :], words
            try:
                self._hear(new)
            except Exception as exc:  # noqa: BLE001 - a fault of the listener's, which is told when all was heard
                self._fault, self._hear = exc, None


def _sure(text: str) -> str:
    """Return the part of an unfinished text that is certain to be among the words."""
    if text.startswith(_MAYBE_A_CALL):
        return ""
    tail = text[-_LONGEST_TAG:]
    return clean(text[: len(text) - len(tail) + tail.index("<")] if "<" in tail else text)
