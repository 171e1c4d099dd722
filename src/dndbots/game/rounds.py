"""The loop that plays one round, step by step.

    context_manager -> dm -> (referee | player)* -> march

After each step the table says who is next, so a round can resume at any step after a restart.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from dndbots.game.state.game_notes import DM_STEP, REFEREE
from dndbots.game.state.table import PLAYER, Due

# A round has a few steps for each seat and each group of foes. A longer one is a bug, not a long fight.
MOST_STEPS: Final = 500

_DEFAULT_GC: Final = (700, 10, 10)
_RARE_GC: Final = (50_000, 10, 10)


class RoundSteps(Protocol):
    """The steps of a round. Each one is recorded whole or not at all."""

    def due(self) -> Due | None:
        """Return the next step; None if the round is over or the game has to stop here."""
        ...

    def context_manager(self) -> None: ...
    def dm(self) -> None: ...
    def referee(self, who: str) -> None: ...
    def player(self, who: str) -> None: ...
    def march(self) -> None: ...


def play_round(steps: RoundSteps) -> None:
    """Play the steps that are due until the round is over or the game is paused.

    A round that starts with the DM first brings everybody's memory up to date.
    """
    due = steps.due()
    if due is not None and due.node == DM_STEP:
        steps.context_manager()
        due = steps.due()
    for _ in range(MOST_STEPS):
        if due is None:
            return
        play_step(steps, due)
        due = steps.due()
    if due is not None:
        raise RuntimeError(f"the round did not end after {MOST_STEPS} steps; the next one is {due}")


def play_step(steps: RoundSteps, due: Due) -> None:
    """Play one step."""
    if due.node == DM_STEP:
        steps.dm()
    elif due.node == REFEREE:
        steps.referee(due.who)
    elif due.node == PLAYER:
        steps.player(due.who)
    else:
        steps.march()


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Make Python look for reference cycles less often while a game is played.

    The default check costs some 7 % of a round and frees next to nothing, because a round leaves few cycles
    behind. A host that changed the thresholds or turned the collector off keeps its own settings.
    """
    if not gc.isenabled() or gc.get_threshold() != _DEFAULT_GC:
        yield
        return
    gc.set_threshold(*_RARE_GC)
    try:
        yield
    finally:
        gc.set_threshold(*_DEFAULT_GC)
