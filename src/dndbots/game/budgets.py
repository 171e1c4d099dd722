"""How many tokens a seat's prompt may have by our own count, so that its provider's is within the limit.

It follows from what the log says of how the models in that seat counted. So it is the same after a restart,
and what is played or asked elsewhere does not show in it.
"""

import math
from typing import Final

from dndbots.campaign import Campaign
from dndbots.game.played import GameNote
from dndbots.game.seating import HOUSE
from dndbots.ids import DM
from dndbots.llm.asking import Role
from dndbots.memory.recalling import LEAST_BUDGET
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

# A little more or less is not worth a new prompt: the old one is in its provider's cache.
_STEPS: Final = 20
_MOST: Final = 2.0  # who counts more than that does not count the prompt alone


class Budgets:
    """Of one game. A seat of the house, and one of a person, has what the game was begun with."""

    def __init__(self, campaign: Campaign, note: GameNote) -> None:
        self._campaign, self._note = campaign, note
        self._known: dict[str, tuple[float, str]] = {}

    def forget(self) -> None:
        """A model was asked since, and may count otherwise."""
        self._known.clear()

    def of(self, who: str, beside: str) -> tuple[int, str]:
        """The budget of a prompt with that beside the memory, and the encoding that it is counted in."""
        if who not in self._known:
            self._known[who] = self._ratio(who)
        ratio, encoding = self._known[who]
        whole = self._note.budget
        least = count_tokens(f"{beside}\n\n", encoding) + LEAST_BUDGET
        return max(min(int(whole / ratio), whole), min(least, whole)), encoding

    def _ratio(self, who: str) -> tuple[float, str]:
        role, named = (Role.DM, self._note.dm) if who == DM else (Role.PLAYER, self._note.players)
        models = [one.model for one in self._campaign.usage(viewer=who) if one.role == role.value]
        models = models or [name for name in (named,) if name != HOUSE]
        if not models:
            return 1.0, DEFAULT_ENCODING
        found = [self._campaign.calibration(model, viewer=who) for model in models]
        strictest = max(found, key=lambda one: one.expected(self._note.budget))
        ratio = max(one.expected(self._note.budget) for one in found) / self._note.budget
        return min(math.ceil(ratio * _STEPS) / _STEPS, _MOST), strictest.encoding
