"""Chance that does not depend on who asks when: each step of each round has its own.

After a restart the same step draws the same numbers, so that the story goes on as it would have.
"""

import random


def chance(seed: int, *step: object) -> random.Random:
    """The chance of one step of a game: the same for the same seed and step, on every machine."""
    return random.Random("/".join(map(str, (seed, *step))))  # noqa: S311 - dice, which can be replayed
