"""The room of the parts of a context, in steps: a part is not cut anew when another costs a token more."""

from typing import Final, NamedTuple

# The story is chosen again only when the other blocks have grown by a 16th of the budget, or doubled.
_LEAP: Final = 16
_SMALL_LEAP: Final = 64


class Rooms(NamedTuple):
    """The room of the story, of more newest lines, of the memories, and of what some have not heard."""

    story: int
    more: int
    memories: int
    knowledge: int


def round_up(tokens: int, budget: int) -> int:
    """Return a number of tokens rounded up in steps of the budget; small numbers in small steps."""
    step = max(budget // _LEAP, 1)
    while step > 1 and tokens <= 2 * step:
        step //= 2
    return -(-tokens // step) * step


def round_down(tokens: int, budget: int) -> int:
    """Return a number of tokens rounded down in small steps of the budget."""
    step = max(budget // _SMALL_LEAP, 1)
    return tokens // step * step
