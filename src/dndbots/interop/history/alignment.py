"""Alignment of a chat with the log: finds how much of it the log has, and where the two part."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from dndbots.ids import fold_case

# Texts of at least this length may differ a little: scripts in chat programs alter them on their way.
_LONG: Final = 80
_SIMILAR: Final = 0.9
_LONGEST_COMPARED: Final = 4_000
# So many messages, word for word and in order, are no chance.
_MANY: Final = 20
_FEWEST_MATCHES: Final = 2
_LONG_ENOUGH: Final = 20
_FEW: Final = 0.1
_THOUGHTS: Final = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{1,200}>")
_TOLD: Final = re.compile(r"\d+|\b[A-Z][^\W\d_]+")


class WindowMatch(NamedTuple):
    """The point where the newest messages of a chat meet the log.

    The log agrees with the chat up to `old`, the chat with the log up to `new`. `near` are the pairs of
    positions that count as the same, though their texts differ. `skipped` messages at the beginning of the
    window are not in the log; they are left alone.
    """

    old: int
    new: int
    matched: int
    skipped: int
    near: list[tuple[int, int]]


def common_prefix(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many entries two sequences have in common at their beginning."""
    for position, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return position
    return min(len(old), len(new))


def common_suffix(old: Sequence[object], new: Sequence[object], *, after: int) -> int:
    """Return how many entries two sequences have in common at their end, beyond the first `after`."""
    most = min(len(old), len(new)) - after
    for count in range(most):
        if old[-1 - count] != new[-1 - count]:
            return count
    return max(most, 0)


def match_window(old: Sequence[str], new: Sequence[str], *, is_whole_log: bool) -> WindowMatch | None:
    """Align the newest texts of a chat with those of the log; None if nothing speaks for it.

    `is_whole_log` says that `old` begins with the first message of the chat.
    """
    begin = _exact_start(old, new)
    if begin is not None:
        at, start, near = _walk(old, new, begin, 0)
        return WindowMatch(at, start, start, 0, near)
    old_keys, new_keys = [loose_key(text) for text in old], [loose_key(text) for text in new]
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    blocks = _without_noise(block for block in matcher.get_matching_blocks() if block.size)
    if not blocks:
        return None
    at, start, _ = blocks[0]
    skipped = start
    if is_whole_log and start == at:
        # As many messages stand before the first common one in both: they were edited.
        at = start = skipped = 0
    begun = start
    at, start, near = _walk(old, new, at, start)
    matched = start - begun
    matched = max(matched, sum(block.size for block in blocks))
    found = WindowMatch(at, start, matched, skipped, near)
    return found if _is_evident(found, old) else None


def longest_run(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many messages in a row two chats have in common at most."""
    return SequenceMatcher(None, old, new, autojunk=False).find_longest_match().size


class _Block(NamedTuple):
    """A run of messages that the log and the chat have in common."""

    old: int
    new: int
    size: int


def _exact_start(old: Sequence[str], new: Sequence[str]) -> int | None:
    """Return where in the log a window begins, if many of its first messages are there word for word."""
    if len(new) < _MANY:
        return None
    first = list(new[:_MANY])
    for at in range(len(old) - _MANY, -1, -1):
        if old[at] == first[0] and list(old[at : at + _MANY]) == first:
            return at
    return None


def _walk(
    old: Sequence[str], new: Sequence[str], at: int, start: int
) -> tuple[int, int, list[tuple[int, int]]]:
    """Go along log and chat as long as they say the same; return where they part, and what was only near."""
    near: list[tuple[int, int]] = []
    while at < len(old) and start < len(new):
        one, other = old[at], new[start]
        if one != other:
            if loose_key(one) != loose_key(other) and not is_similar(one, other):
                break
            near.append((at, start))
        at, start = at + 1, start + 1
    return at, start, near


def _without_noise(blocks: Iterable[tuple[int, int, int]]) -> list[_Block]:
    """Drop short chance matches before the longest run: a lone "Yes." somewhere in the past is no proof."""
    runs = [_Block(*block) for block in blocks]
    first = max(range(len(runs)), key=lambda position: runs[position].size, default=0)
    while first:
        before, after = runs[first - 1], runs[first]
        dropped = after.old - before.old - before.size
        added = after.new - before.new - before.size
        is_lone = before.size < _FEWEST_MATCHES and dropped > added + 1
        if is_lone or before.size < _FEW * dropped:
            break
        first -= 1
    return runs[first:]


def _is_evident(found: WindowMatch, old: Sequence[str]) -> bool:
    if found.matched >= _FEWEST_MATCHES or len(old) < _FEWEST_MATCHES:
        return True
    drops = len(old) - found.old
    return not drops and len(old[found.old - 1]) >= _LONG_ENOUGH


def loose_key(text: str) -> str:
    """Return only the letters and digits of a text, without thoughts, markup, case, and spaces."""
    bare = _TAG.sub("", _THOUGHTS.sub("", text)) if "<" in text else text
    return "".join(filter(str.isalnum, fold_case(bare))) or text.strip()


def is_similar(one: str, other: str) -> bool:
    """Return True if two long texts differ only a little, and tell the same names and numbers."""
    if min(len(one), len(other)) < _LONG or abs(len(one) - len(other)) > max(len(one), len(other)) * 0.2:
        return False
    if set(_TOLD.findall(one)) != set(_TOLD.findall(other)):
        return False
    cut = one[:_LONGEST_COMPARED].split(), other[:_LONGEST_COMPARED].split()
    return SequenceMatcher(None, *cut, autojunk=False).ratio() >= _SIMILAR
