"""Notes that a client puts between the lines of a chat, told apart from lines of a narrator there.

Both look alike in a request. A note, such as an author's note or an entry of a lorebook, stands at the same
depth in every request, so it moves on as the chat grows. A line stays after the line before it. The client's
number of messages decides what that leaves open.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dndbots.server.chat.play_lines import PlayLine

_TAIL: Final = 80
_MOST_KNOWN: Final = 2_000
_SURELY: Final = 2


class InjectedNotes:
    """The notes of one chat, as far as its requests showed them."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._moves: Counter[str] = Counter()
        self._told: set[str] = set()

    def without_notes(
        self, lines: Sequence[PlayLine], count: int | None, is_known: Callable[[str], bool]
    ) -> list[PlayLine]:
        """Return the lines of a chat without notes.

        `count` is the client's number of messages, and `is_known` tells whether a text was a line before.
        """
        texts = [line.text for line in lines[-_TAIL:]]
        self._look(texts)
        is_full = count in (len(lines), sum(not line.is_aside for line in lines))
        kept = [line for line in lines if not self._is_moving(line.text, is_full=is_full)]
        asides = [line for line in kept if line.is_aside]
        if asides:
            kept = self._with_told(kept, asides, count, is_known, texts)
        elif count is not None and len(kept) > count:
            # There are more lines than messages: those that nobody said before, if they explain it.
            new = {line.text for line in kept[-_TAIL:-1] if not is_known(line.text)}
            is_clear = kept[-2].text not in new or not kept[-2].is_user
            if is_clear and len(new) == len(kept) - count:
                self._moves.update(dict.fromkeys(new, _SURELY))
                kept = [line for line in kept if line.text not in new]
        self._before = texts
        return kept

    def _with_told(
        self,
        kept: list[PlayLine],
        asides: list[PlayLine],
        count: int | None,
        is_known: Callable[[str], bool],
        texts: list[str],
    ) -> list[PlayLine]:
        """Return the lines with those asides that a narrator said."""
        spoken = len(kept) - len(asides)
        if count == len(kept):
            told = {line.text for line in asides}
        elif count == spoken:
            told = set()
        else:
            before, now = ([text for text in tail if not self._moves[text]] for tail in (self._before, texts))
            told = {
                text
                for text in {line.text for line in asides}
                if text in self._told or is_known(text) or _has_stayed(before, now, text)
            }
        self._remember(told)
        return [line for line in kept if not line.is_aside or line.text in told]

    def _look(self, texts: list[str]) -> None:
        """Count which texts moved on since the request before."""
        self._moves.update(text for text in _once(texts) if _has_moved(self._before, texts, text))
        if len(self._moves) > _MOST_KNOWN:
            self._moves.clear()

    def _is_moving(self, text: str, *, is_full: bool) -> bool:
        """Return True for a note. One move alone may be a person's, if the number of messages is right."""
        return self._moves[text] >= (_SURELY if is_full else 1)

    def _remember(self, told: Iterable[str]) -> None:
        if len(self._told) > _MOST_KNOWN:
            self._told.clear()
        self._told.update(told)


def _has_moved(before: Sequence[str], now: Sequence[str], text: str) -> bool:
    """Return True if a chat has grown, and a text passed lines after it or is the last one again."""
    if before.count(text) != 1 or before[0] == text:
        return False
    last = before[-1] if before[-1] != text else before[-2]
    if last not in now or last == now[-1] or now[-2:] == [last, text]:
        return False
    old, new = before.index(text), now.index(text)
    if before[old - 1] not in now[:new]:
        return False
    passed = now[_last(now[:new], before[old - 1]) + 1 : new]
    is_last = old == len(before) - 1 and new == len(now) - 1
    return bool(passed) and (is_last or any(line in before[old + 1 :] for line in passed))


def _has_stayed(before: Sequence[str], now: Sequence[str], text: str) -> bool:
    """Return True if a text stands where it stood, and the chat has grown after it."""
    if before.count(text) != 1 or now.count(text) != 1:
        return False
    old, new = before.index(text), now.index(text)
    is_there = old > 0 and new > 0 and before[old - 1] == now[new - 1]
    return is_there and len(now) - new > len(before) - old


def _last(texts: Sequence[str], text: str) -> int:
    return len(texts) - 1 - texts[::-1].index(text)


def _once(texts: Sequence[str]) -> list[str]:
    return [text for text, times in Counter(texts).items() if times == 1]
