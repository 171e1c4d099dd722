"""Adventures: modules that are read from files, and those that are made. Names load on first use."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.adventures.loading import load, named, shipped
    from dndbots.game.adventures.values import (
        Ending,
        Exit,
        Fact,
        Foes,
        Happening,
        Item,
        Module,
        Person,
        Place,
        Quest,
        Reaction,
        Reward,
        Saying,
        Step,
        Thing,
        Thread,
        Trap,
        Wanderers,
        Wandering,
    )
    from dndbots.game.adventures.when import SoFar, holds

__all__ = [
    "Ending",
    "Exit",
    "Fact",
    "Foes",
    "Happening",
    "Item",
    "Module",
    "Person",
    "Place",
    "Quest",
    "Reaction",
    "Reward",
    "Saying",
    "SoFar",
    "Step",
    "Thing",
    "Thread",
    "Trap",
    "Wanderers",
    "Wandering",
    "holds",
    "load",
    "named",
    "shipped",
]

_HOMES = dict.fromkeys(__all__, "dndbots.game.adventures.values") | {
    "SoFar": "dndbots.game.adventures.when",
    "holds": "dndbots.game.adventures.when",
    "load": "dndbots.game.adventures.loading",
    "named": "dndbots.game.adventures.loading",
    "shipped": "dndbots.game.adventures.loading",
}

__getattr__ = _lazy.exports(__name__, _HOMES)
