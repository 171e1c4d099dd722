"""Who plays: what the engine hands to a seat, and what it wants back."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dndbots.game.acts import Act
from dndbots.game.steps import Step
from dndbots.game.table import Table

if TYPE_CHECKING:
    from dndbots.game.adventures import Module
    from dndbots.memory.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A character's turn. `table` is what that character perceived, and nothing else.

    `prompt` is what a model in this seat would be given, inside its limit.
    """

    who: str
    table: Table
    prompt: "Context"
    rng: random.Random
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The DM's turn: everything that happened, the adventure, and a step to put answers into."""

    step: Step
    module: "Callable[[int], Module | None]"
    prompt: "Context"
    rng: random.Random
    seed: int

    @property
    def table(self) -> Table:
        return self.step.table


class Player(Protocol):
    """Somebody who plays a character."""

    def act(self, turn: Turn) -> Act: ...


class DungeonMaster(Protocol):
    """Somebody who runs the world: answers what the players did, and moves the story on."""

    def run(self, screen: Screen) -> None:
        """Drafts at least one event into the screen's step."""
        ...

    def leads(self, table: Table, place: str, way: str) -> str | None:
        """Where a way leads from a place, if it can be gone."""
        ...

    def called(self, table: Table, place: str) -> str:
        """What a place is called by whoever comes there."""
        ...
