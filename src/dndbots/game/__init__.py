"""The game: its table, its players and DMs, its commands and their handlers. Names load on first use."""

from typing import TYPE_CHECKING

from dndbots import _lazy

if TYPE_CHECKING:
    from dndbots.game.acts import Act, Verb
    from dndbots.game.agents import DungeonMaster, Player, SeatTurn
    from dndbots.game.commands import (
        ChangeLocationCommand,
        CompleteObjectiveCommand,
        CompleteQuestCommand,
        ILocationService,
        LocationHandler,
        LocationService,
        ProgressActCommand,
        QuestHandler,
        UpdateLocationStateCommand,
    )
    from dndbots.game.dnd import DnDGame
    from dndbots.game.game import Game
    from dndbots.game.input.line_reader import understand_line
    from dndbots.game.input.meanings import Reading, Understanding
    from dndbots.game.live_words import LiveState, LiveWords
    from dndbots.game.retellings import Telling
    from dndbots.game.state.table import Table
    from dndbots.game.world.narration import Screen

__all__ = [
    "Act",
    "ChangeLocationCommand",
    "CompleteObjectiveCommand",
    "CompleteQuestCommand",
    "DnDGame",
    "DungeonMaster",
    "Game",
    "ILocationService",
    "LiveState",
    "LiveWords",
    "LocationHandler",
    "LocationService",
    "Player",
    "ProgressActCommand",
    "QuestHandler",
    "Reading",
    "Screen",
    "SeatTurn",
    "Table",
    "Telling",
    "Understanding",
    "UpdateLocationStateCommand",
    "Verb",
    "understand_line",
]

_HOMES = dict.fromkeys(__all__, "dndbots.game.commands") | {
    "Act": "dndbots.game.acts",
    "DnDGame": "dndbots.game.dnd",
    "DungeonMaster": "dndbots.game.agents",
    "Game": "dndbots.game.game",
    "LiveState": "dndbots.game.live_words",
    "LiveWords": "dndbots.game.live_words",
    "Player": "dndbots.game.agents",
    "Reading": "dndbots.game.input.meanings",
    "Understanding": "dndbots.game.input.meanings",
    "understand_line": "dndbots.game.input.line_reader",
    "Screen": "dndbots.game.world.narration",
    "Table": "dndbots.game.state.table",
    "SeatTurn": "dndbots.game.agents",
    "Telling": "dndbots.game.retellings",
    "Verb": "dndbots.game.acts",
}

__getattr__ = _lazy.exports(__name__, _HOMES)
