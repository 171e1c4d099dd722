"""How much of a question chance finds: the odds that words said anywhere meet in one place of a log.

Any word that was said at all stands somewhere, so a place with one word of a question proves nothing. If
words were spread over the log by chance, some would still meet. What a search found is evidence only as far
as it is more than that.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

# Weights are rounded to this many steps. More of them change no answer.
_STEPS: Final = 100


class Spread(NamedTuple):
    """A word of a question: the number of lines that have it, and its weight."""

    lines: float
    weight: float


def expect_places(words: Sequence[Spread], found: float, *, lines: int, window: int) -> float:
    """Return how many places with words of the weight `found` a log would have by chance.

    A place is a window of lines. Words are taken to be spread over the log independently of each other.
    """
    whole = sum(word.weight for word in words)
    if not whole or not lines:
        return 0.0
    place = min(window / lines, 1.0)
    odds = [1.0] + [0.0] * _STEPS
    for word in words:
        steps = round(word.weight / whole * _STEPS)
        share = 1 - math.pow(1 - place, word.lines)
        if steps and share:
            odds = _with_word(odds, steps, share)
    return sum(odds[max(math.floor(found / whole * _STEPS) - 1, 0) :]) / place


def _with_word(odds: Sequence[float], steps: int, share: float) -> list[float]:
    """Return the odds of each weight, if a place has one more word with these odds."""
    more = [odd * (1 - share) for odd in odds]
    for weight, odd in enumerate(odds):
        if odd:
            more[min(weight + steps, _STEPS)] += odd * share
    return more
