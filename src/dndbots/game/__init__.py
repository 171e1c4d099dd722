"""Playing: commands and their handlers. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.commands import (
        ChangeLocationCommand,
        CompleteObjectiveCommand,
        CompleteQuestCommand,
        ProgressActCommand,
        UpdateLocationStateCommand,
    )
    from dndbots.game.handlers import ILocationService, LocationHandler, LocationService, QuestHandler

__all__ = [
    "ChangeLocationCommand",
    "CompleteObjectiveCommand",
    "CompleteQuestCommand",
    "ILocationService",
    "LocationHandler",
    "LocationService",
    "ProgressActCommand",
    "QuestHandler",
    "UpdateLocationStateCommand",
]

_COMMANDS = "dndbots.game.commands"
_HANDLERS = "dndbots.game.handlers"

__getattr__ = _lazy.exports(
    __name__, {name: _COMMANDS if name.endswith("Command") else _HANDLERS for name in __all__}
)
