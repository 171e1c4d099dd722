"""The seats of a game: the protocols of players and DMs, and the turn that a player is given."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dndbots.game.acts import Act
from dndbots.game.ledger import Cost, Ledger, unpriced
from dndbots.game.live_words import LiveAnswers
from dndbots.game.state.table import Table
from dndbots.game.world.narration import Narration, Screen

if TYPE_CHECKING:
    from dndbots.memory.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTurn:
    """A character's turn. `table` holds only what that character perceived.

    `prompt` is the prompt of a model in this seat, inside its limit. `refused` is why the last act of this
    turn was not possible, `answer` what the game answers to a person's last line. With `free`, the DM judges
    whatever a person tries, also what the rules do not understand. `waiting` is the deed left from the line
    before, which an empty line does. Models note their usage in `ledger`, and
    let their words be heard by `live` as they come. A turn that is told again has a `wish`, which may be
    empty. `people` are the characters that people play.
    """

    who: str
    table: Table
    prompt: "Context"
    rng: random.Random
    seed: int
    refused: str = ""
    answer: str = ""
    waiting: str = ""
    free: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    live: LiveAnswers = field(default_factory=LiveAnswers)
    wish: str | None = None
    people: frozenset[str] = frozenset()


class Player(Protocol):
    """A player of characters.

    An act that the rules refuse goes back to the player with the reason, up to `attempts` times.
    """

    @property
    def attempts(self) -> int: ...

    def act(self, turn: SeatTurn) -> Act | None:
        """Return the act of a turn; None to pause the game. `ActRefused` counts as an attempt."""
        ...


@runtime_checkable
class SafePlayer(Player, Protocol):
    """A player with a safe act for a turn in which all attempts were refused."""

    def fallback_act(self, turn: SeatTurn) -> Act: ...


class DungeonMaster(Protocol):
    """A DM: answers the players' acts and moves the story on.

    With `has_tools`, the DM's prompt explains the tools.
    """

    @property
    def has_tools(self) -> bool: ...

    def run(self, screen: Screen) -> None:
        """Draft at least one event into the screen's step."""
        ...

    def narration_for(self, screen: Screen) -> Narration:
        """Return a narration that drafts more events into the screen's step, as the world is now."""
        ...

    def leads(self, table: Table, place: str, way: str) -> str | None:
        """Return the place that a way leads to; None if nobody can take it now."""
        ...

    def called(self, table: Table, place: str) -> str:
        """Return the name of a place for those who arrive there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The seating: the DM, a player for each seat in `seats`, and `player` for all other characters.

    `cost` returns the price of a model's answer, if it is known.
    """

    dm: DungeonMaster
    player: Player
    seats: Mapping[str, Player] = field(default_factory=dict)
    cost: Cost = unpriced

    @property
    def people(self) -> frozenset[str]:
        """The characters that people play."""
        return frozenset(uid for uid, player in self.seats.items() if getattr(player, "is_person", False))

    def of(self, who: str) -> Player:
        """Return the player of a character."""
        return self.seats.get(who, self.player)
