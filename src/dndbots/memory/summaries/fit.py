"""Cut entries and summaries to a number of tokens, by exact count, with a mark where text is missing."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final

from dndbots.tokens import count_many, count_tokens

PINNED: Final = "Pinned: "
# Pinned lines may take 1/2 of a summary that has to be cut.
_PINNED_SHARE: Final = 2
_ELLIPSIS: Final = "…"


def cut_end(text: str, room: int, mark: str) -> str:
    """Return the beginning of a text that fits with a mark behind it, or just the mark."""
    if count_tokens(text) <= room:
        return text
    return _longest(text, room, lambda kept: f"{kept.rstrip()}{_ELLIPSIS} {mark}".strip())


def cut_beginning(text: str, room: int) -> str:
    """Return the end of a text that fits: whole lines are cut first, then the start of the last."""
    lines = text.split("\n")
    counts = count_many(f"{line}\n" for line in lines)
    while lines and sum(counts) > room:
        if len(lines) == 1:
            return _longest(lines[0][::-1], room, lambda kept: f"{_ELLIPSIS} {kept[::-1].lstrip()}")
        del lines[0], counts[0]
    return "\n".join(lines)


def pinned_of(summary: str) -> str:
    """Return the pinned lines, with which a summary begins."""
    return "\n".join(takewhile(lambda line: line.startswith(PINNED), summary.split("\n")))


def cut_summary(text: str, room: int) -> str:
    """Return the part of a summary that fits: its pinned lines, and the end of the rest."""
    pinned = pinned_of(text)
    if not pinned or count_tokens(text) <= room:
        return cut_beginning(text, room)
    rest = text.removeprefix(pinned).removeprefix("\n")
    lines = pinned.split("\n")
    rooms = share_room(count_many(f"{line}\n" for line in lines), room // _PINNED_SHARE if rest else room)
    cut = [cut_end(line, most - 1, "") for line, most in zip(lines, rooms, strict=True)]
    kept = [line for line in cut if line]
    left = room - sum(count_many(f"{line}\n" for line in kept))
    return "\n".join(filter(None, (*kept, cut_beginning(rest, left))))


def share_room(sizes: Sequence[int], room: int) -> list[int]:
    """Divide room by sizes: small ones get all they need, the others get equal shares."""
    rooms = [0] * len(sizes)
    open_ends = sorted(range(len(sizes)), key=lambda n: (sizes[n], n))
    for done, n in enumerate(open_ends):
        rooms[n] = min(sizes[n], max(room, 0) // (len(sizes) - done))
        room -= rooms[n]
    return rooms


def _longest(text: str, room: int, shown: Callable[[str], str]) -> str:
    """Return the longest beginning of a text that fits as it is shown; "" if none does."""
    low, high = 0, min(len(text), max(room, 0) * 32)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(shown(text[:middle])) <= room else (low, middle - 1)
    best = shown(text[:low])
    return best if count_tokens(best) <= room else ""
