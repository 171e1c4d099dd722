"""Text that has to fit: entries and summaries cut by exact count, with a word where something is missing."""

from collections.abc import Callable, Sequence
from typing import Final

from dndbots.tokens import count_many, count_tokens

_ELLIPSIS: Final = "…"


def cut_end(text: str, room: int, mark: str) -> str:
    """The beginning of a text that fits with a mark behind it; the mark alone says that there was more."""
    if count_tokens(text) <= room:
        return text
    return _longest(text, room, lambda kept: f"{kept.rstrip()}{_ELLIPSIS} {mark}".strip())


def cut_beginning(text: str, room: int) -> str:
    """The end of a text that fits: the oldest lines go first, then the beginning of what is left."""
    lines = text.split("\n")
    counts = count_many(f"{line}\n" for line in lines)
    while lines and sum(counts) > room:
        if len(lines) == 1:
            return _longest(lines[0][::-1], room, lambda kept: f"{_ELLIPSIS} {kept[::-1].lstrip()}")
        del lines[0], counts[0]
    return "\n".join(lines)


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much of some room each gets: what is small gets all it needs, the rest is divided evenly."""
    given = [0] * len(sizes)
    open_ends = sorted(range(len(sizes)), key=lambda n: (sizes[n], n))
    for done, n in enumerate(open_ends):
        given[n] = min(sizes[n], max(room, 0) // (len(sizes) - done))
        room -= given[n]
    return given


def _longest(text: str, room: int, shown: Callable[[str], str]) -> str:
    """The most characters of a text that still fit as they are shown; nothing if none do."""
    low, high = 0, min(len(text), max(room, 0) * 32)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(shown(text[:middle])) <= room else (low, middle - 1)
    best = shown(text[:low])
    return best if count_tokens(best) <= room else ""
