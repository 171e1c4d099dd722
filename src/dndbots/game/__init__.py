"""Playing: the game, its acts, commands and their handlers. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.acts import Act, Verb
    from dndbots.game.agents import DungeonMaster, Player, Screen, Turn
    from dndbots.game.commands import (
        ChangeLocationCommand,
        CompleteObjectiveCommand,
        CompleteQuestCommand,
        ProgressActCommand,
        UpdateLocationStateCommand,
    )
    from dndbots.game.dnd import DnDGame
    from dndbots.game.handlers import ILocationService, LocationHandler, LocationService, QuestHandler
    from dndbots.game.playing import Game
    from dndbots.game.table import Table

__all__ = [
    "Act",
    "ChangeLocationCommand",
    "CompleteObjectiveCommand",
    "CompleteQuestCommand",
    "DnDGame",
    "DungeonMaster",
    "Game",
    "ILocationService",
    "LocationHandler",
    "LocationService",
    "Player",
    "ProgressActCommand",
    "QuestHandler",
    "Screen",
    "Table",
    "Turn",
    "UpdateLocationStateCommand",
    "Verb",
]

_COMMANDS = "dndbots.game.commands"
_HOMES = {name: _COMMANDS if name.endswith("Command") else "dndbots.game.handlers" for name in __all__} | {
    "Act": "dndbots.game.acts",
    "DnDGame": "dndbots.game.dnd",
    "DungeonMaster": "dndbots.game.agents",
    "Game": "dndbots.game.playing",
    "Player": "dndbots.game.agents",
    "Screen": "dndbots.game.agents",
    "Table": "dndbots.game.table",
    "Turn": "dndbots.game.agents",
    "Verb": "dndbots.game.acts",
}

__getattr__ = _lazy.exports(__name__, _HOMES)
