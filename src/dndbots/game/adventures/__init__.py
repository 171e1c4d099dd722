"""Adventures: modules read from files, and endless chapters made from tables. Names load on first use."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.adventures.conditions import SoFar, holds
    from dndbots.game.adventures.endless.chapter import make_chapter
    from dndbots.game.adventures.library import list_shipped, load, load_named, render_module
    from dndbots.game.adventures.module import (
        Ending,
        Exit,
        Foes,
        Happening,
        Item,
        Module,
        ModuleFact,
        ModuleQuest,
        ModuleThread,
        Person,
        PersonReaction,
        Place,
        QuestStep,
        Reward,
        Saying,
        Thing,
        Trap,
        Wanderers,
        Wandering,
    )

__all__ = [
    "Ending",
    "Exit",
    "Foes",
    "Happening",
    "Item",
    "Module",
    "ModuleFact",
    "ModuleQuest",
    "ModuleThread",
    "Person",
    "PersonReaction",
    "Place",
    "QuestStep",
    "Reward",
    "Saying",
    "SoFar",
    "Thing",
    "Trap",
    "Wanderers",
    "Wandering",
    "holds",
    "list_shipped",
    "load",
    "load_named",
    "make_chapter",
    "render_module",
]

_HOMES = dict.fromkeys(__all__, f"{__name__}.module") | {
    "SoFar": f"{__name__}.conditions",
    "make_chapter": f"{__name__}.endless.chapter",
    "holds": f"{__name__}.conditions",
    "load": f"{__name__}.library",
    "load_named": f"{__name__}.library",
    "list_shipped": f"{__name__}.library",
    "render_module": f"{__name__}.library",
}

__getattr__ = _lazy.exports(__name__, _HOMES)
