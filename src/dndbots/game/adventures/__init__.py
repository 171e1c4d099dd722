"""Adventures: modules that are read from files, and those that are made. Names load on first use."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.adventures.endless import chapter
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
    from dndbots.game.adventures.writing import text_of

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
    "chapter",
    "holds",
    "load",
    "named",
    "shipped",
    "text_of",
]

_HOMES = dict.fromkeys(__all__, f"{__name__}.values") | {
    "SoFar": f"{__name__}.when",
    "chapter": f"{__name__}.endless",
    "holds": f"{__name__}.when",
    "load": f"{__name__}.loading",
    "named": f"{__name__}.loading",
    "shipped": f"{__name__}.loading",
    "text_of": f"{__name__}.writing",
}

__getattr__ = _lazy.exports(__name__, _HOMES)
