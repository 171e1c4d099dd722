"""Who plays: what the engine hands to a seat, and what it wants back."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dndbots.game.acts import Act
from dndbots.game.ledger import Cost, Ledger, unpriced
from dndbots.game.steps import Step
from dndbots.game.table import Table

if TYPE_CHECKING:
    from dndbots.game.adventures import Module
    from dndbots.game.house.telling import Telling
    from dndbots.game.looking import Looking
    from dndbots.memory.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A character's turn. `table` is what that character perceived, and nothing else.

    `prompt` is what a model in this seat would be given, inside its limit. `refused` says why what was tried
    first in this turn cannot be. What models take goes into the ledger.
    """

    who: str
    table: Table
    prompt: "Context"
    rng: random.Random
    seed: int
    refused: str = ""
    ledger: Ledger = field(default_factory=Ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The DM's turn: everything that happened, the adventure, and a step to put answers into.

    `look` looks things up in the campaign. `refused` says why what was drafted first cannot be. Where people
    are `voiced`, what the adventure has no answer to is for them to answer.
    """

    step: Step
    module: "Callable[[int], Module | None]"
    prompt: "Context"
    rng: random.Random
    seed: int
    look: "Looking | None" = None
    ledger: Ledger = field(default_factory=Ledger)
    refused: str = ""
    voiced: bool = False

    @property
    def table(self) -> Table:
        return self.step.table


class Player(Protocol):
    """Somebody who plays a character.

    What the rules refuse goes back to it, with the reason, until it has tried so often.
    """

    @property
    def attempts(self) -> int: ...

    def act(self, turn: Turn) -> Act | None:
        """What it does; None if it does nothing now and the game is to wait. `ActRefused` is an attempt."""
        ...


@runtime_checkable
class SafePlayer(Player, Protocol):
    """A player who knows what to do when nothing that it tried can be done."""

    def otherwise(self, turn: Turn) -> Act: ...


class DungeonMaster(Protocol):
    """Somebody who runs the world: answers what the players did, and moves the story on.

    `has_tools` says whether it is to be told how to use them.
    """

    @property
    def has_tools(self) -> bool: ...

    def run(self, screen: Screen) -> None:
        """Drafts at least one event into the screen's step."""
        ...

    def telling(self, screen: Screen) -> "Telling":
        """What more of the step is drafted with, as the world is at this moment."""
        ...

    def leads(self, table: Table, place: str, way: str) -> str | None:
        """Where a way leads from a place, if it can be gone."""
        ...

    def called(self, table: Table, place: str) -> str:
        """What a place is called by whoever comes there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who sits where: the DM, whoever plays some characters, and whoever plays the rest.

    `cost` says what an answer of a model costs, as far as prices are known.
    """

    dm: DungeonMaster
    player: Player
    seats: Mapping[str, Player] = field(default_factory=dict)
    cost: Cost = unpriced

    def of(self, who: str) -> Player:
        return self.seats.get(who, self.player)
