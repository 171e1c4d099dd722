"""A question that stays short, whatever is in it: it is told at length, or in less and less words.

A prompt has its limit; what is asked beside it must not make it longer than a model reads.
"""

from collections.abc import Callable, Iterable

from dndbots.text.cleaning import one_line
from dndbots.tokens import count_tokens


def fitted(told: Callable[[int], str], lengths: Iterable[int], *, most: int) -> str:
    """What is told with the first of the lengths that leaves it at so many tokens at most; else the last."""
    text = ""
    for longest in lengths:
        text = told(longest)
        if count_tokens(text) <= most:
            break
    return text


def cut(text: str, longest: int) -> str:
    """On one line that opens nothing, and no longer than that."""
    plain = one_line(text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
