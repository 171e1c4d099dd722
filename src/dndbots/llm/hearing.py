"""Words handed on as they come: no thoughts, nothing invisible, no half of a call, nothing twice."""

from collections.abc import Callable
from typing import Final

from dndbots.llm.asking import Hear
from dndbots.llm.reading import LONGEST_WORDS, begun_words, clean
from dndbots.llm.shapes import without_thoughts

# What may turn out to be a call that is written as text, or the beginning of a thought.
_MAYBE_A_CALL: Final = ("{", "[", "`", "<")
_LONGEST_TAG: Final = 14


class Hearing:
    """What of one answer was handed on. What does not go on from there is not."""

    def __init__(self, hear: Hear | None) -> None:
        self._hear = hear
        self._told = ""
        self._fault: Exception | None = None
        self._whole = False

    @property
    def deaf(self) -> bool:
        """Whether there is no use in a stream: nobody listens, or a stream has failed before."""
        return self._hear is None or self._whole

    def stop(self) -> None:
        """After an attempt that failed: what comes next is heard when it is whole."""
        self._whole = True

    def begin(self, *, in_object: bool) -> Callable[[str], None]:
        """One attempt: what it is given is what came newly."""
        come: list[str] = []

        def on(said: str) -> None:
            if not said or len(self._told) >= LONGEST_WORDS:
                return
            come.append(said)
            text = without_thoughts("".join(come)).lstrip()
            self._tell(clean(begun_words(text)) if in_object else _sure(text))

        return on

    def finish(self, words: str) -> None:
        """What was not handed on yet of the words that count; of other words than were heard, nothing.

        What the listener raised is raised here: it is no fault of the model's.
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
    """What of an unfinished text will be among the words, whatever comes."""
    if text.startswith(_MAYBE_A_CALL):
        return ""
    tail = text[-_LONGEST_TAG:]
    return clean(text[: len(text) - len(tail) + tail.index("<")] if "<" in tail else text)
